"""gfsmith_wide on every set of this CPU: parities against a matrix from Lagrange interpolation, against
klauspost/reedsolomon, reed-solomon-simd and JAM's vectors, repairs, invalid arguments, and mutants."""

from __future__ import annotations

import ctypes
import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracle import jam
from tests.oracle import wide as oracle
from tests.oracle.peers import Request, peer
from tests.support.compiler import Compiler
from tests.support.levels import share
from tests.support.library import EINVAL, ETOOMANY, OK, Api, Bytes, placed
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

CORE = ROOT / "runtime/core/src"
SOURCES = [
    CORE / name
    for name in (
        "wide.c",
        "wide_call.c",
        "wide_encode.c",
        "wide_repair.c",
        "wide_slices.c",
        "wide_rows.c",
        "rows.c",
        "transform.c",
        "locator.c",
        "cantor.c",
        "products.c",
    )
]


class Wide:
    """A gfsmith_wide object of a library."""

    def __init__(self, api: Api, code: str, k: int, m: int) -> None:
        self.api, self.k, self.m = api, k, m
        self.made = ctypes.c_void_p()
        assert create(api, self.made, code, k, m) == OK

    def encode(self, data: Bytes) -> Bytes:
        """Return the parities; the bytes around them do not change."""
        padded = np.full((self.m, data.shape[1] + 2), 0xA5, dtype=np.uint8)
        status = call(
            self.api, "encode", self.made, data.shape[1], addresses(data), addresses(padded[:, 1:-1])
        )
        assert status == OK
        assert (padded[:, [0, -1]] == 0xA5).all()
        return padded[:, 1:-1]

    def reconstruct(self, shards: Bytes, present: Any, wanted: Any = None) -> int:
        flags = [None if each is None else (ctypes.c_bool * len(each))(*each) for each in (present, wanted)]
        return call(self.api, "reconstruct", self.made, shards.shape[1], addresses(shards), *flags)

    def close(self) -> None:
        self.api.lib.gfsmith_wide_destroy.restype = None
        self.api.lib.gfsmith_wide_destroy(self.made)


def create(api: Api, made: Any, code: str | None, k: int, m: int) -> int:
    name = None if code is None else code.encode()
    return int(api.lib.gfsmith_wide_create(ctypes.byref(made), name, ctypes.c_uint(k), ctypes.c_uint(m)))


def call(api: Api, name: str, made: Any, length: int, *pointers: Any) -> int:
    return int(getattr(api.lib, f"gfsmith_wide_{name}")(made, ctypes.c_size_t(length), *pointers))


def addresses(rows: Bytes) -> Any:
    return (ctypes.c_void_p * len(rows))(*(row.ctypes.data for row in rows))


def random_data(k: int, length: int) -> Bytes:
    """Return data shards at odd addresses."""
    rng = np.random.default_rng(k * length)
    return rng.integers(0, 256, (k, length + 1), dtype=np.uint8)[:, 1:]


def check_repair(wide: Wide, shards: Bytes, missing: Any, wanted: Any = None) -> None:
    """Lose shards and rebuild those that are wanted; the others keep their bytes."""
    lost, expected = shards.copy(), shards.copy()
    present = np.ones(len(shards), dtype=bool)
    present[missing] = False
    lost[missing] = 0x5A
    ignored = [i for i in missing if wanted is not None and not wanted[i]]
    expected[ignored] = 0x5A
    assert wide.reconstruct(lost, present, wanted) == OK
    assert np.array_equal(lost, expected), missing


def check(api: Api, code: str, k: int, m: int, length: int, parity: Bytes, losses: int = 3) -> None:
    """Compare the parities, then rebuild all parities, as many data shards as possible, and random losses."""
    wide, data = Wide(api, code, k, m), random_data(k, length)
    assert np.array_equal(wide.encode(data), parity), (code, k, m)
    shards, rng = np.concatenate([data, parity]), np.random.default_rng(k + m)
    check_repair(wide, shards, np.arange(k, k + m))
    check_repair(wide, shards, np.arange(min(k, m)))
    for _ in range(losses):
        missing = rng.choice(k + m, rng.integers(1, m + 1), replace=False)
        check_repair(wide, shards, missing, rng.random(k + m) < 0.7)
        check_repair(wide, shards, missing)
    wide.close()


