"""Batch calls, the stack that they take, and deliberate errors in them, which the C program detects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compiler import Compiler, detects, run_program
from tests.support.cpu import cpu_flags
from tests.support.levels import share
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

#: The sources with batch calls.
SOURCES = [ROOT / "runtime/core/src" / name for name in ("batch.c", "pointers.c", "apply.c", "map.c")]

MUTANTS = (
    # Wrong stripes, sources or destinations.
    Mutant("s.src + n * codec->k", "s.src", within="encode_block"),
    Mutant("s.dst + n * codec->m", "s.dst", within="encode_block"),
    Mutant("s.src += map->inputs;", ";"),
    Mutant("s.dst += map->outputs;", ";"),
    Mutant("s.src + n * map->inputs", "s.src", everywhere=True),
    Mutant("indices + n", "indices", within="update_block"),
    Mutant("indices + done", "indices", within="gfsmith_update_strided"),
    Mutant("(gfsmith_stride){0, delta_stride}", "(gfsmith_stride){delta_stride, 0}"),
    Mutant("dst + s * outputs", "dst", within="repair_block", everywhere=True),
    Mutant("where->pointers + done * width", "where->pointers"),
    Mutant("shards + s * width", "shards", within="check_block"),
    Mutant("ok + done", "ok", within="gfsmith_check_strided"),
    Mutant("BLOCK_POINTERS / pointers - 1", "1 + BLOCK_POINTERS / pointers"),
    # The passes after the first one, and the last stripe.
    Mutant("map->pass[n].kernel[path]($$all);", ";", within="apply_pipelined"),
    Mutant("n + 1 < s.count || s.more", "true", within="gfs_map_apply_short_stripes"),
    # No prefetch of the next stripe, a wrong one, or one where it does not pay.
    Mutant("n + 1 < s.count || s.more", "n + 1 < s.count", within="gfs_map_apply_short_stripes"),
    Mutant("s.count + s.more", "s.count", within="gfsmith_encode_strided"),
    Mutant("len > gfs_next_stripe_bytes() / (map->inputs + map->outputs)", "false"),
    Mutant("gfs_path_is_cached(path)", "false", within="gfs_map_apply_stripes"),
    Mutant("gfs_least(count, GFS_OWN_CACHE_MOST)", "1"),
    # Arguments that are not checked, or not before a stripe is written.
    Mutant("count * codec->k", "codec->k", within="stripes_valid"),
    Mutant("count * codec->m", "codec->m", within="stripes_valid"),
    Mutant("count * codec->m", "codec->m", within="gfsmith_update_stripes"),
    Mutant("!gfs_all_given(deltas, count)", "!gfs_all_given(deltas, 1)"),
    Mutant("!gfs_all_given(shards, count * width)", "!gfs_all_given(shards, width)"),
    Mutant("!plan_given($$all)", "false"),
    Mutant("!indices_given($$all)", "false"),
    Mutant("stride.shard >= len", "true"),
    Mutant("stride.stripe >= len", "true"),
    Mutant("count > 0 ? len : 0", "len", within="repair_stripes"),
    Mutant("ok[s] = true;", ";", within="check_empty"),
)
#: Errors on CPUs with AVX2 only.
AVX2_MUTANTS = (
    # Pointers that the check in vectors does not read.
    Mutant("_mm256_and_si256(common, common_of_vectors(pointers))", "common"),
    Mutant("common_of_vectors(last)", "common_of_vectors(pointers)"),
    Mutant("_mm256_and_si256(first, last)", "first"),
    Mutant("_mm256_extracti128_si256(common, 1)", "_mm256_castsi256_si128(common)"),
    Mutant("_mm_extract_epi64(half, 1)", "-1"),
    # Kernels of more sources: no last sources, the wrong stripe, coefficients other than 0.
    Mutant("out[j] = out[j - 1];", "out[j] = NULL;"),
    Mutant(
        "place_sources(map, pass->wide, src + map->inputs, 0, $to)",
        "place_sources(map, pass->wide, src, 0, $to)",
    ),
    Mutant("j < r->inputs ? $coefficient : 0", "j < r->inputs ? $coefficient : 1"),
)
#: Errors on CPUs with GFNI and AVX-512 only: results that go to a buffer first.
GFNI_MUTANTS = (
    Mutant("gfs_stream_copy(dst[i], row[i], len);", "gfs_stream_copy(dst[i], row[i], len - 1);"),
    Mutant("gfs_stream_copy(dst[i], row[i], len);", "gfs_stream_copy(dst[0], row[i], len);"),
    Mutant("buffer + i * c.piece", "buffer + i * GFS_CACHE_LINE"),
)


@pytest.mark.parametrize("name", ["batches", "stack"])
def test_program(name: str, compiler: Compiler) -> None:
    done = run_program(compiler.link(name), 300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.fixture(scope="session")
def program(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled program, without the library."""
    return Compiler(build, tmp_path_factory.mktemp("batches")).compile("batches")


@pytest.mark.parametrize(
    "mutant",
    share(
        MUTANTS
        + (AVX2_MUTANTS if "avx2" in cpu_flags() else ())
        + (GFNI_MUTANTS if {"gfni", "avx512bw"} <= set(cpu_flags()) else ()),
        2,
    ),
    ids=str,
)
def test_the_program_detects_the_error(mutant: Mutant, compiler: Compiler, program: Path) -> None:
    wrong = compiler.link_error(program, mutant, SOURCES)
    assert detects(wrong, 20, cpu=10)
