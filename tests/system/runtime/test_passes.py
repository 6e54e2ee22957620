"""`gfsmith plan` names the kernels that the runtime's maps run."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from gfsmith import codes
from gfsmith.build import config
from gfsmith.repair import planner
from gfsmith.repair.kernels import Choice
from tests.support.compiler import Compiler
from tests.support.library import EUNSUPPORTED, Api, random_matrix
from tests.support.paths import ROOT

Matrix = tuple[tuple[int, ...], ...]


def repair(code: str, k: int, m: int, local: int | None, lost: tuple[int, ...]) -> tuple[int, Matrix]:
    """Return the field and the matrix of a plan."""
    found = planner.plan(planner.codec(code, k, m, local), lost)
    return 0x11D, tuple(map(tuple, found.matrix))


def matrices() -> list[tuple[int, Matrix]]:
    """Return repairs of named and local codes, encoders with kernels for known matrices, sums, and random
    matrices.
    """
    found: list[tuple[int, Matrix]] = []
    for name, k, m in (("cauchy", 10, 4), ("vandermonde", 17, 3), ("cauchy", 100, 20), ("lch", 16, 8)):
        parity = codes.parity_matrix(name, k, m)
        found += [(0x11D, parity), (0x11B, parity), (0x11D, parity[1:] + parity)]
        for lost in ((1,), (0, 2), (1, k), tuple(range(m))):
            found.append(repair(name, k, m, None, lost))
    for lost in ((0,), (12,), (0, 1), (3, 9), (0, 1, 2, 7)):
        found.append(repair("lrc", 12, 4, 2, lost))
    for inputs, outputs in ((2, 1), (3, 1), (7, 1), (5, 2), (1, 1)):
        found.append((0x11D, ((1,) * inputs,) * outputs))
    shapes = np.random.default_rng(3).integers((1, 1), (40, 40), (60, 2))
    for seed, (inputs, outputs) in enumerate(shapes.tolist()):
        rows = random_matrix(inputs, outputs, seed).tolist()
        found.append((0x11D, tuple(map(tuple, rows))))
    return found


@pytest.mark.parametrize("isa", ["scalar", "avx2", "gfni_avx512"])
def test_kernels_are_named_as_they_are_chosen(compiler: Compiler, api: Api, isa: str) -> None:
    if api.set_isa(isa) == EUNSUPPORTED:
        pytest.skip(f"this CPU lacks {isa}")
    program = compiler.link("passes", "-Wl,--wrap=gfs_cpu_identify")
    asked = matrices()
    lines = []
    for polynomial, rows in asked:
        elements = " ".join(f"{e:x}" for row in rows for e in row)
        lines.append(f"{polynomial:x} {len(rows[0]):x} {len(rows):x} {elements}\n")
    done = subprocess.run([program, isa], input="".join(lines), capture_output=True, text=True, check=True)
    choice = Choice(config.specs(config.load(ROOT / "gfsmith.toml"), "gfsmith.toml"), isa)
    for (polynomial, rows), line in zip(asked, done.stdout.splitlines(), strict=True):
        passes = choice.passes(polynomial, rows)
        assert passes is not None
        assert " ".join(f"{p.first} {p.symbol}" for p in passes) == line.strip()
