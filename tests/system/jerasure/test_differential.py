"""The drop-in and Debian's libJerasure give the same results, bytes and statistics; the comparison detects
mutants.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.support.mutation import Mutant, plant
from tests.system.isal.support import ISAS, link_changed, require_agreement
from tests.system.jerasure.support import CLIENTS, PART, REAL, SOURCES


def compare(library: Path, isa: str, only: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(CLIENTS / "differential.py"), str(library), str(REAL), only],
        env=os.environ | {"GFSMITH_ISA": isa},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("isa", first(ISAS))
def test_every_function_agrees_with_the_real_one(shim: Path, isa: str) -> None:
    require_agreement(compare(shim, isa), isa, 6000)


#: Code, its replacement, the part of the comparison that notices it, and the function in which it does.
MUTANTS = (
    (Mutant("bit < modulus->width", "bit + 1 < modulus->width"), "fields", "galois_get_field_ptr"),
    (Mutant("left < k", "left < 1"), "coding", "jerasure_erasures_to_erased"),
    (Mutant("n < modulus->width", "n + 1 < modulus->width"), "words", "galois_inverse"),
    (Mutant("{14, 0x443}", "{14, 0x2b}"), "words", "galois_"),
    (Mutant("index % 2 * 4", "4 - index % 2 * 4"), "fields", "galois_get_field_ptr"),
    (Mutant("made->modulus.low = $value;", ";"), "techniques", "galois_init_field"),
    (
        Mutant("row + output * b->bytes + to", "row + output * b->bytes + from"),
        "fields",
        "galois_get_field_ptr",
    ),
    (Mutant("src[b->from + j] + at", "src[j] + at"), "coding", "jerasure_matrix_encode"),
    (Mutant("src + b->from", "src"), "coding", "jerasure_matrix_encode"),
    (Mutant("dst + b->first", "dst"), "coding", "jerasure_matrix_encode"),
    (Mutant("b->add = true;", ";"), "coding", "jerasure_matrix_encode"),
    (Mutant("map->matrix[j] != 1", "map->matrix[j] > 2"), "coding", "jerasure_matrix"),
    (Mutant("words[n * bytes + p]", "words[n * bytes + bytes - 1 - p]"), "fields", "galois_get_field_ptr"),
    (Mutant("third[n]", "second[n]"), "fields", "galois_get_field_ptr"),
    (Mutant("row[j] == 1", "row[j] <= 1", within="count_row"), "coding", "jerasure_matrix_encode"),
    (Mutant("is_zero(k, row)", "0"), "coding", "jerasure_matrix_encode"),
    (
        Mutant(
            "gfs_jerasure_shard(&t->shards, gfs_jerasure_other(j, lost))", "gfs_jerasure_shard(&t->shards, j)"
        ),
        "coding",
        "jerasure_matrix_decode",
    ),
    (Mutant("int row = at;", "int row = at + 1;"), "elimination", "jerasure_invert"),
    (Mutant("element >> row & 1", "element >> (w - 1 - row) & 1"), "elimination", "jerasure_matrix_to"),
    (Mutant("i + 1 < rows || i == 0", "i + 1 < rows"), "matrices", "reed_sol_extended_vandermonde_matrix"),
    (Mutant("ones < least", "ones <= least"), "matrices", "cauchy"),
    (Mutant("j % 2 == 0 ? j / 2 - 1 : $odd", "j / 2"), "matrices", "blaum_roth_coding_bitmatrix"),
    (Mutant("(row + j - 1) % w", "(row + j + 1) % w"), "matrices", "liberation_coding_bitmatrix"),
    (Mutant("cost < ways[other].cost", "cost + 1 < ways[other].cost"), "bits", "jerasure_smart"),
    (Mutant("sum->adds = true;", ";"), "bits", "jerasure_bitmatrix_encode"),
    (Mutant("o->ids[j] != j", "o->ids[j] > j + 1"), "bits", "jerasure_schedule_decode_lazy"),
    (Mutant("ptrs[n] += region;", ";"), "bits", "jerasure_schedule_encode"),
    (Mutant("erasures[1] < 0 ? $one : $two", "erasures[0]"), "bits", "jerasure_schedule_decode_cache"),
)


MUTANT_PARAMETERS = [pytest.param(*values, id=str(values[0])) for values in MUTANTS]


@pytest.mark.parametrize(("mutant", "part", "noticed"), first(MUTANT_PARAMETERS, 2))
def test_an_error_is_detected(build: Path, tmp_path: Path, mutant: Mutant, part: str, noticed: str) -> None:
    original, changed = plant(mutant, sorted(SOURCES.glob("*.c")), tmp_path)
    link_changed(build, PART, changed, original, tmp_path / "libJerasure.so.2")
    done = compare(tmp_path / "libJerasure.so.2", "avx2", part)
    assert done.returncode != 0, "a wrong library passes"
    if done.returncode > 0:  # not ended by a signal
        assert done.stdout.startswith(f"differs: {noticed}"), done.stdout
