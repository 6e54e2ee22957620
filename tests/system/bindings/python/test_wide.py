"""Codes with more than 255 shards: bytes, repairs, limits, values, and arguments that are refused."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gfsmith
from gfsmith import InvalidError, TooManyLostError, Wide
from tests.oracle import wide as oracle
from tests.oracle.codec import random_data
from tests.oracle.peers import Request, peer

WIDE = Wide("leopard16", 4, 2)
LENGTH = 64
DATA = random_data(4, LENGTH)
B = bytes(DATA[0])
PARITY = bytearray(LENGTH)
STRIPES = np.zeros((2, 6, LENGTH), np.uint8)


def stripe_of(wide: Wide, length: int) -> Any:
    """Return all shards of random data, one in each row."""
    data = random_data(wide.k, length)
    return np.concatenate([data, wide.encode(data)])


@pytest.mark.parametrize("case", oracle.SMALL, ids=str)
def test_parities_of_the_matrix(case: tuple[str, int, int]) -> None:
    code, k, m = case
    wide = Wide(code, k, m)
    for length in (0, 64, 4096 + 192) if code.startswith("leopard") else (0, 2, 30, 4096 + 94):
        data = random_data(k, length)
        expected = oracle.encode(code, m, data)
        assert np.array_equal(wide.encode(data), expected)
        assert wide.encode([row.tobytes() for row in data]) == [row.tobytes() for row in expected]
        parity = np.zeros((m, length + 9), np.uint8)[:, 3:-6]
        assert wide.encode(data, parity) is parity
        assert np.array_equal(parity, expected)


@pytest.mark.needs("go", "rust")
@pytest.mark.parametrize("case", oracle.SHAPES, ids=str)
def test_bytes_of_the_original(case: tuple[str, int, int, int]) -> None:
    code, k, m, length = case
    data = random_data(k, length)
    (parity,) = peer(code).answer([Request(k, m, data)])
    assert np.array_equal(Wide(code, k, m).encode(data), parity)


@pytest.mark.parametrize("shape", [("leopard8", 20, 4), ("leopard16", 13, 5), ("lch16", 3, 40)])
def test_repairs(shape: tuple[str, int, int]) -> None:
    """Every missing shard, or only wanted ones, of a list and of rows."""
    wide, rng = Wide(*shape), np.random.default_rng(3)
    whole = stripe_of(wide, 192)
    for count in (0, 1, wide.m):
        lost = rng.choice(wide.n, count, replace=False)
        present, wanted = np.array(wide.all_but(*lost)), rng.random(wide.n) < 0.6
        given = [bytes(row) if here else None for row, here in zip(whole, present, strict=True)]
        assert wide.reconstruct(given) == [bytes(row) for row in whole]
        some = wide.reconstruct(given, wanted=wanted)
        for row, here, want, shard in zip(whole, present, wanted, some, strict=True):
            assert shard is None if not here and not want else shard == bytes(row)
        rows = np.where(present[:, None], whole, 0x5A)
        assert wide.reconstruct(rows, present, wanted) is rows
        assert np.array_equal(rows, np.where((present | wanted)[:, None], whole, 0x5A))
        assert np.array_equal(wide.reconstruct(rows, present), whole)


@pytest.mark.parametrize(
    ("code", "k", "m"),
    [
        *(("leopard16", 65534, 1), ("leopard16", 65024, 511), ("leopard16", 32767, 32768)),
        *(("leopard16", 32768, 32767), ("leopard16", 1, 32768)),
        *(("leopard8", 255, 1), ("leopard8", 128, 128), ("leopard8", 1, 128)),
    ],
)
def test_limits(code: str, k: int, m: int) -> None:
    """The most shards that a shape has, and as many losses as it repairs."""
    wide = Wide(code, k, m)
    whole = stripe_of(wide, 64)
    lost = np.random.default_rng(k).choice(k + m, m, replace=False)
    present = np.ones(k + m, bool)
    present[lost] = False
    rows = np.where(present[:, None], whole, 0)
    assert np.array_equal(wide.reconstruct(rows, present), whole)
    shards = [bytes(row) for row in whole]
    assert wide.encode(shards[:k]) == shards[k:]
    present[np.flatnonzero(present)[0]] = False
    with pytest.raises(TooManyLostError):
        wide.reconstruct(rows, present)


def test_every_set_has_the_same_bytes() -> None:
    before, found = gfsmith.get_isa(), set()
    for isa in gfsmith.ISAS:
        try:
            gfsmith.set_isa(isa)
        except gfsmith.UnsupportedError:
            continue
        found.add(Wide("leopard16", 12, 7).encode(random_data(12, 1088)).tobytes())
    gfsmith.set_isa(before)
    assert len(found) == 1


@pytest.mark.parametrize("shape", [("leopard8", 20, 4), ("leopard16", 13, 5), ("lch16", 3, 40)])
@pytest.mark.parametrize("count", [0, 1, 3, 70])
def test_batches(shape: tuple[str, int, int], count: int) -> None:
    """Slices of an array with all stripes, and arrays of their own; all have the bytes of single calls."""
    wide, rng = Wide(*shape), np.random.default_rng(3)
    for length in (0, 64, 1088):
        stripes = np.zeros((count, wide.n, length), np.uint8)
        for stripe in stripes:
            stripe[:] = stripe_of(wide, length)
        whole = stripes.copy()
        stripes[:, wide.k :] = 7
        assert wide.encode_stripes(stripes[:, : wide.k], target := stripes[:, wide.k :]) is target
        assert np.array_equal(stripes, whole)
        assert np.array_equal(wide.encode_stripes(whole[:, : wide.k]), whole[:, wide.k :])
        missing = rng.choice(wide.n, wide.m, replace=False)
        present, wanted = wide.all_but(*missing), wide.only(*missing[1:])
        stripes[:, missing] = 7
        assert wide.reconstruct_stripes(stripes, present, wanted) is stripes
        assert (stripes[:, missing[0]] == 7).all()
        assert np.array_equal(wide.reconstruct_stripes(stripes, present), whole)


class Named(Wide):
    """A subclass with an additional attribute."""

    label = ""


@pytest.mark.parametrize("kind", [Wide, Named])
def test_values(kind: type[Wide]) -> None:
    wide = kind("leopard16", k=300, m=20)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(wide, protocol))
        assert type(again) is kind and again is not wide and again == wide and hash(again) == hash(wide)
        assert repr(again) == repr(wide) == "gfsmith.Wide('leopard16', k=300, m=20)"
        assert (again.code, again.k, again.m, again.n) == ("leopard16", 300, 20, 320)
        data = random_data(300, 64)
        assert np.array_equal(again.encode(data), wide.encode(data))
    assert copy.copy(wide) is wide and copy.deepcopy([wide])[0] is wide
    others: list[object] = [
        *(Wide("leopard16", 300, 21), Wide("leopard16", 299, 20), Wide("leopard8", 3, 2)),
        *(Wide("leopard16", 3, 2), gfsmith.Codec("cauchy", 3, 2), "leopard16"),
    ]
    assert all(left != right for left, right in itertools.combinations([wide, *others], 2))
    for name in ("code", "k", "m", "n"):
        with pytest.raises(AttributeError):
            setattr(wide, name, 1)


SIX = [B] * 6
WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "odd length": (
        lambda: WIDE.encode([B[1:]] * 4),
        InvalidError,
        "^shards of 63 bytes: must be a multiple of 64$",
    ),
    "half a granule": (
        lambda: WIDE.encode([B[32:]] * 4),
        InvalidError,
        "shards of 32 bytes: must be a multiple of 64",
    ),
    "odd length of a repair": (
        lambda: WIDE.reconstruct([None, *[B + b"x"] * 5]),
        InvalidError,
        "shards of 65 bytes: must be a multiple of 64",
    ),
    "number": (lambda: WIDE.encode([B] * 3), InvalidError, "^data: 3 shards, must be 4$"),
    "no sequence": (lambda: WIDE.encode(7), TypeError, "data: <class 'int'> is neither a sequence"),  # type: ignore[call-overload]
    "None": (lambda: WIDE.encode([B, B, None, B]), TypeError, r"data\[2\]: <class 'NoneType'>"),  # type: ignore[list-item]
    "reals": (lambda: WIDE.encode(np.zeros((4, 64))), TypeError, "data: elements are of format 'd'"),  # type: ignore[type-var]
    "length": (
        lambda: WIDE.encode([B, B * 2, B, B]),
        InvalidError,
        r"data\[1\]: 128 bytes, data\[0\] has 64",
    ),
    "read-only": (lambda: WIDE.encode(DATA, [PARITY, B]), InvalidError, r"parity\[1\]: .* is read-only"),
    "parity twice": (
        lambda: WIDE.encode(DATA, [PARITY] * 2),
        InvalidError,
        r"^parity\[0\] overlaps parity\[1\]$",
    ),
    "parity in data": (
        lambda: WIDE.encode([B, PARITY, B, B], [PARITY, bytearray(64)]),
        InvalidError,
        r"^parity\[0\] overlaps data\[1\]$",
    ),
    "missing elsewhere": (
        lambda: WIDE.reconstruct([PARITY, PARITY, *SIX[2:]], WIDE.all_but(1)),
        InvalidError,
        r"^shards\[1\] overlaps shards\[0\]$",
    ),
    "too few": (lambda: WIDE.reconstruct([B] * 5), InvalidError, "^shards: 5 shards, must be 6$"),
    "flags": (lambda: WIDE.reconstruct(SIX, [True] * 5), InvalidError, "present: 5 values, must be 6"),
    "indices as flags": (
        lambda: WIDE.reconstruct(SIX, [True] * 6, [0, 1, 2, 3, 4, 5]),  # type: ignore[list-item]
        InvalidError,
        r"wanted\[2\]: 2, must be True or False",
    ),
    "array, no flags": (
        lambda: WIDE.reconstruct(np.zeros((6, 64), np.uint8)),  # type: ignore[call-overload]
        InvalidError,
        "present: must be given",
    ),
    "too many": (
        lambda: WIDE.reconstruct([None] * 3 + [PARITY] * 3),
        TooManyLostError,
        "^reconstruct: more shards are missing",
    ),
    "too many, not wanted": (
        lambda: WIDE.reconstruct([None] * 3 + [PARITY] * 3, wanted=WIDE.only(0)),
        TooManyLostError,
        "more shards are missing",
    ),
    "all missing": (lambda: WIDE.reconstruct([None] * 6), TooManyLostError, "more shards are missing"),
    "unknown code": (
        lambda: Wide("leopard", 4, 2),
        InvalidError,
        "^code 'leopard': must be one of leopard8, leopard16, reed_solomon_simd, lch16$",
    ),
    "code of a codec": (lambda: Wide("cauchy", 4, 2), InvalidError, "code 'cauchy': must be one of leopard8"),
    "no code": (lambda: Wide(None, 4, 2), InvalidError, "code None: must be one of leopard8"),  # type: ignore[arg-type]
    "no data": (lambda: Wide("leopard16", 0, 2), InvalidError, "^k = 0, m = 2: each must be 1 or more"),
    "no parity": (lambda: Wide("leopard8", 3, 0), InvalidError, "^k = 3, m = 0: each must be 1 or more"),
    "many": (lambda: Wide("leopard16", 32768, 32768), InvalidError, r"and k \+ m at most 65535$"),
    "huge": (lambda: Wide("leopard16", 1 << 70, 1), InvalidError, "k = 1180591620717411303424, m = 1: each"),
    "threads": (
        lambda: Wide("lch16", 4, 2, threads=1025),
        InvalidError,
        r"^threads = 1025: must be 0 \(all CPUs\) to 1024$",
    ),
    "real number": (lambda: Wide("leopard16", 4.0, 2), TypeError, "^k = 4.0: must be an integer, not float$"),  # type: ignore[arg-type]
    "no such shape": (
        lambda: Wide("leopard16", 40000, 20000),
        InvalidError,
        r"^gfsmith.Wide\('leopard16', k=40000, m=20000\): the code has no such shape; allowed: k >= 1, "
        r"m >= 1, k \+ m <= 65535, and the least power of two >= m, plus k, at most 65536$",
    ),
    "no such shape of 256": (
        lambda: Wide("leopard8", 100, 129),
        InvalidError,
        "power of two >= m, plus k, at most 256$",
    ),
    "one too many": (lambda: Wide("leopard8", 200, 33), InvalidError, "plus k, at most 256$"),
    "no such shape of lch16": (
        lambda: Wide("lch16", 40000, 20000),
        InvalidError,
        r"and the least power of two >= min\(k, m\), plus max\(k, m\), at most 65536$",
    ),
    "odd length of lch16": (
        lambda: Wide("lch16", 4, 2).encode([B[1:]] * 4),
        InvalidError,
        "^shards of 63 bytes: must be a multiple of 2$",
    ),
    "stripes of other shards": (
        lambda: WIDE.encode_stripes(STRIPES[:, :3], STRIPES[:, 4:]),
        InvalidError,
        "^data: stripes of 3 shards, must be 4$",
    ),
    "other stripes": (
        lambda: WIDE.encode_stripes(STRIPES[:, :4], STRIPES[1:, 4:]),
        InvalidError,
        "^parity: 1 stripes, data has 2$",
    ),
    "length of stripes": (
        lambda: WIDE.encode_stripes(STRIPES[:, :4, :63], STRIPES[:, 4:, :63]),
        InvalidError,
        "^shards of 63 bytes: must be a multiple of 64$",
    ),
    "overlap of stripes": (
        lambda: WIDE.encode_stripes(STRIPES[:, :4], STRIPES[:, 3:5]),
        InvalidError,
        r"^parity\[:, 0\] overlaps data\[:, 3\]$",
    ),
    "read-only stripes": (
        lambda: WIDE.reconstruct_stripes(bytes(64), WIDE.all_but(0)),
        InvalidError,
        "stripes: .*",
    ),
    "length of a repair of stripes": (
        lambda: WIDE.reconstruct_stripes(STRIPES[:, :, :63], WIDE.all_but(0)),
        InvalidError,
        "^shards of 63 bytes: must be a multiple of 64$",
    ),
    "flags of stripes": (
        lambda: WIDE.reconstruct_stripes(STRIPES, [True] * 5),
        InvalidError,
        "present: 5 values, must be 6",
    ),
    "too many of stripes": (
        lambda: WIDE.reconstruct_stripes(STRIPES, WIDE.all_but(0, 1, 2)),
        TooManyLostError,
        "^reconstruct_stripes: more shards are missing",
    ),
    "shard": (lambda: WIDE.all_but(6), InvalidError, "^shard 6: must be 0 to 5$"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_named_and_nothing_is_written(name: str) -> None:
    call, kind, message = WRONG[name]
    PARITY[:] = b"\x5a" * LENGTH
    with pytest.raises(kind, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)
    assert bytes(PARITY) == b"\x5a" * LENGTH
    PARITY.append(0)  # a BufferError if the call still held the buffer
    PARITY.pop()


def test_overlaps_are_found_by_address() -> None:
    """Shards at random places: a call succeeds if and only if no written one overlaps another."""
    rng, refused = np.random.default_rng(8), 0
    for _ in range(400):
        memory = np.zeros(3000, np.uint8)
        places = rng.integers(0, 2900, 6)
        shards = [memory[place : place + LENGTH] for place in places]
        apart = all(abs(places[i] - places[j]) >= LENGTH for i in (4, 5) for j in range(6) if i != j)
        try:
            WIDE.encode(shards[:4], shards[4:])
        except InvalidError as error:
            assert "overlaps" in str(error) and not apart
            refused += 1
        else:
            assert apart
    assert 20 < refused < 380
