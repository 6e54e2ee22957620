"""Calls two libraries with Jerasure's interface with the same arguments: differential.py OURS THEIRS [TEST]

Compares results, all bytes of memory and the statistics. Prints the number of comparisons, or the first
difference, and exits with 1. With TEST, only the functions below with this in their names run.
"""

# ruff: noqa: B023 -- each function is called before the loop goes on

from __future__ import annotations

import ctypes as c
import mmap
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

INTS = c.POINTER(c.c_int)
SCHEDULE = c.POINTER(INTS)
CACHE = c.POINTER(SCHEDULE)
WORDS = (8, 16, 32)
XORS = ("galois_region_xor", "galois_w8_region_xor", "galois_w16_region_xor", "galois_w32_region_xor")
#: Functions without a result.
VOID = (
    *XORS,
    "galois_w08_region_multiply",
    "galois_w16_region_multiply",
    "galois_w32_region_multiply",
    "reed_sol_galois_w08_region_multby_2",
    "reed_sol_galois_w16_region_multby_2",
    "reed_sol_galois_w32_region_multby_2",
    "jerasure_do_parity",
    "jerasure_matrix_encode",
    "jerasure_matrix_dotprod",
    "jerasure_bitmatrix_encode",
    "jerasure_schedule_encode",
    "jerasure_do_scheduled_operations",
)
GAP = 64  # between shards, and so their alignment


class Difference(Exception):
    """The libraries disagree."""


def ints(values: Sequence[int]) -> Any:
    return (c.c_int * len(values))(*values)


