"""Damaged shards count as lost: the program detects them, names them with the reason, and rebuilds the same
bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.apps.stripe.support import (
    DONE,
    HEADER,
    REFUSED,
    WRONG,
    Stripe,
    content,
    flip,
    make_set,
    shard,
    sign,
    snapshot,
    temporaries,
    xxh3_128,
)

Damage = Callable[[Path], None]


def resize(change: int) -> Damage:
    def apply(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[:change] if change < 0 else data + bytes(change))

    return apply


def cut(size: int) -> Damage:
    def apply(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:size])

    return apply


def at(offset: int) -> Damage:
    return lambda path: flip(path, offset)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


DAMAGES: dict[str, tuple[Damage, str]] = {
    "first payload byte": (at(HEADER), "checksum mismatch in the payload"),
    "last payload byte": (at(-1), "checksum mismatch in the payload"),
    "magic": (at(0), "the header is not that of a shard file"),
    "version": (at(8), "checksum mismatch in the header"),
    "index": (at(32), "checksum mismatch in the header"),
    "k": (at(68), "checksum mismatch in the header"),
    "code": (at(104), "checksum mismatch in the header"),
    "reserved byte": (at(3000), "checksum mismatch in the header"),
    "checksum table": (at(4096), "checksum mismatch in the header"),
    "header checksum": (at(8176), "checksum mismatch in the header"),
    "one byte short": (resize(-1), "truncated: 8441 bytes instead of 8442"),
    "no payload": (cut(HEADER), "truncated: 8192 bytes instead of 8442"),
    "half a header": (cut(4000), "truncated: 4000 bytes, less than a header"),
    "magic only": (cut(8), "truncated: 8 bytes, less than a header"),
    "empty": (cut(0), "the header is not that of a shard file"),
    "one byte too many": (resize(1), "too long: 8443 bytes instead of 8442"),
    "zeroed": (zero, "the header is not that of a shard file"),
}


@pytest.mark.parametrize("index", [0, 3, 5])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_repaired(
    stripe: Stripe, shards: Path, tmp_path: Path, damage: str, index: int
) -> None:
    apply, why = DAMAGES[damage]
    before = snapshot(shards)
    other = (index + 1) % 6
    apply(shard(shards, index))
    shard(shards, other).unlink()
    found = stripe.run("verify", shards)
    assert found.status == WRONG
    assert found.stderr == ""
    assert sorted(found.stdout.splitlines()) == sorted(
        [
            f"{shard(shards, index)}: {why}",
            f"{shard(shards, other)}: missing",
            "file: 4 of 6 shards intact: can be repaired",
        ]
    )
    stripe.ok("join", shards, "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == (tmp_path / "file").read_bytes()
    stripe.ok("repair", shards)
    assert snapshot(shards) == before
    assert stripe.ok("verify", shards) == "file: all 6 shards are intact\n"


@pytest.mark.campaign
def test_every_byte_of_a_shard_is_covered(stripe: Stripe, shards: Path) -> None:
    victim = shard(shards, 2)
    good = victim.read_bytes()
    offsets = [*range(0, 400, 7), *range(400, HEADER, 97), *range(HEADER, len(good), 13)]
    for offset in offsets:
        flip(victim, offset)
        found = stripe.run("verify", shards)
        assert found.status == WRONG, offset
        assert str(victim) in found.stdout
        victim.write_bytes(good)


@pytest.mark.parametrize("call", ["pread:2:EIO", "pread:8:EIO"])
def test_an_unreadable_shard_is_lost(
    stripe: Stripe, faulty: Callable[[str], Stripe], shards: Path, call: str
) -> None:
    """Reads 1 to 6 are the headers, 7 to 12 the first stripe."""
    found = faulty(call).run("verify", shards)
    assert found.status == WRONG
    assert f"{shard(shards, 1)}: cannot read it: Input/output error" in found.stdout
    before = snapshot(shards)
    assert "001.gfs: rebuilt" in faulty(call).ok("repair", shards)
    assert snapshot(shards) == before


def test_nothing_to_repair(stripe: Stripe, shards: Path) -> None:
    before = {path: path.stat().st_ino for path in shards.iterdir()}
    assert stripe.ok("repair", shards) == "file: all 6 shards are intact, nothing to repair\n"
    assert {path: path.stat().st_ino for path in shards.iterdir()} == before


def test_a_named_shard_that_is_missing(stripe: Stripe, shards: Path) -> None:
    before = snapshot(shards)
    paths = sorted(shards.iterdir())
    paths[1].unlink()
    assert stripe.run("verify", *paths).stdout.startswith(f"{paths[1]}: No such file or directory\n")
    stripe.ok("repair", *paths)
    assert snapshot(shards) == before


def test_a_damaged_shard_of_unknown_index_is_left_alone(stripe: Stripe, shards: Path) -> None:
    before = snapshot(shards)
    stray = shards / "renamed.gfs"
    shard(shards, 4).rename(stray)
    flip(stray, 40)
    damaged = stray.read_bytes()
    found = stripe.run("verify", shards)
    assert found.status == WRONG
    assert f"{stray}: checksum mismatch in the header\n" in found.stdout
    stripe.ok("repair", shards)
    assert stray.read_bytes() == damaged
    stray.unlink()
    assert snapshot(shards) == before


@pytest.mark.parametrize("command", ["verify", "repair", "join"])
def test_too_many_lost(stripe: Stripe, shards: Path, tmp_path: Path, command: str) -> None:
    shard(shards, 0).unlink()
    shard(shards, 5).unlink()
    flip(shard(shards, 3), -5)
    before = snapshot(tmp_path)
    output = ("-o", tmp_path / "joined") if command == "join" else ()
    outcome = stripe.run(command, shards, *output)
    if command == "verify":
        assert outcome.status == WRONG
        assert "file: 3 of 6 shards intact, 4 needed: cannot be repaired\n" in outcome.stdout
    else:
        assert outcome.status == REFUSED
        assert outcome.stderr == (
            "stripe: file: too few shards: 3 intact, 4 needed; missing: 000 005; damaged: 003\n"
        )
    assert snapshot(tmp_path) == before


def test_wrong_parities_with_right_checksums(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    """Only a faulty writer makes such a set; gfsmith_check detects it."""
    forged = bytearray(shard(shards, 4).read_bytes())
    forged[HEADER + 17] ^= 1
    for index in range(6):
        raw = bytearray(shard(shards, index).read_bytes())
        raw = forged if index == 4 else raw
        raw[4096 + 64 : 4096 + 80] = xxh3_128(bytes(forged[HEADER:]))
        sign(raw)
        shard(shards, index).write_bytes(raw)
    found = stripe.run("verify", shards)
    assert (found.status, found.stdout) == (WRONG, "file: the parities do not match the data\n")
    before = snapshot(shards)
    assert "no shard is damaged" in stripe.refusal("repair", shards)
    assert snapshot(shards) == before
    stripe.ok("join", shards, "-o", tmp_path / "joined")  # the data are right


def test_a_rebuilt_shard_must_be_the_one_that_the_others_remember(
    stripe: Stripe, shards: Path, tmp_path: Path
) -> None:
    for index in range(6):
        raw = bytearray(shard(shards, index).read_bytes())
        raw[4096 + 16] ^= 1  # a false checksum of shard 1, in all headers
        raw[88] ^= 1  # and of the original
        sign(raw)
        shard(shards, index).write_bytes(raw)
    before = snapshot(tmp_path)
    outcome = stripe.run("repair", shards)
    assert outcome.status == REFUSED
    assert "the rebuilt shard does not have the checksum" in outcome.stderr
    assert "does not have the checksum of the original" in stripe.refusal(
        "join", shards, "-o", tmp_path / "joined"
    )
    assert snapshot(tmp_path) == before


def test_empty_file_with_damaged_headers(stripe: Stripe, tmp_path: Path) -> None:
    folder = make_set(stripe, tmp_path, b"")
    before = snapshot(folder)
    flip(shard(folder, 0), 100)
    shard(folder, 1).unlink()
    assert stripe.run("verify", folder).status == WRONG
    stripe.ok("repair", folder)
    assert snapshot(folder) == before


def test_repair_of_a_set_in_two_folders(stripe: Stripe, tmp_path: Path) -> None:
    folder = make_set(stripe, tmp_path, content(999))
    other = tmp_path / "other"
    other.mkdir()
    before = snapshot(folder)
    for index in (4, 5):
        shard(folder, index).rename(shard(other, index))
    flip(shard(other, 5), -1)
    shard(folder, 2).unlink()
    assert stripe.run("repair", folder, other).status == DONE
    moved = {**snapshot(folder), **snapshot(other)}
    assert moved == before
    assert sorted(snapshot(other)) == ["file.004.gfs", "file.005.gfs"]
    assert temporaries(folder) == temporaries(other) == []
