"""Commands that need the library for Python, without it: one line with the command that builds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PLAN = ("plan", "--code", "cauchy", "--k", "4", "--m", "2", "--lost", "1")
GRAPH = ("graph", "--scheme", "rs", "--k", "4", "--m", "2", "--lost", "1")
DEVICE = ("adapt", "--device", str(ROOT / "tuned" / "devices" / "dram.toml"))
BENCH = ("bench", "cauchy:4x2")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gfsmith without its compiled module, as in a checkout before `make python`."""
    top = tmp_path_factory.mktemp("checkout")
    for name in ("generator/gfsmith", "bindings/python/gfsmith"):
        shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return top / "generator" / "gfsmith"


def said(package: Path, *command: str) -> str:
    """Return the only line on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "gfsmith", *command],
        env=os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, cwd=package.parent,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("command", "who"),
    [(PLAN, "plan"), (GRAPH, "graph"), (DEVICE, "adapt --device"), (BENCH, "bench")],
    ids=("plan", "graph", "device", "bench"),
)
def test_a_checkout_without_the_library(package: Path, command: tuple[str, ...], who: str) -> None:
    assert said(package, *command) == (
        f"gfsmith: gfsmith {who} needs the library for Python, which is not built: "
        "run `make python` in the checkout\n"
    )


def test_a_wheel_without_the_library(package: Path) -> None:
    (package / "share").mkdir()
    try:
        words = said(package, *PLAN)
    finally:
        (package / "share").rmdir()
    assert words == (
        "gfsmith: gfsmith plan needs the library for Python, which this installation lacks: install a wheel "
        "that has it (docs/python.md)\n"
    )


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*PLAN[:2], "nosuch", *PLAN[3:]), "code 'nosuch' is unknown"),
        ((*PLAN[:-1], "6"), "--lost: '6' is not a shard of cauchy(4+2)"),
        ((*PLAN, "--wanted", "2"), "--wanted: shard 2 is not lost"),
        (("graph", "--scheme", "nosuch", *GRAPH[3:]), "--scheme: 'nosuch' is unknown"),
        ((*GRAPH[:-1], "6"), "--lost: '6' is not a shard of cauchy(4+2)"),
        ((*GRAPH, "--holders", "1"), "--holders: 1 rank for 6 shards"),
        (("adapt", "--device", "nosuch"), "nosuch: No such file or directory"),
        (("bench", "nosuch"), "target 'nosuch'; allowed: CODE:KxM"),
        (("bench", "nosuch:4x2"), "code 'nosuch' is unknown"),
        ((*BENCH, "--block", "64Q"), "'64Q'; allowed: 1 to 67108864 bytes"),
        ((*BENCH, "--plot", "p.txt"), "--plot p.txt; allowed: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_argument_is_named_before_the_library(
    package: Path, command: tuple[str, ...], words: str
) -> None:
    """The user would build the library only to read that the argument is wrong."""
    assert words in said(package, *command)
