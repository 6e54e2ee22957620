"""Checksums of bytes and of shards against tables byte by byte, and arguments that are refused."""

from __future__ import annotations

from collections.abc import Callable

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


DATA = random_data(4, 100, 3)
WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "kind": (lambda: gfsmith.checksum("crc", b""), InvalidError, "kind: 'crc', must be crc32c"),
    "no name": (lambda: CODEC.encode_checksums(3, DATA), InvalidError, "kind: 3, must be"),  # type: ignore[call-overload]
    "bits": (lambda: gfsmith.checksum("crc32", b"", 1 << 32), InvalidError, "state: 4294967296, must be"),
    "negative": (lambda: gfsmith.checksum("crc32", b"", -1), InvalidError, "state: -1, must be"),
    "large": (lambda: gfsmith.checksum("crc64_iso", b"", 1 << 64), InvalidError, "state: 1844"),
    "type": (lambda: gfsmith.checksum("crc32", b"", "0"), TypeError, "int"),  # type: ignore[arg-type]
    "data": (lambda: gfsmith.checksum("crc32", "text"), TypeError, "data: <class 'str'>"),  # type: ignore[arg-type]
    "states": (
        lambda: CODEC.check_checksums("crc32", np.zeros((6, 1), np.uint8), [0]),
        InvalidError,
        "states: 1",
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
