"""The code of a routine under construction, and folding.

A message (H x^64 + L) x^D + rest, with H and L of 64 bits, has modulo P the remainder of

    H (x^(D+64) mod P) + L (x^D mod P) + rest,

two carry-less multiplications by constants (V. Gopal et al., "Fast CRC computation for generic polynomials
using PCLMULQDQ instruction", Intel, 2009). So the first of two parts of a message disappears into the second.
"""

from __future__ import annotations

from gfsmith.ir.folding import GROUP, WORD, Act, Instr, Value

#: Sets with a carry-less multiplication -> bytes of a vector, widest first.
WIDTHS = {
    "vpclmulqdq_avx512": 64,
    "vpclmulqdq_avx2": 32,
    "pclmulqdq": 16,
    "pmull": 16,
    "vpmsumd": 16,
    "zbc": 16,
}

#: Sets whose multiplication adds the products of both words of a group.
_SUMMED = ("vpmsumd",)


class Code:
    """Instructions under construction. `at` is the section that receives them."""

    def __init__(self, reflected: bool, width: int = 0, summed: bool = False) -> None:
        self.reflected, self.width, self.summed = reflected, width, summed
        self.at: list[Instr] = []
        self._next = 0

    @classmethod
    def of(cls, set_: str, reflected: bool) -> Code:
        """Return the code of a set on whole vectors."""
        return cls(reflected, WIDTHS[set_], set_ in _SUMMED)

    def section(self) -> list[Instr]:
        self.at = []
        return self.at

    def add(self, act: Act, *args: Value, text: str = "", offset: int = 0, width: int = 0) -> Value:
        self._next += 1
        self.at.append(Instr(act, self._next, args, text, offset, width or self.width))
        return self._next

    def load(self, array: str, offset: int, copied: bool = False, width: int = 0) -> Value:
        """Return bytes with the bits of each group in the order of carry-less multiplications."""
        value = self.add(Act.LOAD, text=array, offset=offset, width=width)
        if copied:
            self.at.append(Instr(Act.STREAM, None, (value,), "copy", offset, self.width))
        return value if self.reflected else self.add(Act.REVERSE, value, width=width)

    def store(self, value: Value, offset: int, width: int = 0) -> None:
        if not self.reflected:
            value = self.add(Act.REVERSE, value, width=width)
        self.at.append(Instr(Act.STORE, None, (value,), "message", offset, width or self.width))

    def started(self, value: Value, width: int) -> Value:
        """Return a vector with the register before added to its first bytes."""
        start = self.add(Act.START, offset=0 if self.reflected else 1, width=width)
        return self.add(Act.XOR, value, start, width=width)

    def constants(self, distance: int, width: int = 0) -> Value:
        return self.add(Act.CONSTANTS, offset=distance, width=width)

    def extract(self, value: Value, word: int) -> Value:
        return self.add(Act.EXTRACT, value, offset=word, width=WORD)

    def shift(self, register: Value, bits: int) -> Value:
        return self.add(Act.SHIFT, register, offset=bits, width=WORD)

    def fold(self, value: Value, constants: Value, onto: Value, width: int = 0) -> Value:
        if self.summed:
            products = [self.add(Act.CLMUL_SUM, value, constants, width=width)]
        else:
            products = [self.add(Act.CLMUL, value, constants, offset=word, width=width) for word in (0, 1)]
        return self.add(Act.XOR, onto, *products, width=width)

    def after_first(self, group: Value) -> Value:
        """Return a group onto which the first group is folded."""
        constants = self.constants(GROUP, GROUP)
        if self.summed:
            words = [
                self.add(Act.FIRST, text=word, offset=n, width=GROUP)
                for n, word in enumerate(("low", "high"))
            ]
            return self.fold(self.add(Act.XOR, *words, width=GROUP), constants, group, GROUP)
        low, high = (self.add(Act.FIRST, text=word, width=GROUP) for word in ("low", "high"))
        products = [
            self.add(act, word, constants, width=GROUP) for act, word in ((Act.CLMUL, low), (Act.CROSS, high))
        ]
        return self.add(Act.XOR, group, *products, width=GROUP)
