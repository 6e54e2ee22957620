"""Batch calls of gfsmith_wide: each stripe has the bytes of a call of its own, invalid arguments, and
mutants."""

from __future__ import annotations

import ctypes
import faulthandler
import os
from typing import Any

import numpy as np
import pytest

from tests.support.compiler import Compiler
from tests.support.levels import share
from tests.support.library import EINVAL, ETOOMANY, OK, Api, Bytes
from tests.support.mutation import Mutant
from tests.system.runtime.test_wide import SOURCES, Wide, addresses, call, placed

#: Both orders of data and parities, one block and several, and every place of the words.
CODES = (
    ("leopard8", 9, 5),
    ("leopard16", 12, 3),
    ("leopard16", 5, 8),
    ("reed_solomon_simd", 3, 8),
    ("lch16", 7, 12),
)
#: Stripes and bytes of a shard: several in a row, one in a row, parts of one, and a last row with fewer.
SIZES = ((1, 64), (3, 64), (65, 64), (130, 64), (5, 1024), (9, 4096), (2, 4160), (3, 10048))
#: The same with lengths that are no multiple of a line.
ODD_SIZES = ((1, 2), (16, 2), (3, 62), (70, 66), (5, 1000), (2, 4162))


def stripes_of(wide: Wide, count: int, length: int) -> Bytes:
    """Return stripes x shards x bytes at odd addresses, with the parities of single calls."""
    rng = np.random.default_rng(count * length)
    stripes = rng.integers(0, 256, (count, wide.k + wide.m, length + 1), dtype=np.uint8)[:, :, 1:]
    for stripe in stripes:
        stripe[wide.k :] = wide.encode(stripe[: wide.k])
    return stripes


def all_addresses(stripes: Bytes) -> Any:
    return addresses([row for stripe in stripes for row in stripe])  # type: ignore[arg-type]


def batch(wide: Wide, name: str, stripes: Bytes, *arguments: Any) -> int:
    count, length = len(stripes), stripes.shape[2]
    return call(wide.api, f"{name}_stripes", wide.made, length, ctypes.c_size_t(count), *arguments)


def flags(values: Any) -> Any:
    return None if values is None else (ctypes.c_bool * len(values))(*values)


def check_encoding(wide: Wide, stripes: Bytes) -> None:
    """Encode all stripes; the bytes before the parities do not change."""
    count, length = len(stripes), stripes.shape[2]
    padded = np.full((count, wide.m, length + 1), 0xA5, dtype=np.uint8)
    data, parity = stripes[:, : wide.k], padded[:, :, 1:]
    assert batch(wide, "encode", stripes, all_addresses(data), all_addresses(parity)) == OK
    assert np.array_equal(parity, stripes[:, wide.k :])
    assert (padded[:, :, 0] == 0xA5).all()


