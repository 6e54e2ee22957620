"""Compatibility of codes: gfsmith reads and repairs shards that other projects' coders write, and the
reverse.

ISA-L and Jerasure are Debian's, in this process (test_peers.py and test_packets.py have their other
codes); the others are programs (peers.py) and SnapRAID's command line. OpenZFS has no library in Debian:
the test computes its formulas as its sources describe them.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gfsmith import codes
from tests.oracle.peers import PEERS, Peer, Request, peer
from tests.support import needs
from tests.support.library import OK, Api, Arena, Bytes, inverses, products, shards_of
from tests.system.runtime.test_codes import matrix_of
from tests.system.runtime.test_peers import load, our_encode, sample

#: The command that builds each peer (tests/oracle/peers.py).
CLIENTS = {"klauspost": "go", "reed-solomon-erasure": "cargo", "hdfs": "mvn"}
CODES = {"klauspost": "minio", "reed-solomon-erasure": "reed-solomon-erasure", "hdfs": "hadoop"}
SHAPES = [
    (1, 1),
    (2, 1),
    (3, 2),
    (4, 2),
    (6, 3),
    (10, 4),
    (12, 4),
    (17, 3),
    (5, 9),
    (48, 4),
    (100, 20),
    (128, 127),
]
LENGTH = 1030
PARITY_FILES = ("parity", "2-parity", "3-parity", "4-parity", "5-parity", "6-parity")


@pytest.fixture(scope="module", params=needs.params({name: CLIENTS[name] for name in PEERS}))
def named(request: pytest.FixtureRequest) -> tuple[str, Peer]:
    name: str = request.param
    return CODES[name], peer(name)


def losses(k: int, m: int) -> list[tuple[int, ...]]:
    """Return losses of m and fewer shards: the first shards, the last ones, some of each."""
    seeded = random.Random(k * 256 + m)
    found = [tuple(range(min(k, m))), tuple(range(k, k + m)), (seeded.randrange(k),)]
    return [*found, *(tuple(sorted(seeded.sample(range(k + m), m))) for _ in range(3))]


def our_repair(api: Api, code: str, k: int, m: int, shards: Bytes, missing: Sequence[int]) -> Bytes:
    codec = api.create(code, k, m)
    garbled = shards.copy()
    garbled[list(missing)] = 0xA7
    arena = Arena(garbled)
    assert codec.reconstruct(shards.shape[1], arena.pointers(), missing) == OK
    return np.stack([arena.shard(i) for i in range(k + m)])


def our_parity(api: Api, code: str, data: Bytes, m: int) -> Bytes:
    return our_encode(api, np.array(codes.parity_matrix(code, len(data), m), np.uint8), data, code)


def test_parities_agree_and_each_side_repairs_the_other(api: Api, named: tuple[str, Peer]) -> None:
    code, theirs = named
    datas = [sample(k, LENGTH) for k, _ in SHAPES]
    parities = theirs.answer([Request(k, m, data) for (k, m), data in zip(SHAPES, datas, strict=True)])
    repairs, expected = [], []
    for (k, m), data, parity in zip(SHAPES, datas, parities, strict=True):
        ours = np.concatenate([data, our_parity(api, code, data, m)])
        assert np.array_equal(ours[k:], parity), (k, m)
        written = np.concatenate([data, parity])
        for missing in losses(k, m):
            assert np.array_equal(our_repair(api, code, k, m, written, missing), written), (k, m, missing)
            repairs.append(Request(k, m, ours, missing))
            expected.append(ours)
    for request, answer, shards in zip(repairs, theirs.answer(repairs), expected, strict=True):
        assert np.array_equal(answer, shards), (request.k, request.m, request.missing)


def test_another_code_is_detected(api: Api, named: tuple[str, Peer]) -> None:
    """The comparison can fail: Jerasure's Vandermonde matrix differs from Backblaze's and HDFS's."""
    _, theirs = named
    data = sample(6, LENGTH)
    (parity,) = theirs.answer([Request(6, 3, data)])
    assert not np.array_equal(our_parity(api, "reed_sol_van", data, 3), parity)


# ---- Jerasure ----


@pytest.mark.parametrize("code", ["reed_sol_van", "reed_sol_r6_op"])
def test_matrices_of_jerasure(api: Api, code: str) -> None:
    library = load("Jerasure")
    whole = {
        "reed_sol_van": "reed_sol_vandermonde_coding_matrix",
        "reed_sol_r6_op": "reed_sol_r6_coding_matrix",
    }
    function = getattr(library, whole[code])
    function.restype = ctypes.POINTER(ctypes.c_int)
    several = (2,) if code == "reed_sol_r6_op" else (1, 2, 3, 4, 5, 8, 20)
    for k in (1, 2, 3, 5, 10, 31, 100, 235):
        for m in several:
            found = function(k, 8) if code == "reed_sol_r6_op" else function(k, m, 8)
            matrix = np.ctypeslib.as_array(found, (m, k)).astype(np.uint8)
            assert np.array_equal(matrix_of(api, code, k, m), matrix), (k, m)


# ---- zfec ----


