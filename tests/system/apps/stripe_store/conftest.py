"""Fixtures: the programs with their test points, and stores that run them."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.folders import built, once
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.support import (
    CLOCK,
    COUNT_SLEEPS,
    DEAD_DISK,
    EXAMPLE,
    NO_FORK,
    OTHER_STREAM,
    POWER,
    QUICK,
    SLOW_EXEC,
    Store,
)

HERE = Path(__file__).resolve().parent


def call(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built("lib", "compose")

    def build(folder: Path) -> None:
        call("make", "-j2", "-C", EXAMPLE, f"BUILD={folder}", "FAULTS=1", "CFLAGS=-O1 -g")
        flags = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC")
        for name in (QUICK, CLOCK, POWER, NO_FORK, DEAD_DISK, SLOW_EXEC, COUNT_SLEEPS, OTHER_STREAM):
            source = (HERE / "native" / name).with_suffix(".c")
            call("cc", *flags, "-o", folder / "stripe-store" / name, source)

    return once(tmp_path_factory, "store-programs", build) / "stripe-store"


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checker of linearizability, which needs Go."""

    def build(folder: Path) -> None:
        call("go", "-C", HERE / "linearizability", "build", "-buildvcs=false", "-o", folder / "check", ".")

    return once(tmp_path_factory, "linearizability", build) / "check"


def _stores(programs: Path, folder: Callable[[], Path]) -> Iterator[Callable[..., Store]]:
    """Yield a maker of stores, each in its own folder; all of them end with it."""
    made: list[Store] = []

    def make(**options: object) -> Store:
        store = Store(folder(), programs, **options)  # type: ignore[arg-type]
        made.append(store)
        store.start()
        return store

    yield make
    for store in made:
        store.kill_all()


@pytest.fixture(scope="module")
def make_store(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Store]]:
    """make_store(k=6, m=3, ...): a running store. All stores end with the module."""
    yield from _stores(programs, lambda: tmp_path_factory.mktemp("s"))


@pytest.fixture
def fresh_store(programs: Path, tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """The same for one test."""
    number = itertools.count()
    yield from _stores(programs, lambda: tmp_path / f"s{next(number)}")
