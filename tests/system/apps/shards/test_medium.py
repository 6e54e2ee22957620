"""Bad sectors: the device can read only a part of a file. Only the blocks with such bytes are lost."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.system.apps.shards.support import (
    DONE,
    FLAGS,
    NATIVE,
    REFUSED,
    WRONG,
    Tool,
    call,
    content,
    flip,
    make_set,
    shard,
    snapshot,
)

PAGE = 4096
Bad = Callable[..., Tool]
Faulty = Callable[[str], Tool]


@pytest.fixture(scope="session")
def bad(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Bad:
    """bad("one:3", "two:0+"): the program, on a device that cannot read page 3 of "one" and all of "two"."""
    library = tmp_path_factory.mktemp("bad") / "bad_sectors.so"
    call("cc", *FLAGS[:2], *FLAGS[3:], "-shared", "-fPIC", "-o", library, NATIVE / "bad_sectors.c", "-ldl")
    return lambda *pages: Tool(tool.program, {"LD_PRELOAD": str(library), "SHARDS_BAD": ",".join(pages)})


@pytest.fixture
def large(tool: Tool, tmp_path: Path) -> Path:
    """A folder with the 4 + 2 shards of 100,000 bytes, of 7 pages each."""
    return make_set(tool, tmp_path, content(100_000), block=1024)


def in_each(pages: Iterable[int | str]) -> list[str]:
    return [f"{shard(Path(), i).name}:{page}" for i, page in enumerate(pages)]


@pytest.mark.parametrize(
    "pages", [(1, 2, 3, 4, 5, 6), (0, 0, 3, 3, 5, 5), ("2+", "1+"), ("0+", "0+")], ids=str
)
def test_no_stripe_has_too_many_lost_blocks(bad: Bad, large: Path, pages: tuple[int | str, ...]) -> None:
    """Although every shard has bad sectors. A shard whose device reads nothing is asked a few times only."""
    before = {path: path.read_bytes() for path in large.iterdir()}
    device = bad(*in_each(pages))
    verified = device.run("verify", large)
    assert verified.status == WRONG and verified.stdout.endswith("shards intact: can be repaired\n"), verified
    assert verified.stdout.count("Input/output error\n") == len(pages)
    assert device.run("restore", large, "-o", "-").raw == content(100_000)
    assert device.ok("repair", large).count(": rebuilt\n") == len(pages)
    assert {path: path.read_bytes() for path in large.iterdir()} == before


def test_a_stripe_with_too_many_lost_blocks(bad: Bad, large: Path) -> None:
    """Blocks begin at 512 + 1056 n, so a page has bytes of 4 to 6 of them."""
    verified = bad(*in_each((3, 3, 3))).run("verify", large)
    assert verified.status == WRONG and "3 of 6 shards intact, 5 of 25 stripes are lost" in verified.stdout


def test_zeros_that_cannot_be_read(tool: Tool, bad: Bad, tmp_path: Path) -> None:
    """The program takes zeros for all bytes that it cannot read, but the shard is not intact."""
    shards = make_set(tool, tmp_path, bytes(200_000), block=16384)
    device = bad(f"{shard(shards, 1).name}:2")
    assert "5 of 6 shards intact" in device.run("verify", shards).stdout
    assert device.ok("repair", shards).count(": rebuilt\n") == 1


def test_the_next_generation_of_damaged_shards(bad: Bad, large: Path) -> None:
    """The device reads no header of the last one."""
    device = bad(*in_each([0] * 6))
    told = device.run("info", large)
    assert told.status == WRONG and told.stdout.count(": Input/output error\n") == 6, told
    assert "generation 2\n" in device.ok("protect", "-q", "--force", large.parent / "file", large)
    assert not list(large.glob("*.g1.*"))


@pytest.mark.parametrize("command", ["protect", "repair"])
def test_the_rest_of_an_interrupted_run(faulty: Faulty, bad: Bad, large: Path, command: str) -> None:
    """The device does not read one of its shards, which stays; the others are removed."""
    words = ("protect", "-q", "--force", "-k", "4", "-m", "2", large.parent / "file", large)
    assert faulty("rename:4:KILL").run(*words).status == -signal.SIGKILL
    unread, lost = shard(large, 1, generation=2), shard(large, 1)
    lost.unlink()
    again: tuple[str | Path, ...] = words if command == "protect" else ("repair", "-q", large)
    bad(f"{unread.name}:0").ok(*again)
    assert unread.exists() == (command == "repair") and lost.exists() == (command == "repair")
    assert not shard(large, 0, generation=2).exists()


@pytest.fixture
def index(tool: Tool, tmp_path: Path) -> Path:
    """A PAR2 set of the files "one" and "two", with 60 blocks of 1,000 bytes and 60 recovery blocks."""
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(content(30_000, len(name) + ord(name[0])))
    words = ("-q", "-b", "1000", "-r", "100", tmp_path / "set.par2")
    tool.ok("par2", "create", *words, tmp_path / "one", tmp_path / "two")
    return tmp_path / "set.par2"


@pytest.mark.parametrize(
    ("pages", "lost"),
    [
        (("one:0", "two:2"), 10),
        (("one:7",), 2),
        (("one:0+", "two:3"), 35),
        (("one:1", "set.par2:0+"), 5),
        (("one:1", "set.par2:0", "set.vol31+29.par2:1"), 5),
        (("one:1", "set.vol31+29.par2:0+", "set.vol15+16.par2:0+"), 5),
    ],
    ids=str,
)
def test_par2(bad: Bad, index: Path, pages: tuple[str, ...], lost: int) -> None:
    """Bad sectors in files, the index and volumes."""
    names = {"one", "two"}
    whole = {name: (index.parent / name).read_bytes() for name in names}
    device = bad(*pages)
    verified = device.run("par2", "verify", index)
    assert verified.status == WRONG and f"{lost} of 60 blocks lost" in verified.stdout, verified
    assert device.run("par2", "repair", "-q", index).status == DONE
    assert {name: (index.parent / name).read_bytes() for name in names} == whole


@pytest.mark.parametrize("named", [False, True])
def test_par2_with_an_inode_that_cannot_be_read(
    tool: Tool, lost_name: Path, index: Path, named: bool
) -> None:
    """The file is damaged. A repair cannot replace it, and changes nothing else."""
    variables = {"SHARDS_LOST": "one", "SHARDS_LOST_ERROR": str(errno.EUCLEAN)}
    damaged = Tool(tool.program, {"LD_PRELOAD": str(lost_name), **variables})
    flip(index.parent / "two", 500)
    before = snapshot(index.parent)
    verified = damaged.run("par2", "verify", index, *([index.parent / "one"] if named else []))
    assert verified.status == WRONG and "one: Structure needs cleaning\n" in verified.stdout, verified
    assert verified.stdout.endswith("31 of 60 blocks lost, 60 recovery blocks: can be repaired\n")
    refused = damaged.run("par2", "repair", "-q", index)
    reason = "gfsmith-shards: cannot create one: Structure needs cleaning\n"
    assert (refused.status, refused.stderr) == (REFUSED, reason)
    assert snapshot(index.parent) == before


def test_par2_finds_blocks_between_bad_sectors(bad: Bad, index: Path) -> None:
    """All blocks of the file have moved by a byte: those without bytes of pages 1, 4 and 5 are found."""
    one = index.parent / "one"
    one.write_bytes(b"x" + one.read_bytes())
    verified = bad("one:1", "one:4", "one:5").run("par2", "verify", index)
    assert "one: damaged, 16 of 30 blocks found\n" in verified.stdout, verified
