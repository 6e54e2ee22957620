"""Permissions, owners and groups of written files: written again, a file stays usable by its owner, and no
user may read more than before."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle.shard_format import Shape, split
from tests.system.apps.shards.support import (
    DONE,
    FLAGS,
    NATIVE,
    REFUSED,
    Tool,
    call,
    content,
    flip,
    make_set,
    shard,
)

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")
ALICE, BOB, GROUP = 1001, 1002, 2001
DATA = 700  #: an offset in the first block of a shard


def rights(path: Path) -> tuple[int, int, int]:
    info = path.stat()
    return stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid


def mode(path: Path) -> int:
    return rights(path)[0]


def as_bob(*groups: int) -> Callable[[], None]:
    def become() -> None:
        os.setgroups(groups)
        os.setgid(BOB)
        os.setuid(BOB)

    return become


def set_list(path: Path, kind: str = "access") -> None:
    """Let a user, and not the group, read a file: user::rw-, user:ALICE:rw-, group::---, mask::rw-."""
    entries = (
        (1, 6, 0xFFFFFFFF),
        (2, 6, ALICE),
        (4, 0, 0xFFFFFFFF),
        (16, 6, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    )
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(path, f"system.posix_acl_{kind}", value)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        pytest.skip("the file system has no access control lists")


@pytest.fixture
def par2_set(tool: Tool, tmp_path: Path) -> Path:
    """A file whose users may execute it, with a set of PAR2."""
    file = tmp_path / "program"
    file.write_bytes(content(5000))
    file.chmod(0o775)
    tool.ok("par2", "create", "--blocks", "10", tmp_path / "set.par2", file)
    return file


@pytest.mark.needs("par2")
def test_par2_keeps_permissions(tool: Tool, par2_set: Path) -> None:
    flip(par2_set, DATA)
    assert (
        tool.run("par2", "repair", par2_set.parent / "set.par2", before=lambda: os.umask(0o77)).status == DONE
    )
    assert mode(par2_set) == 0o775 and par2_set.read_bytes() == content(5000)


@pytest.mark.needs("par2")
@ROOT_ONLY
def test_par2_keeps_owners(tool: Tool, par2_set: Path) -> None:
    os.chown(par2_set, ALICE, GROUP)
    par2_set.chmod(0o750)
    flip(par2_set, DATA)
    tool.ok("par2", "repair", par2_set.parent / "set.par2")
    assert rights(par2_set) == (0o750, ALICE, GROUP)


@ROOT_ONLY
def test_repair_keeps_owners(tool: Tool, tmp_path: Path) -> None:
    """Also of missing shards: their owner could not read shards of root."""
    shards = make_set(tool, tmp_path, content(999))
    for path in shards.iterdir():
        os.chown(path, ALICE, GROUP)
        path.chmod(0o640)
    flip(shard(shards, 1), DATA)
    shard(shards, 5).unlink()
    tool.ok("repair", shards)
    assert {rights(path) for path in shards.iterdir()} == {(0o640, ALICE, GROUP)}


@ROOT_ONLY
@pytest.mark.parametrize("groups, wanted", [((GROUP,), (0o640, BOB, GROUP)), ((BOB,), (0o600, BOB, BOB))])
def test_another_group_reads_nothing(
    tool: Tool, tmp_path: Path, groups: tuple[int, ...], wanted: tuple[int, int, int]
) -> None:
    """Bob, who may read ALICE's file, protects and restores it: his own group may not."""
    tmp_path.chmod(0o755)
    file, bobs = tmp_path / "file", tmp_path / "bob"
    file.write_bytes(content(999))
    os.chown(file, BOB, GROUP)
    file.chmod(0o640)
    bobs.mkdir()
    os.chown(bobs, BOB, BOB)
    become = as_bob(*groups)
    tool = Tool(Path(shutil.copy(tool.program, tmp_path)), {})  # which Bob may execute
    assert tool.run("protect", "-k", "2", "-m", "1", file, bobs / "shards", before=become).status == DONE
    shards = sorted((bobs / "shards").iterdir())
    assert {rights(path) for path in shards} == {wanted}
    for path in shards:
        os.chown(path, BOB, GROUP)
        path.chmod(0o640)
    assert tool.run("restore", bobs / "shards", "-o", bobs / "again", before=become).status == DONE
    assert rights(bobs / "again") == wanted


