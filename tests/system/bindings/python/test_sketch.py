"""Sketches against their definition, and arguments that are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gfsmith
from gfsmith import Codec, InvalidError
from tests.oracle.codec import random_data
from tests.oracle.sketch import sketch

CODEC = Codec("cauchy", 4, 2)


@pytest.mark.parametrize("length", [0, 1, 64, 1000, 70000])
def test_bytes(length: int) -> None:
    (row,) = random_data(1, length, 1)
    assert CODEC.sketch(row) == sketch(row) == CODEC.sketch(row.tobytes())
    cut = length // 3
    assert CODEC.sketch(row[cut:], cut, CODEC.sketch(row[:cut])) == sketch(row)


def test_parities() -> None:
    data = random_data(4, 5000, 2)
    shards = np.concatenate([data, CODEC.encode(data)])
    sketches = [CODEC.sketch(shard) for shard in shards]
    assert CODEC.check(sketches)
    assert CODEC.encode(sketches[:4]) == sketches[4:]
    shards[2, 77] ^= 8
    sketches[2] = CODEC.sketch(shards[2])
    assert not CODEC.check(sketches)


def test_another_field() -> None:
    codec = Codec.from_matrix([[1, 2], [3, 4]], polynomial=0x11B)
    (row,) = random_data(1, 500, 3)
    assert codec.sketch(row) == sketch(row, polynomial=0x11B) != CODEC.sketch(row)


@pytest.mark.parametrize("isa", gfsmith.ISAS)
def test_instruction_sets(isa: str) -> None:
    before = gfsmith.get_isa()
    try:
        gfsmith.set_isa(isa)
    except gfsmith.UnsupportedError:
        pytest.skip(f"this CPU lacks {isa}")
    try:
        (row,) = random_data(1, 5000, 4)
        assert CODEC.sketch(row, 9) == sketch(row, 9)
    finally:
        gfsmith.set_isa(before)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Codec("cauchy", 4, 2, packet=8).sketch(b"x"), "packet layout"),
        (lambda: CODEC.sketch(b"x", start=b"1234567"), "start: 7 bytes, must be 8"),
        (lambda: CODEC.sketch(b"x", -1), "offset: -1"),
        (lambda: CODEC.sketch(b"x", 2**64), f"offset: {2**64}"),
        (lambda: CODEC.sketch(b"x", 2**64 - 1), "invalid argument"),
    ],
)
def test_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InvalidError, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: CODEC.sketch("text"),  # type: ignore[arg-type]
        lambda: CODEC.sketch(b"x", 0.5),  # type: ignore[arg-type]
        lambda: CODEC.sketch(b"x", start=bytearray(8)),  # type: ignore[arg-type]
    ],
)
def test_other_types(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        call()


def test_another_thread_chooses_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The set changes between two looks at it."""
    names = iter(["one set", "another set"])
    monkeypatch.setattr("gfsmith.codec._native.isa", lambda: next(names))
    assert CODEC.sketch(b"123456789") == sketch(np.frombuffer(b"123456789", np.uint8))
