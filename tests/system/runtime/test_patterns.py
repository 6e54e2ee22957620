"""All patterns of losses of codes of up to 16 shards: the repairable ones are
repaired, the others refused.
"""

from __future__ import annotations

import ctypes
from itertools import combinations

import numpy as np
import pytest

from gfsmith.codes.lrc import Lrc
from tests.oracle.lrc import within_bound
from tests.support.library import (
    ESINGULAR,
    ETOOMANY,
    OK,
    Api,
    Bytes,
    Codec,
    cauchy,
    encode,
    rank,
    shards_of,
    vandermonde,
)

LENGTH = 9
LOCAL = ((4, 2, 2), (6, 2, 2), (12, 2, 2))


class Rebuilder:
    """Loses shards and rebuilds them, with minimal overhead around the call."""

    def __init__(self, codec: Codec, shards: Bytes) -> None:
        self.codec, self.shards = codec, shards
        self.work = shards.copy()
        base = self.work.ctypes.data
        self.pointers = (ctypes.c_void_p * len(shards))(*(base + i * LENGTH for i in range(len(shards))))
        self.call = codec.api.lib.gfsmith_reconstruct

    def __call__(self, lost: tuple[int, ...]) -> int:
        """Return the status; OK only if the bytes are right."""
        self.work[:] = self.shards
        self.work[list(lost)] ^= 0x5A
        before = self.work.copy()
        present = self.codec.present(lost)
        status = int(self.call(self.codec.handle, LENGTH, self.pointers, present, None))
        expected = self.shards if status == OK else before
        assert np.array_equal(self.work, expected), (lost, status)
        return status


@pytest.mark.parametrize(
    ("code", "k", "m"),
    [("cauchy", 8, 8), ("cauchy", 12, 4), ("vandermonde", 13, 3), ("vandermonde", 10, 4)],
)
def test_mds_codes(api: Api, code: str, k: int, m: int) -> None:
    matrix = {"cauchy": cauchy, "vandermonde": vandermonde}[code](k, m)
    rebuild = Rebuilder(api.create(code, k, m), shards_of(matrix, LENGTH, seed=k))
    for count in range(m + 1):
        for lost in combinations(range(k + m), count):
            assert rebuild(lost) == OK
    assert rebuild(tuple(range(m + 1))) == ETOOMANY


@pytest.mark.parametrize("shape", [*LOCAL, (7, 2, 3), (8, 4, 1)], ids=str)
def test_local_codes(api: Api, shape: tuple[int, int, int]) -> None:
    """A loss is repaired if and only if the present rows have full rank, by the tests' own elimination. The
    code is maximally recoverable: that holds for every loss within the bound of the topology.
    """
    lrc = Lrc(*shape)
    codec, n = api.create_lrc(*shape), lrc.k + lrc.l + lrc.r
    matrix = np.array(lrc.parity(), dtype=np.uint8)
    rebuild = Rebuilder(codec, shards_of(matrix, LENGTH, seed=n))
    rows = np.concatenate([np.eye(lrc.k, dtype=np.uint8), matrix]).tolist()
    repaired = 0
    for count in range(lrc.l + lrc.r + 1):
        for lost in combinations(range(n), count):
            solvable = rank(rows[i] for i in range(n) if i not in lost) == lrc.k
            assert rebuild(lost) == (OK if solvable else ESINGULAR)
            assert (len(codec.determined(lost)) == n) is solvable
            assert not solvable or within_bound(lrc, lost)
            assert solvable or count > lrc.r + 1
            if lrc.maximally_recoverable:
                assert solvable == within_bound(lrc, lost), lost
            repaired += solvable
    assert lrc.maximally_recoverable or shape == (7, 2, 3)
    assert repaired > 1


def test_determined_shards_of_any_loss(api: Api) -> None:
    """All 2^n patterns, also with more missing shards than parities."""
    lrc = Lrc(4, 2, 2)
    codec = api.create_lrc(4, 2, 2)
    rows = [*np.eye(4, dtype=int).tolist(), *map(list, lrc.parity())]
    for mask in range(1 << 8):
        lost = [i for i in range(8) if mask >> i & 1]
        present = [rows[i] for i in range(8) if i not in lost]
        own = rank(present)
        expected = tuple(i for i in range(8) if i not in lost or rank([*present, rows[i]]) == own)
        assert codec.determined(lost) == expected


def test_a_wrong_matrix_is_refuted(api: Api) -> None:
    """With one coefficient of the runtime's matrix changed, the rebuilt shards differ from the lost ones."""
    matrix = np.array(Lrc(4, 2, 2).parity(), dtype=np.uint8)
    shards = shards_of(matrix, LENGTH, seed=1)
    wrong = matrix.copy()
    wrong[2, 1] ^= 1
    rebuild = Rebuilder(api.create_matrix(wrong), shards)
    with pytest.raises(AssertionError):
        rebuild((0, 1))
    assert not np.array_equal(encode(wrong, shards[:4]), shards[4:])


def test_a_worse_local_code_is_refuted(api: Api) -> None:
    """With the points of one group used for both, a loss within the bound is not repaired."""
    lrc = Lrc(4, 2, 2)
    matrix = np.array(lrc.parity(), dtype=np.uint8)
    matrix[2:, 2:] = matrix[2:, :2]
    codec = api.create_matrix(matrix)
    lacking = [
        lost
        for lost in combinations(range(8), 4)
        if within_bound(lrc, lost) and len(codec.determined(lost)) < 8
    ]
    assert lacking


@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (20, 3, 2), (30, 2, 2), (31, 2, 2), (225, 15, 2), (238, 15, 2), (100, 10, 10), (126, 126, 3)],
    ids=str,
)
def test_the_runtime_has_the_matrices_of_the_generator(api: Api, shape: tuple[int, int, int]) -> None:
    """Data shard j holds the unit vector j, so the parities are the matrix's columns."""
    k, m = shape[0], shape[1] + shape[2]
    codec = api.create_lrc(*shape)
    data, parity = np.eye(k, dtype=np.uint8), np.zeros((m, k), dtype=np.uint8)
    rows = [
        (ctypes.c_void_p * len(a))(*(a.ctypes.data + i * k for i in range(len(a)))) for a in (data, parity)
    ]
    assert codec.encode(k, *rows) == OK
    assert np.array_equal(parity, np.array(Lrc(*shape).parity()))


@pytest.mark.parametrize(
    "shape", [(0, 1, 1), (4, 5, 1), (4, 0, 2), (4, 2, 0), (250, 3, 3), (2**31, 2, 2)], ids=str
)
def test_shapes_that_cannot_be(api: Api, shape: tuple[int, int, int]) -> None:
    handle = ctypes.c_void_p(1)
    assert api.lib.gfsmith_codec_create_lrc(ctypes.byref(handle), *shape) == -1
    assert handle.value is None
    assert api.lib.gfsmith_codec_create_lrc(None, 4, 2, 2) == -1
