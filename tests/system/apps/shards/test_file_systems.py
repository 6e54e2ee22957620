"""File systems without a rename that replaces nothing, and without hard links."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.system.apps.shards.support import REFUSED, Tool, content, flip, snapshot

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
