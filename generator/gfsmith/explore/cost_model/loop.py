"""The main loop of a kernel as assembler text. A kernel spends almost all of its time there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iced_x86 import Decoder, Formatter, FormatterSyntax, MemorySizeOptions

from gfsmith.emit.x86.asm import Ins, Mark
from gfsmith.emit.x86.encode import Encoded
from gfsmith.explore.cost_model.target import TARGETS, Target
from gfsmith.ir import Instr, Op, Program, Space
from gfsmith.kernel.architecture import Arch

_formatter = Formatter(FormatterSyntax.INTEL)
_formatter.hex_prefix, _formatter.hex_suffix = "0x", ""
_formatter.memory_size_options = MemorySizeOptions.ALWAYS
LABEL = ".Lmodel"  #: label of the modelled loop's beginning


def repeated(program: Program) -> tuple[Instr, ...]:
    """Return the code that the Program's innermost main loop repeats: the first loop, or its part per
    source."""
    first = program.loops[0]
    return first.body if first.rolled else first.head + first.close


@dataclass(frozen=True, slots=True)
class MainLoop:
    """The innermost loop of a kernel's first loop over the bytes: `body[first]` to `body[last]`.

    source_bytes: bytes of all sources that one iteration reads.
    """

    first: int
    last: int
    lines: tuple[Encoded, ...]
    source_bytes: int

    @property
    def instructions(self) -> tuple[Ins, ...]:
        return tuple(item.line for item in self.lines if isinstance(item.line, Ins))

    @property
    def count(self) -> int:
        return len(self.instructions)

    @property
    def target(self) -> Target:
        return TARGETS[Arch.X86_64]

    def bytes_on(self, cpu: str) -> int:
        """Return the bytes, which are the same on every core."""
        return self.source_bytes

    @property
    def text(self) -> str:
        """Return the instructions in the Intel syntax of LLVM's assembler."""
        rows = [".intel_syntax noprefix", f"{LABEL}:"]
        rows += [_assembler(item, item.line) for item in self.lines if isinstance(item.line, Ins)]
        return "\n".join([*rows, ""])


def _assembler(item: Encoded, line: Ins) -> str:
    if line.target is not None:
        return f"{line.name} {LABEL}"
    return _formatter.format(Decoder(64, item.code, ip=item.offset).decode())


def main_loop(body: Sequence[Encoded], vector_bytes: int) -> MainLoop:
    """Return the loop that the first backward jump closes. If the kernel is unrolled over its sources, that
    is the whole iteration; if it is rolled over them, it is the code for one source (or for several at once).

    Raises ValueError if there is none.
    """
    places: dict[str, int] = {}
    for number, item in enumerate(body):
        if isinstance(item.line, Mark):
            places[item.line.label.name] = number
        elif isinstance(item.line, Ins) and item.line.target and item.line.target.name in places:
            first = places[item.line.target.name] + 1
            lines = tuple(body[first : number + 1])
            origins = [i.line.origin for i in lines if isinstance(i.line, Ins) and i.line.origin]
            return MainLoop(first, number, lines, vector_bytes * source_vectors(origins))
    raise ValueError("no loop in the listing")


def source_vectors(code: Iterable[Instr]) -> int:
    """Return the number of source vectors that are read. Each is read by one load or by several folded
    operands."""
    refs = (i.ref for i in code if i.op is not Op.PREFETCH)
    return len({(ref.index, ref.offset) for ref in refs if ref and ref.space is Space.SOURCE})
