"""Proofs that transform.c computes the transforms of docs/wide.md, for all data, from the kernels that it
calls.

A library records the calls (native/transform_calls.c). Its rows have no memory, so no other access of a row
is possible, and the calls do not depend on data. A call has the meaning that the proofs of kernels establish.
Two proofs, with tables of every format, with kernels for one layer, for two, for four, and for two from and
to lines. Calls also compute the gaps between runs of rows, which belong to none:

- Complete transforms of up to 32 points: the calls are executed on bytes whose bits are linear forms in all
  bits of the input. The results are compared with the values of the basis polynomials.
- Every butterfly of transforms of up to 65,536 points has the place, the distance and the constant that the
  theorem of docs/wide.md demands, and follows those of the layer before it.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gfsmith.kernel.operation import ADDITIONS, BUTTERFLIES, Operation
from tests.oracle import transforms as oracle
from tests.oracle.wide import POLYNOMIALS, elements
from tests.support.compiler import Compiler
from tests.support.levels import sample, share
from tests.support.library import NATIVE, OK
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT

CORE = ROOT / "runtime/core/src"
SOURCES = [CORE / name for name in ("transform.c", "cantor.c", "tables.c", "field.c")]
START = 1 << 60  #: the address of row 0
CODES = ("leopard8", "leopard16")
FORMATS = {"bitplane": 1, "nibble": 2, "permxor": 3, "affine": 4}  #: as in enum gfs_format
#: As in enum gfs_operation.
OPERATIONS = {1: "mad", 5: "fft", 6: "ifft", 7: "fft4", 8: "ifft4", 9: "fft16", 10: "ifft16"}
FFT16, IFFT16 = 9, 10  #: ifft16 reads zeros instead of rows that are 0
REFFT16 = 11  #: ifft16, then fft16
#: fft4lines, ifft4lines, fft4scaled and ifft4scaled -> the operation of their layers
LINES = {12: 7, 13: 8, 14: 7, 15: 8}
SCALED = (14, 15)
RUN, RUNS, GAP = 4, 8, 256  #: rows of a run, runs before a second gap, and the bytes of a gap
LINES_START, LINES_PITCH = 1 << 61, 4096  #: the lines of row 0, and the distance of the next ones
SPARE, PIECE = 2 << 60, 4096 + GAP  #: from the first row to spare memory, and the distance of its pieces
SPARE_BYTES = 64  #: most bytes of a piece in a proof
VISIT, CLEAR, COPY = 100, 101, 102
ZEROS, JUNK = -1, -2  #: rows without a layer
CALL = np.dtype(
    [(name, "<u8") for name in ("operation", "len", "k", "table")] + [("src", "<u8", 16), ("dst", "<u8", 16)]
)


def build(compiler: Compiler, sources: Sequence[Path], *flags: str) -> ctypes.CDLL:
    """Build the library that records calls."""
    target = compiler.output / "transform_calls.so"
    files = map(str, (NATIVE / "transform_calls.c", *sources))
    output = ("-O1", "-shared", "-fPIC", *flags, "-o", str(target))
    compiler.run("gcc", *compiler.FLAGS, *compiler.INCLUDES, *files, *output)
    return ctypes.CDLL(str(target))


@dataclass(frozen=True, slots=True)
class Setup:
    """A build and a code: the field, the format of tables, and whether kernels for two layers exist, for
    four, and for two from and to lines, without products of the elements and with them."""

    code: str
    table: str
    four: bool
    sixteen: bool = False
    lines: bool = False
    scaled: bool = False

    @property
    def planes(self) -> int:
        return oracle.width(self.code) // 8


SETUPS = [Setup(*each) for each in itertools.product(CODES, FORMATS, (False, True))]
SETUPS += [Setup(code, "affine", four=True, sixteen=True) for code in CODES]
SETUPS += [
    Setup(code, "affine", True, sixteen, lines=True, scaled=scaled)
    for code, scaled, sixteen in itertools.product(CODES, (True, False), (False, True))
]


class Recorder:
    """The calls of transforms of at most n points with so many elements in a row."""

    def __init__(self, lib: ctypes.CDLL, setup: Setup, n: int, row: int = 1) -> None:
        self.lib, self.setup, self.row_bytes = lib, setup, row * setup.planes
        arguments = (oracle.width(setup.code), POLYNOMIALS[setup.code], FORMATS[setup.table])
        kernels = setup.four, setup.sixteen, setup.lines, setup.scaled
        run = RUN.bit_length() - 1
        assert lib.record_open(*arguments, *kernels, n, ctypes.c_size_t(self.row_bytes), run) == OK
        number = np.arange(n)
        self.spare = n * self.row_bytes  #: the first byte behind the rows
        self.starts = number * self.row_bytes + (number // RUN + number // RUN // RUNS) * GAP
        self._maps: dict[tuple[int, int], Any] = {}
        self._constants: dict[bytes, int] = {}

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_error: object) -> None:
        self.lib.record_close()

    def calls(self, name: str, *arguments: int) -> Any:
        """Return the calls of a transform, "forward", "inverse", "extend" or "derived". A call from lines is
        one that reads rows after these were visited, a call to lines one before that."""
        found, function = ctypes.c_void_p(), getattr(self.lib, f"record_{name}")
        function.restype = ctypes.c_size_t
        count = function(ctypes.byref(found), *arguments)
        if count == 0:
            return np.zeros(0, CALL)
        assert found.value is not None
        made = np.frombuffer(ctypes.string_at(found.value, count * CALL.itemsize), CALL)
        made = made[(made["operation"] != CLEAR) | (made["len"] > 0)]
        for n in reversed(np.flatnonzero(made["operation"] == REFFT16)):
            made = np.concatenate([made[:n], self._passes(made[n]), made[n + 1 :]])
        apart = (made["operation"] == IFFT16) & (made["src"] != made["dst"]).any(axis=1)
        for n in reversed(np.flatnonzero(apart)):
            made = np.concatenate([made[:n], self._apart(made[n]), made[n + 1 :]])
        found, last = [], 0
        for n in np.flatnonzero([self._has_lines(call) for call in made]):
            found += [made[last:n], self._in_place(made[n])]
            last = n + 1
        return np.concatenate([*found, made[last:]])

    def bytes_of_rows(self, places: Any) -> Any:
        """Return the numbers of the bytes of rows, as if rows were contiguous, for planes of bytes in memory.
        Bytes of gaps are left out: planes have them at the same places."""
        row = np.searchsorted(self.starts, places, side="right") - 1
        within = places - self.starts[row]
        is_spare = places >= SPARE
        piece, behind = np.divmod(places - SPARE, PIECE)
        assert (behind < SPARE_BYTES)[is_spare].all()
        kept = is_spare | (within < self.row_bytes)
        assert (places >= 0).all() and (kept == kept[0]).all()
        spare = self.spare + piece * SPARE_BYTES + behind
        return np.where(is_spare, spare, row * self.row_bytes + within)[:, kept[0]]

    def _has_lines(self, call: Any) -> bool:
        """True for a call from or to lines. Those of elements of one byte are like rows, and their kernels
        may work in place."""
        alike = self.setup.planes == 1 and int(call["operation"]) in LINES.values()
        return int(call["operation"]) in LINES or (alike and call["src"][0] != call["dst"][0])

    def _passes(self, call: Any) -> Any:
        """Return the calls of ifft16 and fft16 that have the effect of a call of refft16."""
        assert not self.maps(int(call["table"]), 15)[[0, 1, 3, 7]].any()
        made = np.array([call, call], dtype=CALL)
        made["operation"] = IFFT16, FFT16
        made[0]["table"] += 15 * 8
        made[1]["src"] = made[1]["dst"]
        return made

    def _apart(self, call: Any) -> Any:
        """Return calls in place that have the effect of a call of four layers whose sources are zeros, or
        rows of which the destinations in spare memory become copies first."""
        src, dst, length = call["src"], call["dst"], int(call["len"])
        moved = np.flatnonzero((src != dst) & (src >= START))
        zero = np.flatnonzero((src != dst) & (src < START))
        assert len(moved) == 0 or (dst >= START + SPARE).all()
        for address in np.unique(src[zero]):
            assert ctypes.string_at(int(address), length) == bytes(length)
        made = np.array([call, call, call], dtype=CALL)
        made["src"] = dst
        made[0]["operation"], made[0]["k"] = CLEAR, len(zero)
        made[0]["dst"][: len(zero)] = dst[zero]
        made[1]["operation"], made[1]["k"] = COPY, len(moved)
        made[1]["src"][: len(moved)], made[1]["dst"][: len(moved)] = src[moved], dst[moved]
        return made[[len(zero) > 0, len(moved) > 0, True]]

    def _in_place(self, call: Any) -> Any:
        """Return the visits and the call on rows that have the effect of a call from or to lines."""
        operation = LINES.get(int(call["operation"]), int(call["operation"]))
        forward = OPERATIONS[operation] == "fft4"
        planes, count = self.setup.planes, 4 * self.setup.planes
        src, dst = call["src"][:count], call["dst"][:count]
        rows, lines = (src, dst) if forward else (dst, src)
        found = np.flatnonzero(self.starts == int(rows[0]) - START)
        assert len(found) == 1
        row = found[0]
        length = int(call["len"])
        assert call["k"] == count and length * planes == self.row_bytes and row % 4 == 0
        assert (rows == rows[0] + np.arange(count, dtype=np.uint64) * np.uint64(length)).all()
        places = [LINES_START + LINES_PITCH * (row + i) + 32 * p for i in range(4) for p in range(planes)]
        assert (lines == np.array(places, dtype=np.uint64)).all()
        if int(call["operation"]) in SCALED:
            entry = 8 * planes**2
            products = ctypes.string_at(int(call["table"]) + 3 * entry, 4 * entry)
            assert products == bytes((37 * (row + i) + n) % 256 for i in range(4) for n in range(entry))
        elif planes > 1:
            assert np.array_equal(self.maps(int(call["table"]), 14)[12], change(self.setup.code))
        alike = np.array([call], dtype=CALL)
        alike["operation"], alike["src"][:, :count], alike["dst"][:, :count] = operation, rows, rows
        visits = np.zeros(4, CALL)
        visits["operation"], visits["k"] = VISIT, row + np.arange(4)
        return np.concatenate([alike, visits] if forward else [visits, alike])

    def maps(self, table: int, count: int) -> Any:
        """Return the 8 x 8 bit matrices of a table: row t has bit t of the images."""
        if (table, count) not in self._maps:
            size = 32 if self.setup.table in ("nibble", "permxor") else 8
            entries = np.frombuffer(ctypes.string_at(table, count * size), np.uint8).reshape(count, size)
            self._maps[table, count] = np.array([matrix_of(self.setup.table, entry) for entry in entries])
        return self._maps[table, count]

    def constant(self, maps: Any) -> int:
        """Return the element by which maps of planes multiply, or fail."""
        key = maps.tobytes()
        if key not in self._constants:
            matrix = np.block([[one[to] for one in maps] for to in range(len(maps))])
            if len(maps) < self.setup.planes:  # the same map of each byte
                matrix = np.kron(np.eye(2, dtype=np.uint8), matrix)
            (element,) = np.flatnonzero(
                oracle.coordinates(self.setup.code) == matrix[:, 0] @ (1 << np.arange(len(matrix)))
            )
            assert np.array_equal(matrix, oracle.bits(self.setup.code, [[element]]))
            self._constants[key] = int(element)
        return self._constants[key]


def change(code: str) -> Any:
    """Return the map of the high byte in Cantor's basis to the difference of the low bytes in both bases."""
    numbers = 1 << np.arange(8, 16)
    rows = oracle.coordinates(code)[elements(code)[numbers]]
    assert (rows >> 8 == numbers >> 8).all()
    return (rows & 0xFF) >> np.arange(8)[:, None] & 1


