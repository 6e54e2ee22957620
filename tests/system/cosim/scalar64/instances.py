"""Random instances of instruction forms, as assembly text."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

ASSEMBLER = ("clang-19", "--target=aarch64-linux-gnu", "-march=armv8.5-a+sha3+aes", "-c")
_TOKEN = re.compile(r"\[[^\]]*\](?:!|, #)?|\S+(?: (?:lsl|lsr|asr|uxtw))?")
_BYTES = {"x": 8, "w": 4, "q": 16, "d": 8, "s": 4, "h": 2, "b": 1}
_CONDITIONS = ("eq", "ne", "hs", "lo", "mi", "pl", "hi", "ls", "ge", "lt", "gt", "le")
_LISTED = ("ld1", "st1", "ld1r", "tbl")
_WITH_STACK_POINTER = re.compile(r"(add|sub)s? .*(#|uxtw)|cm[np] . (#|. uxtw)")

BASE, INDEX = 20, 21  #: the registers that address memory
LIMIT = 22  #: a register with a small number


@dataclass(frozen=True, slots=True)
class Instance:
    """One instruction: its form, its text and its encoding, with nops up to the size of a slot."""

    form: str
    text: str
    encoded: bytes


def shapes(form: str) -> list[str]:
    return _TOKEN.findall(form.partition(" ")[2])


class _Writer:
    """The text of one instance."""

    def __init__(self, form: str, rng: Random) -> None:
        self.form, self.rng = form, rng
        self.mnemonic = form.partition(" ")[0]
        self.shapes = shapes(form)
        self.next = rng.randrange(32)

    def text(self) -> str:
        operands = [self._operand(number, shape) for number, shape in enumerate(self.shapes)]
        if self.mnemonic in ("csel", "csinc", "cinc", "cset"):
            operands.append(self.rng.choice(_CONDITIONS))
        if self.mnemonic == "prfm":
            operands.insert(0, "pldl1keep")
        listed = self._listed(operands)
        if self.mnemonic == "bti":
            return "bti c"
        return f"{self.mnemonic} {', '.join(listed)}"

    def _listed(self, operands: list[str]) -> list[str]:
        """Put braces around the registers that a structure instruction or tbl lists."""
        if self.mnemonic == "tbl":
            return [operands[0], f"{{{operands[1]}}}", operands[2]]
        if self.mnemonic in _LISTED:
            registers = ", ".join(operands[:-1])
            if "[" in registers:
                name, lane = registers[:-1].split("[")
                return [f"{{{name}}}[{lane}]", operands[-1]]
            return [f"{{{registers}}}", operands[-1]]
        return operands

    def _general(self, kind: str) -> str:
        zero = not _WITH_STACK_POINTER.match(self.form) and "#" not in self.form
        if zero and not self.rng.randrange(12):
            return f"{kind}zr"
        return f"{kind}{self.rng.choice((self.rng.randrange(19), self.rng.randrange(4)))}"

    def _vector(self, shape: str) -> str:
        if self.mnemonic in ("ld1", "st1"):  # consecutive registers
            self.next = (self.next + 1) % 32
            number = self.next
        else:
            number = self.rng.choice((self.rng.randrange(32), self.rng.randrange(3)))
        if shape.endswith("[]"):
            lane = 1 if self.mnemonic == "fmov" else self.rng.randrange(16 // _BYTES[shape[0]])
            return f"v{number}.{shape[0]}[{lane}]"
        return f"v{number}.{shape}"

    def _operand(self, number: int, shape: str) -> str:
        rng = self.rng
        if shape.startswith("["):
            return self._place(shape)
        if shape == "#":
            return self._immediate(number)
        if self.mnemonic == "ldp":  # into two different registers
            self.next = (self.next + 1 + rng.randrange(7)) % 16
            return f"{shape}{self.next}"
        if shape in ("x", "w"):
            return self._general(shape)
        if shape in _BYTES:
            return f"{shape}{rng.randrange(32)}"
        if " " in shape:
            kind, how = shape.split()
            most = 5 if how == "uxtw" else 64 if kind == "x" else 32
            return f"{self._general(kind)}, {how} #{rng.randrange(how != 'uxtw', most)}"
        return self._vector(shape)

    def _size(self) -> int:
        """Return the bytes of one access."""
        if self.mnemonic[-1] in "bh" and self.mnemonic not in ("ldurb",):
            return _BYTES[self.mnemonic[-1]]
        first = self.shapes[0]
        return _BYTES.get(first, 8)

    def _place(self, shape: str) -> str:
        rng, size = self.rng, self._size()
        if "x]" in shape[2:] or "lsl" in shape or "uxtw" in shape:
            index = f"{'w' if 'uxtw' in shape else 'x'}{INDEX}"
            scale = size.bit_length() - 1
            how = {"lsl": f", lsl #{scale}", "uxtw": rng.choice((", uxtw", f", uxtw #{scale}"))}
            return f"[x{BASE}, {index}{next((how[word] for word in how if word in shape), '')}]"
        base = rng.choice((f"x{BASE}", "sp")) if shape == "[x]" else f"x{BASE}"
        if self.mnemonic in _LISTED:
            return f"[{base}]" + (f", #{self._listed_bytes()}" if shape.endswith("#") else "")
        if self.mnemonic.endswith("p") or (shape == "[x]" and "u" not in self.mnemonic):
            lowest = -4 if self.mnemonic.endswith("p") else 0
            offset = size * rng.randrange(lowest, 4)
        else:
            offset = rng.randrange(-64, 64)
        moved = offset or size
        return {"[x]": f"[{base}, #{offset}]", "[x]!": f"[{base}, #{moved}]!"}.get(
            shape, f"[{base}], #{moved}"
        )

    def _listed_bytes(self) -> int:
        registers = self.shapes[:-1]
        return sum(_BYTES[s[0]] if s.endswith("[]") else 16 for s in registers)

    def _immediate(self, number: int) -> str:
        rng, wide = self.rng, self.shapes[0] == "x"
        bits = 64 if wide else 32
        match self.mnemonic:
            case "and" | "ands" | "tst" | "orr" | "eor":
                return f"#{_bit_mask(rng, bits):#x}"
            case "lsl" | "lsr" | "extr":
                return f"#{rng.randrange(1, bits)}"
            case "ubfx" | "ubfiz" | "bfi":
                return self._field(number, bits)
            case "movk":
                return f"#{rng.randrange(1 << 16)}, lsl #{16 * rng.randrange(bits // 16)}"
            case "mov":
                return f"#{rng.choice((rng.randrange(1 << 16), -rng.randrange(1, 1 << 16)))}"
            case "movi":
                return self._element()
            case "ushr":
                element = 8 * _BYTES[self.shapes[0][-1]]
                return f"#{rng.randrange(1, element + 1)}"
            case "shl":
                return f"#{rng.randrange(8)}"
            case "cmlt":
                return "#0"
            case "ext":
                return f"#{rng.randrange(int(self.shapes[0][:-1]))}"
            case "adr" | "adrp":
                return f".{rng.randrange(-64, 64) * (1024 if self.mnemonic == 'adrp' else 1) * 4:+d}"
        return f"#{rng.randrange(1 << 12)}" + rng.choice(("", ", lsl #12"))

    def _field(self, number: int, bits: int) -> str:
        if number == 2:
            self.at = self.rng.randrange(1, bits - 1)
            return f"#{self.at}"
        return f"#{self.rng.randrange(1, bits - self.at)}"

    def _element(self) -> str:
        shape = self.shapes[0]
        if shape in ("2d", "d"):
            return f"#{sum(0xFF << 8 * n for n in range(8) if self.rng.getrandbits(1)):#x}"
        return f"#{self.rng.randrange(256)}"


def _bit_mask(rng: Random, bits: int) -> int:
    """Return a rotated run of ones, the immediate of a logical instruction."""
    ones = (1 << rng.randrange(1, bits)) - 1
    turn = rng.choice((0, rng.randrange(bits)))
    return (ones << turn | ones >> bits - turn) & (1 << bits) - 1


def assemble(
    lines: Sequence[tuple[str, str]], folder: Path, assembler: Sequence[str] = ASSEMBLER, slot: int = 4
) -> list[Instance]:
    """Assemble instances of (form, text). slot: bytes of each one with the nops after it."""
    source, found = folder / "instances.s", folder / "instances.o"
    source.write_text("".join(f"{text}\n.balign {slot}\n" for _, text in lines))
    subprocess.run([*assembler, "-o", str(found), str(source)], check=True)
    raw = folder / "instances.bin"
    subprocess.run(["llvm-objcopy-19", "-O", "binary", "-j", ".text", str(found), str(raw)], check=True)
    code = raw.read_bytes()
    assert len(code) == slot * len(lines)
    slots = (code[at : at + slot] for at in range(0, len(code), slot))
    return [Instance(form, text, encoded) for (form, text), encoded in zip(lines, slots, strict=True)]


def write(form: str, rng: Random) -> str:
    """Return the text of a random instance."""
    return _Writer(form, rng).text()
