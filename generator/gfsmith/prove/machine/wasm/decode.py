"""WebAssembly instructions: the mnemonic and the numbers after it, from wasm-objdump's text."""

from __future__ import annotations

import re
from typing import NamedTuple

_TYPED = frozenset({"block", "loop", "if", "select"})
_NUMBER = re.compile(r"-?\d+|0x[0-9a-f]{8}")


class Register(NamedTuple):
    """A local variable or an operand: its number, and its type."""

    number: int
    type: str

    @property
    def name(self) -> str:
        """The name of a register of type i32 or i64."""
        return f"r{self.number}"


class Parsed(NamedTuple):
    """A line of the disassembly. types: of a block's results, or of a select's operands."""

    mnemonic: str
    numbers: tuple[int, ...]
    types: tuple[str, ...]


class Decoded(NamedTuple):
    """An instruction: its form, the registers that it reads in the order of the stack, the register that it
    writes, the numbers in it, and its text."""

    form: str
    operands: tuple[Register, ...]
    result: Register | None
    numbers: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Parsed | None:
    """Return the parts of a line; None if it has parts of other kinds, such as names."""
    mnemonic, *words = text.split()
    if mnemonic in _TYPED:
        return Parsed(mnemonic, (), tuple(words))
    if not all(_NUMBER.fullmatch(word) for word in words):
        return None
    return Parsed(mnemonic, tuple(int(word, 0) for word in words), ())
