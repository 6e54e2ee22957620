"""Folders: names, links, permissions and times survive; a folder appears completely or not at all."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from tests.system.apps.shards.support import REFUSED, Tool, content, shard, snapshot

SHAPE = ("-k", "4", "-m", "2", "-b", "4096")


def test_bsdtar_without_a_locale(tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are not ASCII are restored by cron, too."""
    bsdtar = shutil.which("bsdtar")
    if bsdtar is None:
        pytest.skip("there is no bsdtar")
    folder, programs = tmp_path / "folder", tmp_path / "programs"
    for path in (folder, programs):
        path.mkdir()
    (folder / "\u00f6").write_bytes(content(99))
    (programs / "tar").symlink_to(bsdtar)
    tool.ok("protect", "-q", *SHAPE, folder, tmp_path / "shards")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    tool.ok("restore", "-q", tmp_path / "shards", "-o", tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(folder)


#: It reads a file, or a folder, that changes meanwhile without an error.
UNWATCHFUL = """#!/bin/sh
test "$1" = --version && exec echo {kind}
test -z "$TAR_WRITER_OPTIONS" || exit 1
{tar} "$@"
{change}
"""
#: GNU tar does not find a file that goes from a folder that it reads later to one that it has read.
MOVE = "mv {folder}/later/two {folder}/earlier"
APPEND = "echo more >> {folder}/one"


@pytest.mark.parametrize(
    ("kind", "change", "refused"),
    [
        ("bsdtar 3.6.2", APPEND, True),
        ("bsdtar 3.6.2", MOVE, True),
        ("bsdtar 3.6.2", ":", False),
        ("tar (GNU tar) 1.34", MOVE, True),
        ("tar (GNU tar) 1.34", APPEND, False),
    ],
)
def test_a_tar_that_does_not_watch(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: str, refused: bool
) -> None:
    """GNU tar watches each file while it reads it."""
    folder, programs = tmp_path / "folder", tmp_path / "programs"
    for path in (folder / "earlier", folder / "later", programs):
        path.mkdir(parents=True)
    (folder / "one").write_bytes(content(99))
    (folder / "later" / "two").write_bytes(content(99))
    words = {"tar": shutil.which("tar"), "kind": f"'{kind}'", "change": change.format(folder=folder)}
    (programs / "tar").write_text(UNWATCHFUL.format(**words))
    (programs / "tar").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("TAR_WRITER_OPTIONS", "gzip:compression-level=9")
    (tmp_path / "link").symlink_to(folder)
    protect = ("protect", "-q", *SHAPE, tmp_path / "link", tmp_path / "shards")
    if refused:
        assert tool.refusal(*protect) == f"{tmp_path / 'link'} changed while it was read"
        assert not (tmp_path / "shards").exists()
    else:
        tool.ok(*protect)


def test_names_do_not_depend_on_the_locale(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GNU tar takes names for text of its locale: those of UTF-8 became others by ISO 8859-1."""
    folder, locales = tmp_path / "folder", tmp_path / "locales"
    for path in (folder, locales):
        path.mkdir()
    for name in (b"\xc3\xb6", b"\xf6"):
        (folder / os.fsdecode(name)).write_bytes(name)
    latin = locales / "latin"
    localedef = shutil.which("localedef")
    if (
        localedef is None
        or subprocess.run(
            [localedef, "-i", "en_US", "-f", "ISO-8859-1", latin], capture_output=True
        ).returncode
    ):
        pytest.skip("no locale can be made")
    monkeypatch.setenv("LOCPATH", str(locales))
    monkeypatch.setenv("LC_ALL", "latin")
    tool.ok("protect", "-q", *SHAPE, folder, tmp_path / "shards")
    monkeypatch.setenv("LC_ALL", "C")
    tool.ok("restore", "-q", tmp_path / "shards", "-o", tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with unusual names, links and permissions."""
    top = tmp_path / "folder"
    (top / "sub" / "empty").mkdir(parents=True)
    (top / "big").write_bytes(content(200_000))
    (top / "with space").write_bytes(b"1")
    (top / "new\nline").write_bytes(b"2")
    (top / "-dash").write_bytes(b"3")
    (top / os.fsdecode(b"\xff\xfe")).write_bytes(b"4")
    (top / ("long" * 60)).write_bytes(b"5")
    (top / "sub" / "only me").write_bytes(b"6")
    (top / "sub" / "only me").chmod(0o400)
    (top / "program").write_bytes(b"#!/bin/sh\n")
    (top / "program").chmod(0o755)
    (top / "link").symlink_to("sub/only me")
    (top / "dangling").symlink_to("/nowhere")
    (top / "twin").hardlink_to(top / "big")
    os.mkfifo(top / "fifo")
    os.utime(top / "big", ns=(10**18 + 1, 10**18 + 123_456_789))
    (top / "sub").chmod(0o750)
    return top


def describe(top: Path) -> dict[str, tuple[int, int | None, bytes | str]]:
    """Return type and permissions, time of change, and contents of every path."""
    found: dict[str, tuple[int, int | None, bytes | str]] = {}
    for path in (top, *sorted(top.rglob("*"))):
        info = path.lstat()
        value: bytes | str = b""
        if path.is_symlink():
            value = str(path.readlink())
        elif path.is_file():
            value = path.read_bytes()
        time = None if path.is_symlink() else info.st_mtime_ns
        found[str(path.relative_to(top))] = (info.st_mode, time, value)
    return found


def test_sockets_are_left_out_and_named(tool: Tool, tmp_path: Path) -> None:
    folder, shards = tmp_path / "folder", tmp_path / "shards"
    folder.mkdir()
    (folder / "file").write_bytes(b"1")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "so\tcket"))
    said = tool.ok("protect", *SHAPE, folder, shards).splitlines()
    assert len(said) == 2 and said[0].startswith("left out: ") and "cket" in said[0]
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert [path.name for path in (tmp_path / "restored").iterdir()] == ["file"]