@pytest.mark.needs("par2")
def test_the_mask_of_a_list_is_not_for_the_group(tool: Tool, tmp_path: Path, par2_set: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999))
    file.chmod(0o600)
    set_list(file)
    assert mode(file) == 0o660
    tool.ok("protect", "-k", "2", "-m", "1", file, tmp_path / "shards")
    assert {mode(path) for path in (tmp_path / "shards").iterdir()} == {0o600}
    set_list(shard(tmp_path / "shards", 0))
    tool.ok("restore", tmp_path / "shards", "-o", tmp_path / "again")
    assert mode(tmp_path / "again") == 0o600
    flip(shard(tmp_path / "shards", 0), DATA)
    tool.ok("repair", tmp_path / "shards")
    assert mode(shard(tmp_path / "shards", 0)) == 0o600
    set_list(par2_set)
    flip(par2_set, DATA)
    tool.ok("par2", "repair", tmp_path / "set.par2")
    assert mode(par2_set) == 0o600


def test_a_link_to_a_file_with_a_list(tool: Tool, tmp_path: Path) -> None:
    file, link, shards = tmp_path / "file", tmp_path / "link", tmp_path / "shards"
    file.write_bytes(content(999))
    set_list(file)
    link.symlink_to(file)
    tool.ok("protect", "-k", "2", "-m", "1", link, shards)
    assert {mode(path) for path in shards.iterdir()} == {0o600}
    set_list(linked(shards, 0, "link")[1])
    tool.ok("restore", shards, "-o", tmp_path / "again")
    assert mode(tmp_path / "again") == 0o600


@pytest.mark.needs("par2")
def test_the_list_of_a_folder_is_for_other_files(tool: Tool, tmp_path: Path, par2_set: Path) -> None:
    """A user whom a folder's list lets read new files may not read those of a private one."""
    file, shards = tmp_path / "file", tmp_path / "shards"
    file.write_bytes(content(999))
    file.chmod(0o660)
    par2_set.chmod(0o660)
    shards.mkdir()
    for folder in (tmp_path, shards):
        set_list(folder, "default")
    tool.ok("protect", "-k", "2", "-m", "1", file, shards)
    flip(shard(shards, 1), DATA)
    tool.ok("repair", shards)
    tool.ok("restore", shards, "-o", tmp_path / "again")
    flip(par2_set, DATA)
    tool.ok("par2", "repair", tmp_path / "set.par2")
    tool.ok("par2", "create", tmp_path / "new.par2", par2_set)
    written = [*shards.iterdir(), tmp_path / "again", par2_set, *tmp_path.glob("new.*")]
    assert len(written) > 6
    assert not [path for path in written if "system.posix_acl_access" in os.listxattr(path)]


@pytest.mark.needs("par2")
@pytest.mark.parametrize("groups, wanted", [((GROUP, GROUP), 0o640), ((GROUP, BOB), 0o600)])
@ROOT_ONLY
def test_recovery_blocks_are_as_private_as_their_files(
    tool: Tool, tmp_path: Path, groups: tuple[int, int], wanted: int
) -> None:
    """A recovery block of one block is a copy of the block. A missing file gets the rights of the set."""
    files = [tmp_path / "open", tmp_path / "secret"]
    for file, group, bits in zip(files, groups, (0o664, 0o640), strict=True):
        file.write_bytes(b"content of " + file.name.encode())
        os.chown(file, ALICE, group)
        file.chmod(bits)
    tool.ok("par2", "create", "--blocks", "2", tmp_path / "set.par2", *files)
    volumes = list(tmp_path.glob("set.*"))
    assert len(volumes) == 2 and {rights(path)[:3:2] for path in volumes} == {
        (wanted, volumes[0].stat().st_gid)
    }
    files[1].unlink()
    tool.ok("par2", "repair", tmp_path / "set.par2")
    assert files[1].read_bytes() == b"content of secret" and mode(files[1]) == wanted