def matrix_of(table: str, entry: Any) -> Any:
    """Return the bit matrix of an entry (tables.h)."""
    if table == "affine":
        return entry[::-1, None] >> np.arange(8) & 1
    if table == "bitplane":
        return entry >> np.arange(8)[:, None] & 1
    straight = entry[np.arange(32) ^ (7 if table == "permxor" else 0)]
    columns = straight[[1, 2, 4, 8, 17, 18, 20, 24]]
    number = np.arange(16)
    for half in (0, 1):
        chosen = (number[:, None] >> np.arange(4) & 1) * columns[4 * half : 4 * half + 4]
        assert np.array_equal(straight[16 * half :][:16], np.bitwise_xor.reduce(chosen, axis=1))
    return columns >> np.arange(8)[:, None] & 1


def steps(recorder: Recorder, call: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the additions of a call: planes of bytes that are changed, those that are added, and the maps
    between them, or None. A plane is an array of byte numbers."""
    operation, k, length = OPERATIONS[int(call["operation"])], int(call["k"]), int(call["len"])
    assert length > 0
    if operation == "mad":
        for source, matrix in zip(call["src"][:k], recorder.maps(int(call["table"]), k), strict=True):
            shards = np.array([call["dst"][0], source]).astype(np.int64) - START
            both = recorder.bytes_of_rows(shards[:, None] + np.arange(length))
            assert len(np.unique(both)) == both.size
            yield both[:1], both[1:], matrix[None, None]
        return
    shards = call["dst"][:k].astype(np.int64) - START
    places = recorder.bytes_of_rows(shards[:, None] + np.arange(length))
    assert (call["src"][:k] == call["dst"][:k]).all() and len(np.unique(places)) == places.size
    elements_ = BUTTERFLIES[Operation(operation)]
    planes = k // elements_
    maps = recorder.maps(int(call["table"]), (elements_ - 1) * planes**2)
    maps = maps.reshape(elements_ - 1, planes, planes, 8, 8)
    element = places.reshape(elements_, planes, -1)
    for changed, added, matrix in ADDITIONS[operation]:
        yield element[changed], element[added], None if matrix is None else maps[matrix]


def cleared(recorder: Recorder, call: Any) -> Any:
    """Return the planes of bytes that a record sets to 0."""
    assert int(call["len"]) < START, "ends before its first row"
    shards = call["dst"][: int(call["k"])].astype(np.int64) - START
    return recorder.bytes_of_rows(shards[:, None] + np.arange(int(call["len"])))


def execute(recorder: Recorder, memory: Any, call: Any) -> None:
    """Execute a call. memory: bytes x 8 bits x linear forms, which are packed bits."""
    if call["operation"] == COPY:
        shards = np.concatenate([call[side][: int(call["k"])] for side in ("src", "dst")]).astype(np.int64)
        places = recorder.bytes_of_rows(shards[:, None] - START + np.arange(int(call["len"])))
        memory[places[len(places) // 2 :]] = memory[places[: len(places) // 2]]
        return
    for changed, added, maps in steps(recorder, call):
        for plane, place in enumerate(added):
            if maps is None:
                memory[changed[plane]] ^= memory[place]
                continue
            before = memory[place]
            for to, target in enumerate(changed):
                for bit, row in enumerate(maps[plane][to]):
                    memory[target, bit] ^= np.bitwise_xor.reduce(before[:, row == 1], axis=1)


def unknown(count: int) -> Any:
    """Return so many bytes of independent unknown bits."""
    return np.packbits(np.eye(8 * count, dtype=np.uint8), axis=1).reshape(count, 8, -1)


def forms(memory: Any) -> Any:
    """Return a memory as a matrix of bits."""
    return np.unpackbits(memory.reshape(-1, memory.shape[2]), axis=1)


def prove_forward(recorder: Recorder, size: int, first: int, begin: int, end: int) -> None:
    """Every row that is taken has the value of the polynomial at its point."""
    planes = recorder.setup.planes
    wanted = oracle.bits(recorder.setup.code, oracle.values(recorder.setup.code, size, first))
    memory, taken = unknown(size * planes), []
    for call in recorder.calls("forward", size, first, begin, end):
        if call["operation"] != VISIT:
            execute(recorder, memory, call)
            continue
        row = int(call["k"])
        part = slice(8 * planes * row, 8 * planes * (row + 1))
        assert np.array_equal(
            forms(memory[row * planes : (row + 1) * planes])[:, : wanted.shape[1]], wanted[part]
        )
        taken.append(row)
    assert sorted(taken) == list(range(begin, end))


def prove_inverse(recorder: Recorder, size: int, first: int, given: int) -> None:
    """The polynomial has the given values at the first points, and 0 at the others. Rows have junk before
    they are filled or cleared."""
    planes = recorder.setup.planes
    count, memory = size * planes, np.zeros((size * planes, 8, 2 * size * planes), dtype=np.uint8)
    memory[:, :, count:] = unknown(count)
    filled = []
    for call in recorder.calls("inverse", size, first, given):
        if call["operation"] == CLEAR:
            memory[cleared(recorder, call)] = 0
            continue
        if call["operation"] != VISIT:
            execute(recorder, memory, call)
            continue
        row = slice(int(call["k"]) * planes, (int(call["k"]) + 1) * planes)
        memory[row] = 0
        memory[row, :, :count] = unknown(count)[row]
        filled.append(int(call["k"]))
    assert sorted(filled) == list(range(given))
    matrix = oracle.bits(recorder.setup.code, oracle.values(recorder.setup.code, size, first))
    found = (matrix.astype(np.float32) @ forms(memory).astype(np.float32)) % 2
    wanted = np.zeros_like(found)
    np.fill_diagonal(wanted[: 8 * given * planes, :], 1)
    assert np.array_equal(found, wanted)


def taken(recorder: Recorder, calls: Any, size: int, given: int) -> list[tuple[int, bytes]]:
    """Return the rows that are taken, each with its values as linear forms in those with which the first
    `given` rows are filled before. Rows have junk before they are filled or cleared."""
    planes = recorder.setup.planes
    count, memory = size * planes, np.zeros((size * planes, 8, 2 * size * planes), dtype=np.uint8)
    memory[:, :, count:] = unknown(count)
    visits, found = 0, []
    for call in calls:
        row = slice(int(call["k"]) * planes, (int(call["k"]) + 1) * planes)
        if call["operation"] == CLEAR:
            memory[cleared(recorder, call)] = 0
        elif call["operation"] != VISIT:
            execute(recorder, memory, call)
        elif (visits := visits + 1) > given:
            found.append((int(call["k"]), memory[row].tobytes()))
        else:
            memory[row] = 0
            memory[row, :, :count] = unknown(count)[row]
    return sorted(found)


def prove_extension(recorder: Recorder, size: int, given: int, to: int) -> None:
    """Every row that is taken has the value that both transforms give, one after the other."""
    parts = recorder.calls("inverse", size, size, given), recorder.calls("forward", size, 0, 0, to)
    wanted = taken(recorder, np.concatenate(parts), size, given)
    assert taken(recorder, recorder.calls("extend", size, given, to), size, given) == wanted
    assert len(wanted) == to


def product(left: Any, right: Any) -> Any:
    """Return the product of matrices over GF(2)."""
    return (left.astype(np.float32) @ right.astype(np.float32) % 2).astype(np.uint8)


def coefficients(recorder: Recorder, size: int, first: int, given: int) -> Any:
    """Return the coefficients of the polynomial with unknown values at the first `given` points, and 0 at the
    others (prove_inverse)."""
    planes = recorder.setup.planes
    memory = np.zeros((size * planes, 8, size * planes), dtype=np.uint8)
    for call in recorder.calls("inverse", size, first, given):
        if call["operation"] == CLEAR:
            memory[cleared(recorder, call)] = 0
        elif call["operation"] != VISIT:
            execute(recorder, memory, call)
        else:
            row = slice(int(call["k"]) * planes, (int(call["k"]) + 1) * planes)
            memory[row] = unknown(size * planes)[row]
    return forms(memory)


def prove_derived(recorder: Recorder, size: int, first: int, apart: bool, part: tuple[int, ...]) -> None:
    """Every row that is taken has the value of the sum of one polynomial and the derivative of another one,
    or of the same. part: the numbers of values of both that are not 0, the first row that is taken, and the
    row behind the last one. Rows have junk before they are filled or cleared: random sums of 64 unknown bits.
    """
    given, others, begin, end = part
    code, planes, polynomials = recorder.setup.code, recorder.setup.planes, 1 + apart
    count = polynomials * size * planes  # bytes
    own = coefficients(recorder, size, first, given)
    sums = [product(oracle.bits(code, oracle.derivatives(code, size)), own)]
    if apart:
        sums = [sums[0] ^ own, coefficients(recorder, size, first ^ size, others)]
    wanted = product(oracle.bits(code, oracle.values(code, size, first)), np.concatenate(sums, axis=1))
    memory = np.zeros((recorder.spare + 16 * SPARE_BYTES, 8, count + 8), dtype=np.uint8)
    memory[:, :, count:] = np.random.default_rng(size).integers(0, 256, (len(memory), 8, 8), dtype=np.uint8)
    visits, found = 0, []
    for call in recorder.calls("derived", size, first, given, apart, others, begin, end):
        row = slice(int(call["k"]) * planes, (int(call["k"]) + 1) * planes)
        if call["operation"] == CLEAR:
            memory[cleared(recorder, call)] = 0
        elif call["operation"] != VISIT:
            execute(recorder, memory, call)
        elif (visits := visits + 1) > given + apart * others:
            number = int(call["k"]) - apart * size
            place = slice(8 * planes * number, 8 * planes * (number + 1))
            assert np.array_equal(forms(memory[row])[:, : 8 * count], wanted[place])
            assert not forms(memory[row])[:, 8 * count :].any()
            found.append(number)
        else:
            memory[row] = 0
            memory[row, :, :count] = unknown(count)[row]
    assert sorted(found) == list(range(begin, end))


def prove_complete(recorder: Recorder, size: int, firsts: Sequence[int]) -> None:
    """Prove the transforms of a size, of every part of the rows up to 8 points, and of some parts beyond."""
    ends = range(1, size + 1) if size <= 8 else sorted({1, size // 2, size // 2 + 1, size - 1, size})
    for first in firsts:
        prove_inverse(recorder, size, first, 0)
        for end in ends:
            prove_inverse(recorder, size, first, end)
            begins = range(end) if size <= 8 else {0, end // 2, end - 1}
            for begin in begins:
                prove_forward(recorder, size, first, begin, end)
            for to in {1, size // 2 + 1, size}:
                prove_extension(recorder, size, end, to)


def prove_derivatives(recorder: Recorder, size: int, firsts: Sequence[int]) -> None:
    """Prove repairs of some parts of the rows, with rows that caches keep and with others."""
    for first, kept, apart in itertools.product(firsts, (True, False), (True, False)):
        recorder.lib.record_kept(kept)
        for given, end in ((size, size), (size // 4 + 1, size // 2 + 1)):
            prove_derived(recorder, size, first, apart, (given, size - size // 3, end // 3, end))


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build(Compiler(ROOT / "build", tmp_path_factory.mktemp("calls")), SOURCES)


@pytest.mark.parametrize("setup", [each for each in SETUPS if each.table in ("affine", "nibble")], ids=str)
def test_complete_transforms(lib: ctypes.CDLL, setup: Setup) -> None:
    last = (1 << oracle.width(setup.code)) - 32
    with Recorder(lib, setup, 1 << oracle.width(setup.code)) as recorder:
        for size in (1, 2, 4, 8):
            prove_complete(recorder, size, (0, 6 * size, last))
        for size in (16, 32):
            prove_complete(recorder, size, (32, last))


@pytest.mark.parametrize("setup", [each for each in SETUPS if each.table in ("affine", "nibble")], ids=str)
def test_derivatives(lib: ctypes.CDLL, setup: Setup) -> None:
    for size in (2, 16, *[64] * setup.sixteen):
        with Recorder(lib, setup, 2 * size) as recorder:
            prove_derivatives(recorder, size, (0, size) if size < 64 else (size,))


class Layers:
    """The layers that rows have passed: a row of layer h is in a block of the coefficients of 2^h points.
    earlier: those of an inverse transform, which every row passes first."""

    def __init__(self, recorder: Recorder, first: int, layer: Any, earlier: Layers | None = None) -> None:
        self.recorder, self.first, self.layer, self.earlier = recorder, first, layer, earlier
        self.top = len(layer).bit_length() - 1
        self.point = elements(recorder.setup.code)

    def rows(self, plane: Any) -> Any:
        """Return the rows whose bytes, all of them, are those of an array of planes."""
        size = self.recorder.row_bytes
        places = np.sort(plane.ravel())
        assert len(places) % size == 0 and places[0] % size == 0
        assert (places == places[0] + np.arange(len(places))).all()
        return places[::size] // size

    def clear(self, call: Any, end: int) -> None:
        """Set rows to 0, none of which is before row `end`."""
        for plane in cleared(self.recorder, call):
            assert (self.rows(plane) >= end).all()
            self.layer[self.rows(plane)] = ZEROS

    def is_coefficients(self, rows: Any) -> bool:
        """Return True if rows have passed all layers of the inverse transform, or are 0."""
        return bool(((self.layer[rows] == self.top) | (self.layer[rows] == ZEROS)).all())

    def take(self, call: Any, forward: bool) -> None:
        """Check the butterflies of a call, and let their rows pass the layer."""
        additions = list(steps(self.recorder, call))
        if len(additions) == 1:  # the constant is 0
            ((y, x, maps),) = additions
            assert np.array_equal(maps[0, 0], np.eye(8))
            self.pass_layer(self.rows(x), self.rows(y), 0, forward)
        for pair in zip(additions[::2], additions[1::2], strict=False):
            product, addition = pair if forward else reversed(pair)
            assert addition[2] is None and product[2] is not None
            assert np.array_equal(product[0], addition[1]) and np.array_equal(product[1], addition[0])
            c = self.recorder.constant(product[2])
            self.pass_layer(self.rows(product[0]), self.rows(product[1]), c, forward)

    def pass_layer(self, x: Any, y: Any, c: int, forward: bool) -> None:
        """Check a butterfly of rows x and y. Rows of layer ZEROS are 0, and so is the block of any layer."""
        h = int(y[0] - x[0]).bit_length() - 1
        assert (y - x == 1 << h).all() and (x >> h & 1 == 0).all()
        assert (self.point[self.first + x >> h] == c).all()
        both = np.concatenate([x, y])
        assert self.earlier is None or self.earlier.is_coefficients(both)
        before = self.layer[both]
        assert ((before == ZEROS) | (before == (h + 1 if forward else h))).all()
        self.layer[both] = h if forward else h + 1


def prove_layers(recorder: Recorder, size: int, first: int, begin: int, end: int) -> None:
    """Check all butterflies of both transforms, the inverse one with the values before `end`."""
    top = size.bit_length() - 1
    rows, taken, filled = Layers(recorder, first, np.full(size, top)), [], []
    for call in recorder.calls("forward", size, first, begin, end):
        if call["operation"] == VISIT:
            taken.append(int(call["k"]))
            assert rows.layer[taken[-1]] == 0
        else:
            rows.take(call, True)
    assert sorted(taken) == list(range(begin, end))
    rows = Layers(recorder, first, np.full(size, JUNK))
    for call in recorder.calls("inverse", size, first, end):
        if call["operation"] == CLEAR:
            rows.clear(call, end)
        elif call["operation"] == VISIT:
            filled.append(int(call["k"]))
            assert rows.layer[filled[-1]] == JUNK
            rows.layer[filled[-1]] = 0
        else:
            rows.take(call, False)
    assert sorted(filled) == list(range(end)) and rows.is_coefficients(np.arange(size))


def prove_extended_layers(recorder: Recorder, size: int, given: int, to: int) -> None:
    """Check all butterflies of both transforms, one after the other."""
    top, visits = size.bit_length() - 1, 0
    before = Layers(recorder, size, np.full(size, JUNK))
    rows = Layers(recorder, 0, np.full(size, top), before)
    for call in recorder.calls("extend", size, given, to):
        if call["operation"] == CLEAR:
            before.clear(call, given)
        elif call["operation"] != VISIT:
            inverse = OPERATIONS[int(call["operation"])].startswith("i")
            (before if inverse else rows).take(call, not inverse)
        else:
            visits += 1
            side, layer = (before, JUNK) if visits <= given else (rows, 0)
            assert side.layer[int(call["k"])] == layer
            side.layer[int(call["k"])] = 0
    assert visits == given + to


def test_values_of_subspace_polynomials() -> None:
    """s(h) has the value p >> h at point p: the s(h) are linear, so their values at b[0] to b[15] suffice.
    That is the fact about the basis on which the theorem rests."""
    for code in CODES:
        w = oracle.width(code)
        points = tuple(1 << j for j in range(w))
        for h in range(w):
            assert np.array_equal(oracle.subspace(code, h, points), elements(code)[np.array(points) >> h])


@pytest.mark.parametrize("row", [1, 3])
@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_layers(lib: ctypes.CDLL, setup: Setup, row: int) -> None:
    points = 1 << oracle.width(setup.code)
    with Recorder(lib, setup, points, row) as recorder:
        for size in (2, 4, 8, 16, 32, 64, 128):
            for first in (0, size, points - size):
                for begin, end in ((0, size), (size // 3, size), (size // 2, 2 * size // 3 + 1), (0, 1)):
                    prove_layers(recorder, size, first, begin, end)
            if 2 * size <= points:
                for given, to in ((size, size), (size // 3 + 1, size), (1, 1), (size, size // 2 + 1)):
                    prove_extended_layers(recorder, size, given, to)


@pytest.mark.parametrize("code", CODES)
def test_an_odd_layer_is_between_the_others(lib: ctypes.CDLL, code: str) -> None:
    """With lines, a transform of 2^(2 n + 1) points begins with four layers like any other one."""
    setup = [each for each in SETUPS if each.code == code and each.sixteen][-1]
    with Recorder(lib, setup, 256) as recorder:
        for size in (64, 128):
            assert recorder.calls("forward", size, 0, 0, size)[0]["operation"] == FFT16


@pytest.mark.parametrize("setup", [each for each in SETUPS if each.sixteen], ids=str)
def test_zeros_of_long_rows(lib: ctypes.CDLL, setup: Setup) -> None:
    """Four layers that read zeros instead of rows take a few rows in each call."""
    with Recorder(lib, setup, 1 << oracle.width(setup.code), 1024) as recorder:
        for end in (1, 16, 37):
            prove_layers(recorder, 64, 64, 0, end)
            prove_extended_layers(recorder, 64, end, 64)


@pytest.mark.parametrize("setup", [each for each in SETUPS if each.sixteen], ids=str)
def test_pieces_of_long_rows(lib: ctypes.CDLL, setup: Setup) -> None:
    """Pieces have 1 KiB, and those of a block are all of its rows."""
    with Recorder(lib, setup, 128, 512) as recorder:
        lib.record_kept(False)
        calls = recorder.calls("derived", 64, 64, 64, 1, 64, 0, 64)
        copied = calls[calls["operation"] == COPY]
        assert (copied["len"] == 1024).all() and (copied["k"] == 16).all()
        rows = np.arange(0, 64, 1024 // recorder.row_bytes)
        assert np.array_equal(np.sort(copied["src"].ravel()) - START, recorder.starts[rows])


LONG = sample(
    [
        pytest.param(1024, False, False),
        pytest.param(4096, True, False),
        pytest.param(4096, True, True),
        pytest.param(65536, True, True),
    ],
    1024,
    4096,
)


@pytest.mark.campaign
@pytest.mark.parametrize(("size", "four", "sixteen"), LONG)
def test_layers_of_long_transforms(lib: ctypes.CDLL, size: int, four: bool, sixteen: bool) -> None:
    with Recorder(lib, Setup("leopard16", "affine", four, sixteen), 1 << 16) as recorder:
        prove_layers(recorder, size, 0, 0, size)
        if size < 1 << 16:
            prove_layers(recorder, size, (1 << 16) - size, size // 5, size - size // 7)
            prove_extended_layers(recorder, size, size - size // 7, size - size // 5)


MUTANTS = (
    Mutant("p->first + at", "at", within="interpolate", everywhere=True),
    Mutant("p->first + at", "at", within="evaluate", everywhere=True),
    Mutant("point / d / 2", "point / 2"),
    Mutant("point / d / 4", "point / 4"),
    Mutant("constant < SUBFIELD", "constant <= SUBFIELD"),
    Mutant("1 + c % 2", "1"),
    Mutant("constant += 2", "constant += 4"),
    Mutant("h <= layers", "h < layers"),
    Mutant("(p->first + at) / d / FOUR_ROWS", "(p->first + at) / FOUR_ROWS"),
    Mutant("inverse ? fours->ifft16 : fours->fft16", "fours->fft16"),
    Mutant("(size_t)i * d", "i", within="every_row"),
    Mutant("i < filled", "i <= filled"),
    Mutant("i < filled", "i + 1 < filled"),
    Mutant("i += together", "i += d"),
    Mutant("p->to > 0", "true"),
    Mutant("(p->to + block - 1) / block * block", "p->to / block * block"),
    Mutant("filled_blocks(&in, 0, d)", "FOUR_ROWS"),
    Mutant("interpolate(&in, i * d, d);", ";"),
    Mutant("evaluate(&out, i * d, d);", "evaluate(&out, i, d);"),
    Mutant("t->fours.refft16", "t->fours.ifft16", within="gfs_transform_extend", everywhere=True),
    Mutant("interpolate(&in, 0, size);", ";", within="gfs_transform_extend"),
    Mutant("interpolate(&in, 0, size);", ";", within="gfs_transform_derived"),
    Mutant("at + i * d", "at + i", within="interpolate"),
    Mutant("at + i * d", "at + i", within="evaluate"),
    Mutant("gfs_rows_offset(rows, count - 1)", "(count - 1) * rows->bytes"),
    Mutant("inverse ? b->ifft : b->fft", "b->fft"),
    Mutant("inverse ? b->ifft4 : b->fft4", "b->ifft4"),
    Mutant("(size_t)i * d", "i", within="butterflies_of_planes"),
    Mutant("row += together", "row += d", within="butterflies_of_planes"),
    Mutant("p * len", "0", within="butterflies_of_planes"),
    Mutant("(i & bit) == 0", "true", within="derive"),
    Mutant("i | bit", "bit", within="derive"),
    Mutant("at + (i | bit)", "i | bit"),
    Mutant("(i & bit) == 0", "true", within="derive_pieces"),
    Mutant("i | bit", "bit", within="derive_pieces"),
    Mutant("fours_table(out, 0, d)", "fours_table(more, 0, d)"),
    Mutant("filled_blocks(in, 0, d)", "1"),
    Mutant("interpolate(more, at, d);", ";"),
    Mutant("at += together", "at += d"),
    Mutant("derive(in->t, more->rows, in->rows, at, d);", "derive(in->t, more->rows, in->rows, at, 1);"),
    Mutant("at < in->to", "at + d < in->to"),
    Mutant("evaluate(out, at, d);", "evaluate(out, at, d / 2);"),
    Mutant("derive(t, more.rows, in.rows, 0, size);", "derive(t, more.rows, in.rows, 0, 1);"),
    Mutant("clear_rest(&more, size);", "clear_rest(&in, size);"),
    Mutant("added + i", "added"),
    Mutant("t->ones + i * gfs_tables_entry(t->format)", "t->ones"),
    Mutant("at >= p->to", "at + half >= p->to", within="evaluate"),
    Mutant("at >= p->to", "at + half >= p->to", within="interpolate"),
    Mutant("at + size <= p->from", "at <= p->from", within="evaluate"),
    Mutant("together_bytes(rows, count)", "rows->bytes", within="gfs_transform_add"),
    Mutant("basis[0] == GFS_BASIS_ROW", "false"),
    Mutant("basis[1] == GFS_BASIS_ROW", "false"),
    Mutant("8 * from + bit", "bit"),
    Mutant("high | 1u << bit", "1u << bit"),
    Mutant("(p->first + at) / GFS_END_ROWS", "at / GFS_END_ROWS"),
    Mutant("at + GFS_END_ROWS > p->to", "false"),
    Mutant("at < p->from", "false"),
    Mutant("p * LINE_PART", "0", within="end_read_planes"),
    Mutant("p * LINE_PART", "0", within="end_write_planes"),
    Mutant("t->bytes.ifft4", "t->bytes.fft4", within="find_ends"),
    Mutant("GFS_OPERATION_ifft4scaled", "GFS_OPERATION_fft4scaled"),
    Mutant("GFS_OPERATION_fft4scaled", "GFS_OPERATION_ifft4scaled"),
    Mutant("(GROUP + i) * entry", "GROUP * entry"),
    Mutant(
        "memcpy(table, end->table, GROUP * entry);", "memcpy(table, end->t->words.groups, GROUP * entry);"
    ),
    Mutant("scale[i]", "scale[0]"),
    Mutant("i * (end->rows->bytes / planes)", "i / 2 * (end->rows->bytes / planes)"),
    Mutant("gfs_rows_row(end->rows, end->row)", "end->rows->start"),
    Mutant("shard[i]", "shard[0]", within="end_read_planes"),
    Mutant("shard[i]", "shard[0]", within="end_write_planes"),
    Mutant("group_of(b, c) + GROUP * b->entry", "group_of(b, c) + 2 * b->entry"),
    Mutant("2u * logarithm[y]", "logarithm[y]"),
    Mutant("entry[n ^ 7] = straight[n];", "entry[n] = straight[n];"),
)


@pytest.mark.parametrize("mutant", share(MUTANTS, 2), ids=str)
def test_the_proofs_refute_the_error(mutant: Mutant, compiler: Compiler) -> None:
    """The last setup, which most errors affect, is the first one."""
    source, wrong = plant(mutant, SOURCES, compiler.output)
    sources = [wrong if each == source else each for each in SOURCES]
    wrong_lib = build(compiler, sources, "-Wno-unused-parameter")
    with pytest.raises(AssertionError):
        for setup in reversed(SETUPS):
            points = 1 << oracle.width(setup.code)
            with Recorder(wrong_lib, setup, points) as recorder:
                for first in (points - 16, 0, min(256, points // 2)):
                    prove_inverse(recorder, 16, first, 0)
                    for begin, end in ((0, 16), (3, 4), (2, 13)):
                        prove_inverse(recorder, 16, first, end)
                        prove_forward(recorder, 16, first, begin, end)
                prove_extension(recorder, 16, 5, 16)
                if setup.sixteen:
                    prove_layers(recorder, 64, 64, 0, 64)
            if setup.sixteen:
                test_zeros_of_long_rows(wrong_lib, setup)
                test_pieces_of_long_rows(wrong_lib, setup)
            with Recorder(wrong_lib, setup, 128) as recorder:
                for size in (16, 64):
                    prove_derivatives(recorder, size, (size,))
