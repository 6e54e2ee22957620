"""The drop-in and Debian's libisal give the same bytes in every function; the comparison detects mutants."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.levels import first, share
from tests.support.mutation import Mutant, plant
from tests.system.isal.support import (
    ISAS,
    REAL,
    SHIM,
    SOURCES,
    link_changed,
    require_agreement,
    skip_without,
)


def compare(differential: Path, library: Path, isa: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(differential), str(library), str(REAL)],
        env=os.environ | {"GFSMITH_ISA": isa},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("isa", first(ISAS))
def test_every_function_agrees_with_the_real_one(differential: Path, shim: Path, isa: str) -> None:
    require_agreement(compare(differential, shim, isa), isa, 500_000)


#: Code, its replacement, the instruction set whose kernels show the error, and the expected message.
MUTANTS = (
    (Mutant("((power) >> 7) * 0x11d", "((power) >> 7) * 0x12d"), "avx2", "gf_vect_mul_init"),
    (Mutant("{0, 0, 1, 1, 0, 0, 1, 1}", "{0, 0, 1, 1, 0, 1, 1, 1}"), "avx2", "gf_vect_mul_init"),
    (
        Mutant("((c) >> 7 & 1) * ((in) >> 7)", "((c) >> 7 & 1) * ((in) >> 6)"),
        "gfni_avx512",
        "gf_vect_mul_init",
    ),
    (
        Mutant(
            "isa->format == GFS_FORMAT_affine",
            "isa->format == GFS_FORMAT_nibble",
            within="prefers_matrices",
        ),
        "avx2",
        "gf_vect_mul_init",
    ),
    (Mutant("n < 4", "n < 3", within="gfs_isal_entry"), "gfni_avx512", "gf_vect_mul_init"),
    (
        Mutant("gfs_isal_products(gfs_isal_coefficient(entry), to);", "gfs_isal_products(entry[1], to);"),
        "avx2",
        "ec_encode_data",
    ),
    (Mutant("n < count", "n + 1 < count", within="are"), "avx2", "ec_encode_data"),
    (
        Mutant("difference(entries + 3 * GFS_ISAL_ENTRY, elements[3])", "0", within="are_matrices"),
        "gfni_avx512",
        "ec_encode_data",
    ),
    (Mutant("count > 0", "count > 1", within="are_matrices"), "gfni_avx512", "ec_encode_data"),
    (
        Mutant("known->outputs < outputs", "known->outputs > outputs", within="compared"),
        "gfni_avx512",
        "ec_encode_data",
    ),
    (Mutant("outputs == 1", "outputs > 0", within="compared"), "gfni_avx512", "ec_encode_data"),
    (Mutant("memcpy(to, entry, 8);", "memcpy(to, entry, 7);"), "gfni_avx512", "ec_encode_data"),
    (
        Mutant("gfs_isal_rows_are(GFS_ISAL_MATRICES, $$rest)", "true", within="gfs_isal_gather"),
        "gfni_avx512",
        "ec_encode_data",
    ),
    *(
        (Mutant("!gfs_isal_rows_are($$rest)", "false", within="gfs_isal_dot"), isa, "ec_encode_data")
        for isa in ("avx2", "gfni_avx512")
    ),
    (
        Mutant("!gfs_isal_has_form(form, entry)", "gfs_isal_has_form(form, entry)"),
        "avx512",
        "ec_encode_data",
    ),
    (
        Mutant("(size_t)done * count(k)", "(size_t)done", within="encode_in_parts"),
        "avx2",
        "ec_encode_data",
    ),
    (Mutant("operation = GFS_OPERATION_mad;", ";"), "avx2", "ec_encode_data"),
    (Mutant("call->src + from", "call->src"), "avx2", "ec_encode_data"),
    (Mutant("call->dst + b->first", "call->dst"), "avx2", "ec_encode_data"),
    (
        Mutant(
            "gfs_isal_plain($len, 1, v + count(vec_i) * GFS_ISAL_ENTRY, $$rest);",
            "gfs_isal_plain($len, 1, v + GFS_ISAL_ENTRY, from, dest, 1);",
        ),
        "avx2",
        "base",
    ),
    (
        Mutant("g_tbls + count(vec_i) * $entry", "g_tbls + count(vec_i + 1) * $entry"),
        "avx2",
        "ec_encode_data_update",
    ),
    (Mutant("len % 32 != 0", "len % 16 != 0", everywhere=True), "avx2", "gf_vect_mul"),
    (Mutant("scale(out + i * n, entry, n);", ";"), "avx2", "gf_invert_matrix: out"),
    (Mutant("i ^ j", "i + j"), "avx2", "gf_gen_cauchy1_matrix"),
    (
        Mutant("number < 0 ? 0 : (size_t)number", "number < 0 ? 1 : (size_t)number"),
        "avx2",
        "gf_invert_matrix: negative size",
    ),
    (Mutant("bit < 8", "bit < 7", within="add_product"), "avx2", "base"),
    (Mutant("(unsigned)vects - 1", "(unsigned)vects - 2", everywhere=True), "avx2", "xor"),
    (Mutant("return (int)n | 2;", "return (int)n | 1;"), "avx2", "pq_check_base"),
    (
        Mutant("ec_encode_data(len, vlen, n, $$rest)", "ec_encode_data(len, vlen, n - 1, gftbls, src, dest)"),
        "avx2",
        "vect_dot_prod",
    ),
    (
        Mutant("gfs_crc_of(GFSMITH_CRC32C)", "gfs_crc_of(GFSMITH_CRC32)", everywhere=True),
        "avx2",
        "crc32_iscsi",
    ),
    (Mutant("update(which, init_crc, buf, len)", "update(which, 0, buf, len)"), "avx2", "crc16_t10dif"),
    (Mutant("plain(crc, init_crc, buf, len)", "plain(crc, init_crc, buf, len - 1)"), "avx2", "_base"),
    (Mutant("(uint32_t)~init_crc", "(uint32_t)init_crc"), "avx2", "crc32_iscsi"),
    (Mutant("(uint32_t)~crc_init", "(uint32_t)crc_init"), "avx2", "crc32_iscsi_base"),
    (Mutant("crc16_t10dif(init_crc, src, part)", "crc16_t10dif(0, src, part)"), "avx2", "crc16_t10dif_copy"),
    (Mutant("memcpy(dst, src, (size_t)part);", ";"), "avx2", "crc16_t10dif_copy"),
    (Mutant("memcpy(dst, src, (size_t)len);", ";"), "avx2", "crc16_t10dif_copy_base"),
    (Mutant("len > 0 ? (uint64_t)len : 0", "(uint64_t)len"), "avx2", "crc32_iscsi"),
)


@pytest.mark.parametrize(
    ("mutant", "isa", "noticed"), share((pytest.param(*each) for each in MUTANTS), 2), ids=str
)
def test_an_error_is_detected(
    build: Path, differential: Path, tmp_path: Path, mutant: Mutant, isa: str, noticed: str
) -> None:
    original, changed = plant(mutant, sorted(SOURCES.glob("*.c")), tmp_path)
    library = tmp_path / "libisal.so.2"
    link_changed(build, SHIM, changed, original, library)
    done = compare(differential, library, isa)
    skip_without(isa, done)
    assert done.returncode != 0, "a wrong library passes"
    if done.returncode > 0:  # not ended by a signal, which an access beyond a vector would cause
        assert re.search(rf"differs: .*{noticed}", done.stdout), done.stdout
