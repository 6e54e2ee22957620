"""Protect, lose, restore, repair: the original is restored for all lengths, shapes and codes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from gfsmith.cli import sizes
from gfsmith.codes.names import NAMES, SEARCHED
from tests.oracle.shard_format import FIELDS, Shape, split
from tests.system.apps.shards.support import (
    DEADLINE,
    DONE,
    RECORD,
    REFUSED,
    Tool,
    content,
    flip,
    make_set,
    shard,
    snapshot,
    temporaries,
)

BLOCK = 128
SHAPES = (
    ("cauchy", 1, 1),
    ("cauchy", 4, 2),
    ("cauchy", 10, 4),
    ("cauchy", 3, 7),
    ("vandermonde", 5, 3),
    ("backblaze", 10, 4),
)
#: Codes with a fixed number of parities.
FIXED = {"raid6": 2, "reed_sol_r6_op": 2, "md": 2, "btrfs": 2}


def lengths(k: int) -> tuple[int, ...]:
    span = k * BLOCK
    edges = {0, 1, k - 1, k, k + 1, span - 1, span, span + 1, 3 * span - k + 1, 40 * span + 7}
    return tuple(sorted(edges))


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
def test_every_length_survives_m_losses(tool: Tool, tmp_path: Path, code: str, k: int, m: int) -> None:
    shape = ("-c", code, "-k", str(k), "-m", str(m), "-b", str(BLOCK))
    for length in lengths(k):
        folder = tmp_path / str(length)
        file = tmp_path / "file"
        file.write_bytes(content(length, seed=length))
        tool.ok("protect", *shape, file, folder)
        before = snapshot(folder)
        assert len(before) == k + m
        assert "all" in tool.ok("verify", folder)
        for i in range(m):  # data first
            shard(folder, i).unlink()
        tool.ok("restore", folder, "-o", tmp_path / f"{length}.restored")
        assert (tmp_path / f"{length}.restored").read_bytes() == file.read_bytes()
        tool.ok("repair", folder)
        assert snapshot(folder) == before


@pytest.mark.parametrize("code", ["cauchy", "vandermonde"])
def test_every_loss_of_one_or_two(tool: Tool, tmp_path: Path, code: str) -> None:
    data = content(5000)
    (tmp_path / "file").write_bytes(data)
    folder = tmp_path / "shards"
    tool.ok(*f"protect -c {code} -k 4 -m 2 -b 256".split(), tmp_path / "file", folder)
    before = snapshot(folder)
    for count in (1, 2):
        for lost in itertools.combinations(range(6), count):
            for index in lost:
                shard(folder, index).unlink()
            tool.ok("restore", "--force", folder, "-o", tmp_path / "restored")
            assert (tmp_path / "restored").read_bytes() == data, lost
            tool.ok("repair", folder)
            assert snapshot(folder) == before, lost


@pytest.mark.parametrize("code", [name for name in NAMES if name not in {code.name for code in SEARCHED}])
def test_every_code(tool: Tool, tmp_path: Path, code: str) -> None:
    """Two lost shards of each code; the help of the program refers to this list of names."""
    m = FIXED.get(code, 2)
    groups = ("-l", "2") if code == "lrc" else ()
    m = 4 if code == "lrc" else m
    (tmp_path / "file").write_bytes(content(999))
    folder = tmp_path / "shards"
    tool.ok("protect", "-c", code, "-k", "6", "-m", str(m), *groups, "-b", "64", tmp_path / "file", folder)
    before = snapshot(folder)
    shard(folder, 0).unlink()
    shard(folder, 6).unlink()
    tool.ok("repair", folder)
    assert snapshot(folder) == before


@pytest.mark.parametrize("block", [64, 4096, 65536, 1 << 20])
def test_several_megabytes(tool: Tool, tmp_path: Path, block: int) -> None:
    data = content(5_000_003)
    folder = make_set(tool, tmp_path, data, 10, 4, block)
    before = snapshot(folder)
    for index in (2, 3, 7, 13):
        shard(folder, index).unlink()
    tool.ok("restore", folder, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == data
    tool.ok("repair", folder)
    assert snapshot(folder) == before


@pytest.mark.parametrize("text", ["4096", "64K", "64k", "1M", "1m"])
def test_blocks_have_the_units_of_gfsmith(tool: Tool, tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_bytes(content(100))
    done = tool.ok("protect", "--json", "-b", text, tmp_path / "file", tmp_path / "shards")
    assert json.loads(done)["block"] == sizes.parse(text)


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads_do_not_change_the_result(tool: Tool, tmp_path: Path, threads: str) -> None:
    data = content(3_000_000)
    folder = make_set(tool, tmp_path, data, 5, 3, 4096)
    before = snapshot(folder)
    for index in (0, 4, 6):
        shard(folder, index).unlink()
    assert tool.run("repair", "--threads", threads, folder).status == DONE
    assert snapshot(folder) == before
    tool.ok("restore", "--threads", threads, folder, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == data


def test_the_largest_set(tool: Tool, tmp_path: Path) -> None:
    data = content(200_000)
    folder = make_set(tool, tmp_path, data, 200, 55)
    before = snapshot(folder)
    assert len(before) == 255
    for index in range(0, 220, 4):
        shard(folder, index).unlink()
    tool.ok("repair", folder)
    assert snapshot(folder) == before
    tool.ok("restore", folder, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == data


@pytest.mark.parametrize("length", [0, 1, 5, 767, 768, 769, 2000])
def test_the_format_is_the_one_that_is_written_down(tool: Tool, tmp_path: Path, length: int) -> None:
    """The bytes of docs/shard-format.md, by its second implementation."""
    data = content(length)
    folder = make_set(tool, tmp_path, data, 3, 2, 256)
    set_id = FIELDS.unpack_from(shard(folder, 0).read_bytes())[3]
    expected = split(Shape("cauchy", 3, 2, 256, set_id=set_id), data)
    assert [shard(folder, index).read_bytes() for index in range(5)] == expected


def test_two_sets_of_one_file_have_different_ids(tool: Tool, tmp_path: Path) -> None:
    first = make_set(tool, tmp_path / "a", content(3000))
    second = make_set(tool, tmp_path / "b", content(3000))
    assert shard(first, 0).read_bytes()[16:32] != shard(second, 0).read_bytes()[16:32]


def test_shards_in_any_order_place_and_name(tool: Tool, shards: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    paths = [elsewhere / name for name in ("z.gfs", "noextension", "a", "b.g1.003.gfs")]
    for path, index in zip(paths, (4, 0, 5, 2), strict=True):
        shard(shards, index).rename(path)
    tool.ok("restore", *paths, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("name", [".hidden", "with space", "ümlaut", "-dash", "n" * 229, "x.g1.000.gfs"])
def test_names_of_the_original(tool: Tool, tmp_path: Path, name: str) -> None:
    folder = make_set(tool, tmp_path, content(500), name=name)
    before = snapshot(folder)
    assert list(before) == [f"{name}.g1.{i:03d}.gfs" for i in range(6)]
    shard(folder, 0, name).unlink()
    tool.ok("repair", folder)
    assert snapshot(folder) == before


def test_info(tool: Tool, shards: Path) -> None:
    text = tool.ok("info", shard(shards, 0), shard(shards, 5))
    assert "shard       0 of 6 (data)" in text
    assert "shard       5 of 6 (parity)" in text
    assert "code        cauchy, k = 4, m = 2\n" in text
    assert "original    file (bytes)" in text
    assert "generation  1, set " in text


def test_permissions_are_those_of_the_original(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(100))
    (tmp_path / "file").chmod(0o600)
    tool.ok("protect", "-k", "2", "-m", "1", tmp_path / "file", tmp_path / "shards")
    shard(tmp_path / "shards", 0).unlink()
    tool.ok("repair", tmp_path / "shards")
    tool.ok("restore", tmp_path / "shards", "-o", tmp_path / "restored")
    for path in (*(tmp_path / "shards").iterdir(), tmp_path / "restored"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("name", ["shards", "shards/"])
def test_protect_creates_the_folder(tool: Tool, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(content(999))
    done = tool.run("split", "-k", "4", "-m", "2", "file", name, cwd=tmp_path)
    assert (done.status, done.stdout) == (0, f"file: 6 shards in {name}, generation 1\n")
    tool.ok("join", tmp_path / "shards", "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(999)


@pytest.mark.parametrize("length", [0, 1, 700_001])
def test_a_pipe(tool: Tool, tmp_path: Path, length: int) -> None:
    data = content(length)
    folder = tmp_path / "shards"
    made = tool.run("protect", "-k", "4", "-m", "2", "-n", "dump", "-", folder, stdin=data)
    assert (made.status, made.stdout) == (DONE, f"dump: 6 shards in {folder}, generation 1\n")
    shard(folder, 1, "dump").unlink()
    tool.ok("restore", folder, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == data
    done = tool.run("restore", folder, "-o", "-")
    assert (done.status, done.stderr) == (DONE, "")
    assert done.raw == data


def test_pipes_that_do_not_block(tool: Tool, tmp_path: Path) -> None:
    """An empty pipe has not ended, and a full one takes the rest later."""
    data, shards = content(300_000), tmp_path / "shards"
    source, sink = os.pipe()
    os.set_blocking(source, False)
    with subprocess.Popen([tool.program, "protect", "-", shards], stdin=source) as run:
        os.close(source)
        for start in range(0, len(data), 50_000):
            time.sleep(0.02)
            os.write(sink, data[start : start + 50_000])
        os.close(sink)
        assert run.wait(DEADLINE) == 0
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    with subprocess.Popen([tool.program, "restore", shards, "-o", "-"], stdout=sink) as run:
        os.close(sink)
        time.sleep(0.3)
        with os.fdopen(source, "rb") as restored:
            assert restored.read() == data
        assert run.wait(DEADLINE) == 0


def test_the_next_generation_replaces_the_last_one(tool: Tool, shards: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(5000, seed=2))
    line = tool.ok("protect", "--force", "-k", "3", "-m", "1", tmp_path / "file", shards)
    assert line == f"file: 4 shards in {shards}, generation 2\n"
    assert list(snapshot(shards)) == [shard(shards, i, generation=2).name for i in range(4)]
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(5000, seed=2)


def test_renamed_shards_count_for_the_next_generation(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """Commands choose by headers, so new contents need a generation above those of backups in the folder."""
    for index in range(6):
        shard(shards, index).rename(shards / f"backup{index}.gfs")
    before = snapshot(shards)
    (tmp_path / "file").write_bytes(content(5000, seed=2))
    done = tool.run("protect", tmp_path / "file", shards)
    assert done.status == REFUSED and "already has shards of file (--force " in done.stderr
    assert snapshot(shards) == before
    line = tool.ok("protect", "--force", "-k", "3", "-m", "1", tmp_path / "file", shards)
    assert line == f"file: 4 shards in {shards}, generation 2\n"
    assert {name: snapshot(shards)[name] for name in before} == before
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(5000, seed=2)


def test_renamed_shards_of_another_original_stay(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """They have the names of the generation that is replaced, but no other files have their original."""
    other = make_set(tool, tmp_path / "other", content(777), name="other")
    for index in range(6):
        shard(shards, index).unlink()
        shard(other, index, "other").rename(shard(shards, index))
    before = snapshot(shards)
    assert "generation 2\n" in tool.ok("protect", "--force", "-k", "3", "-m", "1", tmp_path / "file", shards)
    assert {name: snapshot(shards)[name] for name in before} == before
    tool.ok("restore", *shards.glob("*.g1.*"), "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(777)


def test_an_old_shard_that_cannot_be_removed(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """All others are removed."""
    for index in (0, 5):
        shard(shards, index).unlink()
        shard(shards, index).mkdir()
    done = tool.run("protect", "--force", "-q", "-k", "3", "-m", "1", tmp_path / "file", shards)
    assert done.status == REFUSED and done.stderr.count("cannot remove ") == 1, done
    assert "generation 2\n" in done.stdout
    assert {path.name for path in shards.glob("*.g1.*")} == {shard(shards, i).name for i in (0, 5)}


def second_generation(tool: Tool, tmp_path: Path, shards: Path, count: int) -> Path:
    """Move shards 0 .. count - 1 of generation 2 to `shards`; return the folder of the others."""
    newer = tmp_path / "newer"
    (tmp_path / "file").write_bytes(content(700, seed=2))
    for _ in range(2):
        tool.ok("protect", "--force", "-k", "4", "-m", "2", "-b", "64", tmp_path / "file", newer)
    for index in range(count):
        shard(newer, index, generation=2).rename(shard(shards, index, generation=2))
    return newer


def test_the_highest_complete_generation_is_read(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """Of generation 2 only three shards exist, as after an interrupted run: it is no complete set."""
    newer = second_generation(tool, tmp_path, shards, 3)
    found = tool.run("verify", shards)
    assert found.stdout.splitlines() == [
        "file: 3 files of other generations than 1 are left over",
        "file: all 6 shards are intact",
    ]
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(999)
    shard(newer, 3, generation=2).rename(shard(shards, 3, generation=2))
    tool.ok("restore", "--force", shards, "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(700, seed=2)


def test_damaged_headers_do_not_hide_the_highest_generation(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """Fewer than k of its headers are intact, but all its blocks; an interrupted run has left the old one."""
    second_generation(tool, tmp_path, shards, 6)
    for index in range(3):
        flip(shard(shards, index, generation=2), 20)
    assert "file: 3 of 6 shards intact: can be repaired\n" in tool.run("verify", shards).stdout
    assert tool.run("restore", shards, "-o", "-").raw == content(700, seed=2)
    for index in range(3):
        shard(shards, index, generation=2).write_bytes(b"")
    assert tool.run("restore", shards, "-o", "-").raw == content(999)


def test_json(tool: Tool, tmp_path: Path) -> None:
    name = b'na\xffme "\x01\xc3\xa4'.decode("utf-8", "surrogateescape")
    (tmp_path / name).write_bytes(content(999))
    folder = tmp_path / "shards"
    shape = ("-k", "4", "-m", "2", "-b", "64")
    made = json.loads(tool.ok("protect", "--json", *shape, tmp_path / name, folder))
    assert (made["name"], made["length"], made["k"], made["m"]) == (name, 999, 4, 2)
    shard(folder, 5, name).unlink()
    path = shard(folder, 1, name)
    raw = bytearray(path.read_bytes())
    raw[600] ^= 1
    path.write_bytes(raw)
    found = tool.run("verify", "--json", folder)
    report = json.loads(found.stdout)
    assert (found.status, report["result"], report["stripes"]) == (1, "repairable", 4)
    states = [each["state"] for each in report["shards"]]
    assert states == ["intact", "damaged", "intact", "intact", "intact", "missing"]
    assert report["shards"][1]["reason"] == "1 of 4 blocks damaged"
    assert json.loads(tool.ok("repair", "--json", folder))["result"] == "repaired"
    assert json.loads(tool.ok("verify", "--json", folder))["result"] == "intact"
    done = json.loads(tool.ok("restore", "--json", folder, "-o", tmp_path / "restored"))
    assert (done["result"], done["length"], done["original"]) == ("restored", 999, report["original"])


def test_options_behind_the_arguments(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """As in the synopsis, also in an environment in which getopt ends them at the first argument."""
    strict = Tool(tool.program, {"POSIXLY_CORRECT": "1"})
    strict.ok("restore", shards, "-q", "-o", tmp_path / "restored")
    assert (tmp_path / "restored").read_bytes() == content(999)


def test_the_cost_of_the_format_is_the_one_that_is_written_down(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, content(40_000), 4, 2, 4096)
    stripes = 3  # of 16384 bytes
    assert shard(folder, 0).stat().st_size == 568 + stripes * RECORD + 10_000
