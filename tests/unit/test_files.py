"""Where gfsmith's files are: at the top of a checkout, beside the modules of a wheel."""

from __future__ import annotations

from pathlib import Path

from gfsmith.files import share


def test_a_checkout_has_them_at_its_top(root: Path) -> None:
    assert share("templates") == root / "templates"
    assert (share("runtime") / "include" / "gfsmith.h").is_file()


def test_an_installed_wheel_has_them_beside_its_modules(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "gfsmith"
    (package / "share" / "runtime").mkdir(parents=True)
    assert share("runtime", package) == package / "share" / "runtime"
