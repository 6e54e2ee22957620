"""Fixtures: the archive, and the judges compiled with each release of Hadoop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.folders import once, product
from tests.system.bindings.java.support import JUDGE, NEWEST, Judge, fetch


@pytest.fixture(scope="session")
def archive() -> Path:
    folder = product("java", "java")
    (found,) = folder.glob("gfsmith-*.jar")
    return found


@pytest.fixture(scope="session")
def judges(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Judge]:
    """Return the judges of a release."""

    def make(release: str, folder: Path) -> None:
        fetch(release, folder)
        (folder / "classes").mkdir()
        made(folder).compile(sorted(JUDGE.glob("*.java")))

    def made(folder: Path) -> Judge:
        return Judge(archive, folder / "classes", (folder / "classpath").read_text())

    def judge(release: str) -> Judge:
        return made(once(tmp_path_factory, f"hadoop-{release}", lambda folder: make(release, folder)))

    return judge


@pytest.fixture(scope="session")
def judge(judges: Callable[[str], Judge]) -> Judge:
    """The judges of the newest release."""
    return judges(NEWEST)
