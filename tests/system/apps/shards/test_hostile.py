"""Hostile headers, under AddressSanitizer and UBSan: no crash, no endless loop, no stray file."""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle.shard_format import record, tag, xxh3_128
from tests.support.levels import first, sample
from tests.system.apps.shards.support import (
    DONE,
    HEADER,
    REFUSED,
    TRAILER,
    WRONG,
    Outcome,
    Tool,
    build_tool,
    content,
    flip,
    make_set,
    shard,
    sign,
    snapshot,
)

SEED = 20
CASES = 400
BATCHES = 8


def check(outcome: Outcome) -> None:
    assert outcome.status in (DONE, WRONG, REFUSED), outcome
    assert "Sanitizer" not in outcome.stderr, outcome.stderr
    assert "runtime error" not in outcome.stderr, outcome.stderr


def u32(offset: int, value: int) -> Callable[[bytearray], None]:
    return lambda raw: struct.pack_into("<I", raw, offset, value)


def u64(offset: int, value: int) -> Callable[[bytearray], None]:
    return lambda raw: struct.pack_into("<Q", raw, offset, value)


def text(offset: int, size: int, value: bytes) -> Callable[[bytearray], None]:
    def apply(raw: bytearray) -> None:
        raw[offset : offset + size] = value.ljust(size, b"\0")

    return apply


