"""File systems without a rename that replaces nothing, without links, that ignore case or list an open folder
once, or are damaged."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import io
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle.shard_format import Shape, split
from tests.system.apps.shards.support import (
    DONE,
    REFUSED,
    WRONG,
    Stopped,
    Tool,
    content,
    flip,
    shard,
    snapshot,
    temporaries,
)

Faulty = Callable[[str], Tool]
SHAPE = ("-q", "-k", "4", "-m", "2")


@pytest.fixture(params=[{}, {"SHARDS_NO_LINKS": "1"}], ids=["no_rename", "no_links"])
def there(request: pytest.FixtureRequest, tool: Tool, plain_renames: Path) -> Tool:
    return Tool(tool.program, {"LD_PRELOAD": str(plain_renames), **request.param})


def test_every_command(there: Tool, tmp_path: Path) -> None:
    file, folder, shards = tmp_path / "file", tmp_path / "folder", tmp_path / "shards"
    file.write_bytes(content(999))
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "one").write_bytes(content(99))
    there.ok("protect", *SHAPE, file, shards)
    there.ok("protect", *SHAPE, "-f", file, shards)
    assert not list(shards.glob("*.g1.*"))
    (shards / "file.g2.001.gfs").unlink()
    there.ok("repair", "-q", shards)
    there.ok("restore", "-q", shards, "-o", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == content(999)
    there.ok("protect", *SHAPE, folder, tmp_path / "of_folder")
    there.ok("restore", "-q", tmp_path / "of_folder", "-o", tmp_path / "folder_again")
    assert snapshot(tmp_path / "folder_again") == snapshot(folder)
    there.ok("par2", "create", "-q", tmp_path / "set.par2", file)
    flip(file, 500)
    there.ok("par2", "repair", "-q", tmp_path / "set.par2")
    assert file.read_bytes() == content(999) and (tmp_path / "file.1").exists()
    assert not [path for path in tmp_path.rglob("*") if ".tmp." in path.name]


def test_nothing_is_replaced(there: Tool, shards: Path, tmp_path: Path) -> None:
    """The targets exist when the names are given: an empty folder, a folder with a file, a link, a file."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "link").symlink_to("nowhere")
    before = snapshot(tmp_path)
    for name in ("empty", "full", "link", "file"):
        assert there.run("restore", "-q", shards, "-o", tmp_path / name).status == REFUSED
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("names", [("README", "readme"), ("Dir/one", "dir/two")])
def test_a_folder_whose_names_are_the_same(
    tool: Tool, caseless: Tool, tmp_path: Path, names: tuple[str, str]
) -> None:
    """It is not restored without one of its files."""
    folder = tmp_path / "folder"
    for name in (*names, "Other"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    before = snapshot(tmp_path)
    said = caseless.refusal("restore", "-q", tmp_path / "shards", "-o", tmp_path / "again")
    assert "to this file system, some of them are the same" in said
    assert snapshot(tmp_path) == before


def without_root() -> None:
    """Permissions do not bind root with CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (man 2 prctl)."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def archive_of(modes: dict[str, int]) -> bytes:
    """Return an archive of A, a and folders with these permissions, each with a file `x`."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, mode in {".": 0o755, **modes}.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
            archive.addfile(tarfile.TarInfo(f"./{name}/x"))
        for name in ("A", "a"):
            archive.addfile(tarfile.TarInfo(f"./{name}"))
    return raw.getvalue()


@pytest.mark.parametrize("same", [False, True])
def test_a_folder_with_some_that_the_user_must_not_read(
    tool: Tool, caseless: Tool, tmp_path: Path, same: bool
) -> None:
    """Root can protect it, and its owner restore it. The names in these folders are counted, too."""
    modes = {"closed": 0o300, "closed/again": 0o300, "open": 0o755}
    shards, target = tmp_path / "shards", tmp_path / "again"
    shards.mkdir()
    form = Shape("cauchy", 4, 2, 64, content=1)
    for index, stream in enumerate(split(form, archive_of(modes))):
        shard(shards, index).write_bytes(stream)
    program = caseless if same else tool
    done = program.run("restore", "-q", shards, "-o", target, before=without_root)
    if same:
        assert done.status == REFUSED and "10 names are in the folder, and 9 can be restored" in done.stderr
        assert not target.exists() and not temporaries(tmp_path)
        return
    assert (done.status, done.stderr) == (DONE, "")
    assert {name: (target / name).stat().st_mode & 0o7777 for name in modes} == modes


def test_a_folder_whose_names_differ(tool: Tool, caseless: Tool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "Sub").mkdir(parents=True)
    for name in ("Sub/One", "a\nb", "long" * 60):
        (folder / name).write_text(name)
    (folder / "link").hardlink_to(folder / "Sub" / "One")
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    caseless.ok("restore", "-q", tmp_path / "shards", "-o", tmp_path / "again")
    assert (tmp_path / "again" / "sub" / "one").read_text() == "Sub/One"
    assert len(snapshot(tmp_path / "again")) == len(snapshot(folder))


@pytest.mark.parametrize("links", [False, True], ids=["one_name", "hard_link"])
def test_par2_with_names_that_are_the_same(tool: Tool, caseless: Tool, tmp_path: Path, links: bool) -> None:
    """The repair of A must not overwrite a, also if it has a hard link elsewhere, as in backups."""
    for name in "Aa":
        (tmp_path / name).write_bytes(content(3000, ord(name)))
    tool.ok("par2", "create", "-q", "--blocks", "20", "-r", "100", tmp_path / "set.par2", *tmp_path.glob("?"))
    (tmp_path / "A").unlink()
    if links:
        (tmp_path / "backup").hardlink_to(tmp_path / "a")
    before = snapshot(tmp_path)
    done = caseless.run("par2", "repair", "-q", tmp_path / "set.par2")
    assert done.status == REFUSED and "are the same file to this file system" in done.stderr
    assert snapshot(tmp_path) == before


def test_par2_with_hard_links(tool: Tool, tmp_path: Path) -> None:
    """Files that are hard links of each other in the set are repaired."""
    names = [tmp_path / name for name in ("sub/a", "A", "a")]
    (tmp_path / "sub").mkdir()
    names[0].write_bytes(content(3000))
    for each in names[1:]:
        each.hardlink_to(names[0])
    tool.ok("par2", "create", "-q", "--blocks", "30", "-r", "100", tmp_path / "set.par2", *names)
    flip(names[0], 500)
    tool.ok("par2", "repair", "-q", tmp_path / "set.par2")
    assert all(each.read_bytes() == content(3000) for each in names)


def test_a_kill_before_the_rename(tool: Tool, preload: Path, plain_renames: Path, shards: Path) -> None:
    """The next run removes the empty file that was to be replaced."""
    file = shards.parent / "file"
    libraries = f"{preload}:{plain_renames}"
    variables = {"LD_PRELOAD": libraries, "SHARDS_NO_LINKS": "1", "SHARDS_FAULT": "rename:4:KILL"}
    killed = Tool(tool.program, variables).run("protect", *SHAPE, "-f", file, shards)
    assert killed.status == -signal.SIGKILL
    assert (shards / "file.g2.001.gfs").stat().st_size == 0
    assert "generation 2" in tool.ok("protect", *SHAPE, "-f", file, shards)
    assert len(list(shards.glob("*.g2.*.gfs"))) == 6
    tool.ok("verify", "-q", shards)


#: FUSE, as sshfs, 9p, vboxsf, Coda.
REMOTE = ("65735546", "01021997", "786f4256", "73757245")
#: tmpfs, btrfs, overlayfs, NFS, SMB.
LOCKED = ("01021994", "9123683e", "794c7630", "6969", "fe534d42")


def left_record(tool: Tool, preload: Path, plain_renames: Path, shards: Path, kind: str) -> Tool:
    """Return the program on a file system of this kind, where an interrupted run has left a record."""
    remote = {"LD_PRELOAD": f"{preload}:{plain_renames}", "SHARDS_REMOTE": kind}
    killed = Tool(tool.program, {**remote, "SHARDS_FAULT": "link:3:KILL"})
    words = ("protect", *SHAPE, "-f", shards.parent / "file", shards)
    assert killed.run(*words).status == -signal.SIGKILL
    return Tool(tool.program, remote)


@pytest.mark.parametrize("kind", REMOTE)
def test_a_record_where_locks_may_be_those_of_this_machine(
    tool: Tool, preload: Path, plain_renames: Path, shards: Path, kind: str
) -> None:
    """A run does not remove the record of one that another machine may have, or its shards."""
    file, record = shards.parent / "file", shards / ".gfsmith-shards.change"
    there = left_record(tool, preload, plain_renames, shards, kind)
    before = snapshot(shards)
    for words in (("protect", *SHAPE, "-f", file, shards), ("repair", "-q", shards)):
        assert there.refusal(*words).endswith(f"if there is none any more, remove {record}")
    assert snapshot(shards) == before
    record.unlink()
    assert "generation 3" in there.ok("protect", *SHAPE, "-f", file, shards)
    assert len(list(shards.iterdir())) - len(temporaries(shards)) == 6


@pytest.mark.parametrize("kind", LOCKED)
def test_a_record_where_locks_hold_for_all_machines(
    tool: Tool, preload: Path, plain_renames: Path, shards: Path, kind: str
) -> None:
    """The next run removes the record of an interrupted one."""
    there = left_record(tool, preload, plain_renames, shards, kind)
    assert "generation 2" in there.ok("protect", *SHAPE, "-f", shards.parent / "file", shards)


def other_file(folder: Path) -> Path:
    file = folder / "other"
    file.write_bytes(content(99))
    return file


def test_a_record_that_a_file_server_has_open(tool: Tool, faulty: Faulty, shards: Path) -> None:
    """A run elsewhere, whose lock is not seen here, keeps its record and its shards."""
    file, record = other_file(shards.parent), shards / ".gfsmith-shards.change"
    faulty("rename:3:KILL").run("protect", *SHAPE, "-f", shards.parent / "file", shards)
    before = snapshot(shards)
    with record.open("r+b"):
        for words in (("protect", *SHAPE, file, shards), ("repair", "-q", shards)):
            assert f"such as a file server has {record} open" in tool.refusal(*words)
        assert snapshot(shards) == before
    assert "generation 2 of file is removed" in tool.ok("protect", *SHAPE, file, shards)


def test_a_lock_of_a_file_server(tool: Tool, faulty: Faulty, shards: Path) -> None:
    """A server locks for its clients by fcntl: neither takes over the record of the other."""
    file, record = other_file(shards.parent), shards / ".gfsmith-shards.change"
    run = Stopped(faulty("rename:3:STOP"), "protect", *SHAPE, "-f", shards.parent / "file", shards)
    before = snapshot(shards)
    with record.open("r+b") as opened, pytest.raises(BlockingIOError):
        fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert run.resume(signal.SIGKILL).status == -signal.SIGKILL
    with record.open("r+b") as opened:
        fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert "another run is changing" in tool.refusal("protect", *SHAPE, file, shards)
        assert snapshot(shards) == before


def test_a_record_that_another_run_takes_over(tool: Tool, faulty: Faulty, shards: Path) -> None:
    """A run whose lock was lost keeps the old generation, and the record of the other run."""
    file, record = shards.parent / "file", shards / ".gfsmith-shards.change"
    run = Stopped(faulty("rename:3:STOP"), "protect", *SHAPE, "-f", file, shards)
    shard(shards, 0, generation=2).unlink()
    record.unlink()
    record.write_bytes(b"that of another run")
    done = run.resume()
    assert (done.status, done.stdout) == (REFUSED, ""), done
    assert done.stderr == f"gfsmith-shards: another run has removed {record}: run one after the other\n"
    assert record.read_bytes() == b"that of another run"
    assert sorted(path.name for path in shards.glob("*.gfs")) == [f"file.g1.00{n}.gfs" for n in range(6)]
    tool.ok("verify", "-q", shards)


def test_shards_that_another_run_removes_before_the_end(tool: Tool, faulty: Faulty, shards: Path) -> None:
    """The old generation stays if the new one is not complete any more."""
    file = shards.parent / "file"
    run = Stopped(faulty("rename:6:STOP"), "protect", *SHAPE, "-f", file, shards)
    for index in range(3):
        shard(shards, index, generation=2).unlink()
    done = run.resume()
    assert (done.status, done.stdout) == (REFUSED, ""), done
    assert "another run has removed shards of generation 2 of file from" in done.stderr, done
    assert sorted(path.name for path in shards.iterdir()) == [f"file.g1.00{n}.gfs" for n in range(6)]
    tool.ok("verify", "-q", shards)


def test_a_restored_folder_in_user_space(
    tool: Tool, preload: Path, plain_renames: Path, tmp_path: Path
) -> None:
    """Each file is flushed there, since syncfs does not reach the program of the file system."""
    folder, flushed = tmp_path / "folder", tmp_path / "flushed"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "one").write_bytes(content(99))
    (folder / "link").symlink_to("nowhere")
    tool.ok("protect", "-q", *SHAPE, folder, tmp_path / "shards")
    remote = {"LD_PRELOAD": f"{preload}:{plain_renames}", "SHARDS_FLUSHED": str(flushed)}
    for kind, expected in (("65735546", True), ("01021994", False)):
        flushed.unlink(missing_ok=True)
        target = tmp_path / kind
        Tool(tool.program, {**remote, "SHARDS_REMOTE": kind}).ok(
            "restore", "-q", tmp_path / "shards", "-o", target
        )
        numbers = {int(line) for line in flushed.read_text().split()}
        inside = {path.stat().st_ino for path in (target, target / "sub", target / "sub" / "one")}
        assert (inside <= numbers) is expected


