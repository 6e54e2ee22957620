"""Compiled kernels of the default set with a change in their assembly or in one bit of their code."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from random import Random

from gfsmith.build import config
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.architecture import Architecture
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.paths import ROOT
from tests.unit.prove.aarch64.compile import GEN_OUT

TOML = ROOT / "gfsmith.toml"
Prove = Callable[[Image, KernelSpec], Report]


@lru_cache(maxsize=4)
def specs(isa: str) -> tuple[KernelSpec, ...]:
    """Return the kernels of the default set for an instruction set."""
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name == isa)


def share(kernels: Sequence[KernelSpec], compilers: Iterable[str], compiler: str) -> Sequence[KernelSpec]:
    """Return the part of the kernels that a test proves with a compiler. Every kernel has one of them."""
    names = list(compilers)
    return kernels[names.index(compiler) :: len(names)]


def named(isa: str, name: str) -> KernelSpec:
    """Return the kernel of a shape, for example mad_1x1."""
    return next(spec for spec in specs(isa) if f"_{name}__" in spec.symbol)


def prove(abi: str, steps: int = 100_000) -> Prove:
    """Return a proof of a kernel against its own contract."""

    def run(image: Image, spec: KernelSpec) -> Report:
        return prove_code(contract_of(spec, abi), image, spec.symbol, exhaustive=False, max_steps=steps)

    return run


def listing(spec: KernelSpec, compiler: Sequence[str]) -> str:
    """Return a kernel as assembly."""
    source = GEN_OUT / spec.isa.name / f"{spec.symbol}.c"
    command = [*compiler, f"-I{GEN_OUT}", "-S", "-o", "-", str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def assembled(text: str, folder: Path, assembler: Sequence[str]) -> Image:
    source, found = folder / "kernel.s", folder / "kernel.o"
    source.write_text(text, encoding="utf-8")
    subprocess.run([*assembler, "-c", "-o", found, source], check=True)
    return load(found)


@cache
def proved_listing(isa: str, name: str, abi: str, compiler: tuple[str, ...]) -> str:
    """Return a kernel as assembly, which is proved. The compiler is also the assembler."""
    spec = named(isa, name)
    text = listing(spec, compiler)
    with tempfile.TemporaryDirectory() as folder:
        report = prove(abi)(assembled(text, Path(folder), compiler[:1]), spec)
    assert report.status is Status.PROVED, report
    return text


def flipped(image: Image, name: str, place: int, bit: int) -> Image:
    """Return the image with one bit of a byte of a function's code changed."""
    address = image.functions[name].address + place
    segments = []
    for segment in image.segments:
        if segment.address <= address < segment.end:
            data = bytearray(segment.data)
            data[address - segment.address] ^= 1 << bit
            segment = replace(segment, data=bytes(data))
        segments.append(segment)
    return replace(image, segments=tuple(segments))


def flips(
    image: Image, spec: KernelSpec, arch: Architecture, judge: Prove, every: int
) -> tuple[Counter[Status], set[int]]:
    """Flip a random bit of each `every`-th instruction. Return the number of verdicts, and the places at
    which the changed kernel was proved."""
    outcomes: Counter[Status] = Counter()
    proved = set()
    rng = Random(6)
    for place, size in list(_places(image, spec.symbol, arch))[::every]:
        at = place + rng.randrange(size)
        report = judge(flipped(image, spec.symbol, at, rng.randrange(8)), spec)
        outcomes[report.status] += 1
        if report.status is Status.PROVED:
            proved.add(place)
    return outcomes, proved


def _places(image: Image, name: str, arch: Architecture) -> Iterable[tuple[int, int]]:
    """Yield place and size of each instruction that does something."""
    function = image.functions[name]
    decode, ip = arch.decoder(image, function), function.address
    while ip < function.address + function.size:
        found = decode(ip)
        assert found is not None
        if not found.filling:
            yield ip - function.address, found.next_ip - ip
        ip = found.next_ip
