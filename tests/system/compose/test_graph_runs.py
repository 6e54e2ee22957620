"""Graphs over loopback, all ranks in one process, compared with the core library's bytes."""

from __future__ import annotations

import re
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from gfsmith.graph.types import SCHEMES
from tests.support.folders import built, once
from tests.support.levels import first
from tests.support.paths import ROOT
from tests.system.compose.graphs import ENCODING, SHAPES, case_line, link_program, run_cases

NODES = 17  #: of LRC(12,2,2), and one that reads or has all data
EMISMATCH = -36


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built("lib", "compose")
    names = ["graph_case", "graph_cases", "graph_loopback"]
    folder = once(
        tmp_path_factory,
        "graph_loopback",
        lambda at: link_program(ROOT / "build", names, at / "graph_loopback"),
    )
    return folder / "graph_loopback"


def runs(program: Path, cases: list[str], provider: str = "tcp") -> None:
    run_cases(program, cases, provider, str(NODES))


@pytest.mark.parametrize("scheme", first(SCHEMES, 2))
def test_every_lost_shard(program: Path, scheme: str) -> None:
    """And some of the pairs: at their holders and at a reader, composed and incoherent alternately."""
    cases = []
    for shape in SHAPES:
        shards = sum(shape)
        pairs = [*combinations(range(shards), 2)]
        for n, lost in enumerate([*combinations(range(shards), 1), *pairs[:: 11 if shards > 9 else 3]]):
            for reader in (-1, shards):
                how = {"reader": reader, "incoherent": n % 3 == 2, "slice_bytes": 0 if n % 2 else 256}
                cases.append(case_line(scheme, shape, length=1000 + n, lost=lost, **how))
    runs(program, cases)


@pytest.mark.parametrize("scheme", ENCODING)
def test_encodings(program: Path, scheme: str) -> None:
    cases = []
    for shape in SHAPES:
        for source in (sum(shape), 0, shape[0]):
            for length, incoherent in ((0, False), (128, True), (8193, False)):
                how = {"length": length, "incoherent": incoherent, "reader": source}
                cases.append(case_line(scheme, shape, **how))
    runs(program, cases)


@pytest.mark.parametrize("length", [128, 4099, 65536, (1 << 20) + 5])
def test_lengths_and_slices(program: Path, length: int) -> None:
    cases = []
    for shape in ((6, 3), (6, 2, 2)):
        shards = sum(shape)
        for slices in (0, max(length // 16, 32)):
            cases += [case_line(s, shape, length=length, slice_bytes=slices, reader=shards) for s in ENCODING]
            for scheme in SCHEMES:
                how = {"length": length, "slice_bytes": slices, "incoherent": slices == 0}
                cases.append(case_line(scheme, shape, lost=(1, shape[0]), reader=shards, **how))
    runs(program, cases)


def test_large_shards(program: Path) -> None:
    cases = [
        case_line("ecpipe", (3, 2), length=1 << 24, slice_bytes=1 << 18, lost=(1,)),
        case_line("triec", (3, 2), length=1 << 24, reader=5, lost=(0, 4)),
    ]
    runs(program, cases)


def test_provider_with_triggers(program: Path) -> None:
    cases = [
        case_line(scheme, (3, 2), length=3000, slice_bytes=slices, lost=(1,), reader=reader)
        for scheme in SCHEMES
        for slices in (0, 512)
        for reader in (-1, 5)
    ]
    runs(program, cases, "sockets")


def test_a_rank_with_another_graph_is_refused(program: Path) -> None:
    """All concerned ranks get a report with name and hash, before the deadline of two minutes. Rank 2, which
    only sends, may finish before.
    """
    command = [program, "tcp", "3", "disagree"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=program.parent)
    assert done.returncode == 0
    told = re.findall(rf"rank (\d): 0, {EMISMATCH} with rank \d: (.*?); ", done.stdout)
    assert [rank for rank, _ in told] in (["0", "1"], ["0", "1", "2"]), done.stdout
    assert all(len(set(re.findall(r"\b[0-9a-f]{16}\b", words))) == 2 for _, words in told)