class Library:
    def __init__(self, path: str) -> None:
        self.so = c.CDLL(path)
        self.memory = mmap.mmap(-1, 1 << 18)
        self.base = c.addressof(c.c_char.from_buffer(self.memory))
        for name in (
            "reed_sol_vandermonde_coding_matrix",
            "reed_sol_extended_vandermonde_matrix",
            "reed_sol_big_vandermonde_distribution_matrix",
            "reed_sol_r6_coding_matrix",
            "cauchy_original_coding_matrix",
            "cauchy_xy_coding_matrix",
            "cauchy_good_general_coding_matrix",
            "liberation_coding_bitmatrix",
            "liber8tion_coding_bitmatrix",
            "blaum_roth_coding_bitmatrix",
            "jerasure_matrix_to_bitmatrix",
            "jerasure_matrix_multiply",
            "jerasure_erasures_to_erased",
        ):
            getattr(self.so, name).restype = INTS
        self.so.jerasure_dumb_bitmatrix_to_schedule.restype = SCHEDULE
        self.so.jerasure_smart_bitmatrix_to_schedule.restype = SCHEDULE
        self.so.jerasure_generate_schedule_cache.restype = CACHE
        for name in VOID:
            getattr(self.so, name).restype = None
        for name in ("galois_init_field", "galois_get_field_ptr"):
            getattr(self.so, name).restype = c.c_void_p

    def __getattr__(self, name: str) -> Any:
        return getattr(self.so, name)

    def statistics(self) -> list[float]:
        numbers = (c.c_double * 3)()
        self.so.jerasure_get_stats(numbers)
        return list(numbers)

    def shards(self, first: int, count: int, size: int) -> Any:
        """Return pointers to shards in the memory, with gaps."""
        step = -(-size // GAP) * GAP + GAP
        return (c.c_void_p * count)(*(self.base + (first + n) * step + GAP for n in range(count)))


class Comparison:
    def __init__(self, ours: str, theirs: str, seed: int) -> None:
        self.libraries = (Library(ours), Library(theirs))
        self.random = random.Random(seed)
        self.count = 0

    def same(self, subject: str, call: Callable[[Library], Any]) -> Any:
        """Compare the results of a call; return the first one."""
        ours, theirs = (call(library) for library in self.libraries)
        self.count += 1
        if ours != theirs:
            raise Difference(f"{subject}\n{str(ours)[:300]}\n{str(theirs)[:300]}")
        return ours

    def same_memory(self, subject: str, size: int, call: Callable[[Library], Any]) -> Any:
        """The same for calls that read or write the memory, filled with random bytes before if size > 0."""
        if size:
            data = self.random.randbytes(size)
            for library in self.libraries:
                library.memory[:size] = data
                library.statistics()
        result, *_ = self.same(subject, lambda lib: (call(lib), lib.statistics(), lib.memory[:]))
        return result

    def matrix(self, name: str, *arguments: Any, size: int) -> list[int] | None:
        """Compare a matrix that a function allocates."""

        def call(library: Library) -> list[int] | None:
            made = getattr(library, name)(*arguments)
            return made[:size] if made else None

        return self.same(f"{name}{arguments}", call)

    def integer(self, w: int) -> int:
        """Return an element of GF(2^w) as an int of C, often a short one."""
        value = self.random.getrandbits(self.random.choice((w, w, 1, min(w, 3))))
        return value - (1 << 32) if value >> 31 else value


def test_words(t: Comparison) -> None:
    for w in range(1, 33):
        for _ in range(12):
            a, b = t.integer(w), t.integer(w)
            for name in ("multiply", "divide"):
                t.same(
                    f"galois_single_{name}({a}, {b}, {w})",
                    lambda lib, n=name: getattr(lib, f"galois_single_{n}")(a, b, w),
                )
            if w > 1:
                t.same(f"galois_inverse({a}, {w})", lambda lib: lib.galois_inverse(a, w))
                t.same(f"cauchy_n_ones({a}, {w})", lambda lib: lib.cauchy_n_ones(a, w))


def test_status(t: Comparison) -> None:
    for w in (0, 33, 65, 7, 8, 8, 32):
        names = ("galois_init_default_field", "galois_uninit_field")
        for name in (
            names[:1]
            if w in (0, 33, 65)
            else ("galois_get_field_ptr", names[0], "galois_get_field_ptr", names[1])
        ):
            t.same(f"{name}({w})", lambda lib, n=name: bool(getattr(lib, n)(w)))
    t.same("jerasure_autoconf_test", lambda lib: lib.jerasure_autoconf_test())


class Field(c.Structure):
    WORD = c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_uint32, c.c_uint32)
    _fields_ = [
        ("multiply", WORD),
        ("divide", WORD),
        ("inverse", c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_uint32)),
        ("region", c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_void_p, c.c_uint32, c.c_int, c.c_int)),
        ("word", c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_void_p, c.c_int, c.c_int)),
    ]


