"""gfsmith_checksum.h on every instruction set of this CPU against the definition, zlib and ISA-L."""

from __future__ import annotations

import ctypes
import random
import subprocess
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gfsmith.field.checksum import CHECKSUMS, Checksum, after, checksum
from tests.support.folders import product
from tests.support.library import EINVAL, OK, Api
from tests.support.paths import ROOT
from tests.system.runtime.algebra import Buffer
from tests.system.runtime.test_peers import load

KINDS = range(len(CHECKSUMS))
DATA = random.Random(1).randbytes(2400)
LENGTHS = (
    *range(301),
    *range(320, 1024, 64),
    391,
    392,
    511,
    512,
    513,
    519,
    520,
    1023,
    1024,
    1031,
    1032,
    *range(514, 2400, 31),
    *(line + more for line in (576, 640, 704, 1024) for more in (1, 4, 7)),
    1500,
    2400,
)

#: Prints whether functions for short updates are known: at the start, after an update, after the choice of a
#: set and an update with it, twice. On a CPU without such functions the program prints the same numbers.
UPDATES = """
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "gfsmith.h"
#include "gfsmith_checksum.h"
extern _Atomic(const void *) gfs_dispatch_updates;
static int missing;
static void print(int expected) {
  int known = atomic_load(&gfs_dispatch_updates) != NULL;
  printf("%d\\n", missing && !known ? expected : known);
}
static void update(void) {
  uint64_t state = 0;
  gfsmith_checksum_update(GFSMITH_CRC32, &state, 9, (const uint8_t *)"123456789");
  if (state != 0xcbf43926)
    printf("wrong ");
}
int main(void) {
  char first[64] = "";
  print(0);
  strncat(first, gfsmith_isa(), sizeof first - 1);
  update();
  missing = atomic_load(&gfs_dispatch_updates) == NULL;
  print(1);
  gfsmith_set_isa("scalar");
  print(0);
  update();
  print(0);
  gfsmith_set_isa(first);
  print(0);
  update();
  print(1);
}
"""


def update(api: Api, kind: int, state: int, data: bytes, shift: int = 0) -> int:
    """Continue a checksum of bytes at an address that is `shift` behind a multiple of 64."""
    memory = np.zeros(len(data) + 128, dtype=np.uint8)
    start = -memory.ctypes.data % 64 + shift
    memory[start : start + len(data)] = np.frombuffer(data, dtype=np.uint8)
    after_ = ctypes.c_uint64(state)
    at = ctypes.c_void_p(memory.ctypes.data + start)
    status = api.lib.gfsmith_checksum_update(kind, ctypes.byref(after_), ctypes.c_size_t(len(data)), at)
    assert status == OK
    return after_.value


