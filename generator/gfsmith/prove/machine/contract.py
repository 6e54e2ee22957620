"""Contract of a function: its parameters, its result, its machine and its ABI."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import gcd
from typing import Literal

from gfsmith.field import POLYNOMIAL, Field
from gfsmith.kernel.isa import Tail
from gfsmith.kernel.operation import ADDITIONS, CHANGED, SCALED, Operation
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.bitmatrix import HIGH_NIBBLE, IDENTITY, LOW_NIBBLE
from gfsmith.prove.machine.domain import Atom, Entry, Form, Piece, Runs, Unsupported
from gfsmith.prove.machine.linear import REST, Linear, Word, add, scale, subtract, symbol

LENGTH, SOURCES, GROUPS, INDEX, START, COLUMNS = "n", "k", "g", "i", "start", "columns"


#: Parameter by name: len, k, coeffs, src, dst; `one_src`, `one_dst` are the shard itself; `low`, `high` the
#: halves of a single coefficient's nibble entry; `start` the offset from the pointers in src[] and dst[] to
#: the shards; `shards` one array of pointers to the sources and then to the destinations; `sources` the
#: number of sources, also if it is fixed; `any` a value of which the contract states nothing; `second_dst`
#: the second of two destinations that are no array; `destinations` their number; `entry` the 8 bytes of a
#: single coefficient's entry, by value; `table_bytes` the size of the table; `public` any number below 2^31
#: that is not secret, so that branches may depend on it; `object` the address of a struct that the prover
#: does not read.
Parameter = Literal[
    "len",
    "k",
    "coeffs",
    "src",
    "dst",
    "one_src",
    "one_dst",
    "index",
    "low",
    "high",
    "start",
    "shards",
    "sources",
    "any",
    "second_dst",
    "destinations",
    "entry",
    "table_bytes",
    "public",
    "object",
]


@dataclass(frozen=True, slots=True)
class Layout:
    """Position of a coefficient's entry in the table.

    format: nibble, permxor, affine, mulb, ones (all coefficients are 1) or none; entry: bytes. Source-major:
    entry (j, i) at (j * outputs + i) * entry. Output-major (ISA-L): at (i * sources + j) * entry, for a known
    number of sources, or for the number in the parameter k (by_rows). period: the entry repeats itself after
    so many bytes (ISA-L keeps four copies of a matrix); 0: it does not. part: each part of so many bytes
    repeats itself, not the whole entry (klauspost/reedsolomon keeps two copies of the low half, then two of
    the high one); 0: the entry is one part.
    """

    format: str
    entry: int
    outputs: int
    sources: int | None = None
    period: int = 0
    part: int = 0
    by_rows: bool = False

    def decode(self, offset: Word, columns: Word) -> tuple[str, Word, Word, int]:
        """Raises Unsupported for an offset that varies by other than whole groups of entries."""
        if not self.entry:
            raise Unsupported("there is no coefficient table")
        row = 0
        if self.by_rows:
            row, offset = self._row(offset, columns)
        source_major = self.sources is None and not self.by_rows
        group = self.entry * (self.outputs if source_major else 1)
        constant = offset if isinstance(offset, int) else offset.constant
        varying: Word = 0
        if isinstance(offset, Linear):
            if any(c % group for _, c in offset.terms):
                raise Unsupported(f"table offset {offset}")
            terms = tuple((s, c // group) for s, c in offset.terms)
            varying = Linear(0, terms)
        number, within = divmod(constant, self.entry)
        if self.by_rows:
            source, output = number, row
        elif self.sources is None:
            source, output = divmod(number, self.outputs)
        else:
            output, source = divmod(number, self.sources)
        if self.period:
            part = self.part or self.entry
            within = within // part * self.period + within % part % self.period
        return self.format, add(varying, source), output, within

    def _row(self, offset: Word, columns: Word) -> tuple[int, Word]:
        """Return the last row that begins at an offset or before, and the offset in it. A place has one name
        only if it is in the row, but each name belongs to one place."""
        for row in range(self.outputs - 1, 0, -1):
            rest = subtract(offset, scale(columns, row * self.entry))
            parts = (rest,) if isinstance(rest, int) else (rest.constant, *(c for _, c in rest.terms))
            if min(parts) >= 0:
                return row, rest
        return 0, offset

    def size(self, sources: Word) -> Word:
        return scale(sources, self.outputs * self.entry)


@lru_cache(maxsize=1 << 12)
def _bit_matrix(polynomial: int, constant: int) -> int:
    """Return x -> constant * x as a matrix of bits, row r in byte r."""
    return int.from_bytes(bytes(Field(polynomial).matrix(constant)), "little")


@dataclass(frozen=True, slots=True)
class Contract:
    """A kernel's promise. inputs None: any number, in parameter k. parameters: a number is a parameter with
    this value.

    operation: dot, mad, mul, xor; horner: P, Q and R of RAID, sums that are multiplied by 2^output before a
    source is added, from the last source to the first; fft, ifft, fft4 or ifft4, a butterfly. per_shard:
    shard j goes to destination j alone (mul). features: of the CPU, beyond the plain architecture, that may
    be used. minimum: the least permitted len; granule: len is a multiple of it. maximum: the greatest len.
    block: the main loop's step; vector: the vector's bytes. clean_upper: vectors' upper halves are cleared on
    return. fence: streaming stores are fenced. narrow: parameters of 32 bits, with junk above. indexed: the
    one source is number `index` of the table. aligned: shards are at multiples of so many bytes, if their
    number is fixed. unwind: the file's unwind tables, where it has any format for them, describe the stack at
    every instruction. reach_all: every instruction is reached under this contract. landing: it begins as its
    ABI requires of targets of indirect calls. tail: how the code processes the bytes that do not fill a
    vector, a hint for how its lengths may be proved together; None: one by one. frozen_data: constants may
    lie in writable data that no code writes. rows: the coefficients, if the kernel is for these alone, as
    elements of the field of `polynomial`. group: the number of sources that an iteration of a loop may take,
    so k is group * g + left_over, and each left_over below group has its own proof. ahead: the number of
    pointers per source that src holds behind those of the sources; the kernel may only prefetch from them.
    columns: the number of sources in the table; None: the sources of the kernel or of the layout. stride: the
    distance of two pointers in src[] and in dst[], in pointers; more than 1 if they are elements of structs.
    sized: after each of these pointers is a number, the length of its shard. start_granule: `start` is a
    multiple of it. rounds_down: the function receives any len, and the length of the shards is the multiple
    of the granule below it. descending: sums take the sources from the last to the first; source n of this
    contract is then number n from the end of src[]. in_lines: src or dst, the shards whose byte n is at
    64 * (n / 32) + n % 32, and the side where a butterfly changes the basis or multiplies the elements; "":
    neither. returns_zero: the register of a returned number is 0.
    """

    operation: str
    inputs: int | None
    outputs: int
    layout: Layout
    parameters: tuple[Parameter | int, ...]
    abi: str
    features: tuple[str, ...]
    in_place: bool
    block: int
    vector: int
    per_shard: bool = False
    minimum: int = 0
    granule: int = 1
    maximum: int = (1 << 64) - 1
    narrow: tuple[str, ...] = ()
    indexed: bool = False
    aligned: int = 1
    clean_upper: bool = True
    unwind: bool = True
    reach_all: bool = True
    landing: bool = False
    tail: Tail | None = None
    frozen_data: bool = False
    rows: tuple[tuple[int, ...], ...] | None = None
    polynomial: int = POLYNOMIAL
    fence: bool = True
    group: int = 1
    left_over: int = 0
    ahead: int = 0
    columns: int | None = None
    stride: int = 1
    sized: bool = False
    start_granule: int = 1
    rounds_down: bool = False
    descending: bool = False
    in_lines: str = ""
    returns_zero: bool = False

    def lengths(self, size: int = 8) -> tuple[int, int] | None:
        """The least and the greatest permitted len of `size` bytes, multiples of the granule; None: no len is
        permitted."""
        low = -(-max(self.minimum, 0) // self.granule) * self.granule
        high = min(self.maximum, (1 << 8 * size) - 1) // self.granule * self.granule
        return (low, high) if low <= high else None

    def with_vectors(self, size: int) -> Contract:
        """Return this contract for vectors of `size` bytes, as many in a block as before."""
        return replace(self, vector=size, block=self.block // self.vector * size)

    @property
    def table_columns(self) -> Word:
        """The number of columns of coefficients in the table."""
        if self.columns is not None:
            return self.columns
        if self.layout.by_rows and self.inputs is not None:
            return symbol(COLUMNS)
        return self.sources if self.layout.sources is None else self.layout.sources

    @property
    def rest(self) -> Word:
        """The number of bytes of len behind the shards."""
        return symbol(REST) if self.rounds_down else 0

    @property
    def start(self) -> Word:
        """The offset from the pointers in src[] and dst[] to the shards."""
        return scale(symbol(START), self.start_granule) if "start" in self.parameters else 0

    @property
    def sources(self) -> Word:
        if self.inputs is not None:
            return self.inputs
        return add(scale(self.groups, self.group), self.left_over)

    @property
    def loop_states(self) -> int:
        """The number of states of a loop that distinguish its sums. With Horner's rule, all sums begin as the
        first source."""
        return 3 if self.operation == "horner" else 2

    @property
    def groups(self) -> Linear:
        """The number of whole groups of sources, if the number of sources is not fixed."""
        return symbol(SOURCES if self.group == 1 else GROUPS)

    def cases(self) -> list[Contract]:
        """Return this contract once for each remainder of the number of sources modulo the group; together
        the cases are the contract."""
        if self.inputs is not None:
            return [self]
        return [replace(self, left_over=number) for number in range(self.group)]

    @property
    def destinations(self) -> Word:
        return self.sources if self.per_shard else self.outputs

    def product(self, output: Word, source: Word, start: Word) -> Form:
        """Return c[output][source] * src[source] from byte `start` on, by the definition of the format."""
        if self.operation in ("xor", "horner") or self.layout.format == "ones":
            return domain.variable("src", source, start)
        if self.rows is not None:
            return self._known_product(output, source, start)

        column = symbol(INDEX) if self.indexed else source
        return self._mapped(output, column, domain.variable("src", source, start))

    def _mapped(self, output: Word, column: Word, data: Form) -> Form:
        """Return the product of a form by c[output][column], with the entry of the table."""

        def part(name: str, nibble: int = IDENTITY) -> Form:
            taken = data if nibble == IDENTITY else domain.map_matrix(nibble, data)
            return domain.map_table(Entry(name, column, output), taken)

        match self.layout.format:
            case "nibble" | "permxor":
                return _add(part("low", LOW_NIBBLE), part("high", HIGH_NIBBLE))
            case "affine":
                return part("matrix")
            case "mulb":
                return part("product")
        raise Unsupported(f"tables of format {self.layout.format}")

    def _known_product(self, output: Word, source: Word, start: Word) -> Form:
        if not isinstance(output, int) or not isinstance(source, int):
            raise Unsupported("a known coefficient of an unknown source or output")
        if self.rows is not None and not 0 <= source < len(self.rows[0]):
            raise Unsupported(f"a known coefficient of source {source}")
        constant = self.rows[output][source] if self.rows else 0
        matrix = _bit_matrix(self.polynomial, constant)
        return domain.make_form(0, {Atom((), "src", source, start): matrix} if constant else {})

    def total(self, output: Word, count: Word, start: Word) -> Form:
        """Return the sum of the products of the first `count` sources.

        If `count` is a number of whole groups and a remainder, the sum of the groups is one unknown.
        """
        if isinstance(count, int):
            return self.products(output, 0, count, start)
        grouped = all(factor % self.group == 0 for _, factor in count.terms)
        rest = count.constant % self.group if grouped else 0
        whole = add(count, -rest)
        before = self.carried(domain.variable(f"sum{output}", whole, start), output, rest)
        return _add(before, self.products(output, whole, rest, start))

    def products(self, output: Word, first: Word, count: int, start: Word) -> Form:
        """Return the gain of a sum by `count` sources from number `first` on."""
        total = domain.ZERO
        for number in range(count):
            total = _add(self.carried(total, output, 1), self.product(output, add(first, number), start))
        return total

    def expanded(self, runs: Runs) -> Runs:
        """Return runs in which each sum over a number a * x + b of sources, b < a, is written as the sum over
        a * x sources and the gain by b sources."""
        return domain.merge([(length, self._expanded(piece)) for length, piece in runs])

    def _expanded(self, piece: Piece) -> Piece:
        if not isinstance(piece, Form):
            return piece
        total = domain.make_form(piece.constant, {})
        for atom, matrix in piece.atoms.items():
            found = Form(0, {atom: matrix})
            output = atom.kind.removeprefix("sum")
            if atom.kind != output and output.isdigit() and isinstance(atom.shard, Linear):
                rest = atom.shard.constant % gcd(*(factor for _, factor in atom.shard.terms))
                whole = add(atom.shard, -rest)
                before = self.carried(domain.variable(atom.kind, whole, atom.start), int(output), rest)
                found = _add(before, self.products(int(output), whole, rest, atom.start))
                found = found if matrix == IDENTITY else domain.map_matrix(matrix, found)
            total = _add(total, found)
        return total

    def carried(self, total: Form, output: Word, count: int) -> Form:
        """Return the sum before it gains `count` sources: Horner's rule multiplies it by 2^output for each
        source (1 << output, in any field of bytes)."""
        if self.operation != "horner" or output == 0:
            return total
        if not isinstance(output, int):
            raise Unsupported("a sum of an unknown output")
        for _ in range(count):
            total = domain.map_matrix(_bit_matrix(self.polynomial, 1 << output), total)
        return total

    def expect(self, output: Word, start: Word, size: int, sources: Word) -> Runs:
        """Return the final bytes of destination `output` at [start, start + size), for `sources` sources."""
        if self.per_shard:
            return ((size, self.product(0, output, start)),)
        if self.operation in ADDITIONS:
            if not isinstance(output, int) or not 0 <= output < self.outputs:
                raise Unsupported("an unknown output of a butterfly")
            return ((size, self._butterfly(start)[output]),)
        form = self.total(output, sources, start)
        if self.operation == "mad":
            before = domain.variable("dst", output, start)
            return domain.merge([(size, _add(form, before))])
        return domain.merge([(size, form)])

    @lru_cache(maxsize=64)  # noqa: B019 - contracts are small
    def _butterfly(self, start: Word) -> tuple[Form, ...]:
        """Return the destinations of a butterfly, of which all sources are planes of the elements."""
        planes = self.layout.outputs
        elements = 1 + max(element for _, element, _ in ADDITIONS[self.operation])
        if not self.inputs == self.outputs == elements * planes:
            raise Unsupported("a butterfly of an unknown number of planes")
        found = [domain.variable("src", source, start) for source in range(self.outputs)]
        side = CHANGED.get(Operation(self.operation))
        change = self._scale if Operation(self.operation) in SCALED else self._change
        if side == "src":
            change(found)
        for to, element, matrix in ADDITIONS[self.operation]:
            terms = found[element * planes : (element + 1) * planes]
            for plane in range(planes):
                place = to * planes + plane
                if matrix is None:
                    found[place] = _add(found[place], terms[plane])
                    continue
                for column, term in enumerate(terms, matrix * planes):
                    found[place] = _add(found[place], self._mapped(plane, column, term))
        if side == "dst":
            change(found)
        return tuple(found)

    def _scale(self, found: list[Form]) -> None:
        """Multiply each element by a matrix. Their columns stand behind those of the other matrices, one less
        than there are elements."""
        planes = self.layout.outputs
        for low in range(0, len(found), planes):
            element, column = found[low : low + planes], len(found) - planes + low
            for plane in range(planes):
                terms = [self._mapped(plane, column + n, form) for n, form in enumerate(element)]
                found[low + plane] = reduce(_add, terms)

    def _change(self, found: list[Form]) -> None:
        """Change the basis of elements of two planes: low += B high, B in the column behind those of the
        matrices."""
        for low in range(0, len(found), 2):
            found[low] = _add(found[low], self._mapped(0, len(found) - 2, found[low + 1]))


def _add(left: Form, right: Form) -> Form:
    piece = domain.xor(((1, left),), ((1, right),))[0][1]
    assert isinstance(piece, Form)
    return piece