def test_a_listed_name_without_a_file(tool: Tool, lost_name: Path, shards: Path) -> None:
    """It is a lost shard: the folder is not listed again without end, as beside a run that replaces a set."""
    lost = shard(shards, 1)
    damaged = Tool(tool.program, {"LD_PRELOAD": str(lost_name), "SHARDS_LOST": lost.name})
    verified = damaged.run("verify", shards)
    assert verified.status == WRONG and verified.stdout.startswith(f"{lost}: No such file"), verified
    restored = damaged.run("restore", shards, "-o", "-")
    assert (restored.status, restored.raw) == (DONE, content(999))


@pytest.mark.parametrize("error", [errno.EUCLEAN, errno.EIO, errno.ENODATA, errno.EREMOTEIO])
@pytest.mark.parametrize("generation", [1, 2])
def test_an_inode_that_cannot_be_read(
    tool: Tool, faulty: Faulty, lost_name: Path, shards: Path, generation: int, error: int
) -> None:
    """After an interrupted run, a shard whose inode the device cannot read does not keep other runs away."""
    words = ("protect", *SHAPE, "-f", shards.parent / "file", shards)
    assert faulty("rename:4:KILL").run(*words).status == -signal.SIGKILL
    lost = shard(shards, 1, generation=generation)
    variables = {"SHARDS_LOST": lost.name, "SHARDS_LOST_ERROR": str(error)}
    damaged = Tool(tool.program, {"LD_PRELOAD": str(lost_name), **variables})
    assert damaged.run("verify", shards).status == (WRONG if generation == 1 else DONE)
    assert f"generation {generation + 1}" in damaged.ok(*words)
    assert len(list(shards.glob("*.gfs"))) == 6
    tool.ok("verify", "-q", shards)


def test_files_with_new_numbers(tool: Tool, plain_renames: Path, tmp_path: Path) -> None:
    """FAT and most file systems in user space give a file another number (st_ino) after a while."""
    there = Tool(tool.program, {"LD_PRELOAD": str(plain_renames), "SHARDS_NEW_NUMBERS": "1"})
    (tmp_path / "file").write_bytes(content(999))
    there.ok("par2", "create", "-q", tmp_path / "set.par2", tmp_path / "file")
    tool.ok("par2", "verify", "-q", tmp_path / "set.par2")
