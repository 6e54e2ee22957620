"""tools/setup.sh with a Python and a pip of the test, which install nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: The system's Python: no requirement is missing, and a new environment has the interpreter ENVIRONMENT.
SYSTEM = """#!/bin/sh
case $2 in venv)
  mkdir -p "$4/bin"
  cp "{folder}/environment" "$4/bin/python"
esac
"""
#: An environment's Python, whose pip records its calls. The environment runs the checkout that was installed
#: last.
ENVIRONMENT = """#!/bin/sh
venv=${{0%/bin/python}}
if [ "$1" = -P ]; then
  [ -z "$FAILS" ] || exit "$FAILS"
  shift
  if [ "$1" = -E ]; then shift; PYTHONPATH=; fi
  PYTHONPATH=$PYTHONPATH:$(cat "$venv/runs") exec "{python}" -P "$@"
fi
[ "$2" = pip ] || exit 0
echo "$*" >>"{folder}/calls"
sleep 0.2
case $* in *--editable*)
  for root; do :; done
  printf %s "$root/generator" >"$venv/runs"
  cp "$0" "$venv/bin/gfsmith"
esac
"""


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout without an environment, whose set-up calls the programs above."""
    folder = tmp_path / "checkout"
    for part in ("tools", "generator/gfsmith", "packaging/requirements"):
        (folder / part).mkdir(parents=True)
    (folder / "generator/gfsmith/__init__.py").touch()
    (folder / "packaging/requirements/environment.txt").write_text("something==1\n")
    for name, text in (("system", SYSTEM), ("environment", ENVIRONMENT)):
        (tmp_path / name).write_text(text.format(folder=tmp_path, python=sys.executable))
        (tmp_path / name).chmod(0o755)
    script = (root / "tools/setup.sh").read_text()
    assert "python=/usr/bin/python3\n" in script
    script = script.replace("python=/usr/bin/python3\n", f"python={tmp_path}/system\n")
    (folder / "tools/setup.sh").write_text(script)
    return folder


def _set_up(checkout: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["sh", checkout / "tools/setup.sh", "gen"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
        cwd=checkout.parent,
    )


def _said(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return said


def _calls(checkout: Path) -> list[str]:
    """Return the calls of pip since the last call of this function."""
    record = checkout.parent / "calls"
    calls = record.read_text().splitlines() if record.exists() else []
    record.unlink(missing_ok=True)
    return calls


CREATED = "setup: creating .venv\n"
REMOVED = "setup: removing .venv, which is that of another folder or Python\n"


def test_two_runs_at_once_create_one_environment(checkout: Path) -> None:
    """The second one waits, and finds the environment of the first one."""
    both = [_set_up(checkout) for _ in range(2)]
    assert sorted(map(_said, both)) == ["", CREATED]
    assert len(_calls(checkout)) == 2


@pytest.mark.parametrize("how", ["moved", "copied"])
def test_the_environment_of_another_folder(checkout: Path, how: str) -> None:
    """A folder that was moved has no environment any more, and a copy would run the sources of the first."""
    assert _said(_set_up(checkout)) == CREATED
    assert _said(_set_up(checkout)) == ""
    other = checkout.parent / "with a blank"
    (shutil.move if how == "moved" else shutil.copytree)(checkout, other)
    _calls(checkout)
    assert _said(_set_up(other)) == REMOVED + CREATED
    assert _calls(other)[-1].endswith(f"--editable {other}")
    assert _said(_set_up(other)) == ""
    assert _calls(other) == []


def test_an_environment_that_another_variable_completes(checkout: Path) -> None:
    """PYTHONPATH may name another generator, or that of a folder with the environment of another one."""
    assert _said(_set_up(checkout)) == CREATED
    other = shutil.copytree(checkout, checkout.parent / "other")
    assert _said(_set_up(other, PYTHONPATH=f"{other}/generator")) == ""
    assert _said(_set_up(checkout, PYTHONPATH=f"{other}/generator")) == ""


@pytest.mark.parametrize(("status", "removed"), [(1, False), (127, True)])
def test_an_interpreter_that_fails(checkout: Path, status: int, removed: bool) -> None:
    """Without memory it fails, too, and another try needs the same environment. A missing one is that of an
    older system.
    """
    assert _said(_set_up(checkout)) == CREATED
    assert _said(_set_up(checkout, FAILS=str(status))) == (REMOVED + CREATED) * removed
