"""Runs of symbolic bytes, compared with concrete bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from gfsmith.prove.machine import bitmatrix, domain
from gfsmith.prove.machine.domain import Entry, Form, Runs, Table, Unsupported
from gfsmith.prove.machine.linear import add, symbol

SHARDS, BYTES = 3, 96


def concrete(random: Random) -> list[bytes]:
    return [random.randbytes(BYTES) for _ in range(SHARDS)]


def times(matrix: int, byte: int) -> int:
    """Return matrix times byte, bit by bit: row r is byte r of the matrix."""
    result = 0
    for r in range(8):
        bit = 0
        for c in range(8):
            bit ^= (matrix >> 8 * r + c & 1) & (byte >> c & 1)
        result |= bit << r
    return result


def evaluate(runs: Runs, shards: list[bytes]) -> bytes:
    """Return the bytes that runs represent. Tables are shard 0 here: they are only moved."""
    out = bytearray()
    for length, piece in runs:
        for position in range(length):
            if isinstance(piece, Table):
                assert isinstance(piece.offset, int)
                out.append(shards[0][piece.offset + position])
                continue
            byte = piece.constant
            for atom, matrix in piece.atoms.items():
                assert isinstance(atom.shard, int) and isinstance(atom.start, int)
                byte ^= times(matrix, shards[atom.shard][atom.start + position])
            out.append(byte)
    return bytes(out)


def test_maps_of_coefficients_do_not_commute() -> None:
    first, second = (Entry("matrix", source, 0) for source in range(2))
    x = domain.variable("src", 0, 0)
    both = domain.map_table(second, domain.map_table(first, x))
    assert both != domain.map_table(first, domain.map_table(second, x))
    assert domain.map_table(second, domain.map_table(first, x)) == both


@pytest.mark.parametrize("part", ["low", "high", "product"])
def test_only_a_matrix_is_applied_to_a_product(part: str) -> None:
    once = domain.map_table(Entry("matrix", 0, 0), domain.variable("src", 0, 0))
    with pytest.raises(Unsupported, match="applied to a product"):
        domain.map_table(Entry(part, 1, 0), once)
    twice = domain.map_table(Entry("matrix", 1, 0), once)
    most = domain.map_table(Entry("matrix", 3, 0), domain.map_table(Entry("matrix", 2, 0), twice))
    with pytest.raises(Unsupported, match="a product of products"):
        domain.map_table(Entry("matrix", 4, 0), most)


def piece(random: Random) -> Form:
    atoms = {}
    for _ in range(random.randint(0, 2)):
        matrix = random.choice([bitmatrix.IDENTITY, bitmatrix.HIGH_NIBBLE, random.getrandbits(64)])
        form = domain.variable("src", random.randrange(SHARDS), random.randrange(8), matrix)
        atoms.update(form.atoms)
    return domain.make_form(random.choice([0, random.randrange(256)]), atoms)


def runs_of(random: Random, size: int = 32) -> Runs:
    out: list[domain.Run] = []
    while size:
        length = random.randint(1, min(size, 12))
        out.append((length, piece(random)))
        size -= length
    return domain.merge(out)


def samples(count: int = 60) -> list[tuple[Random, list[bytes], Runs]]:
    result = []
    for seed in range(count):
        random = Random(seed)
        result.append((random, concrete(random), runs_of(random)))
    return result


def test_merge_keeps_the_bytes_and_joins_neighbours() -> None:
    for random, shards, runs in samples():
        single = [run for n in range(32) for run in domain.cut(runs, n, n + 1)]
        random.shuffle(parts := list(range(1, 32)))
        a, b = sorted(parts[:2])
        again = domain.merge([*domain.cut(runs, 0, a), *domain.cut(runs, a, b), *domain.cut(runs, b, 32)])
        assert domain.merge(single) == again == runs
        assert evaluate(domain.merge(single), shards) == evaluate(runs, shards)
    long = domain.variable("src", 0, 0)
    assert domain.merge([(3, long), (4, domain.shift(long, 3))]) == ((7, long),)
    assert domain.merge([(3, long), (4, domain.shift(long, 4))]) != ((7, long),)
    assert domain.merge([(3, long), (4, long)]) != ((7, long),)
    assert domain.merge([(0, long), (2, domain.ZERO), (2, domain.ZERO)]) == ((4, domain.ZERO),)


def test_cut_is_a_slice() -> None:
    for random, shards, runs in samples():
        low, high = sorted(random.randrange(33) for _ in range(2))
        part = domain.cut(runs, low, high)
        assert domain.size(part) == high - low
        assert evaluate(part, shards) == evaluate(runs, shards)[low:high]


def test_shift_moves_the_start() -> None:
    for random, shards, _ in samples():
        form, by = piece(random), random.randrange(9)
        moved = ((8, domain.shift(form, by)),)
        assert evaluate(moved, shards) == evaluate(((8 + by, form),), shards)[by:]
    assert domain.shift(Table(symbol("n")), 5) == Table(add(symbol("n"), 5))


def test_xor() -> None:
    for random, shards, left in samples():
        right = runs_of(random)
        want = bytes(a ^ b for a, b in zip(evaluate(left, shards), evaluate(right, shards), strict=True))
        assert evaluate(domain.xor(left, right), shards) == want
        assert domain.xor(left, left) == domain.zeros(32)
        assert domain.xor(domain.xor(left, right), right) == left


def test_and_with_known_bytes() -> None:
    for random, shards, runs in samples():
        mask = bytes(random.choice([0, 15, 0xF0, 255, random.randrange(256)]) for _ in range(32))
        want = bytes(a & b for a, b in zip(evaluate(runs, shards), mask, strict=True))
        known = domain.constant_runs(mask)
        assert evaluate(domain.and_(runs, known), shards) == want
        assert domain.and_(known, runs) == domain.and_(runs, known)


def test_shift_of_the_bits_within_a_byte() -> None:
    for random, shards, _ in samples():
        form, by = piece(random), random.randint(-8, 8)
        before = evaluate(((8, form),), shards)
        want = bytes(b >> by if by >= 0 else b << -by & 0xFF for b in before)
        assert evaluate(((8, domain.shift_rows(form, by)),), shards) == want


def test_map_matrix() -> None:
    for random, shards, _ in samples():
        form, matrix = piece(random), random.getrandbits(64)
        want = bytes(times(matrix, byte) for byte in evaluate(((8, form),), shards))
        assert evaluate(((8, domain.map_matrix(matrix, form)),), shards) == want


def test_matrices() -> None:
    random = Random(7)
    for _ in range(100):
        outer, inner, byte = random.getrandbits(64), random.getrandbits(64), random.randrange(256)
        assert bitmatrix.apply(outer, byte) == times(outer, byte)
        assert bitmatrix.apply(bitmatrix.compose(outer, inner), byte) == times(outer, times(inner, byte))
        assert bitmatrix.apply(bitmatrix.LOW_NIBBLE, byte) == byte & 15
        assert bitmatrix.apply(bitmatrix.HIGH_NIBBLE, byte) == byte >> 4
        assert bitmatrix.apply(bitmatrix.row_mask(byte), 255) == 0 or byte


def test_an_entry_is_linear() -> None:
    """T(a) ^ T(b) = T(a ^ b), T(0) = 0: two sums are equal if these rules make them so."""
    entry = Entry("low", 0, 1)
    for random, _, _ in samples():
        a, b = (domain.make_form(0, piece(random).atoms) for _ in range(2))
        both = domain.xor(((4, a),), ((4, b),))
        assert all(isinstance(p, Form) for _, p in both)
        together = domain.merge([(n, domain.map_table(entry, p)) for n, p in both if isinstance(p, Form)])
        apart = domain.xor(((4, domain.map_table(entry, a)),), ((4, domain.map_table(entry, b)),))
        assert together == apart
    form = domain.variable("src", 0, 0)
    assert domain.map_table(entry, form) != domain.map_table(Entry("low", 1, 1), form)
    assert domain.map_table(entry, form) != domain.map_table(Entry("high", 0, 1), form)


def test_substitution_moves_starts_and_shards() -> None:
    for random, shards, runs in samples():
        by = random.randrange(1, 9)
        open_ended = tuple(
            (
                n,
                domain.Form(
                    p.constant, {a._replace(start=add(symbol("t"), a.start)): m for a, m in p.atoms.items()}
                ),
            )
            for n, p in runs
            if isinstance(p, Form)
        )
        closed = domain.substitute_runs(open_ended, "t", by)
        padded = [shard[by:] for shard in shards]
        assert evaluate(closed, shards) == evaluate(runs, padded)


PRODUCT = domain.map_table(Entry("low", 0, 0), domain.variable("src", 0, 0))
PLAIN = domain.variable("src", 0, 0)
RAW: Runs = ((1, Table(0)),)


@pytest.mark.parametrize(
    "operation",
    [
        lambda: domain.and_(((1, PLAIN),), ((1, PLAIN),)),
        lambda: domain.xor(RAW, ((1, PLAIN),)),
        lambda: domain.and_(RAW, ((1, domain.ZERO),)),
        lambda: domain.masked(PRODUCT, 15),
        lambda: domain.shift_rows(PRODUCT, 1),
        lambda: domain.map_matrix(bitmatrix.IDENTITY, PRODUCT),
        lambda: domain.map_table(Entry("low", 0, 0), PRODUCT),
        lambda: domain.map_table(Entry("low", 0, 0), domain.CONSTANTS[1]),
    ],
)
def test_inexpressible_values(operation: Callable[[], object]) -> None:
    with pytest.raises(Unsupported):
        operation()
