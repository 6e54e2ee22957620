"""The main loop of a kernel in C, as a compiler emits it.

clang compiles the kernel's source for its architecture with -O2 and no other option: the source itself
enables its instruction set. The loop is found by control flow (`assembly`). The work of an iteration is the
number of its lookups or, if it has none, of its vector loads: the same number as in the Program, or a
multiple if the compiler unrolled.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gfsmith.build import generate
from gfsmith.emit import lists
from gfsmith.explore.cost_model.assembly import Function, Line, Loop, functions
from gfsmith.explore.cost_model.loop import LABEL, repeated, source_vectors
from gfsmith.explore.cost_model.target import Target, target_of
from gfsmith.explore.cost_model.tools import COMPILER, DISASSEMBLER, Unavailable, run
from gfsmith.ir import Op, Program
from gfsmith.kernel.spec import KernelSpec

SOURCES = 10  #: sources of kernels that take any number
_LOOKUPS = (Op.LOOKUP, Op.LOOKUP_LOW, Op.LOOKUP2)
_FRAME = ("[sp", "(sp)", "(1)", "%r15)")  #: the compiler's own values, on the stack
_OPTIONS = ("-O2", "-std=gnu11")


@dataclass(frozen=True, slots=True)
class CompiledLoop:
    """The instructions of an iteration, or for a kernel that is rolled over its sources, the instructions for
    `sources` sources and around them. source_bytes: bytes of all sources read by these instructions, with
    16-byte vectors if vectors are scalable. setting: comments that tell llvm-mca the vector configuration
    before the loop.
    """

    target: Target
    lines: tuple[Line, ...]
    source_bytes: int
    scalable: bool
    sources: int = 0
    setting: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.lines)

    @property
    def text(self) -> str:
        rows = [*self.setting, f"{LABEL}:", *(line.at(LABEL) for line in self.lines)]
        return "\n".join([*rows, ""])

    def bytes_on(self, cpu: str) -> int:
        return self.source_bytes * self.target.lanes(cpu) // 16 if self.scalable else self.source_bytes


def disassembled(target: Target, files: Mapping[str, str], source: str, options: Sequence[str] = ()) -> str:
    """Return the llvm-objdump listing of one of `files`, compiled or assembled. Raises Unavailable."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return disassembly(target, Path(folder) / source, [f"-I{folder}", *options])


def disassembly(target: Target, source: Path, options: Sequence[str] = ()) -> str:
    """Return the llvm-objdump listing of a source in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [f"--target={target.triple}", *_OPTIONS, *target.flags, *options]
        done = run(COMPILER, [*flags, "-c", source, "-o", "kernel.o"], folder=Path(folder))
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error:" in line] or ["failed"]
            raise Unavailable(f"{COMPILER}, {target.triple}: {errors[0].partition('error:')[2].strip()}")
        return listing(target, Path(folder) / "kernel.o")


def listing(target: Target, binary: Path, options: Sequence[str] = ()) -> str:
    """Return the llvm-objdump listing of an object or a program."""
    attributes = [f"--mattr={target.attributes}"] if target.attributes else []
    return run(DISASSEMBLER, ["-d", "--no-show-raw-insn", *attributes, *options, binary]).stdout


@lru_cache(maxsize=256)
def function_of(spec: KernelSpec) -> Function:
    """Return the compiled kernel of a spec. Raises Unavailable if there is no compiler for it."""
    target = target_of(spec.isa.arch, spec.symbol)
    kernel = generate.generate_one(spec)
    files = {**lists.build([spec]), kernel.path: kernel.text}
    return functions(disassembled(target, files, kernel.path), target)[spec.symbol]


def work(target: Target, lines: Sequence[Line], lookups: bool) -> int:
    """Return the number of lookups among some instructions, or of the vectors that they load."""
    if lookups:
        return sum(line.name in target.lookups for line in lines)
    own = [line for line in lines if not any(frame in line.operands for frame in _FRAME)]
    return sum(target.loads.get(line.name, 0) for line in own if _vector(line))


def _vector(line: Line) -> bool:
    """Return whether a load is a vector load: AArch64's mnemonics serve general registers too."""
    first = line.operands.split(",")[0].strip("{} ")
    return not line.name.startswith("ld") or first[:1] in "qzv"


def loop_of(spec: KernelSpec) -> CompiledLoop:
    """Return the main loop of a kernel in C. Raises Unavailable."""
    return main_loop(function_of(spec), spec, generate.program(spec))


def main_loop(function: Function, spec: KernelSpec, program: Program) -> CompiledLoop:
    """Return the loop of a compiled kernel that does most of the work of the Program's main loop.

    Raises Unavailable if there is none, or if its work differs.
    """
    first = program.loops[0]
    wanted = repeated(program)
    lookups = any(i.op in _LOOKUPS for i in wanted)
    expected = sum(i.op in (_LOOKUPS if lookups else (Op.LOAD,)) for i in wanted)
    done, loop, around = heaviest(function, first.rolled, lookups)
    if done % expected:
        what = "lookups" if lookups else "loads"
        raise Unavailable(f"{COMPILER}'s main loop has {done} {what} and the Program's {expected}")
    turns = done // expected
    sources = spec.inputs or SOURCES
    read = source_vectors(wanted) * program.lanes * turns
    return executed(function, loop, around, read, spec.isa.scalable, first.group * turns, sources)


def heaviest(function: Function, nested: bool, lookups: bool) -> tuple[int, Loop, Loop | None]:
    """Return the highest number of lookups (or vector loads) per iteration of an innermost loop, that loop,
    and for a `nested` loop the loop around it. Of several loops the first. Raises Unavailable without any."""
    found: tuple[int, Loop, Loop | None] | None = None
    for loop, around in function.every_loop():
        if loop.inner or (nested and around is None):
            continue
        done = work(function.target, loop.turn(), lookups)
        if done > (found[0] if found else 0):
            found = done, loop, around if nested else None
    if found is None:
        raise Unavailable("no loop does the work of the kernel's main loop")
    return found


def executed(
    function: Function, loop: Loop, around: Loop | None, read: int, scalable: bool, group: int, sources: int
) -> CompiledLoop:
    """Return the instructions of an iteration of a loop or, if it has an outer loop, of an iteration of the
    outer loop for about that many sources.

    read: bytes of sources in an iteration of the loop, of `group` sources.
    """
    if around is None:
        return CompiledLoop(
            function.target, loop.turn(), read, scalable, setting=_setting(function, loop.entry)
        )
    times = max(1, sources // group)
    lines, setting = around.turn(loop, times), _setting(function, around.entry)
    return CompiledLoop(function.target, lines, read * times, scalable, group * times, setting)


def _setting(function: Function, entry: int) -> tuple[str, ...]:
    """Return the vector configuration of RISC-V for llvm-mca: the last `vsetvli` before a loop sets the
    widths of vector elements and groups. llvm-mca follows the `vsetvli` in its input, and before the first it
    assumes the widest configuration."""
    for line in reversed(function.lines[:entry]):
        if found := re.search(r"\be(\d+), (mf?\d)\b", line.operands if line.name.startswith("vset") else ""):
            return f"# LLVM-MCA-RISCV-LMUL {found[2].upper()}", f"# LLVM-MCA-RISCV-SEW E{found[1]}"
    return ()
