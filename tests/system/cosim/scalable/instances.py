"""Random instances of the forms of SVE, as assembly text."""

from __future__ import annotations

import re
from random import Random

from tests.system.cosim.scalar64.instances import BASE, INDEX, LIMIT

ASSEMBLER = ("clang-19", "--target=aarch64-linux-gnu", "-march=armv8.5-a+sve2", "-c")
_TOKEN = re.compile(r"\[[^\]]*\]|mul #|\S+")
#: Bytes that and and eor accept: a rotated run of ones, repeated.
_MASKS = (0x01, 0x0F, 0x1E, 0x33, 0x55, 0x7F, 0x80, 0xAA, 0xC3, 0xF0, 0xFE)
_LISTED = ("ld1b", "st1b", "tbl")  #: these name one vector in braces


class _Writer:
    """The text of one instance for vectors of `vector` bytes."""

    def __init__(self, form: str, rng: Random, vector: int) -> None:
        self.rng, self.vector = rng, vector
        self.mnemonic, _, text = form.partition(" ")
        self.shapes = _TOKEN.findall(text)

    def text(self) -> str:
        if self.mnemonic == "movprfx":  # the assembler refuses it without the instruction that must follow
            return f".inst {0x0420BC00 | self.rng.randrange(1 << 10):#x}"
        operands = [self._operand(number, shape) for number, shape in enumerate(self.shapes)]
        if self.mnemonic in _LISTED:
            listed = self.mnemonic == "tbl"
            operands[listed] = f"{{{operands[listed]}}}"
        if self.mnemonic == "eor3" or (self.mnemonic in ("and", "eor") and self.shapes[-1] == "#"):
            operands[1] = operands[0]
        return f"{self.mnemonic} {', '.join(operands)}"

    def _operand(self, number: int, shape: str) -> str:
        rng = self.rng
        if shape.startswith("z"):
            return f"z{rng.choice((rng.randrange(32), rng.randrange(3)))}{shape[1:]}"
        if shape.startswith("p"):
            return f"p{rng.randrange(16 if shape == 'p.b' else 8)}{shape[1:]}"
        if shape.startswith("["):
            return self._place(shape)
        if shape == "x":
            return self._general(number)
        return shape.replace("#", f"#{self._number()}")

    def _general(self, number: int) -> str:
        rng = self.rng
        if self.mnemonic == "whilelo":
            small = (f"x{INDEX}", f"x{LIMIT}")
            return rng.choice(("xzr", *small) if number == 1 else (*small, small[1], f"x{rng.randrange(19)}"))
        if self.mnemonic == "addvl" and not rng.randrange(6):
            return "sp"
        return f"x{rng.randrange(19)}"

    def _place(self, shape: str) -> str:
        base = "sp" if self.mnemonic in ("ldr", "str") and self.rng.randrange(2) else f"x{BASE}"
        if shape == "[x x]":
            return f"[{base}, x{INDEX}]"
        if shape == "[x]":
            return f"[{base}]"
        reach = min(128 // self.vector, 7)
        by = self.rng.choice([-1, *(n for n in range(-reach, reach + 1) if n)])
        return f"[{base}, #{by}, mul vl]"

    def _number(self) -> int:
        rng = self.rng
        match self.mnemonic:
            case "rdvl" | "addvl":
                return rng.randrange(-32, 32)
            case "and" | "eor":
                return rng.choice(_MASKS)
            case "lsl":
                return rng.randrange(8)
            case "mov":
                return rng.randrange(-128, 256)
        return rng.randrange(1, 9) if self.mnemonic in ("lsr", "asr") else rng.randrange(2, 17)


def write(form: str, rng: Random, vector: int) -> str:
    """Return the text of a random instance whose accesses are within reach."""
    return _Writer(form, rng, vector).text()
