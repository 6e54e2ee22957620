"""Peers' kernels for unavailable architectures, compiled or assembled, for gfsmith.explore.cost_model.

ISA-L 2.32.0's kernels come from its crate (bench/peers/isal_sources.py fetches it) and are compiled by
clang-19 -O2, like gfsmith's. klauspost/reedsolomon's kernels are assembled by Go's own assembler. The number
of lookups in an iteration of a loop determines the bytes that it reads: each lookup serves one vector of one
source for one output, half of every byte (two per product) or, with POWER's vpermxor, all of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bench.build import BUILD, HERE, BuildError, run_command
from bench.peers import isal_sources
from gfsmith.explore.cost_model.assembly import Function, functions
from gfsmith.explore.cost_model.compiled import CompiledLoop, disassembly, executed, heaviest, listing
from gfsmith.explore.cost_model.target import TARGETS
from gfsmith.kernel.architecture import Arch

_ISAL = "ISA-L 2.32.0"
_KLAUSPOST = "klauspost 1.14.2"
_PRODUCT = {Arch.AARCH64: 2, Arch.POWER: 1, Arch.RISCV: 2}  #: lookups


@dataclass(frozen=True, slots=True)
class Part:
    """A function that the peer calls. weight: calls per source of the shape. sources: sources in an inner
    loop, 0 if it has none; fixed: sources that it takes unrolled."""

    symbol: str
    file: str
    outputs: int
    weight: float = 1.0
    sources: int = 0


@dataclass(frozen=True, slots=True)
class Peer:
    """A set of kernels. flags: required features of a core, as in Isa.cpu_flags. parts: the peer's functions
    for an operation, sources and outputs; none if it has no kernel for the shape."""

    name: str
    arch: Arch
    flags: tuple[str, ...]
    scalable: bool
    parts: Callable[[str, int, int], tuple[Part, ...]]
    functions: Callable[[str], Mapping[str, Function]]

    def loops(self, operation: str, sources: int, outputs: int) -> list[tuple[float, CompiledLoop]]:
        """Return the loops that run, with weights. Raises BuildError, Unavailable."""
        return [(part.weight, self._loop(part)) for part in self.parts(operation, sources, outputs)]

    def _loop(self, part: Part) -> CompiledLoop:
        function = self.functions(part.file)[part.symbol]
        lookups, loop, around = heaviest(function, part.sources > 0, True)
        read = lookups * 16 // (_PRODUCT[self.arch] * part.outputs)
        return executed(function, loop, around, read, self.scalable, 1, part.sources)


@lru_cache(maxsize=1)
def _isal() -> Path:
    try:
        found: Path = isal_sources.sources()
    except isal_sources.Unavailable as error:
        raise BuildError(str(error).splitlines()[0]) from error
    return found


def _isal_functions(arch: Arch, *more: str) -> Callable[[str], Mapping[str, Function]]:
    @lru_cache(maxsize=32)
    def found(file: str) -> Mapping[str, Function]:
        root = _isal()
        options = [
            f"-I{root / 'include'}",
            f"-I{root / 'erasure_code'}",
            "-w",
            *_OPTIONS.get(arch, ()),
            *more,
        ]
        text = disassembly(TARGETS[arch], root / "erasure_code" / file, options)
        return functions(text, TARGETS[arch])

    return found


#: POWER: the branch of ISA-L's header for GCC 8 and later; without it every index is inverted.
_OPTIONS = {Arch.POWER: ("-fgnuc-version=8.0.0",), Arch.RISCV: ("-DHAVE_RVV=1", "-march=rv64gcv")}


def _assembler(folder: str, suffix: str) -> Callable[[str, int, int], tuple[Part, ...]]:
    """Return the parts if one function serves all outputs, with one file for each number of outputs."""

    def parts(operation: str, sources: int, outputs: int) -> tuple[Part, ...]:
        name = f"gf_{outputs}vect_{'dot_prod' if operation == 'dot' else 'mad'}_{suffix}"
        inner = sources if operation == "dot" else 0
        return (Part(name, f"{folder}/{name}.S", outputs, sources=inner),)

    return parts


def _sve(suffix: str) -> Callable[[str, int, int], tuple[Part, ...]]:
    def parts(operation: str, sources: int, outputs: int) -> tuple[Part, ...]:
        if operation == "mad":
            return _assembler("aarch64", "sve")(operation, sources, outputs)
        name = f"gf_{outputs}vect_dot_prod_{suffix}"
        return (Part(name, "aarch64/gf_nvect_dot_prod_sve.c", outputs, sources=sources),)

    return parts


def _vsx(operation: str, sources: int, outputs: int) -> tuple[Part, ...]:
    """Return the parts of a dot product. For fewer than 128 sources it multiplies the first source, output by
    output, and adds the others with mad, one at a time."""
    mad = f"gf_{outputs}vect_mad_vsx"
    if operation == "mad":
        return (Part(mad, f"ppc64le/{mad}.c", outputs),)
    return (
        Part("gf_vect_mul_vsx", "ppc64le/gf_vect_mul_vsx.c", 1, weight=outputs / sources),
        Part(mad, f"ppc64le/{mad}.c", outputs, weight=(sources - 1) / sources),
    )


def _klauspost(kind: str) -> Callable[[str, int, int], tuple[Part, ...]]:
    """Return the parts: ten sources in one iteration, for 4 outputs; other shapes take several calls."""

    def parts(operation: str, sources: int, outputs: int) -> tuple[Part, ...]:
        if (operation, sources, outputs) != ("dot", 10, 4):
            return ()
        return (Part(f"github.com/klauspost/reedsolomon.mul{kind}_10x4.abi0", "", outputs),)

    return parts


@lru_cache(maxsize=1)
def _go_functions(_: str) -> Mapping[str, Function]:
    """Disassemble a program for Linux on Arm that Go's linker makes."""
    folder, program = BUILD / "klauspost_arm64", BUILD / "klauspost_arm64" / "program"
    shutil.copytree(HERE / "peers" / "klauspost_arm64", folder, dirs_exist_ok=True)
    command = (
        "env",
        "GOOS=linux",
        "GOARCH=arm64",
        "CGO_ENABLED=0",
        "go",
        "build",
        "-trimpath",
        "-o",
        program,
        ".",
    )
    run_command(command, "Go 1.24 or newer builds klauspost/reedsolomon", folder)
    target = TARGETS[Arch.AARCH64]
    wanted = ",".join(
        f"github.com/klauspost/reedsolomon.mul{kind}_10x4.abi0" for kind in ("Neon", "Neon", "Sve")
    )
    text = listing(target, program, [f"--disassemble-symbols={wanted}"])
    return functions(text, target)


