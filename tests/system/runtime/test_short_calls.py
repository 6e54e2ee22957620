"""Calls on short shards, which run a kernel at once, and deliberate errors in them, which the C program
detects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compiler import Compiler, run_program
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

#: The sources with such calls.
SOURCES = [
    ROOT / "runtime/core/src" / name
    for name in ("apply.c", "codec.c", "dispatch.c", "encode.c", "update.c", "raid.c")
]

MUTANTS = (
    # Calls that are not short run as if they were.
    Mutant("codec->packets == NULL && codec->encoder->dots == 1", "codec->encoder->dots == 1"),
    Mutant("codec->packets != NULL", "false", within="find_short_update"),
    Mutant("encoder->mads != 1", "false", within="find_short_update"),
    Mutant("GFS_OWN_CACHE_LEAST / shards", "GFS_OWN_CACHE_LEAST", within="cached_length"),
    Mutant("cached_length(codec->hint, 1 + codec->m, alike)", "cached_length(codec->hint, codec->m, alike)"),
    Mutant("!alike", "false", within="cached_length"),
    Mutant("GFS_FIRST_CACHE_LEAST / shards", "GFS_OWN_CACHE_LEAST / shards", within="cached_length"),
    Mutant("are_alike(adder->set)", "true"),
    Mutant("are_alike(adder->add[0])", "true"),
    Mutant("are_alike(codec->encoder->pass->kernel)", "true"),
    Mutant(
        "apply_cached(map, path, len, s)",
        "apply_cached(map, GFS_PATH_cached, len, s)",
        within="gfs_map_apply_stripes",
    ),
    Mutant("gfs_codec_find_short(codec);", ";", within="gfsmith_codec_hint"),
    Mutant("gfs_codec_find_short(codec);", ";", within="gfsmith_codec_packets"),
    Mutant("gfs_codec_find_short(codec);", ";", within="finish"),
    # Arguments that are not checked.
    Mutant("!gfs_clearly_given(data, codec->k)", "false"),
    Mutant("!gfs_clearly_given((const uint8_t *const *)parity, codec->m)", "false", within="gfsmith_encode"),
    Mutant("!parities_clearly_given(parity, codec->m)", "false"),
    Mutant("parity == NULL", "false", within="parities_clearly_given"),
    Mutant("m > 4", "false", within="parities_clearly_given"),
    Mutant("parity[m / 4]", "parity[0]", within="parities_clearly_given"),
    Mutant("parity[m / 2]", "parity[0]", within="parities_clearly_given"),
    Mutant("parity[m - 1]", "parity[0]", within="parities_clearly_given"),
    Mutant("data == NULL", "false", within="append_source"),
    Mutant("!gfs_clearly_given(data, k + m)", "false"),
    Mutant("gfs_clearly_given(data, k + m)", "gfs_clearly_given(data, k)"),
    Mutant("common_of_few(data, k + m, half, pointer_group(m)) == 0", "false"),
    Mutant(
        "common_of_few(data, k + m, half, pointer_group(m))",
        "common_of_few(data, k + m - 1, half, pointer_group(m))",
    ),
    Mutant("half > group", "false", within="common_of_few"),
    Mutant("group == 3", "true", within="common_of_group"),
    Mutant("k - 2 > 2 * pointer_group(m) - m - 2", "false"),
    Mutant("k - (half - m) <= half", "true", within="generate_many"),
    Mutant("shards == NULL", "false", within="generate_few"),
    # Kernels of an instruction set that was chosen before.
    Mutant("forget_sums();", ";"),
    Mutant("pointers[n] == NULL", "false", within="gfs_any_missing"),
    # Wrong kernels, tables or sources.
    Mutant("data_index * brief->column", "0"),
    Mutant("codec->m * encoder->entry", "encoder->entry", within="find_short_update"),
    Mutant("first ? brief->set : brief->add", "brief->add"),
    Mutant("m == 2 ? find_known(isa, k, path) : NULL", "find_known(isa, k, path)"),
    Mutant("m == 1 ? GFS_OPERATION_xor : GFS_OPERATION_horner", "GFS_OPERATION_horner"),
    Mutant(
        "gfs_dispatch_kernel(isa, operation, gfs_raid_few(k), m, path)",
        "gfs_dispatch_kernel(isa, operation, 0, m, path)",
    ),
)


def test_program(compiler: Compiler) -> None:
    done = run_program(compiler.link("short_calls"), 60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.fixture(scope="module")
def program(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled program, without the library."""
    return Compiler(build, tmp_path_factory.mktemp("short_calls")).compile("short_calls")


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_program_detects_the_error(mutant: Mutant, compiler: Compiler, program: Path) -> None:
    wrong = compiler.link_error(program, mutant, SOURCES)
    assert run_program(wrong, 60).returncode != 0