@pytest.mark.parametrize("case", oracle.SMALL, ids=str)
def test_parities_of_the_matrix(api: Api, isa: str, case: tuple[str, int, int]) -> None:
    code, k, m = case
    for length in (64, 320) if code.startswith("leopard") else (2, 62, 64, 318):
        check(api, code, k, m, length, oracle.encode(code, m, random_data(k, length)))


@pytest.mark.parametrize(
    "case",
    [("leopard8", 20, 9), ("leopard16", 12, 7), ("lch16", 7, 40), ("reed_solomon_simd", 33, 5)],
    ids=str,
)
def test_parities_that_a_repair_reads(api: Api, case: tuple[str, int, int]) -> None:
    """They are the first present ones, as many as data are missing. The others can have any bytes."""
    code, k, m = case
    wide, data = Wide(api, code, k, m), random_data(k, 64)
    shards, rng = np.concatenate([data, wide.encode(data)]), np.random.default_rng(k)
    for count in range(min(k, m)):
        missing = rng.choice(k, count, replace=False)
        lost, present = shards.copy(), np.ones(k + m, dtype=bool)
        present[[*missing, k]] = False
        lost[~present] = 0x5A
        lost[k + 1 + count :] ^= 0xFF
        assert wide.reconstruct(lost, present) == OK
        assert np.array_equal(lost[: k + 1 + count], shards[: k + 1 + count]), missing
    wide.close()


@pytest.mark.needs("go", "rust")
@pytest.mark.parametrize("case", oracle.SHAPES, ids=str)
def test_bytes_of_the_original(api: Api, case: tuple[str, int, int, int]) -> None:
    code, k, m, length = case
    (parity,) = peer(code).answer([Request(k, m, random_data(k, length))])
    for isa in ("gfni_avx512", "avx2", "scalar"):
        if api.set_isa(isa) == OK:
            check(api, code, k, m, length, parity, losses=1)


@pytest.mark.parametrize(("k", "vector"), jam.VECTORS, ids=("tiny-3", "tiny-32", "tiny-100", "full-100"))
def test_vectors_of_jam(api: Api, isa: str, k: int, vector: tuple[str, ...]) -> None:
    shards = np.array([list(bytes.fromhex(shard)) for shard in vector], dtype=np.uint8)
    wide = Wide(api, "lch16", k, len(vector) - k)
    assert np.array_equal(wide.encode(shards[:k]), shards[k:])
    check_repair(wide, shards, np.arange(k))
    check_repair(wide, shards, np.random.default_rng(1).choice(len(vector), len(vector) - k, replace=False))
    wide.close()


@pytest.mark.parametrize(
    ("code", "k", "m", "rest"), [("leopard8", 12, 7, 0), ("leopard16", 12, 7, 0), ("lch16", 7, 12, 30)]
)
def test_lengths_around_a_slice(api: Api, isa: str, code: str, k: int, m: int, rest: int) -> None:
    """Each part of a long shard has the parities of that part alone."""
    wide = Wide(api, code, k, m)
    data = random_data(k, 2 * 4096 + 192 + rest)
    whole = wide.encode(data)
    for start in range(0, data.shape[1], 64):
        assert np.array_equal(wide.encode(data[:, start : start + 64]), whole[:, start : start + 64])
    check_repair(wide, np.concatenate([data, whole]), np.arange(5))
    wide.close()


@pytest.mark.parametrize("offset", [0, 16, 33])
@pytest.mark.parametrize(
    ("code", "k", "m", "rest"),
    [
        ("leopard8", 40, 20, 0),
        ("leopard16", 40, 23, 0),
        ("lch16", 20, 40, 30),
        ("reed_solomon_simd", 20, 40, 0),
        ("reed_solomon_simd", 20, 40, 62),
    ],
)
def test_stores_around_the_cache(api: Api, code: str, k: int, m: int, rest: int, offset: int) -> None:
    """Calls of 4 MiB have them; those of parts of the shards do not, and have the same results."""
    wide, part = Wide(api, code, k, m), 8192
    shards = placed(k + m, 9 * part + rest, offset)
    shards[:k] = random_data(k, shards.shape[1])
    assert shards.size >= 4 << 20
    pointers = addresses(shards[:k]), addresses(shards[k:])
    assert call(api, "encode", wide.made, shards.shape[1], *pointers) == OK
    for start in range(0, shards.shape[1], part):
        columns = slice(start, start + part)
        assert np.array_equal(wide.encode(shards[:k, columns].copy()), shards[k:, columns])
    lost = placed(k + m, shards.shape[1], offset)
    lost[:] = shards
    lost[:20] = 0
    assert wide.reconstruct(lost, [False] * 20 + [True] * (k + m - 20)) == OK
    assert np.array_equal(lost, shards)
    wide.close()


