"""The places of gfsmith's files: at the top of a checkout, next to the modules of a wheel."""

from __future__ import annotations

from pathlib import Path

from gfsmith.emit.files import share


def test_a_checkout_has_them_at_its_top(root: Path) -> None:
    assert share("templates") == root / "templates"
    assert (share("runtime") / "core" / "include" / "gfsmith.h").is_file()


def test_an_installed_wheel_has_them_next_to_its_modules(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "gfsmith"
    (package / "share" / "runtime").mkdir(parents=True)
    assert share("runtime", package) == package / "share" / "runtime"
