"""The specified result of a kernel, and the CPU features of its instruction set.

The description of a kernel is plain data. Operation, number of sources and outputs, and instruction set must
also agree with the kernel's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from judge.forms import ZERO, Atom, Body, body, ended, multiply, variable, xor
from judge.integers import Linear, Rejected, Word, add, divide, require, scale, subtract, unknown

POINTER = 8
#: Instruction set -> features that its kernels may use (Intel SDM, volume 1, 13.2, 14.3 and 15.2).
_SSE = frozenset({"SSE3", "SSSE3"})
_AVX512 = _SSE | {"AVX", "AVX2", "AVX512F", "AVX512BW", "AVX512VL", "BMI2"}
FEATURES = {
    "sse": _SSE,
    "gfni_sse": _SSE | {"GFNI"},
    "avx2": _SSE | {"AVX", "AVX2"},
    "gfni_avx2": _SSE | {"AVX", "AVX2", "GFNI"},
    "avx512": _AVX512,
    "gfni_avx512": _AVX512 | {"GFNI"},
}
#: Format of table entries -> bytes of an entry, and its parts: name, first byte, bytes, bits of the index.
FORMATS: dict[str, tuple[int, tuple[tuple[str, int, int, int], ...]]] = {
    "nibble": (32, (("low", 0, 16, 0x0F), ("high", 16, 16, 0xF0))),
    "affine": (8, (("matrix", 0, 8, 0xFF),)),
    "mulb": (8, (("product", 0, 8, 0xFF),)),
    "none": (0, ()),
}
_NAME = re.compile(
    r"\w+?_(dot|mad|mul|xor|horner)_(n|[0-9]+)x([0-9]+)(?:_[a-z0-9_]+?)?__((?:gfni_)?(?:sse|avx2|avx512))_[a-z0-9_]+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """operation: dot, mad, mul, xor or horner. inputs: sources, None for any number k. rows: the known
    coefficients, None if a table holds them. in_place: a destination may be a source (mul: the one of its
    number). group: k is group * g + left_over. ahead: further pointers per source, for prefetches only."""

    symbol: str
    operation: str
    inputs: int | None
    outputs: int
    table: str
    rows: tuple[tuple[int, ...], ...] | None
    polynomial: int
    in_place: bool
    group: int
    ahead: int
    left_over: int = 0
    memory: dict[tuple[Word, Word], Body] = field(default_factory=dict)

    @property
    def features(self) -> frozenset[str]:
        return FEATURES[self._name()[3]]

    def _name(self) -> tuple[str, str, str, str]:
        found = _NAME.fullmatch(self.symbol)
        if found is None:
            raise Rejected(f"{self.symbol} is no name of a kernel")
        return found[1], found[2], found[3], found[4]

    def check(self) -> None:
        """Raise Rejected unless the description fits the kernel's name and itself."""
        operation, inputs, outputs, _ = self._name()
        named = operation, None if inputs == "n" else int(inputs), int(outputs)
        shape = [self.inputs] * self.outputs
        require(named == (self.operation, self.inputs, self.outputs), "its name states another kernel")
        require(self.table in FORMATS, "an unknown table format")
        require(self.operation not in ("mul", "xor") or self.outputs == 1, "mul and xor have one output")
        require(self.rows is None or [len(row) for row in self.rows] == shape, "a matrix of another shape")
        require(self.table != "mulb" or self.polynomial == 0x11B, "gf2p8mulb multiplies modulo 0x11b")
        require(0 <= self.left_over < self.group and self.ahead >= 0, "a wrong group")

    @property
    def sources(self) -> Word:
        if self.inputs is not None:
            return self.inputs
        return add(scale(self.groups, self.group), self.left_over)

    @property
    def groups(self) -> Linear:
        """The number of whole groups of sources, if the number of sources is not fixed."""
        return unknown("k" if self.group == 1 else "g")

    @property
    def per_shard(self) -> bool:
        return self.operation == "mul"

    def place(self, offset: Word) -> tuple[Word, int, int]:
        """Return source, output and byte within the entry for a place in the table."""
        entry = FORMATS[self.table][0]
        if not entry:
            raise Rejected("there is no coefficient table")
        constant = offset if isinstance(offset, int) else offset.constant
        source, rest = divmod(constant, entry * self.outputs)
        varying = divide(subtract(offset, constant), entry * self.outputs)
        return add(varying, source), *divmod(rest, entry)

    def product(self, output: Word, source: Word) -> Body:
        """Return c[output][source] * src[source]."""
        if self.operation in ("xor", "horner"):
            return variable("src", source)
        if self.rows is not None:
            if not isinstance(output, int) or not isinstance(source, int):
                raise Rejected("a known coefficient of an unknown source")
            return multiply(times(self.rows[output][source], self.polynomial), variable("src", source))
        parts = FORMATS[self.table][1]
        kept = {name: sum(1 << 9 * n for n in range(8) if bits >> n & 1) for name, _, _, bits in parts}
        if self.table == "nibble":
            kept["high"] >>= 32  # the index of the high half is bits 4 to 7
        return body(0, {Atom(name, source, output, "src", source): kept[name] for name in kept})

    def carried(self, total: Body, output: Word, count: int) -> Body:
        """Return a sum before it gains `count` sources: Horner's rule multiplies it by 2^output for each."""
        if self.operation == "horner":
            if not isinstance(output, int) or not 0 <= output < 8:
                raise Rejected("a sum of an unknown output")
            for _ in range(count if output else 0):
                total = multiply(times(1 << output, self.polynomial), total)
        return total

    def gained(self, total: Body, output: Word, first: Word, count: int) -> Body:
        """Return a sum of the sources before `first` after it gained `count` more."""
        for number in range(count):
            total = xor(self.carried(total, output, 1), self.product(output, add(first, number)))
        return total

    def total(self, output: Word, count: Word) -> Body:
        """Return the sum of the first `count` sources. Of an unknown number, whole groups are one unknown."""
        found = self.memory.get((output, count))
        if found is None:
            rest = count if isinstance(count, int) else 0
            before: Body = ZERO
            whole: Word = 0
            if isinstance(count, Linear):
                rest = count.constant % self.group
                whole = subtract(count, rest)
                divide(whole, self.group)
                before = variable(f"sum {output}", whole)
            found = self.memory[output, count] = self.gained(before, output, whole, rest)
        return found

    def expected(self, output: Word, sources: Word, end: bool = False) -> Body:
        """Return a byte of destination `output`, or of its end and zeros behind it."""
        if self.per_shard:
            found = self.product(0, output)
        else:
            found = self.total(output, sources)
            if self.operation == "mad":
                found = xor(found, variable("dst", output))
        return ended(found) if end else found


@lru_cache(maxsize=4096)
def times(constant: int, polynomial: int) -> int:
    """Return the matrix of x -> constant * x in GF(2)[x] modulo the polynomial."""
    columns, value = [], constant
    for _ in range(8):
        columns.append(value)
        value = value << 1 ^ (polynomial if value & 0x80 else 0)
    return sum((columns[n] >> r & 1) << 8 * r + n for r in range(8) for n in range(8))


def read(data: Any) -> Spec:
    """Return the description of a kernel from plain data. Raises Rejected."""
    names = {f.name for f in fields(Spec)} - {"memory", "left_over"}
    if not isinstance(data, dict) or set(data) != names:
        raise Rejected("the description has other fields than it must have")
    rows = None if data["rows"] is None else tuple(map(tuple, data["rows"]))
    found = Spec(**(data | {"rows": rows}))
    found.check()
    return found
