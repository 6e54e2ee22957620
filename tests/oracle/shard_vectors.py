"""Test vectors of the shard format: writes shard_vectors.json next to this file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from tests.oracle.shard_format import Shape, split, xxh3_128

FILE = Path(__file__).with_suffix(".json")
WHOLE = 80  #: originals of up to this many bytes have their streams in hexadecimal

SHAPES = (
    Shape("cauchy", 3, 2, 64),
    Shape("cauchy", 1, 1, 64, name=b""),
    Shape("cauchy", 10, 4, 128, generation=2**53 - 1),
    Shape("vandermonde", 5, 3, 64, content=1, name=b"folder"),
    Shape("backblaze", 4, 2, 192, name="ümlaut".encode()),
    Shape("cauchy_good", 4, 2, 64),
    Shape("lrc", 6, 4, 64, l=2, name=b"n" * 229),
    Shape("cauchy", 200, 55, 64, generation=7),
)


def original(length: int) -> bytes:
    return bytes((31 * i + 7 * (i // 256) + 1) % 256 for i in range(length))


def lengths(form: Shape) -> Iterator[int]:
    """Yield the lengths around shards, blocks and stripes."""
    span = form.k * form.block
    edges = {0, 1, form.k, form.k + 1, span - 1, span, span + 1, 3 * span - 5}
    yield from sorted(edges) if form.k < 100 else (span + 300,)


def case(form: Shape, length: int) -> dict[str, object]:
    data = original(length)
    streams = split(form, data)
    shards = [{"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()} for raw in streams]
    if form.k == 3 and length <= WHOLE:
        shards = [{**shard, "hex": raw.hex()} for shard, raw in zip(shards, streams, strict=True)]
    return {
        "code": form.code,
        "k": form.k,
        "m": form.m,
        "l": form.l,
        "block": form.block,
        "generation": form.generation,
        "content": form.content,
        "name": form.name.decode(),
        "set_id": form.set_id.hex(),
        "length": length,
        "original": xxh3_128(data).hex(),
        "shards": shards,
    }


def text() -> str:
    cases = [case(form, length) for form in SHAPES for length in lengths(form)]
    return "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in cases) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
