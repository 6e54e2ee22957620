"""Checksums of bytes and of shards against tables byte by byte, and arguments that are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gfsmith
from gfsmith import InvalidError
from tests.oracle.codec import random_data
from tests.oracle.crc import CRCS, checksums

LENGTHS = (0, 1, 63, 512, 1024, 70000)
CODEC = gfsmith.Codec("cauchy", 4, 2)


def test_the_names_are_those_of_the_oracle() -> None:
    assert [name.upper() for name in gfsmith.CHECKSUMS] == list(CRCS)


@pytest.mark.parametrize("kind", gfsmith.CHECKSUMS)
def test_bytes(kind: str) -> None:
    for length in LENGTHS:
        (row,) = random_data(1, length, 1)
        (want,) = checksums(kind.upper(), row[None], [0])
        first = gfsmith.checksum(kind, row[: length // 3])
        assert gfsmith.checksum(kind, row[length // 3 :].tobytes(), first) == want
        second = gfsmith.checksum(kind, row[length // 3 :])
        assert gfsmith.checksum_combine(kind, first, second, length - length // 3) == want


@pytest.mark.parametrize("kind", gfsmith.CHECKSUMS)
def test_shards(kind: str) -> None:
    for length in LENGTHS[3:5] if kind == "crc16_t10" else LENGTHS:
        data = random_data(4, length, 2)
        parity, states = CODEC.encode_checksums(kind, data)
        assert np.array_equal(parity, CODEC.encode(data))
        shards = np.concatenate([data, parity])
        assert states == checksums(kind.upper(), shards, [0] * 6)
        ok, again = CODEC.check_checksums(kind, shards, states)
        assert (ok, again) == (True, checksums(kind.upper(), shards, states))
        listed = CODEC.encode_checksums(kind, [bytes(row) for row in data], None, states)
        assert listed == ([bytearray(row) for row in parity], again)
        if length:
            shards[5, -1] ^= 1
            assert CODEC.check_checksums(kind, shards)[0] is False


@pytest.mark.parametrize("kind", gfsmith.CHECKSUMS)
def test_stripes(kind: str) -> None:
    for length in LENGTHS[3:5] if kind == "crc16_t10" else LENGTHS[:-1]:
        stripes = random_data(5 * 6, length, 2).reshape(5, 6, length)
        parity, states = CODEC.encode_stripes_checksums(kind, stripes[:, :4])
        single = [CODEC.encode_checksums(kind, stripe[:4]) for stripe in stripes]
        assert [list(row) for row in states] == [row for _, row in single]
        assert np.array_equal(parity, [each for each, _ in single])
        again = [
            CODEC.encode_checksums(kind, stripe[:4], None, row)[1]
            for stripe, (_, row) in zip(stripes, single, strict=True)
        ]
        target = stripes[:, 4:]
        assert CODEC.encode_stripes_checksums(kind, stripes[:, :4], target, iter(states)) == (target, again)
        assert np.array_equal(target, parity)
    assert CODEC.encode_stripes_checksums(kind, np.zeros((0, 4, 512), np.uint8))[1] == []


@pytest.mark.parametrize("kind", gfsmith.CHECKSUMS)
def test_repair(kind: str) -> None:
    for length in LENGTHS[3:5] if kind == "crc16_t10" else LENGTHS[1:]:
        data = random_data(4, length, 4)
        parity, states = CODEC.encode_checksums(kind, data)
        shards: list[bytes | None] = [bytes(row) for row in (*data, *parity)]
        whole = list(shards)
        shards[1] = None
        repaired, got, wrong = CODEC.reconstruct_checksums(kind, shards, expected=states)
        assert repaired == whole and not any(wrong)
        read = [i for i in range(6) if got[i]]  # four of five shards, and the rebuilt one
        assert len(read) == 5 and 1 in read and [got[i] for i in read] == [states[i] for i in read]
        broken = bytearray(whole[0] or b"")
        broken[-1] ^= 1
        _, _, wrong = CODEC.reconstruct_checksums(kind, [broken, *shards[1:]], expected=states)
        assert wrong == [True, *[False] * 5]
        repaired, got, wrong = CODEC.reconstruct_checksums(
            kind, [None, *shards[1:]], None, None, None, states
        )
        assert repaired == whole and not any(wrong)


def test_a_repair_continues_states_of_wanted_shards() -> None:
    data = random_data(4, 1000, 5)
    shards = np.concatenate([data, CODEC.encode(data)])
    states = CODEC.check_checksums("crc64_nvme", shards[:, :300].copy())[1]
    present = [False, True, False, True, True, True]
    wanted = [False, False, True, False, False, False]
    rest = shards[:, 300:].copy()
    rest[2] = 0
    same, got, wrong = CODEC.reconstruct_checksums("crc64_nvme", rest, present, wanted, states)
    assert same is rest and np.array_equal(rest, shards[:, 300:]) and wrong == [False] * 6
    want = checksums("CRC64_NVME", shards, [0] * 6)
    assert got == [states[0], *want[1:]]


def test_repairs_without_bytes_keep_states() -> None:
    assert CODEC.reconstruct_checksums("crc16_t10", [None, *[b""] * 5], states=range(6))[1] == list(range(6))


DATA = random_data(4, 100, 3)
SHARDS = np.zeros((6, 100), np.uint8)
MISSING = [False, *[True] * 5]
STRIPES = np.zeros((3, 6, 100), np.uint8)
PARITIES = np.full((3, 2, 100), 7, np.uint8)


def batch(kind: str, states: Any = None, parity: Any = PARITIES) -> None:
    """Call with stripes of which something is wrong."""
    CODEC.encode_stripes_checksums(kind, STRIPES[:, :4], parity, states)


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "kind": (lambda: gfsmith.checksum("crc", b""), InvalidError, "kind: 'crc', must be crc32c"),
    "no name": (lambda: CODEC.encode_checksums(3, DATA), InvalidError, "kind: 3, must be"),  # type: ignore[call-overload]
    "bits": (lambda: gfsmith.checksum("crc32", b"", 1 << 32), InvalidError, "state: 4294967296, must be"),
    "negative": (lambda: gfsmith.checksum("crc32", b"", -1), InvalidError, "state: -1, must be"),
    "large": (lambda: gfsmith.checksum("crc64_iso", b"", 1 << 64), InvalidError, "state: 1844"),
    "kind of a combination": (
        lambda: gfsmith.checksum_combine("crc", 0, 0, 1),
        InvalidError,
        "kind: 'crc', must be crc32c",
    ),
    "first": (
        lambda: gfsmith.checksum_combine("crc16_t10", 1 << 16, 0, 1),
        InvalidError,
        "first: 65536, must be a checksum",
    ),
    "second": (
        lambda: gfsmith.checksum_combine("crc32", 0, 1 << 32, 1),
        InvalidError,
        "second: 4294967296, must be a checksum",
    ),
    "negative length": (
        lambda: gfsmith.checksum_combine("crc32", 0, 0, -1),
        InvalidError,
        "second_length: -1, must be a number of bytes",
    ),
    "long length": (
        lambda: gfsmith.checksum_combine("crc32", 0, 0, 1 << 64),
        InvalidError,
        "second_length: 18446744073709551616, must be a number",
    ),
    "type of a length": (
        lambda: gfsmith.checksum_combine("crc32", 0, 0, "1"),  # type: ignore[arg-type]
        TypeError,
        "int",
    ),
    "type": (lambda: gfsmith.checksum("crc32", b"", "0"), TypeError, "int"),  # type: ignore[arg-type]
    "data": (lambda: gfsmith.checksum("crc32", "text"), TypeError, "data: <class 'str'>"),  # type: ignore[arg-type]
    "states": (
        lambda: CODEC.check_checksums("crc32", np.zeros((6, 1), np.uint8), [0]),
        InvalidError,
        "states: 1",
    ),
    "expected": (
        lambda: CODEC.reconstruct_checksums("crc32", SHARDS, MISSING, expected=[0] * 5),
        InvalidError,
        "expected: 5, must be 6",
    ),
    "expected bits": (
        lambda: CODEC.reconstruct_checksums("crc32", SHARDS, MISSING, expected=[1 << 32] * 6),
        InvalidError,
        "expected: 4294967296, must be a checksum",
    ),
    "present": (lambda: CODEC.reconstruct_checksums("crc32", SHARDS), InvalidError, "present: must be given"),
    "lost": (
        lambda: CODEC.reconstruct_checksums("crc32", SHARDS, [False] * 3 + [True] * 3),
        gfsmith.TooManyLostError,
        "reconstruct_checksums",
    ),
    "sector of a repair": (
        lambda: CODEC.reconstruct_checksums("crc16_t10", SHARDS, MISSING),
        InvalidError,
        "length: 100, must be",
    ),
    "kind of stripes": (lambda: batch("crc"), InvalidError, "^kind: 'crc', must be crc32c"),
    "states of a stripe": (
        lambda: batch("crc32", [[0] * 6, [0] * 5, [0] * 6]),
        InvalidError,
        r"^states\[1\]: 5, must be 6$",
    ),
    "states of stripes": (lambda: batch("crc32", [[0] * 6] * 2), InvalidError, "^states: 12, must be 18$"),
    "bits of stripes": (
        lambda: batch("crc32", [[0] * 6] * 2 + [[0] * 5 + [1 << 32]]),
        InvalidError,
        "^states: 4294967296, must be",
    ),
    "flat states": (lambda: batch("crc32", [0] * 18), TypeError, "int"),  # type: ignore[list-item]
    "sector of stripes": (
        lambda: batch("crc16_t10"),
        InvalidError,
        "^length: 100, must be a multiple of 512",
    ),
    "number of parities": (
        lambda: batch("crc32", None, PARITIES[:2]),
        InvalidError,
        "^parity: 2 stripes, data has 3$",
    ),
    "length of parities": (
        lambda: batch("crc32", None, PARITIES[:, :, :50]),
        InvalidError,
        "^parity: shards of 50 bytes",
    ),
    "overlap of stripes": (
        lambda: batch("crc32", None, STRIPES[:, 3:5]),
        InvalidError,
        r"^parity\[:, 0\] overlaps data\[:, 3\]$",
    ),
    "sector": (lambda: CODEC.encode_checksums("crc16_t10", DATA), InvalidError, "length: 100, must be"),
}


@pytest.mark.parametrize("call", WRONG, ids=str)
def test_wrong_arguments(call: str) -> None:
    function, error, message = WRONG[call]
    with pytest.raises(error, match=message):
        function()


def test_nothing_is_written() -> None:
    parity = np.full((2, 100), 7, np.uint8)
    for kind, states in (("crc16_t10", None), ("crc32", [1 << 32] * 6), ("crc", None)):
        with pytest.raises(InvalidError):
            CODEC.encode_checksums(kind, DATA, parity, states)
    assert (parity == 7).all()
    for kind, rows in (("crc16_t10", None), ("crc32", [[0] * 6] * 2 + [[1 << 32] * 6]), ("crc", None)):
        with pytest.raises(InvalidError):
            batch(kind, rows)
    assert (PARITIES == 7).all()
    shards = np.full((6, 100), 7, np.uint8)
    shards[1:] = 9
    for kind, states, expected in (
        ("crc16_t10", None, None),
        ("crc32", [1 << 32] * 6, None),
        ("crc32", None, []),
    ):
        with pytest.raises(InvalidError):
            CODEC.reconstruct_checksums(kind, shards, MISSING, None, states, expected)
    assert (shards[0] == 7).all()