def test_everything_survives(tool: Tool, folder: Path, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    line = tool.ok("protect", *SHAPE, folder, shards)
    assert line == f"folder: 6 shards in {shards}, generation 1\n"
    for index in (0, 3):
        shard(shards, index, "folder").unlink()
    tool.ok("restore", shards, "-o", tmp_path / "restored")
    assert describe(tmp_path / "restored") == describe(folder)
    twins = [(tmp_path / "restored" / name).stat().st_ino for name in ("big", "twin")]
    assert twins[0] == twins[1]
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "shards", "restored"}


def test_shards_of_a_folder_are_private(tool: Tool, folder: Path, tmp_path: Path) -> None:
    """Files in a folder may be private, so the shards are."""
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "shards").iterdir()}
    assert modes == {0o600}


@pytest.mark.parametrize("source", [".", "folder/", "../{}/folder"])
def test_the_name_of_a_folder(tool: Tool, folder: Path, tmp_path: Path, source: str) -> None:
    cwd = folder if source == "." else tmp_path
    done = tool.run("protect", *SHAPE, source.format(tmp_path.name), tmp_path / "shards", cwd=cwd)
    assert done.stdout.startswith("folder: 6 shards in ")


def test_an_empty_folder(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    tool.ok("protect", *SHAPE, tmp_path / "empty", tmp_path / "shards")
    tool.ok("restore", tmp_path / "shards", "-o", tmp_path / "restored")
    assert list((tmp_path / "restored").iterdir()) == []


def test_the_archive_on_stdout(tool: Tool, folder: Path, tmp_path: Path) -> None:
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    done = tool.run("restore", tmp_path / "shards", "-o", "-")
    (tmp_path / "folder.tar").write_bytes(done.raw)
    shutil.unpack_archive(tmp_path / "folder.tar", tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "big").read_bytes() == content(200_000)


def test_an_existing_target_is_refused(tool: Tool, folder: Path, tmp_path: Path) -> None:
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    before = snapshot(tmp_path)
    line = f"{folder} already exists; a folder is restored to a new path"
    assert tool.refusal("restore", "--force", tmp_path / "shards", "-o", folder) == line
    assert snapshot(tmp_path) == before


def test_too_many_losses_leave_no_folder(tool: Tool, folder: Path, tmp_path: Path) -> None:
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    for index in (0, 1, 2):
        shard(tmp_path / "shards", index, "folder").unlink()
    before = snapshot(tmp_path)
    assert tool.run("restore", tmp_path / "shards", "-o", tmp_path / "restored").status == REFUSED
    assert snapshot(tmp_path) == before


def test_a_failure_of_tar_is_one_line(tool: Tool, folder: Path, tmp_path: Path) -> None:
    """A set whose content is declared as an archive, but is none."""
    (tmp_path / "file").write_bytes(content(99_999))
    bad = tmp_path / "bin"
    bad.mkdir()
    (bad / "tar").write_text("#!/bin/sh\necho 'tar: no' >&2\necho more >&2\nexit 2\n")
    (bad / "tar").chmod(0o755)
    broken = Tool(tool.program, {"PATH": str(bad) + ":/usr/bin:/bin"})
    assert broken.refusal("protect", *SHAPE, folder, tmp_path / "shards") == "tar failed: tar: no"
    assert not (tmp_path / "shards").exists()
    tool.ok("protect", *SHAPE, folder, tmp_path / "shards")
    before = snapshot(tmp_path)
    assert "tar: no" in broken.refusal("restore", tmp_path / "shards", "-o", tmp_path / "restored")
    missing = Tool(tool.program, {"PATH": str(tmp_path)})
    line = missing.refusal("restore", tmp_path / "shards", "-o", tmp_path / "restored")
    assert line == "cannot start tar: No such file or directory"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_slashes_at_the_end(tool: Tool, folder: Path, tmp_path: Path, end: str) -> None:
    """A folder may be named with slashes: shards inside of the source are refused nevertheless."""
    inside = f"{folder}/new{end}"
    assert tool.refusal("protect", *SHAPE, folder, inside) == f"{inside} is inside {folder}: choose another"
    assert not (folder / "new").exists()
    tool.ok("protect", *SHAPE, f"{folder}{end}", f"{tmp_path}/shards{end}")
    tool.ok("restore", f"{tmp_path}/shards{end}", "-o", f"{tmp_path}/restored{end}")
    assert describe(tmp_path / "restored") == describe(folder)


def test_shards_inside_of_a_folder_that_is_mounted_twice(tool: Tool, folder: Path, tmp_path: Path) -> None:
    """The paths differ, as they do in a file system that ignores case."""
    again = tmp_path / "again"
    again.mkdir()
    space = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount --bind '{folder}' '{again}'"
    if subprocess.run([*space, mount], capture_output=True).returncode != 0:
        pytest.skip("no mounts")
    protect = f"'{tool.program}' protect -k 2 -m 1 '{folder}' '{again}/sub/new'"
    done = subprocess.run([*space, f"{mount} && {protect}"], capture_output=True, text=True)
    assert done.returncode == REFUSED and f"{again}/sub/new is inside {folder}" in done.stderr
