"""The drop-in beside Debian's libisal: every function, the same bytes back; and wrong ones are noticed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from .support import REAL, REPO, SOURCES, run

ISAS = ("scalar", "sse", "avx2", "avx512", "gfni_sse", "gfni_avx2", "gfni_avx512")


def compare(differential: Path, library: Path, isa: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(differential), str(library), str(REAL)],
        env=os.environ | {"GFSMITH_ISA": isa},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("isa", ISAS)
def test_every_function_does_what_the_real_one_does(differential: Path, shim: Path, isa: str) -> None:
    done = compare(differential, shim, isa)
    if "is not supported by this CPU" in done.stderr:
        pytest.skip(f"this CPU lacks {isa}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert int(done.stdout.split()[0]) > 300_000


#: file, what is there, what a mistake would make of it, what is then noticed
MUTANTS = (
    ("entry.c", "(power) >> 7) * 0x11d", "(power) >> 7) * 0x12d", "gf_vect_mul_init"),
    ("entry.c", "{0, 0, 1, 1, 0, 0, 1, 1}", "{0, 0, 1, 1, 0, 1, 1, 1}", "gf_vect_mul_init"),
    ("entry.c", "((c) >> 7 & 1) * ((in) >> 7)", "((c) >> 7 & 1) * ((in) >> 6)", "ec_encode_data"),
    ("choice.c", "n < elements; n++", "n + 1 < elements; n++", "ec_encode_data"),
    ("passes.c", "operation = GFS_OPERATION_mad;", "", "ec_encode_data"),
    ("passes.c", "call->src + from", "call->src", "ec_encode_data"),
    ("passes.c", "call->dst + b->first", "call->dst", "ec_encode_data"),
    ("erasure_code.c", "count(vec_i) * GFS_ISAL_ENTRY, from", "GFS_ISAL_ENTRY, from", "base"),
    ("erasure_code.c", "g_tbls + count(vec_i)", "g_tbls + count(vec_i + 1)", "ec_encode_data_update"),
    ("erasure_code.c", "len % 32 != 0", "len % 16 != 0", "gf_vect_mul"),
    ("field.c", "scale(out + i * n, entry, n);", "", "gf_invert_matrix: out"),
    ("field.c", "i ^ j", "i + j", "gf_gen_cauchy1_matrix"),
    ("plain.c", "bit < 8; bit++", "bit < 7; bit++", "base"),
    ("raid.c", "(unsigned)vects - 1", "(unsigned)vects - 2", "xor"),
    ("raid.c", "return (int)n | 2;", "return (int)n | 1;", "pq_check_base"),
    ("named.c", "ec_encode_data(len, vlen, n, ", "ec_encode_data(len, vlen, n - 1, ", "vect_dot_prod"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m[0]}:{m[3]}".replace(" ", "_"))
def test_a_mistake_is_noticed(
    build: Path, differential: Path, tmp_path: Path, mutant: tuple[str, str, str, str]
) -> None:
    name, right, wrong, noticed = mutant
    text = (SOURCES / name).read_text()
    assert right in text, f"{name} no longer has {right}"
    (tmp_path / name).write_text(text.replace(right, wrong))
    library = tmp_path / "libisal.so.2"
    others = [build / "obj" / "runtime" / "isal" / f"{path.stem}.o" for path in SOURCES.glob("*.c")]
    includes = [f"-I{REPO / part}" for part in ("runtime/include", "runtime/src", "gen_out")]
    run(
        ["gcc", "-std=c11", "-O1", "-fPIC", "-shared", f"-I{SOURCES}", f"-I{SOURCES / 'include'}", *includes]
        + [f"-Wl,--version-script={SOURCES / 'libisal.map'}", "-o", str(library), str(tmp_path / name)]
        + [str(path) for path in others if path.stem != Path(name).stem]
        + [str(build / "libgfsmith.a")]
    )
    done = compare(differential, library, "gfni_avx512" if "in) >> 7" in right else "avx2")
    assert done.returncode != 0, "a wrong library passes"
    if done.returncode > 0:  # not ended by a signal, as an access beyond a vector would
        assert re.search(rf"differs: .*{noticed}", done.stdout), done.stdout
