"""The C interface through ctypes, and an independent reference, for the runtime tests.

The reference multiplies bytes with a table of the `galois` package; it uses neither the generator nor the
C code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import galois
import numpy as np
from numpy.typing import NDArray

from tests.support.paths import ROOT

Bytes = NDArray[np.uint8]

NATIVE = ROOT / "tests" / "system" / "runtime" / "native"

OK, EINVAL, ENOMEM, ENOTMDS, ETOOMANY, EUNSUPPORTED, ESINGULAR = range(0, -7, -1)

X86_ISAS = ("scalar", "sse", "avx2", "avx512", "gfni_sse", "gfni_avx2", "gfni_avx512")
POLYNOMIAL = 0x11D
AUTO, CACHED, STREAMING = range(3)  # gfsmith_hint
SHAPES = (
    (1, 1),
    (4, 2),
    (10, 4),
    (17, 3),
    (48, 4),
    (20, 12),
    (100, 20),
    (200, 55),
    (254, 1),
    (1, 254),
)


def lengths(k: int, m: int) -> tuple[int, ...]:
    """Return the lengths to test at a shape. The reference needs less than a second for the longest."""
    return (0, 1, 63, 64, 65, 1000, 4096 + 3, 100000 if k * m < 2500 else 10000)


@cache
def products(polynomial: int = POLYNOMIAL) -> Bytes:
    """The 256 x 256 multiplication table of GF(2^8) modulo the polynomial."""
    field = galois.GF(2**8, irreducible_poly=polynomial)
    elements = field(np.arange(256, dtype=np.uint8))
    return np.asarray(np.multiply.outer(elements, elements), dtype=np.uint8)


@cache
def inverses(polynomial: int = POLYNOMIAL) -> Bytes:
    """inverses[a] = 1/a for a > 0."""
    return np.argmax(products(polynomial) == 1, axis=1).astype(np.uint8)


def encode(matrix: Bytes, data: Bytes, polynomial: int = POLYNOMIAL) -> Bytes:
    """parity[i] = XOR over j of matrix[i, j] * data[j]; data: k x len, result: m x len."""
    table = products(polynomial)
    parity = np.zeros((matrix.shape[0], data.shape[1]), dtype=np.uint8)
    for i, row in enumerate(matrix):
        for coefficient, shard in zip(row, data, strict=True):
            parity[i] ^= table[coefficient][shard]
    return parity


def vandermonde(k: int, m: int) -> Bytes:
    """ISA-L gf_gen_rs_matrix, parity rows: (2^i)^j."""
    table = products()
    matrix = np.ones((m, k), dtype=np.uint8)
    base = 1
    for i in range(m):
        for j in range(1, k):
            matrix[i, j] = table[matrix[i, j - 1], base]
        base = int(table[base, 2])
    return matrix


def cauchy(k: int, m: int) -> Bytes:
    """ISA-L gf_gen_cauchy1_matrix, parity rows: 1 / ((k + i) ^ j)."""
    return inverses()[(k + np.arange(m)[:, None]) ^ np.arange(k)[None, :]]


def backblaze(k: int, m: int) -> Bytes:
    """Return the Vandermonde matrix V[i, j] = i^j times the inverse of its top k
    rows, by the galois package.
    """
    field = galois.GF(2**8, irreducible_poly=POLYNOMIAL)
    whole = np.empty((k + m, k), dtype=np.uint8)
    whole[:, 0] = 1  # 0^0 = 1
    for j in range(1, k):
        whole[:, j] = products()[whole[:, j - 1], np.arange(k + m)]
    return np.asarray(field(whole[k:]) @ np.linalg.inv(field(whole[:k])), dtype=np.uint8)


def lch(k: int, m: int) -> Bytes:
    """Return values at x[j] of the polynomials that are 1 at i and 0 on the rest of {0..M-1}, by products;
    after the last x[j], 1 / (x[j] ^ i).
    """
    table, inverse = products(), inverses()
    size = 1 << (m - 1).bit_length()
    matrix = np.empty((m, k), dtype=np.uint8)
    for i in range(m):
        for j, x in enumerate([*range(size, 256), *range(m, size)][:k]):
            value = int(inverse[x ^ i])
            if x >= size:
                value = 1
                for v in set(range(size)) - {i}:
                    value = int(table[table[value, x ^ v], inverse[i ^ v]])
            matrix[i, j] = value
    return matrix


def cauchy_orig(k: int, m: int) -> Bytes:
    """Jerasure cauchy_original_coding_matrix: 1 / (i ^ (m + j))."""
    return inverses()[np.arange(m)[:, None] ^ (m + np.arange(k)[None, :])]


def ones(matrix: Bytes) -> Bytes:
    """Return the numbers of ones in the 8 x 8 bit matrices of all elements."""
    images = products()[matrix][..., 1 << np.arange(8)]
    return np.unpackbits(images, axis=-1).sum(axis=-1)


def cauchy_good(k: int, m: int) -> Bytes:
    """Jerasure cauchy_good_general_coding_matrix: columns scaled to a first row of 1, then each row divided
    by the element that leaves the fewest ones; two rows: 1 and the lightest elements."""
    table, inverse = products(), inverses()
    if m == 2:
        elements = np.arange(1, 256, dtype=np.uint8)
        order = np.argsort(ones(elements), kind="stable")
        return np.stack([np.ones(k, dtype=np.uint8), elements[order][:k]])
    matrix = cauchy_orig(k, m)
    matrix = table[matrix, inverse[matrix[0]]]
    for row in matrix[1:]:
        choices = np.stack([row, *(table[row, inverse[element]] for element in row)])
        row[:] = choices[np.argmin(ones(choices).sum(axis=1))]
    return matrix


def random_matrix(k: int, m: int, seed: int) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, (m, k), dtype=np.uint8)


def rank(rows: Iterable[Sequence[int]], polynomial: int = POLYNOMIAL) -> int:
    """Return the rank of a small matrix, by elimination row by row."""
    table, inverse = products(polynomial), inverses(polynomial)
    basis: list[tuple[int, Bytes]] = []
    for row in rows:
        vector = np.array(row, dtype=np.uint8)
        for pivot, other in basis:
            vector ^= table[vector[pivot]][other]
        nonzero = np.flatnonzero(vector)
        if nonzero.size:
            basis.append((int(nonzero[0]), table[inverse[vector[nonzero[0]]]][vector]))
    return len(basis)


def placed(rows: int, length: int, offset: int) -> Bytes:
    """Return rows of zeros that begin so many bytes behind a cache line."""
    pitch = (length + 127) // 64 * 64
    memory = np.zeros(rows * pitch + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + rows * pitch].reshape(rows, pitch)[:, offset : offset + length]


class Arena:
    """Shards in one block of memory, each at its own misalignment, with guard bytes around it."""

    GUARD = 96

    def __init__(self, contents: Bytes) -> None:
        count, self.length = contents.shape
        pitch = self.length + self.GUARD
        self.memory = np.full(count * pitch + 2 * self.GUARD, 0xA5, dtype=np.uint8)
        # Steps of 37 are odd: all residues modulo 64 occur.
        self.starts = [self.GUARD // 2 + i * pitch + i * 37 % 64 for i in range(count)]
        self.original = contents
        for i in range(count):
            self.shard(i)[:] = contents[i]

    def shard(self, index: int) -> Bytes:
        return self.memory[self.starts[index] : self.starts[index] + self.length]

    def pointers(self, indices: Iterable[int] | None = None) -> ctypes.Array[ctypes.c_void_p]:
        """Return a C array of pointers to the shards (all of them by default); index -1 gives NULL."""
        chosen = range(len(self.starts)) if indices is None else list(indices)
        base = self.memory.ctypes.data
        return (ctypes.c_void_p * len(chosen))(*(None if i < 0 else base + self.starts[i] for i in chosen))

    def expect(self, contents: Bytes) -> None:
        """Check that every shard has these contents and that every guard byte is unchanged."""
        for i, expected in enumerate(contents):
            assert np.array_equal(self.shard(i), expected), f"shard {i} differs"
        guards = self.memory.copy()
        for start in self.starts:
            guards[start : start + self.length] = 0xA5
        assert (guards == 0xA5).all(), "a byte outside the shards was written"


class Codec:
    """A gfsmith_codec; destroyed with the object."""

    def __init__(self, api: Api, handle: ctypes.c_void_p, k: int, m: int) -> None:
        self.api, self.handle, self.k, self.m = api, handle, k, m

    def __del__(self) -> None:
        self.api.lib.gfsmith_codec_destroy(self.handle)

    def hint(self, hint: int) -> int:
        return int(self.api.lib.gfsmith_codec_hint(self.handle, hint))

    def packets(self, packet: int) -> int:
        return int(self.api.lib.gfsmith_codec_packets(self.handle, packet))

    def encode(self, length: int, data: object, parity: object) -> int:
        return int(self.api.lib.gfsmith_encode(self.handle, length, data, parity))

    def update(self, length: int, index: int, delta: object, parity: object) -> int:
        return int(self.api.lib.gfsmith_update(self.handle, length, index, delta, parity))

    def update_many(self, length: int, indices: Sequence[int], deltas: object, parity: object) -> int:
        listed = (ctypes.c_uint * len(indices))(*indices)
        lib = self.api.lib
        return int(lib.gfsmith_update_many(self.handle, length, len(indices), listed, deltas, parity))

    def append(self, length: int, index: int, data: object, parity: object, first: bool) -> int:
        return int(self.api.lib.gfsmith_append(self.handle, length, index, data, parity, first))

    def locate(self, length: int, shards: object) -> tuple[int, list[int], list[int]]:
        """Return the status, the k + m + 2 counts, and the shard that `where` names at each position."""
        counts = (ctypes.c_size_t * (self.k + self.m + 2))(*[77] * (self.k + self.m + 2))
        where = (ctypes.c_uint16 * max(length, 1))(*[77] * max(length, 1))
        status = int(self.api.lib.gfsmith_locate(self.handle, length, shards, counts, where))
        return status, list(counts), list(where)[:length]

    def correct(
        self, length: int, shards: object, missing: Iterable[int]
    ) -> tuple[int, list[int], list[int]]:
        """Return the status, the k + m + 2 counts, and the number of corrected symbols at each position."""
        counts = (ctypes.c_size_t * (self.k + self.m + 2))(*[77] * (self.k + self.m + 2))
        found = (ctypes.c_uint16 * max(length, 1))(*[77] * max(length, 1))
        lib, present = self.api.lib, self.present(missing)
        status = int(lib.gfsmith_correct(self.handle, length, shards, present, counts, found))
        return status, list(counts), list(found)[:length]

    def check(self, length: int, shards: object) -> tuple[int, bool | None]:
        """Return the status and *ok; None if the call did not write it."""
        ok = ctypes.c_uint8(0x55)
        status = int(self.api.lib.gfsmith_check(self.handle, length, shards, ctypes.byref(ok)))
        return status, None if ok.value == 0x55 else bool(ok.value)

    def reconstruct(
        self,
        length: int,
        shards: object,
        missing: Iterable[int],
        wanted: Iterable[int] | None = None,
    ) -> int:
        present = self.present(missing)
        flags = None if wanted is None else self.flags(wanted)
        lib = self.api.lib
        return int(lib.gfsmith_reconstruct(self.handle, length, shards, present, flags))

    def flags(self, shards: Iterable[int]) -> ctypes.Array[ctypes.c_bool]:
        flags = (ctypes.c_bool * (self.k + self.m))()
        for i in shards:
            flags[i] = True
        return flags

    def present(self, missing: Iterable[int]) -> ctypes.Array[ctypes.c_bool]:
        gone = set(missing)
        return self.flags(i for i in range(self.k + self.m) if i not in gone)

    def plan(self, missing: Iterable[int], wanted: Iterable[int] | None = None) -> Plan | int:
        """Return the plan, or the status if there is none."""
        handle = ctypes.c_void_p()
        flags = None if wanted is None else self.flags(wanted)
        status = self.api.lib.gfsmith_plan_create(
            ctypes.byref(handle), self.handle, self.present(missing), flags
        )
        assert (status == OK) == bool(handle)
        return Plan(self.api, handle) if status == OK else int(status)

    def determined(self, missing: Iterable[int]) -> tuple[int, ...]:
        """Return the shards that the present shards determine."""
        found = (ctypes.c_bool * (self.k + self.m))()
        assert self.api.lib.gfsmith_determined(self.handle, self.present(missing), found) == OK
        return tuple(i for i, one in enumerate(found) if one)


class Plan:
    """A gfsmith_plan; destroyed with the object."""

    def __init__(self, api: Api, handle: ctypes.c_void_p) -> None:
        self.api, self.handle = api, handle
        self.reads = self._list(api.lib.gfsmith_plan_reads)
        self.targets = self._list(api.lib.gfsmith_plan_targets)
        self.least = bool(api.lib.gfsmith_plan_is_least(handle))
        elements = ctypes.string_at(api.lib.gfsmith_plan_matrix(handle), len(self.targets) * len(self.reads))
        width = len(self.reads)
        self.matrix = tuple(tuple(elements[t * width : (t + 1) * width]) for t in range(len(self.targets)))

    def __del__(self) -> None:
        self.api.lib.gfsmith_plan_destroy(self.handle)

    def _list(self, function: Callable[..., int]) -> tuple[int, ...]:
        count = ctypes.c_uint()
        return tuple(ctypes.string_at(function(self.handle, ctypes.byref(count)), count.value))

    def run(self, length: int, shards: object) -> int:
        return int(self.api.lib.gfsmith_plan_run(self.handle, length, shards))


INTACT, UNEXPLAINED = 0xFFFF, 0xFFFE  # values in `where` of gfsmith_locate


class Api:
    """The functions of gfsmith.h and gfsmith_plan.h with their types."""

    def __init__(self, path: Path) -> None:
        lib = self.lib = ctypes.CDLL(str(path))
        pointer, size, unsigned = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
        out = ctypes.POINTER(ctypes.c_void_p)
        lib.gfsmith_strerror.restype = lib.gfsmith_version.restype = ctypes.c_char_p
        lib.gfsmith_isa.restype = ctypes.c_char_p
        lib.gfsmith_set_isa.argtypes = [ctypes.c_char_p]
        lib.gfsmith_codec_create.argtypes = [out, ctypes.c_char_p, unsigned, unsigned]
        lib.gfsmith_codec_create_matrix.argtypes = [out, unsigned, unsigned, unsigned, pointer]
        lib.gfsmith_codec_hint.argtypes = [pointer, ctypes.c_int]
        lib.gfsmith_codec_packets.argtypes = [pointer, size]
        lib.gfsmith_codec_destroy.argtypes = [pointer]
        lib.gfsmith_codec_destroy.restype = None
        lib.gfsmith_encode.argtypes = [pointer, size, pointer, pointer]
        lib.gfsmith_update.argtypes = [pointer, size, unsigned, pointer, pointer]
        lib.gfsmith_reconstruct.argtypes = [pointer, size, pointer, pointer, pointer]
        lib.gfsmith_check.argtypes = [pointer, size, pointer, pointer]
        lib.gfsmith_update_many.argtypes = [pointer, size, unsigned, pointer, pointer, pointer]
        lib.gfsmith_append.argtypes = [pointer, size, unsigned, pointer, pointer, ctypes.c_bool]
        lib.gfsmith_locate.argtypes = [pointer, size, pointer, pointer, pointer]
        lib.gfsmith_correct.argtypes = [pointer, size, pointer, pointer, pointer, pointer]
        lib.gfsmith_codec_create_lrc.argtypes = [out, unsigned, unsigned, unsigned]
        lib.gfsmith_plan_create.argtypes = [out, pointer, pointer, pointer]
        for list_of in (lib.gfsmith_plan_reads, lib.gfsmith_plan_targets):
            list_of.argtypes = [pointer, ctypes.POINTER(unsigned)]
            list_of.restype = pointer
        lib.gfsmith_plan_matrix.argtypes = [pointer]
        lib.gfsmith_plan_matrix.restype = pointer
        lib.gfsmith_plan_is_least.argtypes = [pointer]
        lib.gfsmith_plan_is_least.restype = ctypes.c_bool
        lib.gfsmith_plan_run.argtypes = [pointer, size, pointer]
        lib.gfsmith_plan_destroy.argtypes = [pointer]
        lib.gfsmith_plan_destroy.restype = None
        lib.gfsmith_determined.argtypes = [pointer, pointer, pointer]

    def isa(self) -> str:
        return str(self.lib.gfsmith_isa().decode())

    def set_isa(self, name: str) -> int:
        return int(self.lib.gfsmith_set_isa(name.encode()))

    def create(self, code: str, k: int, m: int) -> Codec:
        handle = ctypes.c_void_p()
        status = self.lib.gfsmith_codec_create(ctypes.byref(handle), code.encode(), k, m)
        assert status == OK, (status, code, k, m)
        return Codec(self, handle, k, m)

    def create_matrix(self, matrix: Bytes, polynomial: int = POLYNOMIAL) -> Codec:
        m, k = matrix.shape
        handle = ctypes.c_void_p()
        status = self.lib.gfsmith_codec_create_matrix(
            ctypes.byref(handle), polynomial, k, m, matrix.tobytes()
        )
        assert status == OK, (status, polynomial, k, m)
        return Codec(self, handle, k, m)

    def create_lrc(self, k: int, l: int, r: int) -> Codec:  # noqa: E741 - the papers' name
        handle = ctypes.c_void_p()
        status = self.lib.gfsmith_codec_create_lrc(ctypes.byref(handle), k, l, r)
        assert status == OK, (status, k, l, r)
        return Codec(self, handle, k, l + r)


def shards_of(matrix: Bytes, length: int, seed: int, polynomial: int = POLYNOMIAL) -> NDArray[np.uint8]:
    """(k + m) x len bytes: seeded random data and its parities by the reference."""
    data = np.random.default_rng(seed).integers(0, 256, (matrix.shape[1], length), dtype=np.uint8)
    return np.concatenate([data, encode(matrix, data, polynomial)])


@cache
def cauchy_shards(k: int, m: int, length: int) -> Bytes:
    """Return shards of the Cauchy code, computed once for all instruction sets.
    Tests must not change them.
    """
    shards = shards_of(cauchy(k, m), length, seed=1000 * k + m)
    shards.flags.writeable = False
    return shards
