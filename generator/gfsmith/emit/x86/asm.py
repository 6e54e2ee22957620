"""x86-64 instructions as data, independent of any encoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gfsmith.ir import Instr

#: Sub-register names of the general registers by width in bytes.
_LEGACY = {"rax": "a", "rbx": "b", "rcx": "c", "rdx": "d"}


def narrow(register: str, width: int) -> str:
    """Return the name of the low `width` bytes (1, 2 or 4) of a 64-bit general register."""
    if register in _LEGACY:
        letter = _LEGACY[register]
        return {1: f"{letter}l", 2: f"{letter}x", 4: f"e{letter}x"}[width]
    if register in ("rsi", "rdi", "rbp"):
        stem = register[1:]
        return {1: f"{stem}l", 2: stem, 4: f"e{stem}"}[width]
    return register + {1: "b", 2: "w", 4: "d"}[width]


@dataclass(frozen=True, slots=True)
class Reg:
    """A register by its name: rax, r10d, xmm3, zmm17, k1."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Mem:
    """`size` bytes at base + index * scale + displacement; broadcast: that many copies of them."""

    base: str
    size: int
    index: str | None = None
    displacement: int = 0
    broadcast: int = 0
    scale: int = 1

    def __str__(self) -> str:
        text = self.base
        if self.index:
            text += f"+{self.index}" if self.scale == 1 else f"+{self.index}*{self.scale}"
        if self.displacement:
            text += f"{self.displacement:+d}"
        suffix = f"{{1to{self.broadcast}}}" if self.broadcast else ""
        return f"[{text}]{suffix}"


@dataclass(frozen=True, slots=True)
class Label:
    """A position in the kernel, the target of a jump."""

    name: str

    def __str__(self) -> str:
        return f".L{self.name}"


Operand = Reg | Mem | Label | int


@dataclass(frozen=True, slots=True)
class Ins:
    """One instruction in Intel operand order. mask: its write mask, if any.

    origin: the instruction of the Program that it implements at least in part; None for loop control.
    """

    name: str
    operands: tuple[Operand, ...] = ()
    mask: str | None = None
    zeroing: bool = False
    origin: Instr | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        words = [str(o) for o in self.operands]
        if self.mask and words:
            words[0] += f"{{{self.mask}}}" + ("{z}" if self.zeroing else "")
        return f"{self.name} {', '.join(words)}".rstrip()

    @property
    def target(self) -> Label | None:
        last = self.operands[-1] if self.operands else None
        return last if isinstance(last, Label) else None


@dataclass(frozen=True, slots=True)
class Mark:
    """The position of a label. align: pad with no-ops to a multiple of this many bytes first."""

    label: Label
    align: int = 1


@dataclass(frozen=True, slots=True)
class Data:
    """Constants between instructions, which are never executed."""

    content: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A comment line of the listing."""

    text: str


@dataclass(frozen=True, slots=True)
class Unwind:
    """An unwind directive, as text for ELF and Mach-O (.cfi_*) and for COFF (.seh_*)."""

    cfi: str = ""
    seh: str = ""


Line = Ins | Mark | Data | Note | Unwind


class Asm:
    """A list of lines, with methods named like an assembler's. origin: the Program's instruction for which
    instructions are added."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.origin: Instr | None = None

    def ins(
        self, name: str, *operands: Operand | str, mask: str | None = None, zeroing: bool = False
    ) -> None:
        """Append an instruction; plain strings are register names."""
        converted = tuple(Reg(o) if isinstance(o, str) else o for o in operands)
        self.lines.append(Ins(name, converted, mask, zeroing, self.origin))

    def mark(self, label: Label, align: int = 1) -> None:
        self.lines.append(Mark(label, align))

    def data(self, content: bytes, text: str) -> None:
        self.lines.append(Data(content, text))

    def note(self, text: str) -> None:
        self.lines.append(Note(text))

    def unwind(self, cfi: str = "", seh: str = "") -> None:
        self.lines.append(Unwind(cfi, seh))

    def instructions(self) -> Iterator[Ins]:
        return (line for line in self.lines if isinstance(line, Ins))
