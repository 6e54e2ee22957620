"""The specified result of a kernel, and the CPU features of its instruction set.

The description of a kernel is plain data. Operation, number of sources and outputs, and instruction set must
also agree with the kernel's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from judge.forms import IDENTITY, ZERO, Body, ended, keeping, look_up, multiply, variable, xor
from judge.integers import Linear, Word, add, divide, parts, require, scale, subtract, unknown

POINTER = 8
LINE_PART = 32  #: bytes of a shard in each line of 64, if shards are in lines
#: The instruction sets of kernels; each has the instructions of those before (semantics.py states them).
LEVELS = ("sse", "avx2", "avx512")
#: Format of table entries -> bytes of an entry, and its parts: name, first byte, bytes, matrix of the index
#: (of the nibble tables: bits 0 to 3, and bits 4 to 7). Of BY_ROWS the entries of an output stand together,
#: of all other formats those of a source.
FORMATS: dict[str, tuple[int, tuple[tuple[str, int, int, int], ...]]] = {
    "nibble": (32, (("low", 0, 16, keeping(0x0F)), ("high", 16, 16, keeping(0xF0) >> 32))),
    "affine": (8, (("matrix", 0, 8, IDENTITY),)),
    "isal": (32, (("matrix", 0, 8, IDENTITY),)),
    "isal_nibble": (32, (("low", 0, 16, keeping(0x0F)), ("high", 16, 16, keeping(0xF0) >> 32))),
    "mulb": (8, (("product", 0, 8, IDENTITY),)),
    "none": (0, ()),
}
BY_ROWS = ("isal", "isal_nibble")
_NAME = re.compile(
    r"\w+?_(dot|mad|mul|xor|horner|(?:i|re)?fft16|i?fft4?|i?fft4(?:lines|scaled))_(n|[0-9]+)x([0-9]+)(_[a-z0-9_]+?)?__((?:gfni_)?(?:sse|avx2|avx512))_[a-z0-9_]+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """operation: dot, mad, mul, xor, horner, or a butterfly of _NAME. inputs: sources, None for any number
    k. rows: the known coefficients, None if a table holds them. in_place: a destination may be a source (mul:
    the one of its number). group: k is group * g + left_over. descending: sums take the sources from the last
    to the first, and the sources are numbered from the end of the array. ahead: further pointers per source,
    for prefetches only.
    """

    symbol: str
    operation: str
    inputs: int | None
    outputs: int
    table: str
    rows: tuple[tuple[int, ...], ...] | None
    polynomial: int
    in_place: bool
    group: int
    descending: bool
    ahead: int
    left_over: int = 0
    memory: dict[tuple[Word, Word], Body] = field(default_factory=dict)

    @property
    def features(self) -> frozenset[str]:
        *more, level = self._name()[4].split("_")
        return frozenset(LEVELS[: LEVELS.index(level) + 1]) | set(more)

    def _name(self) -> tuple[str, str, str, str | None, str]:
        found = _NAME.fullmatch(self.symbol)
        require(found is not None, "{} is no name of a kernel", self.symbol)
        return found.groups()  # type: ignore[union-attr, return-value]

    def check(self) -> None:
        """Raise Rejected unless the description fits the kernel's name and itself."""
        operation, inputs, outputs, code, _ = self._name()
        named = operation, None if inputs == "n" else int(inputs), int(outputs)
        shape = [self.inputs] * self.outputs
        require(named == (self.operation, self.inputs, self.outputs), "its name states another kernel")
        require(self.table in FORMATS, "an unknown table format")
        no_table = code is not None or operation in ("xor", "horner")
        require((self.rows is None) == (code is None), "known coefficients, or none, unlike its name")
        require((self.table == "none") == no_table, "a table of coefficients, or none, unlike its name")
        own = operation in ("mad", "mul") or (self.elements > 1 and not self.in_lines)
        fits = self.in_place == own and (not self.ahead or "_pipe" in self.symbol)
        require(fits, "other promises about its arguments than its name states")
        require(self.operation not in ("mul", "xor") or self.outputs == 1, "mul and xor have one output")
        require(self.rows is None or [len(row) for row in self.rows] == shape, "a matrix of another shape")
        known = {coefficient for row in self.rows or () for coefficient in row}
        require(known <= set(range(256)) and self.polynomial in range(256, 512), "another field")
        require(self.table != "mulb" or self.polynomial == 0x11B, "gf2p8mulb multiplies modulo 0x11b")
        butterfly = self.outputs in (self.elements, 2 * self.elements) and self.inputs == self.outputs
        fits = butterfly and self.rows is None and self.table in ("nibble", "affine")
        require(self.elements == 1 or fits, "a butterfly of another shape or without maps")
        affine = self.table == "affine" and (self.entries == 2 or "scaled" in operation)
        require(not self.changed or affine, "lines of other elements than pairs")
        require(0 <= self.left_over < self.group and self.ahead >= 0, "a wrong group")
        orders = {"horner": (True,), "xor": (True, False)}.get(self.operation, (False,))
        require(self.descending in orders, "a wrong order of the sources")

    @property
    def sources(self) -> Word:
        return add(scale(self.groups, self.group), self.left_over) if self.inputs is None else self.inputs

    @property
    def groups(self) -> Linear:
        """The number of whole groups of sources, if the number of sources is not fixed."""
        return unknown("k" if self.group == 1 else "g")

    @property
    def elements(self) -> int:
        """The number of elements of a butterfly; 1 for other operations."""
        return int(re.sub(r"\D", "", self.operation) or 2) if "fft" in self.operation else 1

    @property
    def changed(self) -> str:
        """The shards of which the elements have another basis, or are multiplied by a matrix each (scaled):
        src, dst or none."""
        return {"i": "src"}.get(self.operation[0], "dst") if re.search("lines|scaled", self.operation) else ""

    @property
    def in_lines(self) -> str:
        """The shards of which the even ones are low halves of lines, the odd ones high halves: src, dst or
        none."""
        return self.changed if self.entries == 2 else ""

    @property
    def entries(self) -> int:
        """The number of entries of a column in the table: of a butterfly one for each plane."""
        return self.outputs // self.elements

    def columns(self, sources: Word) -> Word:
        """Return the entries of an output in the table, if there are `sources` sources."""
        if self.elements > 1:
            more = self.outputs if "scaled" in self.operation else bool(self.in_lines)
            return self.entries * (self.elements - 1) * (1 + (self.operation[0] == "r")) + more
        return unknown("c") if self.table in BY_ROWS and self.operation == "mad" else sources

    def place(self, offset: Word, sources: Word) -> tuple[Word, int, int]:
        """Return source, output and byte within the entry for a place in the table: of the formats by output,
        in the last row that begins there or before. So each name is of one place; a source beyond its row
        would be another name of a place in a later row, but no specified value has this name."""
        entry, row, group = FORMATS[self.table][0], 0, self.entries
        require(entry > 0, "there is no coefficient table")
        if self.table in BY_ROWS:
            rests = [add(offset, self.columns(sources), -entry * n) for n in range(self.outputs)]
            row = max(n for n, rest in enumerate(rests) if n == 0 or min(parts(rest)) >= 0)
            offset, group = rests[row], 1
        constant = offset if isinstance(offset, int) else offset.constant
        source, rest = divmod(constant, entry * group)
        varying = divide(subtract(offset, constant), entry * group)
        return add(varying, source), row + rest // entry, rest % entry

    def product(self, output: Word, source: Word) -> Body:
        """Return c[output][source] * src[source]."""
        if self.operation in ("xor", "horner"):
            return variable("src", source)
        if self.rows is not None:
            require(isinstance(output, int) and isinstance(source, int), "a coefficient of an unknown source")
            return multiply(times(self.rows[output][source], self.polynomial), variable("src", source))  # type: ignore[index]
        return self.mapped(output, source, variable("src", source))

    def mapped(self, output: Word, column: Word, data: Body) -> Body:
        """Return c[output][column] * data, by the table."""
        found = ZERO
        for name, _, _, kept in FORMATS[self.table][1]:
            taken = data if kept == IDENTITY else multiply(kept, data)
            found = xor(found, look_up(name, column, output, taken))
        return found

    def pair(self, found: list[Body], steps: tuple[bool, ...], x: int, y: int, first: int) -> None:
        """Compute in place steps of two elements that begin at the planes x and y: x += C y (True), y += x.
        first: the first column of C."""
        planes = range(self.entries)
        for product in steps:
            for n in planes:
                if not product:
                    found[y + n] = xor(found[y + n], found[x + n])
                for column in planes if product else ():
                    found[x + n] = xor(found[x + n], self.mapped(n, first + column, found[y + column]))

    def change(self, found: list[Body], side: str) -> None:
        """Change the elements of a side, by the columns behind the matrices: a matrix for each element
        (scaled), or low += B high."""
        p = self.entries
        for low in range(0, self.outputs if self.changed == side else 0, p):
            if "scaled" in self.operation:
                both = [*[ZERO] * p, *found[low : low + p]]
                self.pair(both, (True,), 0, p, self.outputs - p + low)
                found[low : low + p] = both[:p]
            else:
                found[low] = xor(found[low], self.mapped(0, self.outputs - 2, found[low + 1]))

    def butterfly(self, output: Word) -> Body:
        """Return a destination of a butterfly of 2^n elements: n layers, whose distances are half of the
        elements, a quarter and so on; of the inverse reversed. In a layer each block of twice the distance
        has a matrix, and the table has the matrices of the first layer, then those of the next ones. refft16
        is an inverse, then a butterfly in which the first matrix of each layer is 0, and its entry unused."""
        require(isinstance(output, int) and 0 <= output < self.outputs, "an unknown output of a butterfly")
        found, p, count = [variable("src", n) for n in range(self.outputs)], self.entries, self.elements
        distances = [count >> n for n in range(1, count.bit_length())]
        self.change(found, "src")
        both = (1, count - 1, 0), (0, 0, 1)  # inverse? the first matrix; is the first one of each layer 0?
        for inverse, base, zeros in {"i": ((1, 0, 0),), "r": both}.get(self.operation[0], ((0, 0, 0),)):
            for distance in distances[::-1] if inverse else distances:
                for x in (n for n in range(count) if not n & distance):
                    first = base + (count + x) // (2 * distance) - 1
                    steps = (False, True) if inverse else (True, False)[zeros and x < distance :]
                    self.pair(found, steps, p * x, p * (x + distance), p * first)
        self.change(found, "dst")
        return found[output]  # type: ignore[index]

    def gained(self, total: Body, output: Word, first: Word, count: int) -> Body:
        """Return a sum of the sources before `first` after it gained `count` more. Horner's rule multiplies
        it by 2^output before each."""
        for number in range(count):
            if self.operation == "horner" and output != 0:
                require(isinstance(output, int) and 0 < output < 8, "a sum of an unknown output")
                total = multiply(times(1 << output, self.polynomial), total)  # type: ignore[operator]
            total = xor(total, self.product(output, add(first, number)))
        return total

    def total(self, output: Word, count: Word) -> Body:
        """Return the sum of the first `count` sources. Of an unknown number, whole groups are one unknown."""
        if (output, count) not in self.memory:
            rest = count if isinstance(count, int) else count.constant % self.group
            whole, before = subtract(count, rest), ZERO
            if isinstance(whole, Linear):
                divide(whole, self.group)
                before = variable(f"sum {output}", whole)
            self.memory[output, count] = self.gained(before, output, whole, rest)
        return self.memory[output, count]

    def expected(self, output: Word, sources: Word, end: bool = False) -> Body:
        """Return a byte of destination `output`, or of its end and zeros behind it."""
        if self.elements > 1:
            found = self.butterfly(output)
        else:
            found = self.product(0, output) if self.operation == "mul" else self.total(output, sources)
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
    require(isinstance(data, dict) and set(data) == names, "the description has other fields")
    rows = None if data["rows"] is None else tuple(map(tuple, data["rows"]))
    found = Spec(**(data | {"rows": rows}))
    found.check()
    return found
