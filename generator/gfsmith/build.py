"""A request to the kernels and files of a build: everything generated, and everything proved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click

from gfsmith import cache as caches
from gfsmith import certify, generate, output, request, variants
from gfsmith.algebra import generate as generate_routines
from gfsmith.console import progress
from gfsmith.emit import runtime
from gfsmith.generate import Kernel

#: The option of every command that works on many kernels at once.
jobs_option = click.option(
    "-j", "--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, help="Processes."
)


class Made(NamedTuple):
    """The kernels of a build, and its files but the manifest: path in the output folder -> text."""

    kernels: list[Kernel]
    files: dict[str, str]


def cache_of(path: Path) -> Path:
    """The folder where kernels and verdicts are kept: beside the configuration file."""
    return path.parent / ".gfsmith-cache"


def shared_cache(path: Path) -> Path:
    """The same for what is built inside other projects: one that `gfsmith gen` has made there, or the user's;
    nothing is added to other people's source folders."""
    beside = cache_of(path)
    return beside if beside.is_dir() else caches.user_folder()


def make(build: request.Build, jobs: int, cache: Path | None) -> Made:
    """Every kernel, proved as program and as machine code, and all files but the manifest."""
    specs = build.specs
    with progress("generate and prove programs", len(specs)) as advance:
        kernels = generate.generate(specs, jobs, cache and cache / "kernels.json", advance)
    variants.code((kernel.spec, kernel.size) for kernel in kernels)  # refused before it is proved
    work = certify.tasks_of(kernels)
    with progress("prove machine code", len(work)) as advance:
        certificates = certify.certify(work, jobs, cache and cache / "proofs.json", advance)
    isas = {spec.isa.name for spec in specs}
    routines = generate_routines(isas, jobs, cache and cache / "algebra.json")
    files = runtime.build(specs, build.tuned) | {kernel.path: kernel.text for kernel in kernels}
    files |= routines.files
    files[output.PROOFS] = output.proofs(kernels, certificates, routines.proofs)
    return Made(kernels, files)
