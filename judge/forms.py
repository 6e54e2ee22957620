"""Bytes of vectors, many at a time.

A body is the value of consecutive bytes, up to their position: constant ^ the sum of T(M x) over atoms. x is
a byte of a shard, or an unknown byte; M is an 8 x 8 matrix over GF(2) as a number (row r in byte r); T is
nothing, or the linear map of one coefficient's table entry. Equal bodies are one object, so results of
operations are remembered by the numbers of their operands. A run is a length, the position of its first byte
(None if the value is constant) and a body: byte l of it belongs to position + l. A vector is a tuple of runs,
or an element that repeats itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count, pairwise
from typing import Any, NamedTuple

from judge.integers import Linear, Rejected, Word, add, replace

IDENTITY = sum(1 << 9 * n for n in range(8))
_ALL = (1 << 64) - 1


class Atom(NamedTuple):
    """T (part of the entry for a source and an output; "" for none), and the name of x."""

    part: str
    source: Word
    output: Word
    kind: str
    shard: Word


class Body:
    """constant: a byte; -1 for raw table bytes, which may only be moved. atoms: (atom, matrix) pairs."""

    __slots__ = ("atoms", "constant", "number")

    def __init__(self, constant: int, atoms: frozenset[tuple[Atom, int]], number: int) -> None:
        self.constant, self.atoms, self.number = constant, atoms, number


_bodies: dict[tuple[int, frozenset[tuple[Atom, int]]], Body] = {}
_numbers = count()
_sums: dict[tuple[int, int], Body] = {}
_maps: dict[tuple[object, ...], Body] = {}


def body(constant: int, atoms: dict[Atom, int]) -> Body:
    """Return the one body with this value."""
    key = constant, frozenset(item for item in atoms.items() if item[1])
    found = _bodies.get(key)
    if found is None:
        found = _bodies[key] = Body(*key, next(_numbers))
    return found


CONSTANTS = tuple(body(n, {}) for n in range(256))
ZERO = CONSTANTS[0]
TABLE = body(-1, {})
_kept = dict(_bodies)

Run = tuple[int, "Word | None", Body]
Runs = tuple[Run, ...]


def forget() -> None:
    """Drop remembered bodies. Values from before must not be used afterwards."""
    if len(_bodies) > 200_000:
        for memory in (_bodies, _sums, _maps):
            memory.clear()
        _bodies.update(_kept)


class Repeated(NamedTuple):
    """A vector in which `element`, of `width` bytes, repeats itself."""

    width: int
    element: Runs


Vector = Runs | Repeated


def variable(kind: str, shard: Word, matrix: int = IDENTITY) -> Body:
    return body(0, {Atom("", 0, 0, kind, shard): matrix})


_fresh = count()


def fresh() -> int:
    return next(_fresh)


def junk(length: int) -> Runs:
    """Return bytes of which nothing is known."""
    return ((length, 0, variable("junk", fresh())),)


@lru_cache(maxsize=1 << 16)
def compose(outer: int, inner: int) -> int:
    """Return the product of two matrices."""
    rows = [inner >> 8 * n & 0xFF for n in range(8)]
    result = 0
    for r in range(8):
        row = 0
        for n in range(8):
            if outer >> 8 * r + n & 1:
                row ^= rows[n]
        result |= row << 8 * r
    return result


def apply(matrix: int, byte: int) -> int:
    return sum((((matrix >> 8 * r) & byte & 0xFF).bit_count() & 1) << r for r in range(8))


def _data(one: Body) -> Body:
    if one.constant < 0:
        raise Rejected("arithmetic on raw table bytes")
    return one


def xor(left: Body, right: Body) -> Body:
    key = (left.number, right.number) if left.number < right.number else (right.number, left.number)
    found = _sums.get(key)
    if found is None:
        atoms = dict(_data(left).atoms)
        for atom, matrix in _data(right).atoms:
            atoms[atom] = atoms.get(atom, 0) ^ matrix
        found = _sums[key] = body(left.constant ^ right.constant, atoms)
    return found


def multiply(matrix: int, one: Body) -> Body:
    """Return a known matrix times a body."""
    key = (matrix, one.number)
    found = _maps.get(key)
    if found is None:
        if any(atom.part for atom, _ in one.atoms):
            raise Rejected("a matrix is applied to a product")
        atoms = {atom: compose(matrix, inner) for atom, inner in one.atoms}
        found = _maps[key] = body(apply(matrix, _data(one).constant), atoms)
    return found


@lru_cache(maxsize=256)
def keeping(byte: int) -> int:
    """Return the matrix of the AND with a constant."""
    return sum(1 << 9 * n for n in range(8) if byte >> n & 1)


def mask(one: Body, byte: int) -> Body:
    """Return the AND with a constant."""
    return ZERO if byte == 0 else one if byte == 0xFF else multiply(keeping(byte), one)


def look_up(part: str, source: Word, output: Word, one: Body) -> Body:
    """Return T of a body. T is linear, so it maps 0 to 0."""
    key = (part, source, output, one.number)
    found = _maps.get(key)
    if found is None:
        if one.constant or any(atom.part for atom, _ in one.atoms):
            raise Rejected("a table entry is applied to a constant or to a product")
        found = body(0, {Atom(part, source, output, *atom[3:]): matrix for atom, matrix in one.atoms})
        _maps[key] = found
    return found


def ended(one: Body) -> Body:
    """Return the same sum over shards of which only the bytes before their end are kept, then zeros."""
    key = ("ended", one.number)
    found = _maps.get(key)
    if found is None:
        if one.constant:
            raise Rejected("a constant behind the end of a shard")
        atoms = {atom._replace(kind=atom.kind + "$"): matrix for atom, matrix in one.atoms}
        found = _maps[key] = body(0, atoms)
    return found


def replace_body(one: Body, name: str, by: Word) -> Body:
    key = ("replace", one.number, name, by)
    found = _maps.get(key)
    if found is None:
        atoms: dict[Atom, int] = {}
        for before, matrix in one.atoms:
            atom = moved(before, name, by)
            atoms[atom] = atoms.get(atom, 0) ^ matrix
        found = _maps[key] = body(one.constant, atoms) if one.atoms else one
    return found


def moved(value: Any, name: str, by: Word) -> Any:
    """Return any value with `by` in place of an unknown."""
    if isinstance(value, int | str) or value is None:
        return value
    if isinstance(value, Linear):
        return replace(value, name, by)
    if isinstance(value, Body):
        return replace_body(value, name, by)
    if isinstance(value, dict):
        return {moved(key, name, by): moved(each, name, by) for key, each in value.items()}
    parts = [moved(part, name, by) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def later(start: Word | None, by: int) -> Word | None:
    return None if start is None else add(start, by)


def merge(runs: list[Run]) -> Runs:
    """Return runs in which neighbours that continue each other are one."""
    out: list[Run] = []
    for length, start, one in runs:
        if out and out[-1][2] is one and later(out[-1][1], out[-1][0]) == start:
            out[-1] = (out[-1][0] + length, out[-1][1], one)
        elif length:
            out.append((length, start, one))
    return tuple(out)


def constant_runs(data: bytes) -> Runs:
    return merge([(1, None, CONSTANTS[byte]) for byte in data])


def zeros(length: int) -> Runs:
    return ((length, None, ZERO),) if length else ()


def size(runs: Runs) -> int:
    return sum(run[0] for run in runs)


def expand(vector: Vector, length: int) -> Runs:
    """Return `length` bytes of a vector as runs. Raises Rejected if it is shorter."""
    if isinstance(vector, Repeated):
        return merge(list(vector.element) * -(-length // vector.width))
    return cut(vector, 0, length)


def cut(runs: Runs, low: int, high: int) -> Runs:
    """Return bytes low to high - 1."""
    if low == 0 and runs and runs[0][0] >= high:
        return ((high, runs[0][1], runs[0][2]),) if high else ()
    out: list[Run] = []
    position = 0
    for length, start, one in runs:
        first, last = max(low - position, 0), min(high - position, length)
        if first < last:
            out.append((last - first, later(start, first), one))
        position += length
    if position < high:
        raise Rejected("bytes of a register that are not known")
    return tuple(out)


def pieces(left: Runs, right: Runs) -> Iterator[tuple[Run, Run]]:
    """Yield both vectors, cut at the borders of either."""
    if len(left) == len(right) == 1 and left[0][0] == right[0][0]:
        yield left[0], right[0]
        return
    borders = {0}
    for runs in (left, right):
        position = 0
        for run in runs:
            position += run[0]
            borders.add(position)
    places = sorted(borders)
    for low, high in pairwise(places):
        (one,), (other,) = cut(left, low, high), cut(right, low, high)
        yield one, other


def together(left: Word | None, right: Word | None) -> Word | None:
    """Return the position of a sum: both summands belong to the same position."""
    if left is None:
        return right
    if right is not None and left != right:
        raise Rejected("bytes of different positions are combined")
    return left


def run_of(length: int, start: Word | None, one: Body) -> Run:
    """Return a run; a constant has no position."""
    return (length, start if one.atoms or one is TABLE else None, one)


def xor_runs(left: Runs, right: Runs) -> Runs:
    out = [
        run_of(length, together(start, other), xor(one, two))
        for (length, start, one), (_, other, two) in pieces(left, right)
    ]
    return merge(out) if len(out) > 1 else tuple(out)


def known(runs: Runs) -> bytes:
    """Return constant bytes."""
    out = b""
    for length, _, one in runs:
        if one.atoms or one.constant < 0:
            raise Rejected("a value that must be known is not")
        out += bytes([one.constant]) * length
    return out
