"""Fixtures: the archive, and the judges compiled with each release of Hadoop and with Ozone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.folders import once, product
from tests.system.bindings.java.support import JUDGE, NEWEST, OZONE, OZONE_RELEASE, Judge, fetch


@pytest.fixture(scope="session")
def archive() -> Path:
    folder = product("java", "java")
    (found,) = folder.glob("gfsmith-*.jar")
    return found


@pytest.fixture(scope="session")
def compiled(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Judge]:
    """Return the judges of a project of Maven and a release; `sources` may write to the folder."""

    def judge(pom: Path, release: str, sources: Callable[[Path], list[Path]]) -> Judge:
        def make(folder: Path) -> None:
            fetch(pom, release, folder)
            (folder / "classes").mkdir()
            made(folder).compile(sources(folder))

        return made(once(tmp_path_factory, f"{pom.parent.name}-{release}", make))

    def made(folder: Path) -> Judge:
        return Judge(archive, folder / "classes", (folder / "classpath").read_text())

    return judge


@pytest.fixture(scope="session")
def judges(compiled: Callable[..., Judge]) -> Callable[[str], Judge]:
    """Return the judges of a release of Hadoop."""
    return lambda release: compiled(JUDGE / "pom.xml", release, lambda _: sorted(JUDGE.glob("*.java")))


@pytest.fixture(scope="session")
def judge(judges: Callable[[str], Judge]) -> Judge:
    """The judges of the newest release of Hadoop."""
    return judges(NEWEST)


#: Names of Hadoop, and those of Ozone for the same classes.
COUNTERPARTS = {
    "org.apache.hadoop.io.erasurecode.ErasureCoder": "org.apache.hadoop.hdds.client.ErasureCoder",
    "org.apache.hadoop.io.erasurecode.rawcoder": "org.apache.ozone.erasurecode.rawcoder",
    "ErasureCoderOptions": "ECReplicationConfig",
    "org.gfsmith.hadoop.RsFactory": "org.gfsmith.ozone.RsFactory",
    "org.gfsmith.hadoop.XorFactory": "org.gfsmith.ozone.XorFactory",
}


def for_ozone(source: str) -> str:
    """Return a judge of Hadoop's coders as one of Ozone's, which has no rs-legacy."""
    kept = re.sub(r".*rsLegacy.*\n", "", source, flags=re.IGNORECASE)
    for hadoop, ozone in COUNTERPARTS.items():
        kept = kept.replace(hadoop, ozone)
    return kept


@pytest.fixture(scope="session")
def ozone(compiled: Callable[..., Judge]) -> Judge:
    """The judges of Ozone's coders."""

    def sources(folder: Path) -> list[Path]:
        comparison = folder / "Differential.java"
        comparison.write_text(for_ozone((JUDGE / comparison.name).read_text(encoding="utf-8")))
        return [*sorted(OZONE.glob("*.java")), JUDGE / "Expect.java", comparison]

    return compiled(OZONE / "pom.xml", OZONE_RELEASE, sources)