@pytest.mark.needs("par2")
@pytest.mark.parametrize(
    "bits, group, wanted",
    [
        (0o755, BOB, 0o664),
        (0o750, GROUP, 0o660),
        (0o710, GROUP, 0o660),
        (0o750, BOB, 0o600),
        (0o705, GROUP, 0o604),
        (0o705, BOB, 0o600),
        (0o700, GROUP, 0o600),
    ],
)
@ROOT_ONLY
def test_recovery_blocks_are_as_private_as_the_folders_of_files(
    tool: Tool, tmp_path: Path, bits: int, group: int, wanted: int
) -> None:
    """Users who may not enter a folder below that of the PAR2 files may not read its files in these."""
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    for file in (folder / "file", tmp_path / "open"):
        file.write_bytes(b"content of " + file.name.encode())
        os.chown(file, ALICE, GROUP)
        file.chmod(0o664)
    os.chown(folder.parent, ALICE, group)
    folder.parent.chmod(bits)
    create = ("par2", "create", tmp_path / "set.par2", tmp_path / "open", folder)
    assert tool.run(*create, before=lambda: os.umask(0)).status == DONE
    assert {mode(path) for path in tmp_path.glob("set.*")} == {wanted}


def test_a_folder_keeps_its_lists(tool: Tool, tmp_path: Path) -> None:
    """Without its list, a file could be written by its group."""
    top = tmp_path / "folder"
    top.mkdir()
    (top / "file").touch(0o600)
    set_list(top / "file")
    tool.ok("protect", "-k", "2", "-m", "1", top, tmp_path / "shards")
    tool.ok("restore", tmp_path / "shards", "-o", tmp_path / "again")
    attribute = "system.posix_acl_access"
    assert os.getxattr(tmp_path / "again" / "file", attribute) == os.getxattr(top / "file", attribute)


def linked(shards: Path, index: int, name: str = "file") -> tuple[Path, Path]:
    """Move a shard to another folder, and leave a symbolic link to it. Returns link and shard."""
    other = shards.parent / "other disk"
    other.mkdir(exist_ok=True)
    link = shard(shards, index, name)
    moved = link.rename(other / link.name)
    link.symlink_to(moved)
    return link, moved


def test_a_linked_shard_is_repaired_where_it_is(tool: Tool, tmp_path: Path) -> None:
    shards = make_set(tool, tmp_path, content(999))
    link, moved = linked(shards, 1)
    whole = moved.read_bytes()
    flip(moved, DATA)
    tool.ok("repair", shards)
    assert link.is_symlink() and not moved.is_symlink() and moved.read_bytes() == whole
    assert tool.ok("verify", shards)


@pytest.mark.parametrize("text", [None, b"a file of another user", bytes(1000)])
def test_a_link_to_no_shard_is_not_followed(tool: Tool, tmp_path: Path, text: bytes | None) -> None:
    shards = make_set(tool, tmp_path, content(999))
    link, moved = linked(shards, 1)
    moved.unlink()
    if text is not None:
        moved.write_bytes(text)
    line = tool.refusal("repair", *shards.iterdir())
    assert "symbolic link" in line or "is not a shard file" in line
    assert link.is_symlink() and (moved.read_bytes() if moved.exists() else None) == text


@pytest.mark.parametrize("kind", [pytest.param("other", marks=ROOT_ONLY), "link"])
def test_a_change_record_of_another_user(tool: Tool, tmp_path: Path, kind: str) -> None:
    """In a folder such as /tmp anyone can create a record, or link a shard under its name: neither hides the
    shards of others, nor lets the next run remove them."""
    shards, other = make_set(tool, tmp_path, content(999)), tmp_path / "other"
    other.write_bytes(b"other")
    record, header = shards / ".gfsmith-shards.change", shard(shards, 0).read_bytes()[:512]
    if kind == "link":
        record.hardlink_to(shard(shards, 0))
    else:
        record.write_bytes(header)
        os.chown(record, BOB, BOB)
    assert tool.run("restore", shards, "-o", "-").raw == content(999)
    assert tool.ok("protect", "-k", "2", "-m", "1", other, shards).startswith("other: 3 shards")
    assert tool.ok("verify", *shards.glob("file.*")) == "file: all 6 shards are intact\n"
    assert not record.exists()


