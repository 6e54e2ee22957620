"""liberasurecode's backends for Jerasure, run with the drop-in: PyECLib's own tests, and stripes exchanged
with Jerasure.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.system.isal.support import CLIENTS, pyeclib, run, with_library
from tests.system.jerasure.support import REAL

#: Type -> fragments of all shapes in clients/stripes.py.
TYPES = {"jerasure_rs_vand": 3 + 6 + 9 + 14 + 18 + 22, "jerasure_rs_cauchy": 3 + 6 + 9 + 14}


def test_pyeclibs_own_tests(shim: Path, tmp_path: Path) -> None:
    """PyECLib's tests pass with Debian's PyECLib and liberasurecode."""
    shutil.copytree(pyeclib("1.6.0") / "test", tmp_path / "test", ignore=shutil.ignore_patterns("*.pdf"))
    shutil.copy(CLIENTS / "pyeclib_conftest.py", tmp_path / "conftest.py")
    loaded = tmp_path / "loaded"
    environment = with_library(shim.parent, LOADED=str(loaded), TYPES=" ".join(TYPES), LIBRARY="libJerasure")
    options = ["-W", "ignore", "-p", "no:cacheprovider", "-k", "not valid_ec_types", "test"]
    printed = run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, env=environment)
    passed = re.search(r"(\d+) passed", printed)
    assert passed is not None and "failed" not in printed
    assert int(passed[1]) >= 20
    assert loaded.read_text() == str(shim)


@pytest.mark.parametrize("ec_type", TYPES)
def test_stripes_go_from_one_library_to_the_other(shim: Path, tmp_path: Path, ec_type: str) -> None:
    def stripes(action: str, library: Path, written: Path) -> None:
        script = [sys.executable, str(CLIENTS / "stripes.py"), action, str(written), ec_type, "libJerasure"]
        loaded = run(script, env=with_library(library.parent)).strip()
        assert Path(loaded).resolve() == library.resolve()

    ours, real = tmp_path / "ours", tmp_path / "real"
    for library, folder in ((shim, ours), (REAL, real)):
        folder.mkdir()
        stripes("write", library, folder)
    names = sorted(path.name for path in real.iterdir())
    assert len(names) == 4 * TYPES[ec_type]
    for name in names:
        assert (ours / name).read_bytes() == (real / name).read_bytes(), name
    stripes("read", shim, real)
    stripes("read", REAL, ours)