def use_field(lib: Library, pointer: int, w: int, a: int, b: int) -> list[int]:
    """Call every function of an object; its words are numbered as gf-complete numbers them."""
    field = Field.from_address(pointer)
    found = [field.multiply(pointer, a, b), field.divide(pointer, a, b), field.inverse(pointer, b)]
    if w in (4, *WORDS):
        found += [field.word(pointer, lib.base, 1024, n) for n in range(0, 1024 * 8 // w, 37)]
    if w in WORDS:
        field.region(pointer, lib.base, lib.base + 1024, a, 1024, 0)
        field.region(pointer, lib.base + 1024, lib.base + 4096, b, 512, 1)
    return found


def test_fields(t: Comparison) -> None:
    for w in (3, 4, 8, 16, 32, 13):
        a, b = (t.random.randrange(1, 1 << w) for _ in "ab")
        for library in t.libraries:
            library.galois_init_default_field(w)
        t.same_memory(
            f"galois_get_field_ptr({w})",
            8192,
            lambda lib: use_field(lib, lib.galois_get_field_ptr(w), w, a, b),
        )


#: Width, multiplication (GF_MULT_SHIFT, LOG_TABLE, BYTWO_p), polynomial.
OTHER_FIELDS = ((8, 1, 0x12B), (16, 1, 0x1100B), (8, 8, 0x163), (32, 1, 0x100400007), (32, 5, 0x1000000AF))


def test_techniques(t: Comparison) -> None:
    """Fields that a program makes, here with other polynomials, replace the default ones."""
    for w, kind, polynomial in OTHER_FIELDS:
        pointers = {
            lib: lib.galois_init_field(w, kind, 0, 0, c.c_uint64(polynomial), 0, 0) for lib in t.libraries
        }
        a, b = (t.random.randrange(1, 1 << w) for _ in "ab")
        t.same_memory(
            f"galois_init_field({w}, {kind}, {polynomial:#x})",
            8192,
            lambda lib: use_field(lib, pointers[lib], w, a, b),
        )
        for library in t.libraries:
            library.galois_change_technique(c.c_void_p(pointers[library]), w)
        for _ in range(4):
            compare_coding(t, w, "galois_change_technique ")
        for library in t.libraries:
            library.galois_change_technique(
                c.c_void_p(library.galois_init_field(w, 0, 0, 0, c.c_uint64(0), 0, 0)), w
            )


def test_matrices(t: Comparison) -> None:
    for _ in range(150):
        w = t.random.choice((*WORDS, *range(1, 33)))
        k, m = t.random.randint(1, 9), t.random.randint(1, 6)
        t.matrix("reed_sol_vandermonde_coding_matrix", k, m, w, size=k * m)
        t.matrix("reed_sol_extended_vandermonde_matrix", k, m, w, size=k * m)
        t.matrix("reed_sol_big_vandermonde_distribution_matrix", k + m - 1, k, w, size=(k + m - 1) * k)
        t.matrix("reed_sol_r6_coding_matrix", k, w, size=2 * k)
        t.matrix("cauchy_original_coding_matrix", k, m, w, size=k * m)
        t.matrix("cauchy_good_general_coding_matrix", k, m, w, size=k * m)
        t.matrix("liberation_coding_bitmatrix", k, w, size=2 * k * w * w)
        t.matrix("blaum_roth_coding_bitmatrix", k, w, size=2 * k * w * w)
        t.matrix("liber8tion_coding_bitmatrix", k, size=128 * k)
        improved = [t.random.randrange(1, min(1 << w, 1 << 30)) for _ in range(k * m)]
        matrix = {lib: ints(improved) for lib in t.libraries}
        for library in t.libraries:
            library.cauchy_improve_coding_matrix(k, m, w, matrix[library])
        t.same(f"cauchy_improve_coding_matrix({k}, {m}, {w}, {improved})", lambda lib: matrix[lib][:])
        points = t.random.sample(range(min(1 << w, 1 << 20)), min(k + m, 1 << w))
        if len(points) == k + m:
            x, y = ints(points[:m]), ints(points[m:])
            t.matrix("cauchy_xy_coding_matrix", k, m, w, x, y, size=k * m)
    for k, m, w in (
        (250, 6, 8),
        (251, 6, 8),
        (30, 2, 5),
        (31, 2, 5),
        (32, 2, 5),
        (60, 2, 11),
        (20, 2, 12),
        (9, 3, 16),
    ):
        t.matrix("reed_sol_vandermonde_coding_matrix", k, m, w, size=k * m)
        t.matrix("cauchy_good_general_coding_matrix", k, m, w, size=k * m)


def square(t: Comparison, rows: int, w: int) -> list[int]:
    """Return a random matrix, often singular or with zeros on the diagonal."""
    found = [t.integer(w) for _ in range(rows * rows)]
    if rows > 1 and t.random.random() < 0.3:
        found[:rows] = found[rows : 2 * rows]
    return found


def test_elimination(t: Comparison) -> None:
    def call(lib: Library, name: str, values: list[int], rows: int, *w: int) -> Any:
        mat, inverse = ints(values), ints([0] * len(values))
        arguments = (mat, inverse, rows) if "invert_" in name else (mat, rows)
        status = getattr(lib, name)(*arguments, *w)
        return status, mat[:], inverse[:] if status == 0 and "invert_" in name else None

    for _ in range(120):
        rows, w = t.random.randint(1, 7), t.random.choice((*WORDS, 3, 4, 11))
        values, bits = square(t, rows, w), square(t, rows, 1)
        for name in ("jerasure_invert_matrix", "jerasure_invertible_matrix"):
            t.same(f"{name} {values} {w}", lambda lib, n=name: call(lib, n, values, rows, w))
        for name in ("jerasure_invert_bitmatrix", "jerasure_invertible_bitmatrix"):
            t.same(f"{name} {bits}", lambda lib, n=name: call(lib, n, bits, rows))
        columns = t.random.randint(1, 4)
        other = [t.integer(w) for _ in range(rows * columns)]
        t.matrix(
            "jerasure_matrix_multiply",
            ints(values),
            ints(other),
            rows,
            rows,
            rows,
            columns,
            w,
            size=rows * columns,
        )
        t.matrix("jerasure_matrix_to_bitmatrix", columns, rows, w, ints(other), size=rows * columns * w * w)


def test_regions(t: Comparison) -> None:
    for _ in range(150):
        w = t.random.choice(WORDS)
        size = (
            t.random.choice((0, 8, 16, 48, 1000, 4096, 4104, 30000))
            if w < 32
            else t.random.randrange(0, 9000, 4)
        )
        by, add = t.integer(w), t.random.randint(0, 1)
        name = f"galois_w{w:02}_region_multiply"
        if by not in (0, 1) or w > 8:
            t.same_memory(
                f"{name}({by}, {size}, {add})",
                1 << 17,
                lambda lib: getattr(lib, name)(
                    c.c_void_p(lib.base), by, size, c.c_void_p(lib.base + 32768), add
                ),
            )
        name = f"reed_sol_galois_w{w:02}_region_multby_2"
        t.same_memory(f"{name}({size})", 1 << 17, lambda lib: getattr(lib, name)(c.c_void_p(lib.base), size))
        for name in XORS:
            t.same_memory(
                f"{name}({size})",
                1 << 17,
                lambda lib, n=name: getattr(lib, n)(c.c_void_p(lib.base), c.c_void_p(lib.base + 32768), size),
            )


def erasures(t: Comparison, k: int, m: int, most: int | None = None) -> Any:
    """Return a list of losses that ends with -1: at most m, and sometimes one too many."""
    lost = t.random.randint(0, min(k + m, m + 1) if most is None else most)
    return ints([*t.random.sample(range(k + m), lost), -1])


def coding_matrix(t: Comparison, k: int, m: int, w: int) -> tuple[list[int], int]:
    """Return a matrix of rows and whether its first row is 1."""
    library, kind = t.libraries[1], t.random.randint(0, 3)
    if kind == 0:
        return library.reed_sol_vandermonde_coding_matrix(k, m, w)[: k * m], 1
    if kind == 1:
        return library.cauchy_original_coding_matrix(k, m, w)[: k * m], 0
    if kind == 2 and m == 2:
        return library.reed_sol_r6_coding_matrix(k, w)[: 2 * k], 1
    matrix = [t.integer(w) for _ in range(k * m)]
    return matrix, int(all(element == 1 for element in matrix[:k]))


def compare_coding(t: Comparison, w: int, subject: str = "") -> None:
    k, m = t.random.choice((1, 2, 3, 4, 6, 10, 70, 17)), t.random.choice((1, 2, 2, 3, 4, 9))
    size = t.random.choice((16, 32, 256, 1024, 1040, 2064) if k < 70 else (16, 272))
    values, ones = coding_matrix(t, k, m, w)
    matrix, lost = ints(values), erasures(t, k, m)
    rest = (k, m, w, matrix)
    subject += f"(k={k}, m={m}, w={w}, size={size}, ones={ones}, lost={lost[:]}, {values[:40]})"

    def shards(lib: Library) -> tuple[Any, Any]:
        return lib.shards(0, k, size), lib.shards(k, m, size)

    t.same_memory(
        f"jerasure_matrix_encode{subject}",
        1 << 18,
        lambda lib: lib.jerasure_matrix_encode(*rest, *shards(lib), size),
    )
    for library in t.libraries:
        for name in lost[:-1]:
            c.memset(library.shards(0, k + m, size)[name], 0xEE, size)
    t.same_memory(
        f"jerasure_matrix_decode{subject}",
        0,
        lambda lib: lib.jerasure_matrix_decode(*rest, ones, lost, *shards(lib), size),
    )
    erased = t.matrix("jerasure_erasures_to_erased", k, m, lost, size=k + m)
    if erased is None:
        return

    def decoding(lib: Library) -> tuple[Any, Any, Any]:
        inverse, ids = ints([0] * (k * k)), ints([0] * k)
        status = lib.jerasure_make_decoding_matrix(*rest, ints(erased), inverse, ids)
        return status, inverse[:] if status == 0 else None, ids[:]

    status, inverse, ids = t.same(f"jerasure_make_decoding_matrix{subject}", decoding)
    if status == 0 and k + m < 30:
        row, to = t.random.randrange(k), t.random.choice(sorted(set(range(k + m)) - set(ids)) or [-1])
        if to >= 0:
            t.same_memory(
                f"jerasure_matrix_dotprod{subject}",
                0,
                lambda lib: lib.jerasure_matrix_dotprod(
                    k, w, ints(inverse[row * k : row * k + k]), ints(ids), to, *shards(lib), size
                ),
            )


def test_coding(t: Comparison) -> None:
    for _ in range(220):
        compare_coding(t, t.random.choice(WORDS))
    for size in (1, 7, 8, 15, 100, 1001, 5003):  # words of 8 bits allow any length
        row = ints([1, 1, 1, 3, 200])
        t.same_memory(
            f"jerasure_matrix_encode {size}",
            1 << 17,
            lambda lib: lib.jerasure_matrix_encode(
                5, 1, 8, row, lib.shards(0, 5, size), lib.shards(5, 1, size), size
            ),
        )
        for k in (1, 5):
            t.same_memory(
                f"jerasure_do_parity {k} {size}",
                1 << 17,
                lambda lib: lib.jerasure_do_parity(
                    k, lib.shards(0, k, size), c.c_void_p(lib.shards(k, 1, size)[0]), size
                ),
            )
    for w in WORDS:
        for k in (1, 2, 7):
            t.same_memory(
                f"reed_sol_r6_encode {k} {w}",
                1 << 17,
                lambda lib: (
                    lib.reed_sol_r6_encode(k, w, lib.shards(0, k, 1024), lib.shards(k, 2, 1024), 1024),
                    lib.statistics(),
                )[0],
            )


def listed(schedule: Any) -> list[list[int]]:
    """Return the operations of a schedule, without its end."""
    found: list[list[int]] = []
    while schedule[len(found)][0] >= 0:
        found.append(schedule[len(found)][:5])
    return found


def bit_matrix(t: Comparison, k: int, m: int, w: int) -> list[int]:
    library, size = t.libraries[1], k * m * w * w
    kind = t.random.randint(0, 3)
    if kind == 0 and m == 2 and k <= w and w > 1:
        return library.liberation_coding_bitmatrix(k, w)[:size]
    if kind == 1 and k + m <= 1 << w:
        return library.jerasure_matrix_to_bitmatrix(
            k, m, w, library.cauchy_good_general_coding_matrix(k, m, w)
        )[:size]
    if kind == 2 and w == 8:
        return library.jerasure_matrix_to_bitmatrix(
            k, m, w, library.reed_sol_vandermonde_coding_matrix(k, m, w)
        )[:size]
    return [int(t.random.random() < 0.4) for _ in range(size)]


def compare_bits(t: Comparison, k: int, m: int, w: int) -> None:
    packet = t.random.choice((8, 16, 64, 72))
    size = packet * w * t.random.randint(1, 3)
    values = bit_matrix(t, k, m, w)
    bits, lost, rest = ints(values), erasures(t, k, m), (k, m, w)
    identity = [int(n // (k * w) == n % w) for n in range(k * w * w)]
    ones = int(values[: len(identity)] == identity)
    subject = f"(k={k}, m={m}, w={w}, packet={packet}, size={size}, lost={lost[:]})"

    def layout(lib: Library) -> tuple[Any, ...]:
        return lib.shards(0, k, size), lib.shards(k, m, size), size, packet

    t.same_memory(
        f"jerasure_bitmatrix_encode{subject}",
        1 << 18,
        lambda lib: lib.jerasure_bitmatrix_encode(*rest, bits, *layout(lib)),
    )
    encoded = t.libraries[0].memory[:]

    def again(name: str, call: Callable[[Library], Any]) -> Any:
        for library in t.libraries:
            library.memory[:] = encoded
            for shard in lost[:-1]:
                c.memset(library.shards(0, k + m, size)[shard], 0xEE, size)
        return t.same_memory(f"{name}{subject}", 0, call)

    for smart in ("dumb", "smart"):
        name = f"jerasure_{smart}_bitmatrix_to_schedule"
        schedules = {lib: getattr(lib, name)(*rest, bits) for lib in t.libraries}
        t.same(f"{name}{subject}", lambda lib, s=schedules: listed(s[lib]))
        again(
            "jerasure_schedule_encode",
            lambda lib, s=schedules: lib.jerasure_schedule_encode(*rest, s[lib], *layout(lib)),
        )
        again(
            "jerasure_do_scheduled_operations",
            lambda lib, s=schedules: lib.jerasure_do_scheduled_operations(
                lib.shards(0, k + m, size), s[lib], packet
            ),
        )
        for library in t.libraries:
            library.jerasure_free_schedule(schedules[library])
    status = again(
        "jerasure_bitmatrix_decode",
        lambda lib: lib.jerasure_bitmatrix_decode(*rest, bits, ones, lost, *layout(lib)),
    )
    # The original reads a schedule without operations, and ignores that a matrix has no inverse.
    if len(lost) == 1 or status != 0:
        return
    for smart in (0, 1):
        again(
            "jerasure_schedule_decode_lazy",
            lambda lib, s=smart: lib.jerasure_schedule_decode_lazy(*rest, bits, lost, *layout(lib), s),
        )
    if m == 2 and ones and len(lost) <= 3 and decodable(t, rest, bits):
        caches = {lib: lib.jerasure_generate_schedule_cache(*rest, bits, 1) for lib in t.libraries}
        again(
            "jerasure_schedule_decode_cache",
            lambda lib: lib.jerasure_schedule_decode_cache(*rest, caches[lib], lost, *layout(lib)),
        )
        for library in t.libraries:
            library.jerasure_free_schedule_cache(k, m, caches[library])


def decodable(t: Comparison, rest: tuple[int, int, int], bits: Any) -> bool:
    """Are all losses of two shards repairable? The original does not check it in a cache."""
    k, _, w = rest
    inverse, ids = ints([0] * (k * w) ** 2), ints([0] * k)
    erased = ([int(n in (a, b)) for n in range(k + 2)] for a in range(k + 2) for b in range(a))
    return all(
        t.libraries[1].jerasure_make_decoding_bitmatrix(*rest, bits, ints(list(e)), inverse, ids) == 0
        for e in erased
    )


def test_bits(t: Comparison) -> None:
    for _ in range(90):
        w = t.random.choice((2, 3, 4, 5, 7, 8, 8))
        compare_bits(t, t.random.randint(1, 6), t.random.choice((1, 2, 2, 2, 3)), w)
    for _ in range(3):
        compare_bits(t, 30, 2, 8)  # rows of more than 64 packets


TESTS = (
    *(test_status, test_words, test_fields, test_matrices, test_elimination, test_regions, test_coding),
    *(test_bits, test_techniques),
)


def main(ours: str, theirs: str, only: str = "") -> int:
    comparison = Comparison(ours, theirs, seed=27)
    try:
        for test in TESTS:
            if only in test.__name__:
                test(comparison)
    except Difference as difference:
        print(f"differs: {difference}")
        return 1
    print(f"{comparison.count} comparisons")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
