"""`gfsmith gen --code minio --k 12 --m 4` in an empty folder: the resulting library runs the kernels for this
matrix at this shape, can repair, update and encode other shapes, and has the codes of gfsmith_wide.h.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.oracle import wide as oracle
from tests.support.configurations import known_proofs
from tests.support.folders import once
from tests.support.library import EUNSUPPORTED, OK, Api, Arena, Bytes, backblaze, cauchy, shards_of
from tests.support.paths import ROOT
from tests.system.runtime.test_wide import check, random_data

SETS = ("avx2",)
COUNTER = """
#include <stddef.h>
#include <stdint.h>
#define PARAMETERS size_t len, size_t k, const uint8_t *c, const uint8_t *const *src, uint8_t *const *dst
extern __attribute__((visibility("default"))) int baked_calls;
int baked_calls;
#define COUNT(symbol) \\
  void __real_##symbol(PARAMETERS); \\
  void __wrap_##symbol(PARAMETERS); \\
  void __wrap_##symbol(PARAMETERS) { \\
    baked_calls++; \\
    __real_##symbol(len, k, c, src, dst); \\
  }
"""


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make(folder: Path) -> None:
    """Make the library of a folder without gfsmith.toml; it counts calls of its baked kernels."""
    flags = [part for name in (*SETS, "scalar") for part in ("--isa", name)]
    gfsmith = Path(sys.executable).with_name("gfsmith")
    wanted = ("--code", "minio", "--k", "12", "--m", "4")
    known_proofs(folder / ".gfsmith-cache")
    run(folder, gfsmith, "gen", *wanted, *flags)
    assert "files, all up to date" in run(folder, gfsmith, "gen", *wanted, *flags, "--check")
    listed = json.loads(run(folder, gfsmith, "list", *wanted, *flags, "--json"))["kernels"]
    baked = [row["symbol"] for row in listed if row["code"] == "backblaze"]
    assert [row["isa"] for row in listed if row["code"]] == list(SETS)
    counting_library(folder, baked)


def counting_library(folder: Path, baked: list[str]) -> None:
    """Make the library of folder/gen_out; it counts calls of these kernels."""
    (folder / "count.c").write_text(COUNTER + "".join(f"COUNT({symbol})\n" for symbol in baked))
    run(folder, "gcc", "-shared", "-fPIC", "-c", "-o", "count.o", "count.c")
    wraps = " ".join(f"-Wl,--wrap={symbol}" for symbol in baked)
    run(
        ROOT,
        *("make", "lib", f"GFSMITH_GENERATED={folder}/gen_out", f"BUILD={folder}/build"),
        "CFLAGS=-O0",
        f"LDFLAGS={folder}/count.o {wraps}",
    )


@pytest.fixture(scope="module")
def requested(tmp_path_factory: pytest.TempPathFactory) -> Api:
    return Api(once(tmp_path_factory, "request", make) / "build" / "libgfsmith.so")


def encoded(api: Api, code: str, k: int, m: int, shards: Bytes) -> int:
    """Encode, update and repair; return the number of calls of baked kernels during encoding."""
    calls = ctypes.c_int.in_dll(api.lib, "baked_calls")
    codec, length = api.create(code, k, m), shards.shape[1]
    arena = Arena(np.concatenate([shards[:k], np.zeros_like(shards[k:])]))
    calls.value = 0
    assert codec.encode(length, arena.pointers(range(k)), arena.pointers(range(k, k + m))) == OK
    counted = calls.value
    arena.expect(shards)
    nothing = np.zeros((1, length), dtype=np.uint8)
    delta = Arena(nothing)
    assert codec.update(length, k - 1, delta.pointers()[0], arena.pointers(range(k, k + m))) == OK
    arena.shard(0)[:] = arena.shard(k)[:] = 0x99
    assert codec.reconstruct(length, arena.pointers(), [0, k]) == OK
    arena.expect(shards)
    return counted


@pytest.mark.parametrize("isa", [*SETS, "scalar"])
def test_the_library_has_the_kernels_of_wide_codes(requested: Api, isa: str) -> None:
    if requested.set_isa(isa) == EUNSUPPORTED:
        pytest.skip(f"this CPU lacks {isa}")
    for code in oracle.POLYNOMIALS:
        data = random_data(13, 192)
        check(requested, code, 13, 5, 192, oracle.encode(code, 5, data))


@pytest.mark.parametrize("isa", [*SETS, "scalar"])
def test_the_codec_of_the_shape_runs_the_requested_kernel(requested: Api, isa: str) -> None:
    if requested.set_isa(isa) == EUNSUPPORTED:
        pytest.skip(f"this CPU lacks {isa}")
    assert requested.isa() == isa
    calls = encoded(requested, "minio", 12, 4, shards_of(backblaze(12, 4), 5000, seed=1))
    assert (calls > 0) == (isa != "scalar")
    assert encoded(requested, "cauchy", 12, 4, shards_of(cauchy(12, 4), 5000, seed=2)) == 0
    assert encoded(requested, "klauspost", 11, 4, shards_of(backblaze(11, 4), 5000, seed=3)) == 0
    assert encoded(requested, "minio", 20, 9, shards_of(backblaze(20, 9), 5000, seed=4)) == 0