@pytest.mark.needs("zfec")
@pytest.mark.parametrize(("k", "m"), [(1, 1), (3, 5), (10, 4), (16, 16), (100, 20), (254, 1), (1, 254)])
def test_zfec(api: Api, k: int, m: int) -> None:
    """zfec's parities equal ours; each side repairs the shards that the other wrote."""
    import zfec

    data = sample(k, LENGTH)
    blocks = [row.tobytes() for row in data]
    written = np.stack(
        [np.frombuffer(block, dtype=np.uint8) for block in zfec.Encoder(k, k + m).encode(blocks)]
    )
    ours = np.concatenate([data, our_parity(api, "zfec", data, m)])
    assert np.array_equal(ours, written)
    for missing in losses(k, m):
        assert np.array_equal(our_repair(api, "zfec", k, m, written, missing), written)
        left = [n for n in range(k + m) if n not in missing][-k:]
        assert zfec.Decoder(k, k + m).decode([ours[n].tobytes() for n in left], left) == blocks


# ---- RAID-6 ----


@pytest.mark.parametrize("k", [2, 3, 4, 8, 10, 24, 100, 253])
def test_raid6_of_isal(api: Api, k: int) -> None:
    """P and Q of Linux RAID-6 equal those of ISA-L's pq_gen."""
    isal, length = load("isal"), 1024
    memory = np.zeros((k + 2) * length + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 32
    shards = memory[start : start + (k + 2) * length].reshape(k + 2, length)
    shards[:k] = sample(k, length)
    pointers = (ctypes.c_void_p * (k + 2))(*(shards[i].ctypes.data for i in range(k + 2)))
    assert isal.pq_gen(k + 2, length, pointers) == 0
    assert np.array_equal(our_parity(api, "raid6", shards[:k].copy(), 2), shards[k:])


def test_raid6_as_published(api: Api) -> None:
    """H. P. Anvin, The mathematics of RAID-6: Q = g^0 D_0 + g^1 D_1 + ... with g = {02} modulo 0x11d, by
    Horner's rule; the first powers of g; the repair of two data disks x < y from P and Q with his A and B."""
    assert matrix_of(api, "raid6", 12, 2)[1].tolist() == [
        *(0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1D, 0x3A, 0x74, 0xE8),
    ]
    table = products()
    shards = shards_of(matrix_of(api, "raid6", 12, 2), 256, seed=6)
    x, y = 3, 9
    holes = shards.copy()
    holes[[x, y]] = 0
    p = np.bitwise_xor.reduce(holes[:12])
    q = np.zeros(256, np.uint8)
    for disk in range(11, -1, -1):
        q = table[q, 2] ^ holes[disk]
    power = [1]
    while len(power) < 255:
        power.append(int(table[power[-1], 2]))
    scale = inverses()[power[y - x] ^ 1]
    a, b = table[power[y - x], scale], table[power[255 - x], scale]
    rebuilt = table[a, shards[12] ^ p] ^ table[b, shards[13] ^ q]
    assert np.array_equal(rebuilt, shards[x])
    assert np.array_equal(our_repair(api, "md", 12, 2, shards, (x, y)), shards)


# ---- RAID-Z ----


@pytest.mark.parametrize(("k", "m"), [(1, 3), (2, 1), (3, 2), (8, 3), (11, 3), (252, 3)])
def test_raidz_as_described(api: Api, k: int, m: int) -> None:
    """module/zfs/vdev_raidz.c: for every column from the first, P = P + D, Q = 2 Q + D, R = 4 R + D."""
    table, data = products(), sample(k, LENGTH)
    parity = np.zeros((m, LENGTH), dtype=np.uint8)
    for column in data:
        for row, factor in zip(parity, (1, 2, 4), strict=False):
            row[:] = table[row, factor] ^ column
    assert np.array_equal(our_parity(api, "zfs", data, m), parity)


# ---- SnapRAID ----


class Array:
    """A SnapRAID array with one file of whole blocks on every disk."""

    def __init__(self, folder: Path, data: Bytes, m: int) -> None:
        self.folder, self.k, self.m = folder, len(data), m
        lines = ["blocksize 1"]
        for n in range(m):
            lines.append(f"{PARITY_FILES[n]} {folder}/parity{n}")
        lines += [f"content {folder}/content{n}" for n in range(m + 1)]
        for n, shard in enumerate(data):
            (folder / f"disk{n}").mkdir()
            (folder / f"disk{n}" / "file").write_bytes(shard.tobytes())
            lines.append(f"data d{n} {folder}/disk{n}")
        (folder / "conf").write_text("\n".join(lines) + "\n")

    def run(self, *arguments: str) -> None:
        command = ["snapraid", "-c", str(self.folder / "conf"), "--test-skip-device", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def parity(self) -> Bytes:
        files = [(self.folder / f"parity{n}").read_bytes() for n in range(self.m)]
        return np.stack([np.frombuffer(file, dtype=np.uint8) for file in files])


@pytest.mark.needs("snapraid")
@pytest.mark.parametrize(("k", "m"), [(2, 1), (5, 2), (4, 3), (21, 6)])
def test_snapraid(api: Api, tmp_path: Path, k: int, m: int) -> None:
    """SnapRAID's parity files equal ours; gfsmith rebuilds disks from its files, and `snapraid fix` from
    ours.
    """
    data = sample(k, 4096)
    array = Array(tmp_path, data, m)
    array.run("sync")
    parity = array.parity()
    assert np.array_equal(our_parity(api, "snapraid", data, m), parity)
    shards, missing = np.concatenate([data, parity]), tuple(range(min(k, m)))
    assert np.array_equal(our_repair(api, "snapraid", k, m, shards, missing), shards)
    for n, row in enumerate(our_parity(api, "snapraid", data, m)):
        (tmp_path / f"parity{n}").write_bytes(row.tobytes())
    for n in missing:
        (tmp_path / f"disk{n}" / "file").unlink()
    array.run("fix")
    for n in missing:
        assert (tmp_path / f"disk{n}" / "file").read_bytes() == data[n].tobytes()