@pytest.mark.parametrize("cpu", ["znver4", "znver5"])
def test_stores_around_the_cache_of_other_cpus(
    api: Api, cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A CPU has those of quarters of a line, the other one those of lines. A library reads the name once."""
    monkeypatch.setenv("GFSMITH_CPU", cpu)
    copied = Api(Path(shutil.copy(api.lib._name, tmp_path)))
    for offset in (0, 16, 33):
        test_stores_around_the_cache(copied, "leopard8", 40, 20, 0, offset)
        test_stores_around_the_cache(copied, "leopard16", 40, 23, 0, offset)
        test_stores_around_the_cache(copied, "lch16", 20, 40, 30, offset)


def test_a_set_without_kernels_for_lines(api: Api) -> None:
    assert api.set_isa("scalar") == OK
    test_lengths_around_a_slice(api, "", "leopard8", 12, 7, 0)
    test_stores_around_the_cache(api, "leopard8", 40, 20, 0, 0)


@pytest.mark.parametrize("offset", [0, 16, 33])
@pytest.mark.parametrize("code", ["leopard16", "reed_solomon_simd"])
def test_every_number_of_shards_in_lines(api: Api, code: str, offset: int) -> None:
    """Kernels that read or write lines take four shards. Other sets copy shards, as do other lengths. Rows
    of 4096 bytes have equal places in their pages."""
    fast = [isa for isa in ("gfni_avx512", "gfni_avx2") if api.set_isa(isa) == OK]
    for k, m in itertools.product((*range(1, 10), 30), (*range(1, 10), 19)):
        for length in (64, 192, 4032) if code == "leopard16" else (64, 192, 190):
            found = {}
            for isa in ("scalar", *fast):
                assert api.set_isa(isa) == OK
                wide, shards = Wide(api, code, k, m), placed(k + m, length, offset)
                shards[:k] = random_data(k, length)
                pointers = addresses(shards[:k]), addresses(shards[k:])
                assert call(api, "encode", wide.made, length, *pointers) == OK
                found[isa] = shards.copy()
                wide.close()
            assert all(np.array_equal(each, found["scalar"]) for each in found.values()), (k, m, length)


@pytest.mark.parametrize("offset", [0, 33])
@pytest.mark.parametrize("code", ["leopard8", "leopard16", "reed_solomon_simd"])
def test_repairs_from_and_to_lines(api: Api, code: str, offset: int) -> None:
    """Kernels that multiply four shards in lines take groups with any missing and any wanted ones."""
    for k, m in itertools.product((1, 3, 4, 9, 30), (1, 2, 4, 7, 19)):
        for isa in ("gfni_avx512", "gfni_avx2", "scalar"):
            if api.set_isa(isa) != OK:
                continue
            for length in (64, 4032) if code.startswith("leopard") else (64, 190):
                wide, shards = Wide(api, code, k, m), placed(k + m, length, offset)
                data = random_data(k, length)
                shards[:] = np.concatenate([data, wide.encode(data)])
                for count in sorted({1, (m + 1) // 2, m}):
                    missing = np.random.default_rng(k + count).choice(k + m, count, replace=False)
                    lost, present = placed(k + m, length, offset), np.ones(k + m, dtype=bool)
                    lost[:], present[missing] = shards, False
                    lost[missing] = 0x5A
                    assert wide.reconstruct(lost, list(present)) == OK
                    assert np.array_equal(lost, shards), (k, m, isa, length, count)
                wide.close()


class Executor(ctypes.Structure):
    """gfsmith_executor, and its function."""

    RUN = ctypes.CFUNCTYPE(
        None,
        ctypes.c_void_p,
        ctypes.c_uint,
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint),
        ctypes.c_void_p,
    )
    _fields_ = (
        ("run", RUN),
        ("context", ctypes.c_void_p),
        ("workers", ctypes.c_uint),
        ("least", ctypes.c_size_t),
    )


def parallel(wide: Wide, threads: Any, data: Bytes, missing: Any) -> tuple[Bytes, Bytes]:
    """Return the parities, and all shards after a repair, by parallel calls."""
    lib, made, length = wide.api.lib, wide.made, ctypes.c_size_t(data.shape[1])
    parity = np.zeros((wide.m, data.shape[1]), dtype=np.uint8)
    assert lib.gfsmith_wide_encode_parallel(made, threads, length, addresses(data), addresses(parity)) == OK
    shards, present = np.concatenate([data, parity]), np.ones(wide.k + wide.m, dtype=bool)
    present[missing] = False
    shards[missing] = 0x5A
    flags = (ctypes.c_bool * len(present))(*present)
    rows = addresses(shards)
    assert lib.gfsmith_wide_reconstruct_parallel(made, threads, length, rows, flags, None) == OK
    return parity, shards


@pytest.mark.parametrize("case", oracle.SMALL, ids=str)
@pytest.mark.parametrize("workers", [2, 5, 1000])
def test_tasks_in_any_order(api: Api, case: tuple[str, int, int], workers: int) -> None:
    """An executor that runs its tasks in one thread, the last one first; none may be necessary."""
    code, k, m = case
    asked: list[int] = []

    @Executor.RUN
    def run(_context: Any, tasks: int, task: Any, argument: Any) -> None:
        asked.append(tasks)
        for index in reversed(range(tasks)):
            task(argument, index)

    wide = Wide(api, code, k, m)
    for length in (64, 128, 192, 9216 + 64):
        data = random_data(k, length)
        shards = np.concatenate([data, wide.encode(data)])
        for least, shared in ((1, length > 128), ((k + m) * length + 1, False)):
            asked.clear()
            threads = ctypes.byref(Executor(run, None, workers, least))
            parity, repaired = parallel(wide, threads, data, [0])
            assert np.array_equal(parity, shards[k:])
            assert np.array_equal(repaired, shards)
            assert asked == [min(workers, -(-length // 128))] * 2 * shared
    wide.close()


def test_threads_of_a_pool(api: Api, isa: str) -> None:
    pool = ctypes.c_void_p()
    assert api.lib.gfsmith_pool_create(ctypes.byref(pool), 4) == OK
    api.lib.gfsmith_pool_executor.restype = ctypes.c_void_p
    threads = ctypes.c_void_p(api.lib.gfsmith_pool_executor(pool))
    wide = Wide(api, "lch16", 100, 200)
    data = random_data(100, 40960 + 62)
    shards = np.concatenate([data, wide.encode(data)])
    parity, repaired = parallel(wide, threads, data, np.arange(0, 200, 2))
    assert np.array_equal(parity, shards[100:])
    assert np.array_equal(repaired, shards)
    wide.close()
    api.lib.gfsmith_pool_destroy.restype = None
    api.lib.gfsmith_pool_destroy(pool)


@pytest.mark.parametrize(
    ("code", "k", "m"), [("leopard16", 65000, 500), ("lch16", 500, 65000), ("lch16", 65024, 511)]
)
def test_most_shards(api: Api, code: str, k: int, m: int) -> None:
    wide = Wide(api, code, k, m)
    data = random_data(k, 64)
    shards = np.concatenate([data, wide.encode(data)])
    check_repair(wide, shards, np.random.default_rng(1).choice(k + m, min(k, m), replace=False))
    wide.close()


#: The text of gfsmith_wide_shapes.
SHAPES = r"k >= 1, m >= 1, k \+ m <= (\d+), and the least power of two >= (.+), plus (.+), at most (\d+)"


def exists(text: str, k: int, m: int) -> bool:
    """Return whether a shape satisfies the condition of a text."""
    found = re.fullmatch(SHAPES, text)
    assert found is not None
    most, few, many, points = found.groups()
    value = {"k": k, "m": m, "min(k, m)": min(k, m), "max(k, m)": max(k, m)}
    block = 1 << (value[few] - 1).bit_length()
    return k >= 1 and m >= 1 and k + m <= int(most) and block + value[many] <= int(points)


@pytest.mark.parametrize(
    ("code", "granule"), [("leopard8", 64), ("leopard16", 64), ("reed_solomon_simd", 2), ("lch16", 2)]
)
def test_limits_of_a_code(api: Api, code: str, granule: int) -> None:
    """The text states exactly the shapes that exist, and the granule divides exactly the valid lengths."""
    api.lib.gfsmith_wide_shapes.restype = ctypes.c_char_p
    api.lib.gfsmith_wide_granule.restype = ctypes.c_size_t
    api.lib.gfsmith_wide_has_shape.restype = ctypes.c_bool
    text, made = api.lib.gfsmith_wide_shapes(code.encode()).decode(), ctypes.c_void_p()
    edges = (1, 2, 3, 100, 127, 128, 129, 200, 255, 256, 257, 32767, 32768, 32769, 61440, 61441, 65534, 65535)
    for k, m in itertools.product(edges, edges):
        status = create(api, made, code, k, m)
        assert (status == OK) == exists(text, k, m) == api.lib.gfsmith_wide_has_shape(code.encode(), k, m), (
            k,
            m,
        )
        if status == OK:
            api.lib.gfsmith_wide_destroy(made)
    assert api.lib.gfsmith_wide_granule(code.encode()) == granule
    wide = Wide(api, code, 2, 1)
    shards = np.zeros((3, 130), dtype=np.uint8)
    for length in range(131):
        status = call(api, "encode", wide.made, length, addresses(shards[:2]), addresses(shards[2:]))
        assert (status == OK) == (length % granule == 0), length
    wide.close()
    for unknown in (None, b"", b"leopard", b"cauchy"):
        assert api.lib.gfsmith_wide_shapes(unknown) is None
        assert not api.lib.gfsmith_wide_has_shape(unknown, 2, 1)
        assert api.lib.gfsmith_wide_granule(unknown) == 0


def test_arguments(api: Api) -> None:
    made = ctypes.c_void_p()
    for code, k, m in (
        *(("leopard16", 0, 1), ("leopard16", 1, 0), ("leopard16", 65535, 1), ("leopard16", 1, 65535)),
        *(("leopard16", 32768, 32768), ("leopard16", 40000, 20000), ("leopard16", 1 << 31, 1 << 31)),
        *(("leopard8", 255, 2), ("leopard8", 100, 129), ("leopard8", 1, 256), ("leopard8", 200, 33)),
        *(("lch16", 32768, 32768), ("lch16", 40000, 20000), ("lch16", 65535, 1), ("lch16", 0, 5)),
        *(("reed_solomon_simd", 3, 65533), ("reed_solomon_simd", 65533, 3), ("lch16", 1, 0)),
        *(("leopard", 4, 2), ("", 4, 2), (None, 4, 2)),
    ):
        assert create(api, made, code, k, m) == EINVAL, (code, k, m)
        assert made.value is None
    assert int(api.lib.gfsmith_wide_create(None, b"leopard16", 4, 2)) == EINVAL
    wide = Wide(api, "leopard16", 3, 2)
    shards = np.full((5, 128), 7, dtype=np.uint8)
    good, rows = shards.copy(), addresses(shards)
    data, parity = (ctypes.c_void_p * 3)(*rows[:3]), (ctypes.c_void_p * 2)(*rows[3:])
    holed = [(ctypes.c_void_p * 3)(*rows[:2], None), (ctypes.c_void_p * 2)(rows[3], None)]
    for size, src, dst in (
        (64, holed[0], parity),
        (64, data, holed[1]),
        (64, None, parity),
        (64, data, None),
    ):
        assert call(api, "encode", wide.made, size, src, dst) == EINVAL
    for size in (1, 2, 32, 63, 65, 96):
        assert call(api, "encode", wide.made, size, data, parity) == EINVAL
        assert (
            call(api, "reconstruct", wide.made, size, rows, (ctypes.c_bool * 5)(1, 1, 1, 1, 0), None)
            == EINVAL
        )
    assert call(api, "encode", None, 64, data, parity) == EINVAL
    assert call(api, "encode", wide.made, 0, None, None) == OK
    flags = (ctypes.c_bool * 5)(False, True, True, True, True)
    for first, given in ((None, rows), (flags, None)):
        assert call(api, "reconstruct", wide.made, 64, given, first, None) == EINVAL
    assert call(api, "reconstruct", None, 64, rows, flags, None) == EINVAL
    for missing in (0, 1):  # the pointer of a wanted shard, and of a present one
        some = (ctypes.c_void_p * 5)(*rows)
        some[missing] = None
        assert call(api, "reconstruct", wide.made, 64, some, flags, None) == EINVAL
    for code in ("lch16", "reed_solomon_simd"):
        even = Wide(api, code, 3, 2)
        assert call(api, "encode", even.made, 65, data, parity) == EINVAL
        assert call(api, "reconstruct", even.made, 65, rows, flags, None) == EINVAL
        even.close()
    assert wide.reconstruct(shards, [True, True, False, False, False]) == ETOOMANY
    assert wide.reconstruct(shards, [False] * 5) == ETOOMANY
    assert wide.reconstruct(shards[:, :0], [False] * 5) == ETOOMANY
    assert wide.reconstruct(shards, [True] * 5) == OK
    assert wide.reconstruct(shards, [True, False, True, True, False], [False] * 5) == OK
    assert np.array_equal(shards, good)
    wide.close()
    api.lib.gfsmith_wide_destroy(None)


def test_the_bases_of_shards_and_rows() -> None:
    """transform.h: in Cantor's basis b, the elements below 256 are GF(2^8), and the high byte of b[8] b[i] is
    1 << i."""
    point = oracle.elements("leopard16")
    number = np.argsort(point)
    first = np.arange(256)
    products = oracle.multiply("leopard16", point[first[:, None]], point[first])
    assert (number[products] < 256).all()
    bits = 1 << np.arange(8)
    assert (number[oracle.multiply("leopard16", point[256], point[bits])] >> 8 == bits).all()


MUTANTS = (
    Mutant("p->first + at", "at", within="interpolate", everywhere=True),
    Mutant("p->first + at", "at", within="evaluate", everywhere=True),
    Mutant("point / d / 2", "point / 2"),
    Mutant("block + first", "first", within="encode_before"),
    Mutant("block + first", "block", within="encode_behind"),
    Mutant("first > 0", "false", within="encode_before"),
    Mutant("i < filled", "true"),
    Mutant("memcpy(rows.start, polynomial.start, gfs_rows_offset(&rows, block));", ";"),
    Mutant("point / d / 4", "point / 4"),
    Mutant("1 + c % 2", "1"),
    Mutant("(size_t)i * d", "i", within="butterflies_of_planes"),
    Mutant("(size_t)i * d", "i", within="every_row"),
    Mutant("(p->first + at) / d / FOUR_ROWS", "(p->first + at) / FOUR_ROWS"),
    Mutant("gfs_rows_row(&most, first)", "w->start"),
    Mutant("at >= p->to", "at + half >= p->to", within="evaluate"),
    Mutant("at + size <= p->from", "at <= p->from", within="evaluate"),
    Mutant("shard + count", "shard", within="split"),
    Mutant("2 * i + 1", "2 * i", within="split"),
    Mutant("at < elements", "false", within="split_piece"),
    Mutant("at < elements", "false", within="join_piece"),
    Mutant("gfs_stream_half(shard + 2 * at + HALF, high + at);", ";"),
    Mutant("stream_bytes(stores, shard, joined, bytes);", ";"),
    Mutant("stream_bytes(stores, to, low, bytes);", ";"),
    Mutant("gfs_stream_copy(to, from, bytes);", ";"),
    Mutant("gfs_stream_copy_lines(to, from, bytes);", ";"),
    Mutant("from = shard[slice->stripe * r->call->sources] + slice->at;", "from = *shard;"),
    Mutant("result[slice->stripe * r->call->targets] + slice->at", "*result"),
    Mutant("point + 1", "point", within="find_loss"),
    Mutant("(point < wide->block) != wide->data_first", "false"),
    Mutant("(point < wide->block) != wide->data_first", "true"),
    Mutant("!lost->used[shard]", "false"),
    Mutant("present[i] && missing > 0", "present[i]"),
    Mutant("missing -= used[i];", ";"),
    Mutant("lost->to <= half", "true"),
    Mutant("lost->from < half ? 0 : half", "0"),
    Mutant("is_half ? &other : NULL", "NULL"),
    Mutant("product_values(&behind, &rest, half, half)", "product_values(&behind, &rest, half, 0)"),
    Mutant("(group - exponent) % group", "exponent"),
    Mutant("data < parity", "false"),
    Mutant("is_data == wide->data_first", "!is_data", within="point_of"),
    Mutant("is_first == wide->data_first", "!is_first", within="shard_of"),
    Mutant("missing > wide->m", "false"),
    Mutant("s->len + s->part - 1", "s->len", within="cut_rows"),
    Mutant("n % parts * s->part", "n % parts"),
    Mutant("shared ? executor->workers : 1", "shared ? 2 * (size_t)executor->workers : 1"),
    Mutant("a + (most - b)", "a - b"),
    Mutant("r + (2 * most - s)", "r + s"),
    Mutant("spectra[n + i]", "spectra[i]", within="gfs_locator"),
    Mutant("add_table(t->entry, of_bit + c * t->entry, tables + c * t->entry);", ";"),
    Mutant("element >> PART_BITS * n", "element"),
    Mutant("1u << PART_BITS * part", "1u << part"),
    Mutant("field->order / n", "1"),
    Mutant("derive(t, more.rows, in.rows, 0, size);", "derive(t, more.rows, in.rows, 0, 1);"),
    Mutant("8 * from + bit", "bit"),
    Mutant("8 * to", "0"),
    Mutant("basis[0] == GFS_BASIS_ROW", "false"),
    Mutant("basis[1] == GFS_BASIS_ROW", "false"),
    Mutant("high | 1u << bit", "1u << bit"),
    Mutant("constant += 2", "constant += 4"),
    Mutant("row += together", "row += d", within="butterflies_of_planes"),
    Mutant("(p->first + at) / GFS_END_ROWS", "at / GFS_END_ROWS"),
    Mutant("slice->at", "0", within="load_lines"),
    Mutant("slice->at", "0", within="store_lines"),
    Mutant("r->work->now.at", "0", within="fill_lines"),
    Mutant("shard[i] != NULL ? shard[i] : any", "any"),
    Mutant("scale[i] = repair_table(call, shard_of(call->wide, point));", ";"),
    Mutant("gfs_rows_clear(end->rows, end->row, end->row + GFS_END_ROWS);", ";"),
    Mutant("call->results[slice->stripe * call->targets + shard] + slice->at", "call->results[shard]"),
    Mutant("stream_bytes(stores, shard[i], joined[i], end->rows->bytes);", ";"),
    Mutant("slice->part % GFSMITH_WIDE_GRANULE == 0", "true"),
    Mutant("stream_bytes(stores, shard[i] + at, joined[i], end->rows->bytes);", ";"),
    Mutant("gfs_transform_change(&s->call->wide->transform, rows, row);", ";", within="load_row"),
    Mutant("gfs_transform_change(&s->call->wide->transform, rows, row);", ";", within="store_row"),
    Mutant("len % wide->code->granule != 0", "false", within="encode_wide"),
)


@pytest.mark.parametrize("mutant", share(MUTANTS, 2), ids=str)
def test_the_tests_detect_the_error(
    mutant: Mutant, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GFSMITH_CPU", "znver5")  # it has all types of stores
    api = Api(compiler.library_with_error(mutant, SOURCES))
    with pytest.raises(AssertionError):
        for code, k, m in oracle.SMALL:
            length = 320 if code.startswith("leopard") else 318
            check(api, code, k, m, length, oracle.encode(code, m, random_data(k, length)))
        test_lengths_around_a_slice(api, "", "leopard8", 12, 7, 0)
        test_lengths_around_a_slice(api, "", "leopard16", 12, 7, 0)
        test_tasks_in_any_order(api, ("leopard16", 3, 2), 5)
        test_stores_around_the_cache(api, "leopard8", 40, 20, 0, 0)
        test_stores_around_the_cache(api, "leopard16", 40, 23, 0, 0)
        test_stores_around_the_cache(api, "lch16", 20, 40, 30, 16)
        test_parities_that_a_repair_reads(api, ("leopard16", 12, 7))
        test_repairs_from_and_to_lines(api, "leopard8", 0)
        test_repairs_from_and_to_lines(api, "leopard16", 0)
        test_a_set_without_kernels_for_lines(api)
        test_arguments(api)
