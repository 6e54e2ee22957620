"""Damaged shards: the program detects them, names them with the reason, and restores the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle.shard_format import record, tag, xxh3_128
from tests.system.apps.shards.support import (
    DONE,
    HEADER,
    RECORD,
    REFUSED,
    TRAILER,
    WRONG,
    Tool,
    content,
    flip,
    make_set,
    shard,
    snapshot,
    temporaries,
)

Damage = Callable[[Path], None]
#: 999 bytes in 4 + 2 shards with blocks of 64 bytes: four stripes, the last one with 58 bytes.
SIZE = HEADER + 4 * RECORD + 3 * 64 + 58 + TRAILER


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
    "first block": (at(HEADER + RECORD), "1 of 4 blocks damaged"),
    "checksum of a block": (at(HEADER + 96), "1 of 4 blocks damaged"),
    "number of a stripe": (at(HEADER + 16), "1 of 4 blocks damaged"),
    "size of a block": (at(HEADER + 24), "1 of 4 blocks damaged"),
    "kind of a record": (at(HEADER + 28), "1 of 4 blocks damaged"),
    "last block": (at(-TRAILER - 1), "1 of 4 blocks damaged"),
    "trailer": (at(-1), "the trailer is damaged"),
    "checksum of the trailer": (at(-TRAILER), "the trailer is damaged"),
    "magic": (at(0), "the header is not that of a shard"),
    "version": (at(8), "checksum mismatch in the header"),
    "set id": (at(16), "checksum mismatch in the header"),
    "generation": (at(32), "checksum mismatch in the header"),
    "index": (at(40), "checksum mismatch in the header"),
    "k": (at(52), "checksum mismatch in the header"),
    "code": (at(72), "checksum mismatch in the header"),
    "reserved byte": (at(400), "checksum mismatch in the header"),
    "header checksum": (at(500), "checksum mismatch in the header"),
    "one byte short": (resize(-1), f"truncated: {SIZE - 1} bytes instead of {SIZE}"),
    "no trailer": (resize(-TRAILER), f"truncated: {SIZE - TRAILER} bytes instead of {SIZE}"),
    "no payload": (cut(HEADER), f"truncated: {HEADER} bytes instead of {SIZE}"),
    "half a header": (cut(300), f"truncated: 300 bytes instead of {SIZE}"),
    "magic only": (cut(8), f"truncated: 8 bytes instead of {SIZE}"),
    "empty": (cut(0), f"truncated: 0 bytes instead of {SIZE}"),
    "one byte too many": (resize(1), f"too long: {SIZE + 1} bytes instead of {SIZE}"),
    "zeroed": (zero, "the header is not that of a shard"),
}


@pytest.mark.parametrize("index", [0, 5])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_repaired(
    tool: Tool, shards: Path, tmp_path: Path, damage: str, index: int
) -> None:
    apply, why = DAMAGES[damage]
    before = snapshot(shards)
    other = (index + 1) % 6
    apply(shard(shards, index))
    shard(shards, other).unlink()
    found = tool.run("verify", shards)
    assert found.status == WRONG
    assert found.stderr == ""
    assert sorted(found.stdout.splitlines()) == sorted(
        [
            f"{shard(shards, index)}: {why}",
            f"{shard(shards, other)}: missing",
            "file: 4 of 6 shards intact: can be repaired",
        ]
    )
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == (tmp_path / "file").read_bytes()
    tool.ok("repair", shards)
    assert snapshot(shards) == before
    assert tool.ok("verify", shards) == "file: all 6 shards are intact\n"


def test_every_shard_may_be_damaged(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """At most two damaged blocks in each stripe, but some in every shard."""
    before = snapshot(shards)
    for index in range(6):
        flip(shard(shards, index), HEADER + (index % 3) * (RECORD + 64) + RECORD + index)
    found = tool.run("verify", shards)
    assert found.status == WRONG
    assert "file: 0 of 6 shards intact: can be repaired\n" in found.stdout
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(999)
    tool.ok("repair", shards)
    assert snapshot(shards) == before


def test_a_third_damaged_block_in_one_stripe_is_too_many(tool: Tool, shards: Path, tmp_path: Path) -> None:
    for index in (0, 2, 5):
        flip(shard(shards, index), HEADER + (RECORD + 64) + RECORD)
    before = snapshot(tmp_path)
    found = tool.run("verify", shards)
    assert found.status == WRONG
    assert found.stdout.endswith("file: 3 of 6 shards intact, 1 of 4 stripes are lost: cannot be repaired\n")
    line = "file: too many damaged or missing shards: a stripe has fewer good blocks than cauchy with "
    assert tool.refusal("repair", shards).startswith(line)
    assert tool.refusal("restore", shards, "-o", tmp_path / "restored").startswith(line)
    assert snapshot(tmp_path) == before


@pytest.mark.campaign
def test_every_byte_of_a_shard_is_covered(tool: Tool, shards: Path) -> None:
    victim = shard(shards, 2)
    good = victim.read_bytes()
    for offset in range(0, len(good), 3):
        flip(victim, offset)
        found = tool.run("verify", shards)
        assert found.status == WRONG, offset
        assert str(victim) in found.stdout
        victim.write_bytes(good)


def test_blocks_of_another_place_are_damage(tool: Tool, shards: Path) -> None:
    """Records are bound to their stripe, shard and set."""
    size = RECORD + 64
    first, second = shard(shards, 0), shard(shards, 1)
    one, two = first.read_bytes(), second.read_bytes()
    swapped = one[:HEADER] + one[HEADER + size : HEADER + 2 * size] + one[HEADER : HEADER + size]
    first.write_bytes(swapped + one[HEADER + 2 * size :])
    second.write_bytes(two[:HEADER] + one[HEADER : HEADER + size] + two[HEADER + size :])
    assert tool.run("verify", shards).stdout.splitlines() == [
        f"{first}: 2 of 4 blocks damaged",
        f"{second}: 1 of 4 blocks damaged",
        "file: 4 of 6 shards intact: can be repaired",
    ]


@pytest.mark.parametrize("call", ["pread:2:EIO", "pread:8:EIO", "pread:13:EIO"])
def test_an_unreadable_shard_is_lost(
    tool: Tool, faulty: Callable[[str], Tool], shards: Path, call: str
) -> None:
    """Reads 1 to 6 are the headers, 7 to 12 the headers again, then come the records."""
    found = faulty(call).run("verify", "-t", "1", shards)
    assert found.status == WRONG
    assert found.stdout.count("Input/output error\n") == 1
    before = snapshot(shards)
    assert "gfs: rebuilt" in faulty(call).ok("repair", "-t", "1", shards)
    assert snapshot(shards) == before


def test_nothing_to_repair(tool: Tool, shards: Path) -> None:
    before = {path: path.stat().st_ino for path in shards.iterdir()}
    assert tool.ok("repair", shards) == "file: all 6 shards are intact, nothing to repair\n"
    assert {path: path.stat().st_ino for path in shards.iterdir()} == before


def test_a_named_shard_that_is_missing(tool: Tool, shards: Path) -> None:
    before = snapshot(shards)
    paths = sorted(shards.iterdir())
    paths[1].unlink()
    assert tool.run("verify", *paths).stdout.startswith(f"{paths[1]}: No such file or directory\n")
    tool.ok("repair", *paths)
    assert snapshot(shards) == before


def test_a_damaged_shard_of_unknown_index_is_left_alone(tool: Tool, shards: Path) -> None:
    before = snapshot(shards)
    stray = shards / "renamed.gfs"
    shard(shards, 4).rename(stray)
    flip(stray, 40)
    damaged = stray.read_bytes()
    found = tool.run("verify", shards)
    assert found.status == WRONG
    assert f"{stray}: checksum mismatch in the header\n" in found.stdout
    tool.ok("repair", shards)
    assert stray.read_bytes() == damaged
    stray.unlink()
    assert snapshot(shards) == before


def rewrite(path: Path, number: int, change: Callable[[bytearray], None]) -> None:
    """Change the content of record `number` and give it a correct checksum."""
    raw = bytearray(path.read_bytes())
    begin = HEADER + number * (RECORD + 64)
    size = int.from_bytes(raw[begin + 24 : begin + 28], "little")
    kind = int.from_bytes(raw[begin + 28 : begin + 32], "little")
    body = bytearray(raw[begin + RECORD : begin + RECORD + size])
    change(body)
    raw[begin : begin + RECORD + size] = record(kind, number, bytes(body), tag(bytes(raw)))
    path.write_bytes(raw)


def invert_first(body: bytearray) -> None:
    body[0] ^= 0xFF


def test_wrong_parities_with_right_checksums(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """Only a faulty writer makes such a set; the comparison of data and parities detects it."""
    rewrite(shard(shards, 4), 1, invert_first)
    before = snapshot(tmp_path)
    found = tool.run("verify", shards)
    assert (found.status, found.stdout) == (
        WRONG,
        "file: the parities do not match the data in 1 stripes\n",
    )
    line = "file: the parities do not match the data; no shard is damaged"
    assert tool.refusal("repair", shards) == line
    assert snapshot(tmp_path) == before


def test_the_restored_file_must_have_the_checksum_of_the_original(
    tool: Tool, shards: Path, tmp_path: Path
) -> None:
    rewrite(shard(shards, 0), 1, invert_first)
    shard(shards, 5).unlink()
    before = snapshot(tmp_path)
    for command in (("restore", "-o", tmp_path / "restored"), ("repair",)):
        assert "checksum" in tool.refusal(*command, shards)
    assert "its checksum does not match: cannot be repaired" in tool.run("verify", shards).stdout
    assert snapshot(tmp_path) == before


def test_trailers_that_differ_are_refused(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, content(512))  # two complete stripes
    path = shard(folder, 3)
    raw = path.read_bytes()
    end = (511).to_bytes(8, "little") + xxh3_128(content(511))
    path.write_bytes(raw[:-TRAILER] + record(2, 2, end, tag(raw)))
    before = snapshot(tmp_path)
    assert tool.run("verify", folder).status == WRONG
    assert tool.run("repair", folder).status == REFUSED
    assert snapshot(tmp_path) == before


def test_empty_file_with_damaged_headers(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, b"")
    before = snapshot(folder)
    flip(shard(folder, 0), 100)
    shard(folder, 1).unlink()
    assert tool.run("verify", folder).status == WRONG
    tool.ok("repair", folder)
    assert snapshot(folder) == before


def test_repair_of_a_set_in_two_folders(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, content(999))
    other = tmp_path / "other"
    other.mkdir()
    before = snapshot(folder)
    for index in (4, 5):
        shard(folder, index).rename(shard(other, index))
    flip(shard(other, 5), -1)
    shard(folder, 2).unlink()
    assert tool.run("repair", folder, other).status == DONE
    moved = {**snapshot(folder), **snapshot(other)}
    assert moved == before
    assert sorted(snapshot(other)) == ["file.g1.004.gfs", "file.g1.005.gfs"]
    assert temporaries(folder) == temporaries(other) == []