TAMPERED: dict[str, tuple[Callable[[bytearray], None], str]] = {
    "k 0": (u32(52, 0), "k and m must each be at least 1, together at most 255"),
    "m 0": (u32(56, 0), "k and m must each be at least 1"),
    "k 254": (u32(52, 254), "k and m must each be at least 1"),
    "k wraps": (u32(52, 2**32 - 1), "k and m must each be at least 1"),
    "m wraps": (u32(56, 2**32 - 4), "k and m must each be at least 1"),
    "index": (u32(40, 6), "the index must be less than k + m"),
    "index wraps": (u32(40, 2**32 - 1), "the index must be less than k + m"),
    "polynomial": (u32(48, 0x11B), "junk between its fields"),
    "block 0": (u32(64, 0), "the block size must be a multiple of 64"),
    "block 1": (u32(64, 1), "the block size must be a multiple of 64"),
    "block 96": (u32(64, 96), "the block size must be a multiple of 64"),
    "block above": (u32(64, (1 << 20) + 64), "the block size must be a multiple of 64"),
    "block wraps": (u32(64, 2**32 - 64), "the block size must be a multiple of 64"),
    "content": (u32(44, 2), "the content must be 0 (bytes) or 1 (a tar archive)"),
    "generation 0": (u64(32, 0), "the generation must be 1 to 9007199254740991"),
    "generation above": (u64(32, 2**53), "the generation must be 1 to 9007199254740991"),
    "groups": (u32(60, 1), "other codes have l = 0"),
    "groups of lrc": (text(72, 32, b"lrc"), "lrc has l groups"),
    "code empty": (text(72, 32, b""), "the name of a code"),
    "code endless": (text(72, 32, b"c" * 32), "junk between its fields"),
    "name endless": (text(104, 256, b"n" * 256), "the name of the original"),
    "name 230": (text(104, 256, b"n" * 230), "the name of the original"),
    "name .": (text(104, 256, b"."), "the name of the original"),
    "name ..": (text(104, 256, b".."), "the name of the original"),
    "name /": (text(104, 256, b"/etc/passwd"), "the name of the original"),
    "name ../": (text(104, 256, b"../file"), "the name of the original"),
    "name with junk behind": (text(104, 256, b"file\0junk"), "junk between its fields"),
    "version 1": (u32(8, 1), "a shard of format version 1, which this version does not read"),
    "version 3": (u32(8, 3), "a shard of an unknown format version"),
    "header length": (u32(12, 64), "junk between its fields"),
    "reserved": (u32(68, 1), "junk between its fields"),
    "reserved at the end": (u32(492, 1), "junk between its fields"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_signed_header_out_of_range(sanitized: Tool, shards: Path, tmp_path: Path, case: str) -> None:
    apply, why = TAMPERED[case]
    path = tmp_path / "shard"
    raw = bytearray(shard(shards, 0).read_bytes())
    apply(raw)
    sign(raw)
    path.write_bytes(raw)
    before = snapshot(tmp_path)
    line = sanitized.refusal("verify", path)
    assert line.startswith(f"no shard with an intact header; {path}: ")
    assert why in line
    found = sanitized.run("info", path)
    assert found.status == WRONG
    assert why in found.stdout
    assert why in sanitized.refusal("repair", path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("length", [0, 1, 998, 1001, 2**40, 2**62])
def test_lengths_that_the_files_do_not_have(
    sanitized: Tool, shards: Path, tmp_path: Path, length: int
) -> None:
    """Signed trailers with other lengths; a trailer is valid only with the matching number of stripes."""
    stripes = -(-length // 256)
    for path in shards.iterdir():
        raw = path.read_bytes()
        end = length.to_bytes(8, "little") + xxh3_128(content(999))
        path.write_bytes(raw[:-TRAILER] + record(2, stripes, end, tag(raw)))
    before = snapshot(tmp_path)
    for command in (["verify"], ["repair"], ["restore", "-o", tmp_path / "restored"]):
        outcome = sanitized.run(*command, shards)
        check(outcome)
        assert outcome.status == (WRONG if command[0] == "verify" else REFUSED)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("code", [b"magic", b"\x1b[2Jcode", b"%s%n"])
def test_an_unknown_code_is_printed_harmlessly(sanitized: Tool, shards: Path, code: bytes) -> None:
    for path in shards.iterdir():
        raw = bytearray(path.read_bytes())
        raw[72:104] = code.ljust(32, b"\0")
        sign(raw)
        path.write_bytes(raw)
    printed = code.decode().replace("\x1b", "?")
    line = sanitized.refusal("verify", shards)
    assert line == f'{shard(shards, 0)}: unknown code "{printed}"'
    assert "\x1b" not in sanitized.ok("info", shard(shards, 0))


def test_a_code_that_is_not_mds_at_its_shape(sanitized: Tool, tmp_path: Path) -> None:
    folder = make_set(sanitized, tmp_path, content(100), 22, 4)
    for path in folder.iterdir():
        raw = bytearray(path.read_bytes())
        raw[72:104] = b"vandermonde".ljust(32, b"\0")
        sign(raw)
        path.write_bytes(raw)
    line = sanitized.refusal("repair", folder)
    assert line.startswith(f"{shard(folder, 0)}: code vandermonde with k = 22, m = 4: ")


def mutate(rng: random.Random, raw: bytearray) -> None:
    """Set a few fields or bytes of the header to extreme or random values; often with a new checksum."""
    for _ in range(rng.randint(1, 4)):
        match rng.randrange(4):
            case 0:
                raw[rng.randrange(HEADER)] = rng.randrange(256)
            case 1:
                offset = rng.choice((8, 12, 40, 44, 48, 52, 56, 60, 64))
                value = rng.choice((0, 1, 2, 3, 5, 64, 128, 255, 256, 2**31, 2**32 - 1))
                struct.pack_into("<I", raw, offset, value)
            case 2:
                value = rng.choice((0, 1, 255, 1000, 2**31, 2**32, 2**61, 2**62, 2**63, 2**64 - 1))
                struct.pack_into("<Q", raw, 32, value)
            case _:
                start = rng.randrange(72, 360)
                end = rng.randint(start, 360)
                raw[start:end] = rng.randbytes(end - start)
    if rng.random() < 0.7:
        sign(raw)
    if rng.random() < 0.2:
        del raw[rng.randrange(len(raw)) :]
    elif rng.random() < 0.1:
        raw += rng.randbytes(rng.randrange(1, 300))


@pytest.mark.parametrize("batch", sample(first(range(BATCHES)), 0))
def test_mutated_headers(sanitized: Tool, tmp_path: Path, batch: int) -> None:
    """One to six shards of a set are changed, all in the same way or each differently."""
    rng = random.Random(SEED + batch)
    original = content(999)
    good = make_set(sanitized, tmp_path / "good", original)
    for case in range(CASES // BATCHES):
        folder = tmp_path / f"case{case}"
        shutil.copytree(good, folder)
        seed, alike = rng.random(), rng.random() < 0.4
        for index in rng.sample(range(6), rng.randint(1, 6)):
            path = shard(folder, index)
            raw = bytearray(path.read_bytes())
            mutate(random.Random(seed) if alike else rng, raw)
            path.write_bytes(raw)
        outside = snapshot(good)
        before = snapshot(folder)
        check(sanitized.run("info", *sorted(folder.iterdir())))
        check(sanitized.run("verify", folder))
        restored = tmp_path / "restored"
        outcome = sanitized.run("restore", "--force", folder, "-o", restored)
        check(outcome)
        if outcome.status == DONE:
            assert restored.read_bytes() == original
        assert snapshot(folder) == before
        repaired = sanitized.run("repair", folder)
        check(repaired)
        if repaired.status == REFUSED:
            assert snapshot(folder) == before
        assert snapshot(good) == outside
    assert {path.name for path in tmp_path.iterdir()} <= {
        "good",
        "restored",
        *(f"case{case}" for case in range(CASES // BATCHES)),
    }


def test_the_sanitized_program_repairs_too(sanitized: Tool, shards: Path) -> None:
    before = snapshot(shards)
    shard(shards, 0).unlink()
    flip(shard(shards, 5), -1)
    sanitized.ok("repair", shards)
    assert snapshot(shards) == before


def test_threads_have_no_race(tool: Tool, tmp_path: Path) -> None:
    """Under ThreadSanitizer, which ends the program with status 66 after a race."""
    program = tmp_path / "gfsmith-shards"
    build_tool(program, "-O0", "-g", "-fsanitize=thread")
    threaded = Tool(program, {})
    folder = make_set(threaded, tmp_path, content(300_000), 5, 3, 1024)
    before = snapshot(folder)
    shard(folder, 1).unlink()
    flip(shard(folder, 4), -5000)
    threaded.ok("restore", "-t", "4", folder, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(300_000)
    threaded.ok("repair", "-t", "4", folder)
    assert snapshot(folder) == before
