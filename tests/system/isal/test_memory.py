"""Calls of the drop-in on shards in memory write the bytes of its short calls; the test detects an error."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.cpu import cpu_flags
from tests.support.mutation import Mutant, plant
from tests.system.isal.support import SHIM, SOURCES, link_changed

Bytes = npt.NDArray[np.uint8]

#: A shape with kernels of its own, others with those of more sources, and two passes.
SHAPES = ((10, 4), (13, 4), (5, 3), (19, 4), (13, 12))
#: Bytes of all shards: more than the own cache of a core of CPU (256 KiB), and not so many that the call
#: looks whether they are in a shared cache (GFS_PROBED_ABOVE).
TOTAL = 480_000
CPU = "znver3"
SHORT = 4000

#: The coefficients of sources that a kernel has and the shape lacks are not 0.
MUTANT = Mutant("memset(b->tables + b->used, 0, bytes)", "memset(b->tables + b->used, 1, bytes)")


def pointers(shards: Bytes, start: int) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(shards))(*(shard.ctypes.data + start for shard in shards))


def agrees(path: Path, k: int, m: int) -> bool:
    """Encode random shards by one call and by short ones, and compare. path: a library that is not loaded
    yet, or for CPU."""
    library = ctypes.CDLL(str(path))
    random = np.random.default_rng(k + m)
    length = TOTAL // (k + m)
    data = random.integers(0, 256, (k, length), np.uint8)
    matrix = random.integers(0, 256, (m, k), np.uint8)
    tables = np.zeros(32 * k * m, np.uint8)
    library.ec_init_tables(
        k, m, matrix.ctypes.data_as(ctypes.c_void_p), tables.ctypes.data_as(ctypes.c_void_p)
    )

    def encoded(part: int) -> Bytes:
        parity = np.zeros((m, length), np.uint8)
        for start in range(0, length, part):
            size = min(part, length - start)
            given = tables.ctypes.data_as(ctypes.c_void_p)
            library.ec_encode_data(size, k, m, given, pointers(data, start), pointers(parity, start))
        return parity

    return bool((encoded(length) == encoded(SHORT)).all())


@pytest.mark.parametrize(("k", "m"), SHAPES)
def test_memory(shim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, m: int) -> None:
    monkeypatch.setenv("GFSMITH_CPU", CPU)
    library = tmp_path / "libisal.so.2"
    shutil.copy(shim, library)
    assert agrees(library, k, m)


@pytest.mark.skipif("avx2" not in cpu_flags(), reason="no kernel for a fixed number of sources streams")
def test_wrong_coefficients_are_detected(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GFSMITH_CPU", CPU)
    original, changed = plant(MUTANT, sorted(SOURCES.glob("*.c")), tmp_path)
    library = tmp_path / "libisal.so.2"
    link_changed(build, SHIM, changed, original, library)
    assert not all(agrees(library, k, m) for k, m in SHAPES)
