"""Local reconstruction codes: the facts behind the proof of codes/lrc.py, and their consequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import gfsmith
from gfsmith.build import config
from gfsmith.cli import main
from gfsmith.codes import POLYNOMIAL, CodeError
from gfsmith.codes.lrc import SPREAD, SPREAD_POINTS, Lrc
from gfsmith.field import Field
from tests.oracle.lrc import within_bound
from tests.support.configurations import known_proofs
from tests.system.kernels.support import galois_field

FIELD = Field(POLYNOMIAL)


def undetermined(lrc: Lrc, lost: Sequence[int]) -> list[int]:
    """Return the shards that the library cannot rebuild."""
    codec = gfsmith.Codec.lrc(lrc.k, lrc.l, lrc.r)
    return [shard for shard, known in enumerate(codec.determined(codec.all_but(*lost))) if not known]


def solvable(lrc: Lrc, lost: tuple[int, ...]) -> bool:
    """Return True if the present rows have full rank, by the galois package."""
    rows = np.concatenate([np.eye(lrc.k, dtype=np.uint8), np.array(lrc.parity(), dtype=np.uint8)])
    return int(np.linalg.matrix_rank(galois_field(POLYNOMIAL)(np.delete(rows, lost, axis=0)))) == lrc.k


def test_the_spread() -> None:
    """17 subspaces of 16 elements each, closed under addition, share only 0 and cover the field."""
    spaces = []
    for g in range(SPREAD):
        points = {FIELD.power(2, g + SPREAD * i) for i in range(SPREAD_POINTS)}
        space = points | {0}
        assert len(space) == 16 and all(a ^ b in space for a in space for b in space)
        spaces.append(points)
    assert sum(map(len, spaces)) == 255 and set().union(*spaces) == set(range(1, 256))


def test_the_points_are_those_of_the_spread() -> None:
    """Global row 0 of the widest shape holds the points themselves, row 1 their squares."""
    lrc = Lrc(SPREAD * SPREAD_POINTS - 20, SPREAD, 2)
    parity = lrc.parity()
    assert lrc.maximally_recoverable
    for g, group in enumerate(lrc.groups):
        assert [parity[SPREAD][j] for j in group] == [
            FIELD.power(2, g + SPREAD * i) for i in range(len(group))
        ]
    assert [FIELD.multiply(e, e) for e in parity[SPREAD]] == list(parity[SPREAD + 1])


@pytest.mark.parametrize("shape", [(30, 2, 2), (45, 3, 2), (60, 10, 1), (225, 15, 2), (40, 1, 3)], ids=str)
def test_wide_codes_are_maximally_recoverable_in_a_sample(shape: tuple[int, int, int]) -> None:
    """Random losses at the bound: one more than the local parities repair in some groups, global parities for
    the rest.
    """
    lrc = Lrc(*shape)
    assert lrc.maximally_recoverable
    rng = np.random.default_rng(sum(shape))
    for _ in range(6):
        lost: list[int] = []
        while True:
            more = int(rng.integers(lrc.k + lrc.l + lrc.r))
            if not within_bound(lrc, [*lost, more]) or len(lost) == lrc.l + lrc.r:
                break
            lost = sorted({*lost, more})
        assert undetermined(lrc, lost) == []


@pytest.mark.parametrize("shape", [(6, 2, 3), (8, 2, 4), (32, 2, 2)], ids=str)
def test_pyramids_repair_any_r_plus_one(shape: tuple[int, int, int]) -> None:
    lrc = Lrc(*shape)
    assert not lrc.has_points and not lrc.maximally_recoverable
    n = lrc.k + lrc.l + lrc.r
    losses = list(combinations(range(n), lrc.r + 1))
    for lost in losses[:: len(losses) // 40]:
        assert undetermined(lrc, lost) == []
        assert solvable(lrc, lost)


def test_beyond_that_a_pyramid_is_decided_exactly() -> None:
    """Some losses within the bound of this topology are not repaired, and galois agrees on which."""
    lrc, answers = Lrc(6, 2, 3), set()
    for lost in combinations(range(11), 5):
        if within_bound(lrc, lost):
            lacking = undetermined(lrc, lost)
            assert (not lacking) == solvable(lrc, lost)
            answers.add(not lacking)
    assert True in answers


def test_groups() -> None:
    assert [list(group) for group in Lrc(7, 3, 1).groups] == [[0, 1, 2], [3, 4], [5, 6]]
    assert within_bound(Lrc(4, 2, 2), [0, 1, 2]) and within_bound(Lrc(4, 2, 2), [0, 1, 2, 3])
    assert not within_bound(Lrc(4, 2, 2), [0, 1, 4, 6]) and not within_bound(Lrc(4, 2, 2), [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    "shape", [(4, 5, 2), (4, 0, 2), (4, 2, 0), (0, 1, 1), (250, 4, 2), (-1, -1, 1)], ids=str
)
def test_shapes_that_cannot_be(shape: tuple[int, int, int]) -> None:
    with pytest.raises(CodeError, match=r"allowed: 1 <= l <= k, r >= 1, k \+ l \+ r <= 255"):
        Lrc(*shape)


CONFIGURATION = """
[generator]
isas = ["avx2"]
[[kernels]]
operation = "dot"
code = "lrc"
local = 3
shapes = ["8x5"]
"""


def test_as_input_of_the_generator() -> None:
    (spec,) = config.specs(config.parse(CONFIGURATION, "t"), "t")
    assert spec.baked is not None and spec.baked.rows == Lrc(8, 3, 2).parity()
    assert spec.symbol == "gfs_dot_8x5_lrc3__avx2_u2_steps"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("local = 3", "", "lrc needs its number of groups"),
        ("local = 3", "local = 9", "allowed: 1 <= l <= k"),
        ("local = 3", "local = 5", "r >= 1"),
        ('code = "lrc"', 'code = "cauchy"', "cauchy has no groups"),
        ('code = "lrc"', "", 'only code = "lrc" has groups'),
    ],
)
def test_inputs_that_cannot_be(old: str, new: str, words: str) -> None:
    with pytest.raises(config.ConfigError, match=r"^t: kernels") as caught:
        config.specs(config.parse(CONFIGURATION.replace(old, new), "t"), "t")
    assert words in str(caught.value)


def test_kernels_that_know_the_matrix_are_generated_and_proved(tmp_path: Path) -> None:
    path = tmp_path / "gfsmith.toml"
    path.write_text(CONFIGURATION)
    known_proofs(tmp_path / ".gfsmith-cache")
    done = CliRunner().invoke(main.main, ["gen", "-j", "1", "--config", str(path)], catch_exceptions=False)
    assert done.exit_code == 0 and "1 kernel, all proved" in done.output
    elements = ", ".join(str(e) for row in Lrc(8, 3, 2).parity() for e in row)
    listed = (tmp_path / "gen_out/matrices.inc").read_text()
    assert f"GFSMITH_MATRIX(lrc3_8x5_11d, 0x11d, 5, 8, {elements})" in " ".join(listed.split())


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--k", "6", "--l", "2", "--r", "2"), "gfs_dot_6x4_lrc2__avx2_u1"),
        (("--k", "6", "--m", "4"), "lrc takes --k, --l (groups) and --r (global parities), and not --m"),
        (("--k", "6", "--l", "7", "--r", "2"), "lrc(6, 7, 2) is not a shape"),
    ],
)
def test_as_flags(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    path = tmp_path / "gfsmith.toml"
    path.write_text(CONFIGURATION)
    command = ["list", "--code", "lrc", *flags, "--config", str(path), "--json"]
    assert words in CliRunner().invoke(main.main, command, catch_exceptions=False).output
