"""Bytes over GF(2), many at a time.

A *form* describes a run of consecutive bytes: byte l of the run is

    constant  ^  sum over atoms of  T( M * x[start + l] )

where x is a shard (or something unknown), M an 8 x 8 bit matrix, and T nothing or linear maps, one after the
other, that coefficients' table entries represent: the low or high nibble table, the product, or up to four
affine matrices. They are linear by the definition of the table formats, and the proof uses no other property
of them, so the result holds for all coefficients at once. In particular they do not commute: the order of the
maps is a part of the atom. A Table form is a run of raw table bytes, which may be moved
but not computed with. The carry-less product of two words is an unknown of 16 bytes that the words identify:
equal words have equal products, and no other property of unknown products is used. A vector is a tuple of
(length, form). All operations are exact; an operation whose result cannot be expressed raises Unsupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from gfsmith.prove.machine.bitmatrix import IDENTITY, LOW_NIBBLE, apply, compose, row_mask
from gfsmith.prove.machine.linear import Symbol, Word, add, substitute
from gfsmith.prove.verdict import Refutation


class Unsupported(Exception):
    """A case that the prover does not support: the claim is neither proved nor refuted."""


_ALL = (1 << 64) - 1
NUMBER = "number"  #: the kind of an atom whose x is the bytes of the word that is its shard
ENTRY = "entry"  #: the kind of an atom that is a vector register at the entry; its number is the shard
JUNK = "junk"  #: the kind of an atom that may be anything, data too
UNCLEAR = "unclear"  #: the kind of an atom that is a number or an address, of which nothing more is known
PRODUCT = "product"  #: the kind of an atom that is the carry-less product whose number is the shard
UNKNOWN = frozenset({JUNK, UNCLEAR})
MOST_MAPS = 4  #: of an atom: a butterfly multiplies products once for each layer
WORD = 8  #: bytes of an operand of a carry-less product
_unknowns = count()


class Entry(NamedTuple):
    """The linear map T of one coefficient: `part` is low, high, matrix or product."""

    part: str
    source: Word
    output: Word


class Atom(NamedTuple):
    """One summand: the maps of T, the last one first, the name of x, and the start of the run in x."""

    maps: tuple[Entry, ...]
    kind: str
    shard: Word
    start: Word


class Form:
    """A constant and atoms with their matrices, none of which is 0. Immutable by convention."""

    __slots__ = ("atoms", "constant")

    def __init__(self, constant: int, atoms: dict[Atom, int]) -> None:
        self.constant = constant
        self.atoms = atoms

    @property
    def is_constant(self) -> bool:
        return not self.atoms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.constant == other.constant and self.atoms == other.atoms

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.atoms.items())))

    def __repr__(self) -> str:
        words = [f"{self.constant:#04x}"] if self.constant or not self.atoms else []
        return " ^ ".join(words + [_name(atom, matrix) for atom, matrix in self.atoms.items()])


def _name(atom: Atom, matrix: int) -> str:
    inner = f"{atom.kind}[{atom.shard}][{atom.start}]"
    if matrix not in (IDENTITY, LOW_NIBBLE):
        inner = f"({matrix:#x} * {inner})"
    for entry in reversed(atom.maps):
        inner = f"{entry.part}(c[{entry.output}][{entry.source}], {inner})"
    return inner


@dataclass(frozen=True, slots=True)
class Table:
    """Raw bytes of the coefficient table from `offset` on."""

    offset: Word


Piece = Form | Table
Run = tuple[int, Piece]
Runs = tuple[Run, ...]

CONSTANTS = tuple(Form(value, {}) for value in range(256))
ZERO = CONSTANTS[0]


def make_form(constant: int, atoms: dict[Atom, int]) -> Form:
    if not atoms:
        return CONSTANTS[constant]
    return Form(constant, atoms)


def variable(kind: str, index: Word, start: Word, matrix: int = IDENTITY) -> Form:
    return Form(0, {Atom((), kind, index, start): matrix})


def new_unknown() -> int:
    """Return the number of an unknown that is above those of all earlier ones."""
    return next(_unknowns)


def unknown(kind: str, size: int) -> Runs:
    """Return bytes without any known property: JUNK or UNCLEAR."""
    return ((size, variable(kind, new_unknown(), 0)),)


def is_unclear(runs: Runs) -> bool:
    """Return whether bytes depend on a number or an address that the prover did not follow."""
    forms = [piece for _, piece in runs if isinstance(piece, Form)]
    return any(atom.kind == UNCLEAR for form in forms for atom in form.atoms)


def refutation(value: object, reason: str) -> Refutation | Unsupported:
    """Return the exception for a value that is no right one. An unclear value may be right: Unsupported."""
    if isinstance(value, tuple) and is_unclear(value):
        return Unsupported(f"a number or an address that the prover does not follow: {reason}")
    return Refutation(reason)


def number(word: Word) -> Runs:
    """Return the eight bytes of a number or an address in a vector, lowest first."""
    return ((8, variable(NUMBER, word, 0)),)


def number_in(runs: Runs) -> Word | None:
    """Return the number of which `runs` is the eight bytes; None for other data."""
    piece = runs[0][1]
    if len(runs) > 1 or not isinstance(piece, Form) or len(piece.atoms) != 1:
        return None
    ((atom, matrix),) = piece.atoms.items()
    whole = atom.kind == NUMBER and not atom.maps and atom.start == 0 and runs[0][0] == 8
    return atom.shard if whole and matrix == IDENTITY and not piece.constant else None


def shift(piece: Piece, by: int) -> Piece:
    """Return the form of the run that begins `by` bytes later."""
    if isinstance(piece, Table):
        return Table(add(piece.offset, by))
    if not piece.atoms:
        return piece
    atoms = piece.atoms.items()
    return Form(
        piece.constant,
        {Atom(a.maps, a.kind, a.shard, add(a.start, by)): m for a, m in atoms},
    )


def _continues(last: Piece, length: int, piece: Piece) -> bool:
    """Return whether `piece` continues `last` after `length` bytes. Most pieces do not, so forms are compared
    without a shift."""
    if isinstance(last, Form) and isinstance(piece, Form):
        if last.constant != piece.constant or len(last.atoms) != len(piece.atoms):
            return False
        return all(
            piece.atoms.get(Atom(a.maps, a.kind, a.shard, add(a.start, length))) == matrix
            for a, matrix in last.atoms.items()
        )
    return shift(last, length) == piece


def merge(runs: list[Run]) -> Runs:
    """Join neighbours that continue each other."""
    if len(runs) == 1:
        return (runs[0],)
    out: list[Run] = []
    for length, piece in runs:
        if not length:
            continue
        if out:
            before, last = out[-1]
            if _continues(last, before, piece):
                out[-1] = (before + length, last)
                continue
        out.append((length, piece))
    return tuple(out)


def constant_runs(data: bytes) -> Runs:
    return merge([(1, CONSTANTS[b]) for b in data])


def zeros(length: int) -> Runs:
    return ((length, ZERO),) if length else ()


def cut(runs: Runs, low: int, high: int) -> Runs:
    """Return bytes low..high-1."""
    if low == 0 and runs and runs[0][0] >= high:
        return ((high, runs[0][1]),) if high else ()
    out, position = [], 0
    for run in runs:
        start, position = position, position + run[0]
        if position <= low:
            continue
        if start >= low and position <= high:
            out.append(run)
        else:
            first = max(low, start)
            piece = shift(run[1], first - start) if first > start else run[1]
            out.append((min(high, position) - first, piece))
        if position >= high:
            break
    return tuple(out)


def split(runs: Runs, width: int) -> Iterator[Runs]:
    """Yield pieces of `width` bytes each, in one pass; the size is a multiple of width."""
    out: list[Run] = []
    room = width
    for length, piece in runs:
        used = 0
        while length - used >= room:
            yield (*out, (room, shift(piece, used) if used else piece))
            out, used, room = [], used + room, width
        if used < length:
            out.append((length - used, shift(piece, used) if used else piece))
            room -= length - used


def size(runs: Runs) -> int:
    return sum(length for length, _ in runs)


def aligned(left: Runs, right: Runs) -> Iterator[tuple[int, Piece, Piece]]:
    """Yield the pieces of both vectors, cut at the borders of either vector."""
    i = j = 0
    used_l = used_r = 0
    while i < len(left) and j < len(right):
        length = min(left[i][0] - used_l, right[j][0] - used_r)
        yield (
            length,
            shift(left[i][1], used_l) if used_l else left[i][1],
            (shift(right[j][1], used_r) if used_r else right[j][1]),
        )
        used_l, used_r = used_l + length, used_r + length
        if used_l == left[i][0]:
            i, used_l = i + 1, 0
        if used_r == right[j][0]:
            j, used_r = j + 1, 0


def _form(piece: Piece) -> Form:
    if isinstance(piece, Table):
        raise Unsupported("arithmetic on raw table bytes")
    return piece


def _xor_forms(left: Form, right: Form) -> Form:
    atoms = dict(left.atoms)
    for atom, matrix in right.atoms.items():
        total = atoms.get(atom, 0) ^ matrix
        if total:
            atoms[atom] = total
        else:
            atoms.pop(atom, None)
    return make_form(left.constant ^ right.constant, atoms)


def xor(left: Runs, right: Runs) -> Runs:
    return merge([(n, _xor_forms(_form(a), _form(b))) for n, a, b in aligned(left, right)])


#: The most products of products of products: more than in any program. A loop that is followed without end
#: has more.
_DEEPEST = 100
#: The carry-less products that are unknown: their operands by number, how many are nested, and the number by
#: operands.
_operands: list[tuple[Runs, Runs]] = []
_depths: list[int] = []
_products: dict[frozenset[Runs], int] = {}


def carryless(left: Runs, right: Runs) -> Runs:
    """Return the product of two words as polynomials over GF(2): bit i is the coefficient of x^i. Raises
    Unsupported for too many products of products."""
    if is_known(left) and is_known(right):
        return constant_runs(_known_product(left, right).to_bytes(2 * WORD, "little"))
    if zeros(WORD) in (left, right):
        return zeros(2 * WORD)
    number = _products.setdefault(frozenset((left, right)), len(_operands))
    if number == len(_operands):
        _operands.append((left, right))
        _depths.append(1 + max(_depth(left), _depth(right)))
    if _depths[number] > _DEEPEST:
        raise Unsupported(f"more than {_DEEPEST} products of products")
    return ((2 * WORD, variable(PRODUCT, number, 0)),)


def _depth(runs: Runs) -> int:
    """Return how many products are nested in bytes."""
    forms = (piece for _, piece in runs if isinstance(piece, Form))
    numbers = (atom.shard for form in forms for atom in form.atoms if atom.kind == PRODUCT)
    return max((_depths[number] for number in numbers if isinstance(number, int)), default=0)


def operands(number: Word) -> tuple[Runs, Runs]:
    """Return the words of which a PRODUCT is the product."""
    assert isinstance(number, int)
    return _operands[number]


def is_known(runs: Runs) -> bool:
    """Return whether all bytes are constant."""
    return all(isinstance(piece, Form) and piece.is_constant for _, piece in runs)


def _known_product(left: Runs, right: Runs) -> int:
    factor, other = (
        int.from_bytes(b"".join(bytes([_form(piece).constant]) * length for length, piece in runs), "little")
        for runs in (left, right)
    )
    total = 0
    for i in range(8 * WORD):
        total ^= (factor >> i & 1) * other << i
    return total


def masked(form: Form, byte: int) -> Form:
    """Return form & constant."""
    if byte == 0xFF:
        return form
    atoms = {}
    for atom, matrix in form.atoms.items():
        if atom.maps and byte:
            raise Unsupported("part of a product is masked out")
        if matrix & row_mask(byte):
            atoms[atom] = matrix & row_mask(byte)
    return make_form(form.constant & byte, atoms)


def and_(left: Runs, right: Runs) -> Runs:
    """Return the AND of two operands, one of which is constant."""
    out: list[Run] = []
    for length, a, b in aligned(left, right):
        x, y = _form(a), _form(b)
        if not x.is_constant and not y.is_constant:
            raise Unsupported("AND of two unknown bytes")
        out.append((length, masked(y, x.constant) if x.is_constant else masked(x, y.constant)))
    return merge(out)


def shift_rows(form: Form, by: int) -> Form:
    """Return the form with every bit moved by `by` places towards bit 0 (negative: away); bits that leave the
    byte are lost."""
    atoms = {}
    for atom, matrix in form.atoms.items():
        moved = matrix >> 8 * by if by >= 0 else matrix << -8 * by & _ALL
        if atom.maps:
            raise Unsupported("a product is shifted")
        if moved:
            atoms[atom] = moved
    constant = form.constant >> by if by >= 0 else form.constant << -by & 0xFF
    return make_form(constant, atoms)


def map_table(entry: Entry, form: Form) -> Form:
    """Return T of a form. Only a matrix, which takes any byte, is applied to products."""
    if form.constant:
        raise Unsupported("a table entry applied to a constant")
    most = MOST_MAPS - 1 if entry.part == "matrix" else 0
    if any(len(atom.maps) > most for atom in form.atoms):
        raise Unsupported("a table entry applied to a product" + " of products" * (most > 0))
    return make_form(
        0, {atom._replace(maps=(entry, *atom.maps)): matrix for atom, matrix in form.atoms.items()}
    )


def map_matrix(matrix: int, form: Form) -> Form:
    """Return a known matrix times a form."""
    atoms = {}
    for atom, inner in form.atoms.items():
        if atom.maps:
            raise Unsupported("a matrix applied to a product")
        product = compose(matrix, inner)
        if product:
            atoms[atom] = product
    return make_form(apply(matrix, form.constant), atoms)


def substitute_runs(runs: Runs, name: Symbol, by: Word) -> Runs:
    moved = tuple((length, _substitute(piece, name, by)) for length, piece in runs)
    return (
        merge([run for length, piece in moved for run in _settled(length, piece)])
        if _numbers(moved)
        else moved
    )


def _numbers(runs: Runs) -> bool:
    """Return whether a number that is known now is part of some bytes."""
    atoms = (atom for _, piece in runs if isinstance(piece, Form) for atom in piece.atoms)
    return any(atom.kind == NUMBER and isinstance(atom.shard, int) for atom in atoms)


def _settled(length: int, piece: Piece) -> Iterator[Run]:
    """Yield a run byte by byte, with the values of the numbers that are known."""
    if not isinstance(piece, Form):
        yield length, piece
        return
    for place in range(length):
        form = shift(piece, place)
        assert isinstance(form, Form)
        constant, atoms = form.constant, {}
        for atom, matrix in form.atoms.items():
            if atom.kind == NUMBER and isinstance(atom.shard, int) and isinstance(atom.start, int):
                constant ^= apply(matrix, atom.shard >> 8 * atom.start & 0xFF)
            else:
                atoms[atom] = matrix
        yield 1, make_form(constant, atoms)


def _substitute(piece: Piece, name: Symbol, by: Word) -> Piece:
    if isinstance(piece, Table):
        return Table(substitute(piece.offset, name, by))
    if not piece.atoms:
        return piece
    atoms: dict[Atom, int] = {}
    for atom, matrix in piece.atoms.items():
        maps = _moved_maps(atom.maps, name, by) if atom.maps else ()
        product = atom.kind == PRODUCT
        shard = _moved(atom.shard, name, by) if product else substitute(atom.shard, name, by)
        moved = Atom(maps, atom.kind, shard, substitute(atom.start, name, by))
        atoms[moved] = atoms.get(moved, 0) ^ matrix
    return make_form(piece.constant, {a: m for a, m in atoms.items() if m})


@lru_cache(maxsize=1 << 14)
def _moved_maps(maps: tuple[Entry, ...], name: Symbol, by: Word) -> tuple[Entry, ...]:
    """Return maps after a symbol was replaced in the numbers of their coefficients."""
    return tuple(
        Entry(each.part, substitute(each.source, name, by), substitute(each.output, name, by))
        for each in maps
    )


@lru_cache(maxsize=1 << 14)
def _moved(number: Word, name: Symbol, by: Word) -> Word:
    """Return the number of a carry-less product after a symbol was replaced in its operands."""
    left, right = (substitute_runs(runs, name, by) for runs in operands(number))
    ((_, piece),) = carryless(left, right)[:1]
    kinds = [atom for atom in piece.atoms if atom.kind == PRODUCT] if isinstance(piece, Form) else []
    if len(kinds) != 1:
        raise Unsupported("a product becomes known")
    return kinds[0].shard
