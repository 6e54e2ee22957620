"""PAR2 in both directions: Debian's par2 verifies and repairs the tool's sets, and the tool those of par2."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.oracle.par2_format import CREATOR, RECOVERY, Packet, Par2, packets
from tests.system.apps.shards.support import DEADLINE, DONE, REFUSED, WRONG, Tool, content, snapshot

#: Names with spaces, of other scripts and in folders. par2 0.8.1 cannot create sets with names of a letter.
FILES = {
    "first.bin": content(50_000, 2),
    "sub/ünï ✓.txt": content(12_345, 3),
    "sub/deep er/файл": content(4_000, 4),
    "tiny": b"abc",
    "zeros": bytes(9_000),
}
OPTIONS = ("--blocks", "60", "-r", "30")
PAR2_OPTIONS = ("-b60", "-r30")


def par2(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run Debian's par2 in a folder."""
    done = subprocess.run(["par2", *arguments], cwd=folder, capture_output=True, timeout=DEADLINE)
    return done.returncode, done.stdout.decode()


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with FILES, which a tool protects in set.par2."""

    path: Path

    def ours(self, tool: Tool, *options: str) -> None:
        words = ("par2", "create", "-q", *(options or OPTIONS), "set.par2", *FILES)
        done = tool.run(*words, cwd=self.path)
        assert (done.status, done.stderr) == (DONE, ""), done

    def theirs(self, *options: str) -> None:
        status, said = par2(self.path, "create", "-q", *(options or PAR2_OPTIONS), "set.par2", *FILES)
        assert status == 0, said

    def is_whole(self) -> bool:
        return all((self.path / name).read_bytes() == data for name, data in FILES.items())

    def packets(self) -> set[Packet]:
        found = {p for path in self.path.glob("*.par2") for p in packets(path.read_bytes())}
        return {each for each in found if each.kind != CREATOR}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    for name, data in FILES.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Folder(tmp_path / "files")


def flip(folder: Path) -> None:
    """Damage a byte in each of three blocks."""
    data = bytearray((folder / "first.bin").read_bytes())
    for at in (0, 20_000, 49_999):
        data[at] ^= 1
    (folder / "first.bin").write_bytes(data)


def insert(folder: Path) -> None:
    """Move most blocks of a file by a few bytes, and cut its end."""
    data = FILES["first.bin"]
    (folder / "first.bin").write_bytes(data[:10_000] + b"inserted" + data[10_000:45_000])


def delete(folder: Path) -> None:
    (folder / "tiny").unlink()
    shutil.rmtree(folder / "sub")


def swap(folder: Path) -> None:
    """Exchange the contents of two files: no block is lost."""
    (folder / "first.bin").write_bytes(FILES["sub/ünï ✓.txt"])
    (folder / "sub/ünï ✓.txt").write_bytes(FILES["first.bin"])


def extend(folder: Path) -> None:
    with (folder / "sub/ünï ✓.txt").open("ab") as file:
        file.write(b"more")


def truncate(folder: Path) -> None:
    (folder / "first.bin").write_bytes(FILES["first.bin"][:40_000])
    (folder / "zeros").write_bytes(b"")


def damage_volume(folder: Path) -> None:
    """Damage the packets of the index, and a recovery block; cut a volume."""
    delete(folder)
    index = folder / "set.par2"
    index.write_bytes(bytes(200) + index.read_bytes()[200:])
    volumes = sorted(folder.glob("*.vol*"))
    data = bytearray(volumes[-1].read_bytes())
    data[len(data) // 2] ^= 1
    volumes[-1].write_bytes(data[:-3000])
    shutil.copy(volumes[0], folder / "set.copy.par2")


DAMAGES: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (flip, insert, delete, swap, extend, truncate, damage_volume)
}
NUMBERS = re.compile(
    r"You have (\d+) out of (\d+) data blocks available.\nYou have (\d+) recovery blocks available"
)


def test_both_write_the_same_packets(tool: Tool, folder: Folder) -> None:
    folder.theirs("-s1000", "-r100")
    theirs = folder.packets()
    for path in folder.path.glob("*.par2"):
        path.unlink()
    folder.ours(tool, "-b", "1000", "-r", "100")
    assert folder.packets() == theirs
    assert sum(each.kind == RECOVERY for each in theirs) == 50 + 13 + 4 + 1 + 9


def test_packets_of_the_oracle(tool: Tool, tmp_path: Path) -> None:
    files = {b"one": content(100, 2), b"two": content(37, 3)}
    for name, data in files.items():
        (tmp_path / name.decode()).write_bytes(data)
    tool.ok("par2", "create", "-q", "-b", "8", "-r", "100", tmp_path / "s.par2", *tmp_path.iterdir())
    found = {p for path in tmp_path.glob("*.par2") for p in packets(path.read_bytes())}
    expected = {p for each in Par2(files, 8, range(18)).packets() for p in packets(each)}
    assert {p for p in found if p.kind != CREATOR} == {p for p in expected if p.kind != CREATOR}


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("memory", ["1", "2M", "1g"])
def test_slices_and_threads_do_not_change_the_packets(
    tool: Tool, tmp_path: Path, threads: str, memory: str
) -> None:
    """1 MiB for 120 blocks of 100,000 bytes needs a dozen slices."""
    (tmp_path / "data").write_bytes(content(900_001))
    name = tmp_path / "data"
    tool.ok("par2", "create", "-q", "-b", "100000", "-r", "100", tmp_path / "whole.par2", name)
    options = ("-t", threads, "--memory", memory)
    tool.ok("par2", "create", "-q", *options, "-b", "100000", "-r", "100", tmp_path / "s.par2", name)
    for path in tmp_path.glob("whole*"):
        assert path.read_bytes() == (tmp_path / path.name.replace("whole", "s")).read_bytes()
    name.unlink()
    tool.ok("par2", "repair", "-q", *options, tmp_path / "s.par2")
    assert name.read_bytes() == content(900_001)


@pytest.mark.parametrize("damage", DAMAGES)
def test_par2_repairs_our_sets(tool: Tool, folder: Folder, damage: str) -> None:
    folder.ours(tool)
    assert par2(folder.path, "verify", "set.par2")[0] == 0
    DAMAGES[damage](folder.path)
    status, said = par2(folder.path, "repair", "set.par2")
    assert status == 0, said
    assert folder.is_whole()
    done = tool.run("par2", "verify", "-q", folder.path / "set.par2")
    assert done.status == DONE, done


@pytest.mark.parametrize("damage", DAMAGES)
def test_we_repair_sets_of_par2(tool: Tool, folder: Folder, damage: str) -> None:
    folder.theirs()
    tool.ok("par2", "verify", "-q", folder.path / "set.par2")
    DAMAGES[damage](folder.path)
    assert tool.run("par2", "verify", "-q", folder.path / "set.par2").status == WRONG
    done = tool.run("par2", "repair", "-q", folder.path / "set.par2")
    assert (done.status, done.stderr) == (DONE, ""), done
    assert folder.is_whole()
    assert par2(folder.path, "verify", "set.par2")[0] == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_both_count_the_same_blocks(tool: Tool, folder: Folder, damage: str) -> None:
    folder.theirs()
    DAMAGES[damage](folder.path)
    _, said = par2(folder.path, "verify", "set.par2")
    found = json.loads(tool.run("par2", "verify", "-q", "-j", folder.path / "set.par2").stdout)
    assert found["result"] == "repairable"
    counted = NUMBERS.search(said)
    assert counted is not None, said
    blocks = found["blocks"]
    assert [int(each) for each in counted.groups()] == [blocks - found["lost"], blocks, found["recovery"]]


def test_extra_files_have_blocks(tool: Tool, folder: Folder, tmp_path: Path) -> None:
    """A moved file, and one with other bytes in front, count for nothing unless they are named."""
    folder.theirs()
    for path in folder.path.glob("*.vol*"):
        path.unlink()
    moved = tmp_path / "moved"
    moved.write_bytes(b"front" + FILES["first.bin"])
    (folder.path / "first.bin").unlink()
    before = snapshot(folder.path)
    index = folder.path / "set.par2"
    line = tool.run("par2", "repair", "-q", index).stderr
    assert line.endswith("blocks are lost, and 0 recovery blocks exist\n")
    assert snapshot(folder.path) == before
    assert tool.run("par2", "repair", "-q", index, moved).status == DONE
    assert folder.is_whole()


@pytest.mark.parametrize("command", ["verify", "repair"])
@pytest.mark.parametrize("name", ["nosuch", "nosuch.par2", "set.vol9+9.par2", "tiny/x"])
def test_a_named_file_must_exist(tool: Tool, folder: Folder, command: str, name: str) -> None:
    """Also if the set is intact, and no block of the file is needed."""
    folder.ours(tool)
    for damaged in (False, True):
        if damaged:
            flip(folder.path)
        before = snapshot(folder.path)
        done = tool.run("par2", command, "-q", "set.par2", name, cwd=folder.path)
        assert done.status == REFUSED and done.stdout == ""
        assert done.stderr.startswith(f"gfsmith-shards: cannot open {name}: ")
        assert done.stderr.count("\n") == 1 and snapshot(folder.path) == before


def test_a_named_folder_is_refused(tool: Tool, folder: Folder) -> None:
    folder.ours(tool)
    done = tool.run("par2", "verify", "-q", "set.par2", ".", cwd=folder.path)
    assert (done.status, done.stderr) == (REFUSED, "gfsmith-shards: . is not a regular file\n")


def test_a_set_without_a_name_before_the_suffix(tool: Tool, folder: Folder) -> None:
    """The index of ".par2" is ".par2.par2", with and without a folder before it; all volumes are found."""
    made = tool.run("par2", "create", "-q", *OPTIONS, "./.par2", *FILES, cwd=folder.path)
    assert made.status == DONE
    assert (folder.path / ".par2.par2").exists() and not (folder.path / ".par2").exists()
    (folder.path / "tiny").unlink()
    assert tool.run("par2", "repair", "-q", "./.par2.par2", cwd=folder.path).status == DONE
    assert folder.is_whole()


def test_each_file_needs_a_block(tool: Tool, folder: Folder) -> None:
    done = tool.run("par2", "create", "-q", "--blocks", "4", "set.par2", *FILES, cwd=folder.path)
    said = "gfsmith-shards: set.par2: 5 files need as many blocks; allowed: at most 4\n"
    assert (done.status, done.stderr) == (REFUSED, said)


@pytest.mark.parametrize("name", ["first.bin", "./first.bin"])
def test_a_lost_file_may_be_named(tool: Tool, folder: Folder, name: str) -> None:
    folder.ours(tool, "-r", "100")
    (folder.path / "first.bin").unlink()
    assert tool.run("par2", "verify", "-q", "set.par2", name, cwd=folder.path).status == WRONG
    assert tool.run("par2", "repair", "-q", "set.par2", name, cwd=folder.path).status == DONE
    assert folder.is_whole()


def test_other_sets_in_a_folder_are_left_out(tool: Tool, folder: Folder) -> None:
    """Unless they are named: recovery blocks are for files, not for other recovery blocks."""
    folder.ours(tool)
    left_out = sorted(path.name for path in folder.path.glob("set.*par2"))
    done = tool.run("par2", "create", "-q", *OPTIONS, "all.par2", ".", cwd=folder.path)
    assert (done.status, done.stderr) == (DONE, "")
    said = done.stdout.splitlines()
    assert said[: len(left_out)] == [f"./{name}: left out, because it is a PAR2 file" for name in left_out]
    assert said[-1].startswith(f"all.par2: {len(FILES)} files, ")
    named = tool.run("par2", "create", "-q", *OPTIONS, "named.par2", "set.par2", "tiny", cwd=folder.path)
    assert named.stdout.splitlines()[-1].startswith("named.par2: 2 files, ")


@pytest.mark.parametrize("name", [".gfsmith-shards.tmp.abcdef", ".gfsmith-shards.change"])
def test_temporary_files_in_a_folder_are_left_out(tool: Tool, folder: Folder, name: str) -> None:
    """They may be deleted after a crash; a set that has them would be damaged then."""
    (folder.path / name).write_bytes(b"left behind")
    done = tool.run("par2", "create", "-q", *OPTIONS, "all.par2", ".", cwd=folder.path)
    assert (done.status, done.stderr) == (DONE, "")
    said = done.stdout.splitlines()
    assert said[0] == f"./{name}: left out, because it is a temporary file"
    assert said[-1].startswith(f"all.par2: {len(FILES)} files, ")


def test_extra_volumes_count(tool: Tool, folder: Folder, tmp_path: Path) -> None:
    folder.theirs()
    (tmp_path / "away").mkdir()
    volumes = [path.rename(tmp_path / "away" / f"renamed{path.name}") for path in folder.path.glob("*.vol*")]
    (folder.path / "first.bin").write_bytes(content(50_000, 9)[:20_000] + FILES["first.bin"][20_000:])
    index = folder.path / "set.par2"
    assert "cannot be repaired" in tool.run("par2", "verify", "-q", index).stdout
    assert tool.run("par2", "repair", "-q", index, *volumes).status == DONE
    assert folder.is_whole()


def test_a_missing_index(tool: Tool, folder: Folder) -> None:
    folder.theirs()
    (folder.path / "set.par2").unlink()
    tool.ok("par2", "verify", "-q", folder.path / "set.par2")
    tool.ok("par2", "verify", "-q", next(folder.path.glob("*.vol*")))


def test_too_much_damage(tool: Tool, folder: Folder) -> None:
    folder.theirs()
    (folder.path / "first.bin").write_bytes(b"nothing")
    before = snapshot(folder.path)
    done = tool.run("par2", "repair", "-q", folder.path / "set.par2")
    assert (done.status, done.stderr.count("\n")) == (REFUSED, 1)
    assert "recovery blocks exist" in done.stderr
    assert snapshot(folder.path) == before
    assert par2(folder.path, "verify", "set.par2")[0] == 2  # repair is not possible


def test_the_damaged_file_is_kept(tool: Tool, folder: Folder) -> None:
    folder.ours(tool)
    (folder.path / "tiny.1").write_bytes(b"another file")
    (folder.path / "tiny").write_bytes(b"my later notes")
    (folder.path / "tiny").chmod(0o600)
    said = tool.ok("par2", "repair", "-q", folder.path / "set.par2")
    assert f"{folder.path}/tiny: kept as {folder.path}/tiny.2\n" in said
    assert (folder.path / "tiny.2").read_bytes() == b"my later notes"
    assert (folder.path / "tiny.1").read_bytes() == b"another file"
    assert (folder.path / "tiny").read_bytes() == b"abc"
    assert (folder.path / "tiny").stat().st_mode & 0o777 == 0o600


def test_the_result_as_json(tool: Tool, folder: Folder) -> None:
    done = tool.run("par2", "create", "-q", "-j", *OPTIONS, "set.par2", *FILES, cwd=folder.path)
    created = json.loads(done.stdout)
    assert (created["command"], created["result"], created["blocks"]) == ("par2 create", "created", 60)
    assert {each["name"]: each["length"] for each in created["files"]} == {
        name: len(data) for name, data in FILES.items()
    }
    (folder.path / "tiny").unlink()
    found = json.loads(tool.run("par2", "repair", "-q", "-j", folder.path / "set.par2").stdout)
    states = {each["name"]: each["state"] for each in found["files"]}
    assert states == dict.fromkeys(FILES, "intact") | {"tiny": "missing"}
    assert (found["result"], found["lost"], found["recovery"]) == ("repaired", 1, created["recovery"])


@pytest.mark.parametrize("seed", range(6))
def test_random_damage(tool: Tool, folder: Folder, seed: int) -> None:
    """Both tools agree whether a set can be repaired, and on the bytes."""
    rng = random.Random(seed)
    folder.ours(tool) if seed % 2 else folder.theirs()
    for name in rng.sample(sorted(FILES), 2):
        data = bytearray(FILES[name])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[at : at + rng.randrange(2000)] = rng.randbytes(rng.randrange(3000))
            else:
                data[at] ^= 1 << rng.randrange(8)
        (folder.path / name).write_bytes(data)
    other = shutil.copytree(folder.path, folder.path.parent / "other")
    mine = tool.run("par2", "repair", "-q", folder.path / "set.par2")
    status, said = par2(other, "repair", "set.par2")
    assert (mine.status == DONE) == (status == 0), (mine, said)
    assert folder.is_whole() == (status == 0) == Folder(other).is_whole()


def test_blocks_that_verify_would_refuse(tool: Tool, tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(2**32 + 1)
    line = tool.refusal("par2", "create", "--blocks", "1", tmp_path / "set.par2", tmp_path / "file")
    assert line.endswith("blocks of 4294967300 bytes are larger than 4 GiB: --blocks N allows more blocks")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