@cache
def prefixes(kind: int) -> list[int]:
    """Return the checksums of the first n bytes of DATA by the definition, for every n."""
    check = CHECKSUMS[kind]
    register = check.register([check.ones >> i & 1 for i in range(check.degree)])
    found = []
    for byte in (*DATA, 0):
        end = check.register(register)
        found.append(sum(bit << i for i, bit in enumerate(end)) ^ check.ones)
        register = after(check, register, check.bits([byte >> i & 1 for i in range(8)]), 0)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_length(api: Api, isa: str, kind: int) -> None:
    for n in LENGTHS:
        assert update(api, kind, 0, DATA[:n], n * 7 % 64) == prefixes(kind)[n]


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_continues(api: Api, isa: str, kind: int) -> None:
    for split in (0, 1, 7, 8, 15, 16, 63, 64, 65, 511, 512, 1000, 2399, 2400):
        state = update(api, kind, 0, DATA[:split])
        assert update(api, kind, state, DATA[split:], split % 64) == prefixes(kind)[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_continues_with_every_length(api: Api, isa: str, kind: int) -> None:
    for n in LENGTHS:
        if n <= len(DATA) - 100:
            state = update(api, kind, prefixes(kind)[100], DATA[100 : 100 + n], n * 5 % 64)
            assert state == prefixes(kind)[100 + n]


@pytest.mark.parametrize("kind", KINDS)
def test_long_updates_are_those_of_pieces(api: Api, isa: str, kind: int) -> None:
    """Around the greatest length of the functions for short updates."""
    data = random.Random(2).randbytes(9000)
    for n in (4096, 5001, 8128, 8191, 8192, 8193, 8200, 8448, 9000):
        state = 0
        for start in range(0, n, 250):
            state = update(api, kind, state, data[start : min(start + 250, n)])
        assert update(api, kind, 0, data[:n], n % 64) == state


def test_updates_follow_the_instruction_set(tmp_path: Path) -> None:
    """The functions for short updates are found at the first use, and again after a choice of another set."""
    source, program = tmp_path / "updates.c", tmp_path / "updates"
    source.write_text(UPDATES)
    archive = product("libgfsmith.a", "lib")
    include = f"-I{ROOT / 'runtime' / 'core' / 'include'}"
    command = ["gcc", "-std=c11", include, source, archive, "-pthread", "-ldl", "-o", program]
    subprocess.run(command, check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    assert lines == ["0", "1", "0", "0", "0", "1"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_combine(api: Api, kind: int) -> None:
    for split in (0, 1, 8, 100, 1199, 2400):
        state = ctypes.c_uint64(update(api, kind, 0, DATA[:split]))
        second = ctypes.c_uint64(update(api, kind, 0, DATA[split:]))
        size = ctypes.c_size_t(len(DATA) - split)
        assert api.lib.gfsmith_checksum_combine(kind, ctypes.byref(state), second, size) == OK
        assert state.value == prefixes(kind)[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_long_pieces_combine(api: Api, kind: int) -> None:
    """2^63 + 5 bytes behind a piece, as pieces of 2^62, 2^62 and 5 bytes behind it."""
    first, second = (update(api, kind, 0, DATA[:n]) for n in (100, 200))
    sums = []
    for sizes in ((1 << 63) + 5,), (1 << 62, 1 << 62, 5):
        state = ctypes.c_uint64(first)
        for n, size in enumerate(sizes):
            last = ctypes.c_uint64(second if n == len(sizes) - 1 else 0)
            args = (kind, ctypes.byref(state), last, ctypes.c_size_t(size))
            assert api.lib.gfsmith_checksum_combine(*args) == OK
        sums.append(state.value)
    assert sums[0] == sums[1]


def test_zlib(api: Api, isa: str) -> None:
    kind = [check.name for check in CHECKSUMS].index("CRC32")
    for n in LENGTHS:
        assert update(api, kind, 0, DATA[:n]) == zlib.crc32(DATA[:n])


def _isal() -> dict[str, Callable[[bytes], int]]:
    """Return ISA-L's functions by the name of the check, in the form of ours. Only three of them contain the
    XOR of the first and the last register."""
    isal = load("isal")
    for name in ("crc64_ecma_refl", "crc64_iso_refl"):
        function = getattr(isal, name)
        function.restype = ctypes.c_uint64
        function.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64]
    for name in ("crc32_iscsi", "crc32_gzip_refl"):
        getattr(isal, name).restype = ctypes.c_uint32
    isal.crc16_t10dif.restype = ctypes.c_uint16

    def sized(data: bytes) -> tuple[bytes, ctypes.c_uint64]:
        return data, ctypes.c_uint64(len(data))

    return {
        "CRC32C": lambda data: ~isal.crc32_iscsi(data, len(data), 0xFFFFFFFF) & 0xFFFFFFFF,
        "CRC32": lambda data: isal.crc32_gzip_refl(0, *sized(data)),
        "CRC64_ECMA": lambda data: isal.crc64_ecma_refl(0, data, len(data)),
        "CRC64_ISO": lambda data: isal.crc64_iso_refl(0, data, len(data)),
        "CRC16_T10": lambda data: isal.crc16_t10dif(0, *sized(data)),
    }


def test_isal(api: Api, isa: str) -> None:
    functions = _isal()
    for kind, check in enumerate(CHECKSUMS):
        if check.name in functions:
            for n in (*range(1, 301), 1024, 2400):
                assert update(api, kind, 0, DATA[:n]) == functions[check.name](DATA[:n]), (check.name, n)


def sectors(api: Api, kind: int, sector: int, size: int, data: object, out: object) -> int:
    return int(
        api.lib.gfsmith_checksum_sectors(kind, ctypes.c_size_t(sector), ctypes.c_size_t(size), data, out)
    )


@pytest.mark.parametrize(("name", "sector"), [("CRC16_T10", 512), ("CRC16_T10", 4096), ("CRC32C", 100)])
def test_sectors(api: Api, isa: str, name: str, sector: int) -> None:
    kind = [check.name for check in CHECKSUMS].index(name)
    data = random.Random(2).randbytes(3 * sector)
    out = (ctypes.c_uint64 * 4)(7, 7, 7, 7)
    assert sectors(api, kind, sector, len(data), data, out) == OK
    want = [checksum(CHECKSUMS[kind], data[n : n + sector]) for n in range(0, len(data), sector)]
    assert list(out) == [*want, 7]


def _value(check: Checksum, number: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(number & (1 << check.degree) - 1)


def test_arguments(api: Api, isa: str) -> None:
    """A call that fails writes nothing, and a call of size 0 reads nothing."""
    data = Buffer(np.arange(64, dtype=np.uint8), 1)
    size, none = ctypes.c_size_t(64), ctypes.c_size_t(0)
    lib, null = api.lib, ctypes.c_void_p()
    for kind in (-1, len(CHECKSUMS), 1 << 30):
        state = ctypes.c_uint64(5)
        assert lib.gfsmith_checksum_update(kind, ctypes.byref(state), size, data.pointer) == EINVAL
        assert lib.gfsmith_checksum_combine(kind, ctypes.byref(state), state, size) == EINVAL
        assert sectors(api, kind, 64, 64, data.pointer, ctypes.byref(state)) == EINVAL
        assert state.value == 5
    for kind, check in enumerate(CHECKSUMS):
        state = _value(check, 0x123456789ABCDEF0)
        before = state.value
        at = ctypes.byref(state)
        assert lib.gfsmith_checksum_update(kind, at, none, null) == OK
        assert lib.gfsmith_checksum_update(kind, at, size, null) == EINVAL
        assert lib.gfsmith_checksum_update(kind, null, size, data.pointer) == EINVAL
        assert lib.gfsmith_checksum_combine(kind, null, state, size) == EINVAL
        if check.degree < 64:
            wide = ctypes.c_uint64(1 << check.degree)
            assert lib.gfsmith_checksum_update(kind, ctypes.byref(wide), size, data.pointer) == EINVAL
            assert lib.gfsmith_checksum_combine(kind, at, wide, size) == EINVAL
            assert lib.gfsmith_checksum_combine(kind, ctypes.byref(wide), state, size) == EINVAL
            assert wide.value == 1 << check.degree
        sector = 512 if check.name == "CRC16_T10" else 64
        assert sectors(api, kind, sector, 0, null, null) == OK
        for wrong in ((0, 64), (sector, sector + 1), (sector, sector - 1)):
            assert sectors(api, kind, *wrong, data.pointer, at) == EINVAL
        assert sectors(api, kind, sector, sector, null, at) == EINVAL
        assert sectors(api, kind, sector, sector, data.pointer, null) == EINVAL
        assert state.value == before
    t10 = [check.name for check in CHECKSUMS].index("CRC16_T10")
    for sector in (1, 64, 520, 1024, 8192):
        assert sectors(api, t10, sector, 8 * sector, data.pointer, ctypes.byref(ctypes.c_uint64())) == EINVAL
    assert np.array_equal(data.bytes, np.arange(64)) and data.guarded()