def _go(kind: str, flags: tuple[str, ...], scalable: bool) -> Peer:
    name = f"{_KLAUSPOST} {kind.upper()}"
    return Peer(name, Arch.AARCH64, flags, scalable, _klauspost(kind), _go_functions)


_ARM = _isal_functions(Arch.AARCH64)

PEERS: tuple[Peer, ...] = (
    Peer(f"{_ISAL} neon", Arch.AARCH64, ("ASIMD",), False, _assembler("aarch64", "neon"), _ARM),
    Peer(f"{_ISAL} sve", Arch.AARCH64, ("SVE",), True, _sve("sve"), _ARM),
    Peer(f"{_ISAL} sve2", Arch.AARCH64, ("SVE", "SVE2"), True, _sve("sve2"), _ARM),
    _go("Neon", ("ASIMD",), False),
    _go("Sve", ("SVE",), True),
    Peer(f"{_ISAL} vsx", Arch.POWER, ("VSX207",), False, _vsx, _isal_functions(Arch.POWER)),
    Peer(
        f"{_ISAL} vsx, -mcpu=pwr9",
        Arch.POWER,
        ("VSX207",),
        False,
        _vsx,
        _isal_functions(Arch.POWER, "-mcpu=pwr9"),
    ),
    Peer(f"{_ISAL} rvv", Arch.RISCV, (), True, _assembler("riscv64", "rvv"), _isal_functions(Arch.RISCV)),
)