def check_repair(wide: Wide, stripes: Bytes, missing: Any, wanted: Any = None) -> None:
    """Repair all stripes; shards that are not wanted have no address."""
    lost, rows = stripes.copy(), all_addresses(stripes)
    total = wide.k + wide.m
    present = np.ones(total, dtype=bool)
    present[missing] = False
    lost[:, missing] = 0x5A
    expected = stripes.copy()
    for n, row in enumerate(all_addresses(lost)):
        ignored = not present[n % total] and wanted is not None and not wanted[n % total]
        rows[n] = None if ignored else row
        if ignored:
            expected[n // total, n % total] = 0x5A
    assert batch(wide, "reconstruct", stripes, rows, flags(present), flags(wanted)) == OK
    assert np.array_equal(lost, expected), missing


def check(api: Api, code: tuple[str, int, int], size: tuple[int, int]) -> None:
    wide = Wide(api, *code)
    stripes, rng = stripes_of(wide, *size), np.random.default_rng(size)
    check_encoding(wide, stripes)
    check_repair(wide, stripes, np.arange(min(wide.k, wide.m)))
    missing = rng.choice(wide.k + wide.m, wide.m, replace=False)
    check_repair(wide, stripes, missing, rng.random(wide.k + wide.m) < 0.6)
    wide.close()


@pytest.mark.parametrize("code", CODES, ids=str)
def test_batches_are_single_calls(api: Api, isa: str, code: tuple[str, int, int]) -> None:
    for size in (*SIZES, *(() if code[0].startswith("leopard") else ODD_SIZES)):
        check(api, code, size)


@pytest.mark.parametrize("offset", [0, 33])
@pytest.mark.parametrize(
    ("code", "k", "m", "count", "length"),
    [
        ("leopard16", 40, 20, 300, 256),
        ("lch16", 20, 40, 150, 510),
        ("leopard8", 40, 20, 20, 4096),
        ("reed_solomon_simd", 20, 40, 9, 8254),
        ("leopard16", 400, 200, 30, 256),
    ],
)
def test_batches_from_memory(
    api: Api, code: str, k: int, m: int, count: int, length: int, offset: int
) -> None:
    """Calls of 4 MiB prefetch the next slices, and may store around the cache."""
    wide, total = Wide(api, code, k, m), k + m
    shards = placed(count * total, length, offset)
    assert shards.size >= 4 << 20
    rng = np.random.default_rng(count)
    shards[:] = rng.integers(0, 256, shards.shape, dtype=np.uint8)
    rows = np.array([row.ctypes.data for row in shards]).reshape(count, total)
    stripes = shards.reshape(count, total, length)
    pointers = [
        (ctypes.c_void_p * part.size)(*part.ravel().tolist()) for part in (rows[:, :k], rows[:, k:], rows)
    ]
    assert batch(wide, "encode", stripes, *pointers[:2]) == OK
    for stripe in (0, 1, count // 2, count - 1):
        part = shards[stripe * total : (stripe + 1) * total]
        assert np.array_equal(wide.encode(part[:k].copy()), part[k:])
    good, lost = shards.copy(), np.arange(min(k, m))
    for each in range(count):
        shards[each * total + lost] = 0
    assert batch(wide, "reconstruct", stripes, pointers[2], flags(~np.isin(range(total), lost)), None) == OK
    assert np.array_equal(shards, good)
    wide.close()


def test_arguments_of_batches(api: Api) -> None:
    """A call that fails has written nothing, though only the last stripe is wrong."""
    wide = Wide(api, "leopard16", 3, 2)
    stripes = stripes_of(wide, 4, 64)
    good = stripes.copy()
    rows, data, parity = (all_addresses(part) for part in (stripes, stripes[:, :3], stripes[:, 3:]))
    present, intact = flags([False, True, True, True, True]), flags([True] * 5)

    def encode(length: int, count: int, *pointers: Any) -> int:
        return call(api, "encode_stripes", wide.made, length, ctypes.c_size_t(count), *pointers)

    def reconstruct(length: int, count: int, *arguments: Any) -> int:
        return call(api, "reconstruct_stripes", wide.made, length, ctypes.c_size_t(count), *arguments)

    for first, second in ((holed(data, 11), parity), (data, holed(parity, 7)), (None, parity), (data, None)):
        assert encode(64, 4, first, second) == EINVAL
    for length in (1, 32, 63, 96):
        assert encode(length, 4, data, parity) == EINVAL
        assert reconstruct(length, 4, rows, present, None) == EINVAL
    assert call(api, "encode_stripes", None, 64, ctypes.c_size_t(4), data, parity) == EINVAL
    assert call(api, "reconstruct_stripes", None, 64, ctypes.c_size_t(4), rows, present, None) == EINVAL
    assert encode(0, 4, None, None) == encode(64, 0, None, None) == OK
    assert encode(1 << 62, 4, data, parity) == reconstruct(1 << 62, 4, rows, present, None) == EINVAL
    for missing in (15, 16):  # the pointer of a wanted shard, and of a present one, in the last stripe
        assert reconstruct(64, 4, holed(rows, missing), present, None) == EINVAL
    assert reconstruct(64, 4, None, present, None) == reconstruct(64, 4, rows, None, None) == EINVAL
    assert reconstruct(64, 4, rows, flags([True, True, False, False, False]), None) == ETOOMANY
    assert reconstruct(64, 0, None, flags([False] * 5), None) == ETOOMANY
    assert reconstruct(64, 0, None, present, None) == reconstruct(0, 4, None, present, None) == OK
    assert reconstruct(64, 4, rows, intact, None) == OK
    assert reconstruct(64, 4, holed(rows, 15), present, flags([False] * 5)) == OK
    assert np.array_equal(stripes, good)
    wide.close()


def holed(pointers: Any, index: int) -> Any:
    """Return the pointers, of which one is NULL."""
    copy = type(pointers)(*pointers)
    copy[index] = None
    return copy


MUTANTS = (
    Mutant("count * wide->k", "wide->k", within="encode_wide"),
    Mutant("count * wide->m", "wide->m", within="encode_wide"),
    Mutant("shards[s * total + i]", "shards[i]", within="repair_given"),
    Mutant("len == 0 || count == 0", "len == 0", within="encode_wide"),
    Mutant("stripes->len == 0 || stripes->count == 0", "stripes->len == 0", within="reconstruct_wide"),
    Mutant("call->sources", "call->targets", within="gfs_wide_read"),
    Mutant("call->targets", "call->sources", within="gfs_wide_write"),
    Mutant("s->count + s->stripes - 1", "s->count", within="cut_rows"),
    Mutant("s->len + s->part - 1", "s->len", within="cut_rows"),
    Mutant("n / parts * s->stripes", "n / parts", within="gfs_wide_slice_at"),
    Mutant("n % parts * s->part", "0", within="gfs_wide_slice_at"),
    Mutant("s->count - stripe", "s->stripes", within="gfs_wide_slice_at"),
    Mutant("s->len - at", "s->part", within="gfs_wide_slice_at"),
    Mutant("shard += slice->stripe * pitch;", ";", within="gfs_wide_load"),
    Mutant("shard += slice->stripe * pitch;", ";", within="gfs_wide_store"),
    Mutant("low += elements", "low += bytes", within="split_all"),
    Mutant("high += elements", "high += 0", within="join_all"),
    Mutant("w->now.stripes * w->now.part", "w->now.part", within="gfs_wide_rows_of"),
    Mutant("slice->stripes == 1", "true", within="gfs_wide_has_lines"),
    Mutant("slice->stripe * s->call->sources", "0", within="load_lines"),
    Mutant("slice->stripe * s->call->targets", "0", within="store_lines"),
    Mutant("stripes->len > SIZE_MAX / stripes->count", "false", within="gfs_wide_run"),
)


def passes(api: Api) -> bool:
    """Run the tests in a process of their own, which a wrong library may crash; return whether they pass."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        try:
            test_arguments_of_batches(api)
            for code in CODES[1:]:
                for size in SIZES[1:]:
                    check(api, code, size)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("mutant", share(MUTANTS, 2), ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    assert not passes(Api(compiler.library_with_error(mutant, SOURCES)))


def test_the_tests_pass_without_an_error(api: Api) -> None:
    assert passes(api)
