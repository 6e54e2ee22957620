"""Hostile headers, under AddressSanitizer and UBSan: no crash, no endless loop, no stray file."""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.system.apps.stripe.support import (
    DONE,
    HEADER,
    REFUSED,
    WRONG,
    Outcome,
    Stripe,
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
    "k 0": (u32(68, 0), "k = 0 and m = 2"),
    "m 0": (u32(72, 0), "k = 4 and m = 0"),
    "k 254": (u32(68, 254), "k = 254 and m = 2"),
    "k wraps": (u32(68, 2**32 - 1), "k = 4294967295 and m = 2"),
    "m wraps": (u32(72, 2**32 - 4), "k = 4 and m = 4294967292"),
    "index": (u32(32, 6), "index 6 in a set of 6 shards"),
    "index wraps": (u32(32, 2**32 - 1), "index 4294967295 in a set of 6 shards"),
    "polynomial": (u32(64, 0x11B), "polynomial 0x11b"),
    "block 0": (u32(76, 0), "block size 0"),
    "block 1": (u32(76, 1), "block size 1"),
    "block 96": (u32(76, 96), "block size 96"),
    "block above": (u32(76, (1 << 20) + 64), "block size 1048640"),
    "block wraps": (u32(76, 2**32 - 64), "block size 4294967232"),
    "length above": (u64(80, 2**62 + 1), "length 4611686018427387905"),
    "length wraps": (u64(80, 2**64 - 1), "length 18446744073709551615"),
    "code empty": (text(104, 32, b""), "the name of a code"),
    "code endless": (text(104, 32, b"c" * 32), "junk between its fields"),
    "name empty": (text(136, 256, b""), "the name of the original"),
    "name endless": (text(136, 256, b"n" * 256), "the name of the original"),
    "name 248": (text(136, 256, b"n" * 248), "the name of the original"),
    "name .": (text(136, 256, b"."), "the name of the original"),
    "name ..": (text(136, 256, b".."), "the name of the original"),
    "name /": (text(136, 256, b"/etc/passwd"), "the name of the original"),
    "name ../": (text(136, 256, b"../file"), "the name of the original"),
    "name with junk behind": (text(136, 256, b"file\0junk"), "junk between its fields"),
    "version": (u32(8, 2), "format version 2"),
    "header length": (u32(12, 64), "junk between its fields"),
    "reserved": (u32(36, 1), "junk between its fields"),
    "reserved in the set": (u32(4092, 1), "junk between its fields"),
    "a seventh checksum": (u32(4096 + 6 * 16, 1), "junk between its fields"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_signed_header_out_of_range(sanitized: Stripe, shards: Path, tmp_path: Path, case: str) -> None:
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


def test_a_false_set_id(sanitized: Stripe, shards: Path) -> None:
    raw = bytearray(shard(shards, 0).read_bytes())
    raw[16] ^= 1
    sign(raw, set_id=False)
    shard(shards, 0).write_bytes(raw)
    found = sanitized.run("verify", shards)
    assert found.status == WRONG
    assert "header with junk between its fields or a false set id" in found.stdout


@pytest.mark.parametrize("length", [0, 1, 998, 1001, 2**40, 2**62])
def test_lengths_that_the_files_do_not_have(
    sanitized: Stripe, shards: Path, tmp_path: Path, length: int
) -> None:
    for path in shards.iterdir():
        raw = bytearray(path.read_bytes())
        struct.pack_into("<Q", raw, 80, length)
        sign(raw)
        path.write_bytes(raw)
    before = snapshot(tmp_path)
    for command in (["verify"], ["repair"], ["join", "-o", tmp_path / "joined"]):
        outcome = sanitized.run(*command, shards)
        check(outcome)
        if length == 998:  # as many stripes and bytes per shard: only join can detect it
            assert outcome.status == (REFUSED if command[0] == "join" else DONE)
        else:
            assert outcome.status == (WRONG if command[0] == "verify" else REFUSED)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("code", [b"magic", b"\x1b[2Jcode", b"%s%n"])
def test_an_unknown_code_is_printed_harmlessly(sanitized: Stripe, shards: Path, code: bytes) -> None:
    for path in shards.iterdir():
        raw = bytearray(path.read_bytes())
        raw[104:136] = code.ljust(32, b"\0")
        sign(raw)
        path.write_bytes(raw)
    printed = code.decode().replace("\x1b", "?")
    line = sanitized.refusal("verify", shards)
    assert line == f'{shard(shards, 0)}: unknown code "{printed}" (vandermonde, cauchy)'
    assert "\x1b" not in sanitized.ok("info", shard(shards, 0))


def test_a_code_that_is_not_mds_at_its_shape(sanitized: Stripe, tmp_path: Path) -> None:
    folder = make_set(sanitized, tmp_path, content(100), 22, 4)
    for path in folder.iterdir():
        raw = bytearray(path.read_bytes())
        raw[104:136] = b"vandermonde".ljust(32, b"\0")
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
                offset = rng.choice((8, 12, 32, 64, 68, 72, 76))
                value = rng.choice((0, 1, 2, 3, 5, 64, 128, 255, 256, 2**31, 2**32 - 1))
                struct.pack_into("<I", raw, offset, value)
            case 2:
                value = rng.choice((0, 1, 255, 1000, 2**31, 2**32, 2**61, 2**62, 2**63, 2**64 - 1))
                struct.pack_into("<Q", raw, 80, value)
            case _:
                start = rng.randrange(104, 392)
                end = rng.randint(start, 392)
                raw[start:end] = rng.randbytes(end - start)
    if rng.random() < 0.7:
        sign(raw, set_id=rng.random() < 0.9)
    if rng.random() < 0.2:
        del raw[rng.randrange(len(raw)) :]
    elif rng.random() < 0.1:
        raw += rng.randbytes(rng.randrange(1, 300))


@pytest.mark.parametrize("batch", first(range(BATCHES)))
def test_mutated_headers(sanitized: Stripe, tmp_path: Path, batch: int) -> None:
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
        joined = tmp_path / "joined"
        outcome = sanitized.run("join", "--force", folder, "-o", joined)
        check(outcome)
        if outcome.status == DONE:
            assert joined.read_bytes() == original
        assert snapshot(folder) == before
        repaired = sanitized.run("repair", folder)
        check(repaired)
        if repaired.status == REFUSED:
            assert snapshot(folder) == before
        assert snapshot(good) == outside
    assert {path.name for path in tmp_path.iterdir()} <= {
        "good",
        "joined",
        *(f"case{case}" for case in range(CASES // BATCHES)),
    }


def test_the_sanitized_program_repairs_too(sanitized: Stripe, shards: Path) -> None:
    before = snapshot(shards)
    shard(shards, 0).unlink()
    flip(shard(shards, 5), -1)
    sanitized.ok("repair", shards)
    assert snapshot(shards) == before
