"""Functions of the extension that commands use: graphs and descriptions of memory, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gfsmith
from gfsmith.codec import _native, graph

CODEC = gfsmith.Codec.lrc(k=4, l=2, r=2)
RANKS = range(CODEC.n)
SCHEMES = ("rs", "lrc", "ppr", "ecpipe", "triec")
DEVICE = b'[device]\nname = "far"\nline = 256\nbuffer = 98_304\n'


def decoding(*lost: int, sinks: Any = RANKS, holders: Any = RANKS, scheme: str = "rs") -> str:
    return graph.decoding(scheme, CODEC, holders, CODEC.all_but(*lost), CODEC.only(*lost), sinks)


def test_graphs() -> None:
    for scheme in SCHEMES:
        assert decoding(1, 4, scheme=scheme).startswith(f'{{"scheme":"{scheme}","does":"decode",')
    for scheme in ("rs", "lrc", "triec"):
        assert '"does":"encode"' in graph.encoding(scheme, CODEC, RANKS, 9)


def test_devices() -> None:
    assert _native.device(DEVICE) == ("far", 256, 98304, 0, 32, 1)
    assert _native.device(b"[device]\n" + b"#\n" * 2043) == ("dram", 64, 0, 0, 32, 1)


#: Calls with the expected exception and a part of its message.
WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "scheme": (lambda: decoding(1, scheme="raid"), gfsmith.InvalidError, "the scheme is unknown"),
    "repairs only": (
        lambda: graph.encoding("ppr", CODEC, RANKS, 9), gfsmith.UnsupportedError, "ppr repairs only",
    ),
    "nothing": (decoding, gfsmith.InvalidError, "nothing to rebuild"),
    "too many": (lambda: decoding(*range(5)), gfsmith.TooManyLostError, "more shards are missing"),
    "singular": (lambda: decoding(0, 1, 4, 6), gfsmith.SingularError, "cannot be repaired"),
    "few holders": (lambda: decoding(1, holders=[1]), gfsmith.InvalidError, "holders: 1 ranks, must be 8"),
    "many sinks": (lambda: decoding(1, sinks=range(9)), gfsmith.InvalidError, "sinks: 9 ranks, must be 8"),
    "no holders": (lambda: decoding(1, holders=3), TypeError, "not iterable"),
    "a word": (lambda: decoding(1, sinks=["1"] * 8), TypeError, "integer"),
    "negative": (
        lambda: decoding(1, holders=[0] * 7 + [-1]), gfsmith.InvalidError, "holders[7]: -1 is not a rank",
    ),
    "source": (
        lambda: graph.encoding("rs", CODEC, RANKS, 1 << 70), gfsmith.InvalidError,
        f"source: {1 << 70} is not a rank; allowed: 0..1023",
    ),
    "flags": (
        lambda: graph.decoding("rs", CODEC, RANKS, [True], [True], RANKS), gfsmith.InvalidError, "must be 8",
    ),
    "packets": (
        lambda: graph.encoding("rs", gfsmith.Codec("cauchy", 4, 2, packet=8), range(6), 9),
        gfsmith.UnsupportedError, "packet layout",
    ),
    "no device": (lambda: _native.device(b""), ValueError, "there is no table [device]"),
    "long device": (lambda: _native.device(b"#" * 4097), ValueError, "more than 4096 bytes"),
    "device of text": (lambda: _native.device("[device]"), TypeError, "bytes"),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_named(name: str) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
