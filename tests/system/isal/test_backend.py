"""examples/liberasurecode: the backend under Debian's unmodified liberasurecode, used through PyECLib."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.isal.support import CLIENTS, run, with_library


def test_the_backend_under_liberasurecode(build: Path, tmp_path: Path) -> None:
    run(["make", "-C", str(ROOT / "examples" / "liberasurecode"), f"BUILD={tmp_path}"])
    (tmp_path / "libgfsmith.so.0").symlink_to(build / "libgfsmith.so")
    backend = tmp_path / "liberasurecode_gfsmith.so"
    environment = with_library(tmp_path, LD_PRELOAD=str(backend))
    loaded = run([sys.executable, str(CLIENTS / "backend.py")], env=environment).split()
    assert loaded == ["liberasurecode_gfsmith.so", "libgfsmith.so", "libisal.so.2.0.30"]


def test_without_it_the_place_is_empty(tmp_path: Path) -> None:
    script = "import pyeclib.ec_iface as e; print('shss' in e.VALID_EC_TYPES)"
    assert run([sys.executable, "-c", script], env=with_library(None)) == "False\n"


@pytest.mark.parametrize("example", ["liberasurecode", "ceph"])
def test_a_copy_of_the_folder_names_the_checkout(example: str, build: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / example, tmp_path / example)
    alone = subprocess.run(["make", "-C", str(tmp_path / example)], capture_output=True, text=True)
    assert alone.returncode != 0
    assert "is not a checkout of gfsmith; allowed: the path of one" in alone.stderr
    assert len(alone.stderr.splitlines()) == 1, alone.stderr
    where = [f"CHECKOUT={ROOT}", f"BUILD={tmp_path}", f"LIBGFSMITH={build / 'libgfsmith.a'}"]
    run(["make", "-C", str(tmp_path / example), *where])
    assert len(list(tmp_path.glob("*.so"))) == 1
