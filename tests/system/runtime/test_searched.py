"""Matrices of the searches of Zerasure and Cerasure in the runtime: a library generated for them encodes in
packet layout with these kernels, and repairs.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gfsmith.build.request import BUILT_IN
from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.field.matrix import bit_matrix
from tests.support.configurations import known_proofs
from tests.support.folders import once
from tests.support.library import EINVAL, OK, Api, Arena, Bytes
from tests.system.runtime.test_packets import encoded, packets_codec, random_data
from tests.system.runtime.test_request import counting_library, run

PACKET = 72  #: bytes
CONFIGURATION = """
[generator]
isas = ["avx2", "scalar"]
[[kernels]]
operation = "dot"
code = "zerasure"
packets = true
circuit = "matched"
shapes = ["6x3"]
[[kernels]]
operation = "dot"
code = "cerasure"
packets = true
circuit = "derived"
shapes = ["6x3"]
"""
#: The third shape comes from the flags.
FLAGS = ("--code", "zerasure", "--k", "4", "--m", "2", "--packets")
SHAPES = [("zerasure", 6, 3), ("cerasure", 6, 3), ("zerasure", 4, 2)]


def make(folder: Path) -> None:
    (folder / "gfsmith.toml").write_text(CONFIGURATION + BUILT_IN)
    known_proofs(folder / ".gfsmith-cache")
    gfsmith = Path(sys.executable).with_name("gfsmith")
    run(folder, gfsmith, "gen", *FLAGS)
    listed = json.loads(run(folder, gfsmith, "list", *FLAGS, "--json"))["kernels"]
    baked = [row["symbol"] for row in listed if row["code"]]
    assert sorted(baked) == [
        "gfs_dot_32x16_zerasure_packets__avx2_plain_u1",
        "gfs_dot_48x24_cerasure_packets__avx2_plain_derived_u1",
        "gfs_dot_48x24_zerasure_packets__avx2_plain_matched_u1",
    ]
    counting_library(folder, baked)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Api:
    return Api(once(tmp_path_factory, "searched", make) / "build" / "libgfsmith.so")


def added(matrix: Bytes, data: Bytes) -> Bytes:
    """Return the parities in packet layout: each packet the sum of those in its row of the bit matrix."""
    m, k = matrix.shape
    bits = np.array(bit_matrix(Field(), tuple(map(tuple, matrix.tolist()))), dtype=bool)
    packets = data.reshape(k, -1, 8, PACKET)
    parities = np.zeros((m, *packets.shape[1:]), dtype=np.uint8)
    for row, column in zip(*np.nonzero(bits), strict=True):
        parities[row // 8, :, row % 8] ^= packets[column // 8, :, column % 8]
    return parities.reshape(m, -1)


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
def test_the_kernels_encode_and_every_loss_is_repaired(searched: Api, code: str, k: int, m: int) -> None:
    matrix = np.array(parity_matrix(code, k, m), dtype=np.uint8)
    codec = packets_codec(searched, matrix, PACKET)
    data = random_data(k, 3 * 8 * PACKET, seed=k)
    calls = ctypes.c_int.in_dll(searched.lib, "baked_calls")
    calls.value = 0
    shards = encoded(codec, data)
    assert calls.value == 3
    assert np.array_equal(shards[k:], added(matrix, data))
    for missing in itertools.combinations(range(k + m), m):
        damaged = shards.copy()
        damaged[list(missing)] = 0xEE
        arena = Arena(damaged)
        assert codec.reconstruct(data.shape[1], arena.pointers(), missing) == OK
        arena.expect(shards)


def test_another_matrix_does_not_run_them(searched: Api) -> None:
    matrix = np.array(parity_matrix("zerasure", 6, 3), dtype=np.uint8)
    matrix[2, 5] ^= 1
    codec = packets_codec(searched, matrix, PACKET)
    calls = ctypes.c_int.in_dll(searched.lib, "baked_calls")
    calls.value = 0
    data = random_data(6, 8 * PACKET, seed=9)
    assert np.array_equal(encoded(codec, data)[6:], added(matrix, data))
    assert calls.value == 0


def test_the_library_has_no_such_name(searched: Api) -> None:
    handle = ctypes.c_void_p()
    assert searched.lib.gfsmith_codec_create(ctypes.byref(handle), b"zerasure", 6, 3) == EINVAL
