"""A user's code with gfsmith, and the errors that mypy --strict must report in it; test_docs.py runs mypy and
this file.

A line with `type: ignore` is wrong on purpose: mypy must reject it, or it reports the comment as unused.
"""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import assert_type

import gfsmith
from gfsmith import Codec, Plan, Wide, raid


def store(blob: bytes) -> bytes:
    codec = Codec(code="cauchy", k=10, m=4)
    data = codec.split(blob)
    parity = codec.encode(data)
    assert_type(parity, list[bytearray])
    codec.update(0, bytes(len(data[0])), parity)
    assert_type(codec.check([*data, *parity]), bool)
    kept: list[bytes | memoryview | bytearray | None] = [None, *data[1:], *parity]
    plan = codec.plan(codec.all_but(0), codec.only(0))
    assert_type(plan, Plan)
    assert_type(plan.matrix, tuple[bytes, ...])
    assert_type(codec.determined(codec.all_but(1)), list[bool])
    assert_type(codec.locate([*data, *parity]).counts, tuple[int, ...])
    assert_type(codec.correct([*map(bytearray, data), *parity]).wrong, tuple[int, ...])
    return codec.join(codec.reconstruct(kept), len(blob))


def others(shards: Sequence[bytearray]) -> None:
    numbers = array.array("H", bytes(2 * len(shards[0])))
    assert_type(Codec.lrc(2, 1, 1).encode(shards[:2], shards[2:]), Sequence[bytearray])
    Codec.from_matrix([[1, 1], [1, 2]], polynomial=0x11B).locate(shards, numbers)
    stripes = memoryview(bytearray(4 * 8)).cast("B", (2, 4, 4))
    assert_type(Codec("cauchy", 2, 2).check_stripes(stripes), list[bool])
    assert_type(Codec("cauchy", 2, 2).reconstruct_stripes(stripes, [True] * 4), memoryview)
    raid.generate(shards, parities=2)
    assert_type(gfsmith.get_isa(), str)
    assert_type(gfsmith.ISAS, tuple[str, ...])


def many(shards: list[bytes]) -> None:
    wide = Wide("leopard8", k=3, m=1)
    assert_type(wide.encode(shards), list[bytearray])
    wide.reconstruct([*shards, None], wanted=wide.only(3))
    assert_type(gfsmith.WIDE_CODES, tuple[str, ...])


class Mine(Codec):
    """A subclass."""


def wrong(codec: Codec, shards: list[bytes]) -> None:
    assert_type(Mine.lrc(4, 2, 1), Mine)
    Codec("cauchy", "10", 4)  # type: ignore[arg-type]
    Codec("cauchy", 10)  # type: ignore[call-arg]
    Codec("cauchy", 10, 4, hint="fast")  # type: ignore[arg-type]
    codec.encode(["text"])  # type: ignore[list-item]
    codec.encode([1.0, 2.0])  # type: ignore[list-item]
    codec.encode(b"flat")  # type: ignore[arg-type]
    codec.reconstruct(shards, 3)  # type: ignore[call-overload]
    codec.encode_stripes(shards)  # type: ignore[call-overload]
    codec.update("0", shards[0], shards)  # type: ignore[arg-type]
    Wide("leopard8", 3, 1, packet=8)  # type: ignore[call-arg]
    codec.k = 3  # type: ignore[misc]
    codec.decode(shards)  # type: ignore[attr-defined]


if __name__ == "__main__":
    assert store(b"some bytes to keep") == b"some bytes to keep"
    many([bytes(64)] * 3)
    others([bytearray(b"one"), bytearray(b"two"), bytearray(3), bytearray(3)])
