"""Bytes of vectors, many at a time.

A body is the value of consecutive bytes, up to their position: constant ^ the sum of T(M x) over atoms. x is
a byte of a shard, or an unknown byte; M is an 8 x 8 matrix over GF(2) as a number (row r in byte r); T is
nothing, the linear map of one coefficient's table entry, or the product of up to four such maps. Equal
bodies are one object, so results of operations are remembered by the objects. A run is a length, the
position of its first byte (None if the value is constant) and a body: byte l of it belongs to position + l.
The bytes of a vector are a tuple of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import count
from typing import Any, NamedTuple

from judge.integers import Linear, Word, add, replace, require

IDENTITY = sum(1 << 9 * n for n in range(8))
SIGN = sum(0x80 << 8 * row for row in range(8))  #: the matrix that gives bit 7 in all bits
_COLUMN = sum(1 << 8 * row for row in range(8))  #: the first bit of each row


class Atom(NamedTuple):
    """The maps of T, the one applied last first (part of the entry, source, output), and the name of x."""

    maps: tuple[tuple[str, Word, Word], ...]
    kind: str
    shard: Word


class Body:
    """constant: a byte; -1 for raw table bytes, which may only be moved. atoms: (atom, matrix) pairs."""

    __slots__ = ("atoms", "constant", "number")

    def __init__(self, constant: int, atoms: frozenset[tuple[Atom, int]], number: int) -> None:
        self.constant, self.atoms, self.number = constant, atoms, number


_bodies: dict[tuple[int, frozenset[tuple[Atom, int]]], Body] = {}
NUMBERS = count()  #: of bodies, and of unknown bytes


def body(constant: int, atoms: dict[Atom, int]) -> Body:
    """Return the one body with this value."""
    key = constant, frozenset(item for item in atoms.items() if item[1])
    found = _bodies.get(key)
    if found is None:
        found = _bodies[key] = Body(*key, next(NUMBERS))
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
        for function in (xor, multiply, look_up, ended, replace_body):
            function.cache_clear()
        _bodies.clear()
        _bodies.update(_kept)


def variable(kind: str, shard: Word, matrix: int = IDENTITY) -> Body:
    return body(0, {Atom((), kind, shard): matrix})


def junk(length: int) -> Runs:
    """Return bytes of which nothing is known."""
    return ((length, 0, variable("junk", next(NUMBERS))),)


@lru_cache(maxsize=1 << 16)
def compose(outer: int, inner: int) -> int:
    """Return the product of two matrices: row n of the inner one is added where a row of the outer one has
    bit n."""
    result = 0
    for n, row in enumerate(inner.to_bytes(8, "little")):
        result ^= (outer >> n & _COLUMN) * row
    return result


def apply(matrix: int, byte: int) -> int:
    return sum((((matrix >> 8 * r) & byte & 0xFF).bit_count() & 1) << r for r in range(8))


@cache
def xor(left: Body, right: Body) -> Body:
    if left is right:
        return ZERO
    require(min(left.constant, right.constant) >= 0, "arithmetic on raw table bytes")
    atoms = dict(left.atoms)
    for atom, matrix in right.atoms:
        atoms[atom] = atoms.get(atom, 0) ^ matrix
    return body(left.constant ^ right.constant, atoms)


@cache
def multiply(matrix: int, one: Body) -> Body:
    """Return a known matrix times a body."""
    plain = one.constant >= 0 and not any(atom.maps for atom, _ in one.atoms)
    require(plain, "a matrix is applied to raw table bytes or to a product")
    return body(apply(matrix, one.constant), {atom: compose(matrix, inner) for atom, inner in one.atoms})


@lru_cache(maxsize=256)
def keeping(byte: int) -> int:
    """Return the matrix of the AND with a constant."""
    return sum(1 << 9 * n for n in range(8) if byte >> n & 1)


@lru_cache(maxsize=16)
def shifted(by: int) -> int:
    """Return the matrix of a shift of a byte by `by` bits towards bit 0 (negative: away)."""
    return sum(1 << 8 * r + r + by for r in range(8) if 0 <= r + by < 8)


def mask(one: Body, byte: int) -> Body:
    """Return the AND with a constant."""
    return ZERO if byte == 0 else one if byte == 0xFF else multiply(keeping(byte), one)


@cache
def look_up(part: str, source: Word, output: Word, one: Body) -> Body:
    """Return T of a body. T is linear, so it maps 0 to 0. Only matrices take products, of three maps."""
    most = 3 if part == "matrix" else 0
    plain = not one.constant and all(len(atom.maps) <= most for atom, _ in one.atoms)
    require(plain, "a table entry is applied to a constant or to a product")
    last = (part, source, output)
    return body(0, {atom._replace(maps=(last, *atom.maps)): matrix for atom, matrix in one.atoms})


@cache
def ended(one: Body) -> Body:
    """Return the same sum over shards of which only the bytes before their end are kept, then zeros."""
    require(not one.constant, "a constant behind the end of a shard")
    return body(0, {atom._replace(kind=atom.kind + "$"): matrix for atom, matrix in one.atoms})


@cache
def replace_body(one: Body, name: str, by: Word) -> Body:
    atoms: dict[Atom, int] = {}
    for before, matrix in one.atoms:
        atom = moved(before, name, by)
        atoms[atom] = atoms.get(atom, 0) ^ matrix
    return body(one.constant, atoms)


def moved(value: Any, name: str, by: Word) -> Any:
    """Return any value with `by` in place of an unknown."""
    if isinstance(value, int | str) or value is None:
        return value
    if isinstance(value, Linear):
        return replace(value, name, by)
    if isinstance(value, Body):
        return replace_body(value, name, by) if value.atoms else value
    if isinstance(value, dict):
        new = {moved(key, name, by): moved(each, name, by) for key, each in value.items()}
        require(len(new) == len(value), "two parts of the state become one")
        return new
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


def cut(runs: Runs, low: int, high: int) -> Runs:
    """Return bytes low to high - 1."""
    if low == 0 and high and runs and runs[0][0] >= high:
        return ((high, *runs[0][1:]),)
    out: list[Run] = []
    position = 0
    for length, start, one in runs:
        first, last = max(low - position, 0), min(high - position, length)
        if first < last:
            out.append((last - first, later(start, first), one))
        position += length
    require(position >= high, "bytes that are not known")
    return tuple(out)


def together(left: Word | None, right: Word | None) -> Word | None:
    """Return the position of a sum: both summands belong to the same position."""
    if left is None:
        return right
    require(right is None or left == right, "bytes of different positions are combined")
    return left


def run_of(length: int, start: Word | None, one: Body) -> Run:
    """Return a run; a constant has no position."""
    return (length, start if one.atoms or one is TABLE else None, one)


def combine(rule: Callable[[Body, Body], Body], left: Runs, right: Runs) -> Runs:
    """Return the rule's results for the bytes of two vectors at the same places."""
    out: list[Run] = []
    first, second = list(left[::-1]), list(right[::-1])
    while first and second:
        (one_length, one_start, one), (two_length, two_start, two) = runs = first.pop(), second.pop()
        length = min(one_length, two_length)
        out.append(run_of(length, together(one_start, two_start), rule(one, two)))
        for queue, (whole, start, each) in zip((first, second), runs, strict=True):
            if whole > length:
                queue.append((whole - length, later(start, length), each))
    require(not first and not second, "vectors of different lengths")
    return merge(out)


def known(runs: Runs) -> bytes:
    """Return constant bytes."""
    require(all(not one.atoms and one.constant >= 0 for _, _, one in runs), "a value must be known")
    return b"".join(bytes([one.constant]) * length for length, _, one in runs)
