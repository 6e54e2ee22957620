"""A real HDFS on the coders: DataNodes stopped, blocks rebuilt, damage found; blocks equal to Hadoop's own.

GFSMITH_HDFS_MEBIBYTES is the size of the file, 48 without it; gigabytes need as much space in the temporary
folder, three times (two files with parities). GFSMITH_HDFS_RELEASE is the release of Hadoop, the newest of
RELEASES without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.mutation import plant
from tests.system.bindings.java.support import NATIVE, NEWEST, RELEASES, Judge, compile_native
from tests.system.bindings.java.test_coders import MUTANTS

MEBIBYTES = os.environ.get("GFSMITH_HDFS_MEBIBYTES", "48")
RELEASE = os.environ.get("GFSMITH_HDFS_RELEASE", NEWEST)
#: Without the second compiler, which takes a fifth of the CPU time of these short runs.
FAST = "-XX:TieredStopAtLevel=1"
PHASES = ("write", "degraded read", "reconstruction", "scan", "read")


@pytest.fixture(scope="session")
def hdfs(judges: Callable[[str], Judge]) -> Judge:
    assert RELEASE in RELEASES, f"GFSMITH_HDFS_RELEASE={RELEASE}; allowed: {', '.join(RELEASES)}"
    return judges(RELEASE)


@pytest.mark.parametrize("policy", sample(["RS-6-3-1024k", "RS-10-4-1024k"], "RS-6-3-1024k"))
def test_a_cluster_loses_and_rebuilds_nodes(hdfs: Judge, tmp_path: Path, policy: str) -> None:
    said = hdfs.run("Cluster", policy, MEBIBYTES, tmp_path, options=[FAST])
    assert f"Hadoop {RELEASE}\n" in said
    assert re.search(r"^coders: .*\brs_gfsmith\b", said, re.MULTILINE | re.IGNORECASE)
    assert re.findall(r"^(.*): [1-9]\d* calls$", said, re.MULTILINE) == list(PHASES)
    assert re.search(r"^\d+ blocks of \d+ bytes are equal$", said, re.MULTILINE)


def test_a_wrong_parity_is_found(hdfs: Judge, tmp_path: Path) -> None:
    _, wrong = plant(MUTANTS["parity"], [NATIVE / "gfsmith_jni.c"], tmp_path)
    library = compile_native(wrong, tmp_path / "wrong.so")
    options = [FAST, f"-Dorg.gfsmith.library={library}"]
    status, said = hdfs.call("Cluster", "RS-3-2-1024k", "3", tmp_path / "data", options=options)
    assert status != 0 and "written: block 0/3 differs" in said
