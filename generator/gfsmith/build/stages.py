"""The stages of a build: from a request to kernels and files, generated and proved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from gfsmith.build import adaptive_kernels, compiled, generate, output, prove_kernels, request
from gfsmith.build.algebra import generate as generate_algebra
from gfsmith.build.checksums import generate as generate_checksums
from gfsmith.build.generate import Kernel
from gfsmith.emit import digests, lists


class Progress(Protocol):
    """A display of a stage with `total` steps. It yields a function that takes the number of completed
    steps."""

    def __call__(self, text: str, total: int) -> AbstractContextManager[Callable[[int], None]]: ...


class Made(NamedTuple):
    """The kernels of a build, and its files except the manifest: path in the output folder -> text."""

    kernels: list[Kernel]
    files: dict[str, str]


def make(
    build: request.Build, jobs: int, cache: Path | None, progress: Progress, package: str | None = None
) -> Made:
    """Return every kernel, proved as program and as machine code, and all files except the manifest. package:
    the form of a package that takes machine code for AArch64 instead of C."""
    specs = build.specs
    with progress("generate and prove programs", len(specs)) as advance:
        kernels = generate.generate(specs, jobs, cache and cache / "kernels.json", advance)
    adaptive_kernels.code((kernel.spec, kernel.size) for kernel in kernels)  # raises before the proofs start
    files = lists.build(specs, build.tuned) | {kernel.path: kernel.text for kernel in kernels}
    files |= digests.build([(kernel.spec, kernel.code) for kernel in kernels])
    if package is not None:
        with progress("compile", len(specs)) as advance:
            store = cache and cache / "compiled.json"
            kernels = compiled.compile_all(kernels, files, package, jobs, store, advance)
    work = prove_kernels.tasks_of(kernels)
    with progress("prove machine code", len(work)) as advance:
        certificates = prove_kernels.prove_all(work, jobs, cache and cache / "proofs.json", advance)
    isas = {spec.isa.name for spec in specs}
    with progress("prove routines", 2) as advance:
        algebra = generate_algebra(isas, jobs, cache and cache / "algebra.json")
        advance(1)
        checksums = generate_checksums(jobs, cache and cache / "checksums.json")
        advance(1)
    files |= algebra.files | checksums.files
    files[output.PROOFS] = output.proofs(kernels, certificates, [*algebra.proofs, *checksums.proofs])
    return Made(kernels, files)
