"""The places of gfsmith's files: at the top of a checkout, next to the modules of a wheel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gfsmith.emit.files import replacing, share


def test_a_checkout_has_them_at_its_top(root: Path) -> None:
    assert share("templates") == root / "templates"
    assert (share("runtime") / "core" / "include" / "gfsmith.h").is_file()


def test_an_installed_wheel_has_them_next_to_its_modules(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "gfsmith"
    (package / "share" / "runtime").mkdir(parents=True)
    assert share("runtime", package) == package / "share" / "runtime"


def test_a_device_or_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"a device or pipe; allowed: a file or a new path"), replacing(pipe):
        pass
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to("target")
    with replacing(link) as stage:
        stage.write_text("new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