@ROOT_ONLY
@pytest.mark.parametrize("shared", [True, False])
def test_a_generation_of_another_user(tool: Tool, tmp_path: Path, shared: bool) -> None:
    """In a folder such as /tmp, any user can add one, which must not replace that of the owner. In another
    folder, a user who may add one may also remove the old one."""
    shards, other = make_set(tool, tmp_path, content(999)), tmp_path / "other"
    for path in shards.iterdir():
        os.chown(path, ALICE, ALICE)
    old = sorted(shards.iterdir())
    other.write_bytes(b"other")
    newer = shutil.copytree(shards, tmp_path / "newer")
    tool.ok("protect", "-k", "4", "-m", "2", "-n", "file", "-f", other, newer)
    for path in newer.iterdir():
        os.chown(path.rename(shards / path.name), BOB, BOB)
    shards.chmod(0o1777 if shared else 0o777)
    for words in (("restore", "-o", "-"), ("verify",), ("repair",)):
        if shared:
            assert tool.refusal(words[0], shards, *words[1:]) == (
                f"{shard(shards, 0, generation=2)} and {old[0]} are generations of different users: "
                "name the shards of one"
            )
        else:
            tool.ok(words[0], shards, *words[1:])
    assert tool.run("restore", *old, "-o", "-").raw == content(999)


def test_a_link_in_place_of_the_change_record(tool: Tool, tmp_path: Path) -> None:
    """The record is a file of this run: the header must not overwrite the file behind a link."""
    file, shards = tmp_path / "file", tmp_path / "shards"
    file.write_bytes(content(999))
    shards.mkdir()
    (shards / ".gfsmith-shards.change").hardlink_to(file)
    tool.ok("protect", "-k", "2", "-m", "1", file, shards)
    assert file.read_bytes() == content(999)


@pytest.mark.parametrize("call_", ["chmod", "remove"])
def test_a_folder_that_another_user_exchanges_for_a_link(tool: Tool, tmp_path: Path, call_: str) -> None:
    """The owner of a restored folder can do that while a failed run of root removes it."""
    library, victim, shards = tmp_path / "swapped.so", tmp_path / "victim", tmp_path / "shards"
    call("cc", *FLAGS[:2], *FLAGS[3:], "-shared", "-fPIC", "-o", library, NATIVE / "swapped.c", "-ldl")
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("./d")
        entry.type, entry.mode = tarfile.DIRTYPE, 0o500 if call_ == "chmod" else 0o755
        archive.addfile(entry)
        for name in ("./d/x", "./one", "./one", "./one"):  # one file, so the run is refused
            archive.addfile(tarfile.TarInfo(name))
    for folder in (victim, shards):
        folder.mkdir()
    (victim / "x").write_bytes(b"mine")
    for index, stream in enumerate(split(Shape("cauchy", 4, 2, 64, content=1), raw.getvalue())):
        shard(shards, index).write_bytes(stream)
    before = mode(victim)
    there = Tool(
        tool.program, {"LD_PRELOAD": str(library), "SHARDS_CALL": call_, "SHARDS_VICTIM": str(victim)}
    )
    done = there.run("restore", "-q", shards, "-o", "again", cwd=tmp_path)
    assert done.status == REFUSED and "names are in the folder" in done.stderr, done
    assert mode(victim) == before and (victim / "x").read_bytes() == b"mine"


@ROOT_ONLY
@pytest.mark.parametrize("theirs", ["set.theirs.par2", "set.vol7+1.par2"])
def test_par2_files_of_another_user(tool: Tool, par2_set: Path, theirs: str) -> None:
    """In a folder that users share: Bob may not read a file whose name begins like that of his set."""
    folder = par2_set.parent
    folder.chmod(0o777)
    (folder / theirs).write_bytes((folder / "set.par2").read_bytes())
    (folder / theirs).chmod(0o600)
    (folder / "set.loop.par2").symlink_to("set.loop.par2")
    flip(par2_set, DATA)
    tool = Tool(Path(shutil.copy(tool.program, folder)), {})  # which Bob may execute
    repaired = tool.run("par2", "repair", folder / "set.par2", before=as_bob())
    assert repaired.status == DONE and f"{folder / theirs}: left out: Permission denied\n" in repaired.stdout
    assert f"{folder / 'set.loop.par2'}: left out: " in repaired.stdout
    assert par2_set.read_bytes() == content(5000)
