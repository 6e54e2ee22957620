"""`gfsmith plan`: its output and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gfsmith.cli import main

SMALL = """
[generator]
isas = ["avx2", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx1", "nx2", "4x2"]
[[kernels]]
operation = "xor"
shapes = ["nx1"]
isas = ["avx2"]
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["4x2"]
[[kernels]]
operation = "dot"
shapes = ["4x1"]
prefetch = 512
isas = ["avx2"]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main.main, ["plan", *arguments], catch_exceptions=False)


def record(project: Path, *arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json", "--config", str(project))
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "gfsmith.toml"
    path.write_text(SMALL)
    return path


def symbols(found: dict[str, Any], isa: str) -> list[str]:
    return [kernel["symbol"] for kernel in found["kernels"][isa]]


def test_a_local_repair(project: Path) -> None:
    found = record(project, "--code", "lrc", "--k", "12", "--l", "2", "--r", "2", "--lost", "8")
    assert found["reads"] == [6, 7, 9, 10, 11, 13] and found["rebuilds"] == [8] and found["least"]
    assert found["matrix"] == [[1] * 6]
    assert symbols(found, "avx2") == ["gfs_xor_nx1__avx2_u4"]
    assert symbols(found, "scalar") == ["gfs_dot_nx1__scalar_u1"]  # the set has no xor kernel


def test_kernels(project: Path) -> None:
    code = ("--code", "cauchy", "--k", "4", "--m", "3")
    two = record(project, *code, "--lost", "1,5", "--isa", "avx2")
    assert list(two["kernels"]) == ["avx2"]
    assert symbols(two, "avx2") == ["gfs_dot_4x2__avx2_u2_steps"]
    three = record(project, *code, "--lost", "0,1,2", "--isa", "avx2")
    assert [kernel["first"] for kernel in three["kernels"]["avx2"]] == [0, 2]
    assert symbols(three, "avx2") == [
        "gfs_dot_4x2__avx2_u2_steps",
        "gfs_dot_nx1__avx2_u4_steps",
    ]  # none with a prefetch
    parities = record(project, "--code", "cauchy", "--k", "4", "--m", "2", "--lost", "4,5")
    assert symbols(parities, "avx2") == ["gfs_dot_4x2_cauchy__avx2_u2_steps"]
    nothing = record(project, *code, "--lost", "1", "--wanted", "1", "--isa", "scalar")
    assert nothing["rebuilds"] == [1]


def test_text(project: Path) -> None:
    result = run(
        *("--code", "vandermonde", "--k", "3", "--m", "2", "--lost", "1,4", "--wanted", "1"),
        *("--isa", "avx2", "--config", str(project)),
    )
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "vandermonde(3+2): data 0..2, parities 3..4; lost 1, 4",
        "reads    0, 2, 3 (3 shards; no repair reads fewer)",
        "rebuilds 1",
        "matrix     0   2   3",
        "       1  01  01  01",
        "kernels  avx2: gfs_xor_nx1__avx2_u4",
    ]


def test_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("--code", "cauchy", "--k", "4", "--m", "2", "--lost", "0")
    assert result.exit_code == 0 and "kernels" not in result.output
    cut = run("--code", "lrc", "--k", "96", "--l", "8", "--r", "4", "--lost", "0,95")
    assert "(24 shards; the search was cut short: fewer may suffice)" in cut.output
    kernels = run("--code", "cauchy", "--k", "4", "--m", "2", "--lost", "0", "--isa", "avx2")
    assert kernels.exit_code == 2 and kernels.stderr == (
        "gfsmith: --isa lists kernels of a configuration, and gfsmith.toml does not exist; name one with -c, "
        "or omit --isa\n"
    )


LRC = ("--code", "lrc", "--k", "6", "--l", "2", "--r", "2")
CAUCHY = ("--code", "cauchy", "--k", "10", "--m", "4")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*LRC, "--lost", "0,1,2,6"), "shards 0, 1, 2, 6 cannot be rebuilt"),
        ((*LRC, "--lost", "0,1,2,6", "--wanted", "2"), "shard 2 cannot be rebuilt"),
        ((*LRC, "--lost", "0,1,2,6"), "at most 2 lost shards in total"),
        ((*LRC, "--lost", "0,1,2,3,4"), "5 shards are lost; with 4 parities, at most 4 can be"),
        ((*CAUCHY, "--lost", "1,2,3,4,5"), "any 4 losses can be repaired"),
        ((*CAUCHY, "--lost", "1,14"), "'14' is not a shard of cauchy(10+4); allowed: 0..9 (data), 10..13"),
        ((*CAUCHY, "--lost", "1,"), "'' is not a shard"),
        ((*CAUCHY, "--lost", "-1"), "'-1' is not a shard"),
        ((*CAUCHY, "--lost", "1", "--wanted", "2"), "shard 2 is not lost; allowed: 1"),
        ((*CAUCHY, "--lost", "1", "--isa", "avx3"), "'avx3' is not an instruction set; allowed: "),
        ((*CAUCHY, "--lost", "1", "--l", "2"), "--l and --r are for lrc"),
        (
            ("--code", "lrc", "--k", "6", "--m", "4", "--lost", "1"),
            "lrc takes --k, --l (groups) and --r",
        ),
        (("--code", "lrc", "--k", "4", "--l", "5", "--r", "2", "--lost", "1"), "1 <= l <= k"),
        (("--code", "cauchy", "--k", "4", "--lost", "1"), "--m missing"),
        (("--code", "cauchi", "--k", "4", "--m", "2", "--lost", "1"), "'cauchi' is unknown"),
    ],
)
def test_refusals(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and words in result.stderr and result.stdout == ""
