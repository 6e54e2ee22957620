"""Versions of Python packages: the locks in packaging/requirements, and the extras of pyproject.toml."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.support.paths import ROOT

#: The lock of each extra; packages of environment.txt are in every environment.
LOCKS = {"generator": (), "dev": (), "bench": ("tune.txt",), "tune": ("tune.txt",)}


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "packaging" / "requirements" / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines]
    return {each[1]: each[2] for each in found if each is not None} if all(found) else {}


def test_extras_pin_the_locked_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(extras) == set(LOCKS)
    for extra, wanted in extras.items():
        locked = {
            name: pin for lock in ("environment.txt", *LOCKS[extra]) for name, pin in pins(lock).items()
        }
        assert {each: locked.get(each.partition("==")[0]) for each in wanted} == {
            each: each.partition("==")[2] for each in wanted
        }, extra
    (setuptools,) = project["build-system"]["requires"]
    assert setuptools == f"setuptools=={pins('environment.txt')['setuptools']}"


def test_older_packages_of_the_system_do_not_replace_those_of_setuptools(tmp_path: Path) -> None:
    """The environment has the system's packages after its own, and before the copies of setuptools."""
    for name in ("jaraco/functools.py", "more_itertools.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    program = f"import sys; sys.path.append({str(tmp_path)!r}); import setuptools"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_locks_agree() -> None:
    """A package that is in several locks has one version, since all are installed into one environment."""
    versions: dict[str, set[str]] = {}
    locks = sorted(path.name for path in (ROOT / "packaging" / "requirements").glob("*.txt"))
    for lock in locks:
        found = pins(lock)
        assert found, f"{lock}: a line is not NAME==VERSION"
        for name, version in found.items():
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    assert {name: sorted(found) for name, found in versions.items() if len(found) > 1} == {}
