"""Effects of vector instructions on runs of bytes, for any processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count as counter

from gfsmith.prove.machine import bitmatrix, domain
from gfsmith.prove.machine.domain import Entry, Form, Piece, Run, Runs, Table, Unsupported
from gfsmith.prove.machine.state import State, constant_bytes

_crossings = counter()
_SIGN = sum(0x80 << 8 * row for row in range(8))  #: the matrix of which every row is bit 7


def known(runs: Runs) -> bytes:
    """Return bytes that must be constant."""
    return constant_bytes(runs)


def groups(runs: Runs, size: int, width: int) -> Iterator[tuple[int, int, Runs]]:
    """Yield stretches of equal elements of `width` bytes: (first byte, end, one element)."""
    elements = domain.split(runs, width)
    start, last = 0, next(elements)
    for low, element in zip(range(width, size, width), elements, strict=False):
        if element != last:
            yield start, low, last
            start, last = low, element
    yield start, size, last


def table_entry(state: State, runs: Runs, width: int) -> tuple[str, int, Entry] | None:
    """Return format, place and entry if `runs` is one stretch of raw table bytes; None otherwise."""
    if len(runs) != 1 or runs[0][0] != width or not isinstance(runs[0][1], Table):
        return None
    fmt, source, output, within = state.memory.entry(runs[0][1].offset)
    return fmt, within, Entry("", source, output)


def is_nibble_table(state: State, table: Runs) -> bool:
    """Return whether 16 bytes are one half of a coefficient's nibble entry."""
    found = table_entry(state, table, 16)
    return found is not None and found[0] == "nibble" and found[1] in (0, 16)


def look_up(state: State, table: Runs, index: Form, layout: str = "nibble") -> Form:
    """Look up an index below 16 in a 16-byte table; a coefficient's table must have the format `layout`."""
    found = table_entry(state, table, 16)
    if found is None:
        return domain.map_matrix(_linear_table(constant_bytes(table)), index)
    fmt, within, entry = found
    if fmt != layout or within not in (0, 16):
        raise Unsupported(f"a shuffle in byte {within} of a table entry of format {fmt}")
    return domain.map_table(entry._replace(part="low" if within == 0 else "high"), index)


def look_up_runs(
    state: State, table: Runs, index: Runs, selects: Callable[[int], int | None]
) -> Iterator[Run]:
    """Look up every byte of `index` in a 16-byte table. selects: the number of the byte that an index
    selects, None for the result 0. An index that is not known must be below 16."""
    for length, piece in index:
        if isinstance(piece, Table):
            raise Unsupported("a look-up by raw table bytes")
        if piece == domain.ZERO and is_nibble_table(state, table):
            yield length, domain.ZERO  # T is linear, so it maps 0 to 0
        elif piece.is_constant:
            at = selects(piece.constant)
            entry = domain.ZERO if at is None else domain.cut(table, at, at + 1)[0][1]
            constant = isinstance(entry, Form) and entry.is_constant
            yield from [(length, entry)] if constant else [(1, entry)] * length
        elif domain.masked(piece, 0x0F) != piece:
            raise Unsupported("a look-up by an index that may exceed 15")
        else:
            yield length, look_up(state, table, piece)


@lru_cache(maxsize=4096)
def _linear_table(table: bytes) -> int:
    """Return the matrix of a table that is XOR-linear in its index. Raises Unsupported for any other
    table."""
    for n in range(16):
        total = 0
        for bit in range(4):
            total ^= table[1 << bit] if n >> bit & 1 else 0
        if total != table[n]:
            raise Unsupported("a shuffle in a table that is not linear in its index")
    rows = [sum((table[1 << bit] >> r & 1) << bit for bit in range(4)) for r in range(8)]
    return sum(row << 8 * r for r, row in enumerate(rows))


def _arithmetic(shift: int) -> int:
    """Return the matrix of an arithmetic right shift of a byte."""
    return sum(1 << min(r + shift, 7) + 8 * r for r in range(8))


def arithmetic(piece: Piece, count: int) -> Form:
    """Return bytes shifted right by `count` bits, each filled with copies of its sign."""
    return domain.map_matrix(_arithmetic(count), _form(piece))


def shift_right(runs: Runs, element: int, count: int, arithmetic: bool) -> Runs:
    """Return every element of `element` bytes (little endian) shifted right by `count` bits."""
    limit = 8 * element - 1
    if count > limit:
        if not arithmetic:
            return domain.zeros(domain.size(runs))
        count = limit
    forms = [(length, _form(piece)) for length, piece in runs]
    if count < 8 and any(not form.is_constant for _, form in forms):
        return tuple((length, _shift_uniform(form, count)) for length, form in forms)
    out: list[Run] = []
    for low in range(0, domain.size(runs), element):
        out += _shift_element(domain.cut(runs, low, low + element), element, count, arithmetic)
    return domain.merge(out)


def _shift_uniform(form: Form, count: int) -> Form:
    """Return the bytes of a shift across bytes, exact but for the top `count` bits, which come from the next
    byte or are copies of the sign. These are independent unknowns: bit r of a fresh byte is bit r of the
    result, so their sum is unknown too. Kernels mask them out."""
    shifted = domain.shift_rows(form, count)
    fresh = bitmatrix.IDENTITY & bitmatrix.row_mask(0xFF << 8 - count & 0xFF)
    if not fresh:
        return shifted
    unknown = domain.variable("crossing", next(_crossings), 0, fresh)
    return domain.make_form(shifted.constant, {**shifted.atoms, **unknown.atoms})


def shift_number(runs: Runs, count: int) -> Runs:
    """Return a number (little endian) shifted right by `count` bits, or left if negative, exactly."""
    return domain.merge(list(_shift_element(runs, domain.size(runs), count, arithmetic=False)))


def _shift_element(runs: Runs, element: int, count: int, arithmetic: bool) -> Iterator[Run]:
    skip, bits = divmod(count, 8)
    pieces = [domain.cut(runs, n, n + 1) for n in range(element)]
    sign = domain.zeros(1)
    if arithmetic:
        sign = ((1, domain.map_matrix(_arithmetic(7), _form(pieces[-1][0][1]))),)
    for n in range(skip, skip + element):
        here, above = (
            pieces[at] if 0 <= at < element else domain.zeros(1) if at < 0 else sign for at in (n, n + 1)
        )
        if not bits:
            yield from here
            continue
        low = domain.shift_rows(_form(here[0][1]), bits)
        high = domain.shift_rows(_form(above[0][1]), bits - 8)
        yield from domain.xor(((1, low),), ((1, high),))


def sign(piece: Piece) -> Form:
    """Return bit 7 in every bit."""
    return domain.map_matrix(_SIGN, _form(piece))


def add_bytes(left: Runs, right: Runs) -> Runs:
    """Return sums modulo 256: of known bytes, or of bytes and themselves, which is a shift to the left by one
    bit."""
    if left == right:
        return domain.merge([(length, domain.shift_rows(_form(piece), -1)) for length, piece in left])
    pairs = zip(known(left), known(right), strict=True)
    return domain.constant_runs(bytes((a + b) & 0xFF for a, b in pairs))


def signs(runs: Runs) -> Runs:
    """Return bit 7 of each byte in all of its bits."""
    return domain.merge([(length, sign(piece)) for length, piece in runs])


def _form(piece: Piece) -> Form:
    if isinstance(piece, Table):
        raise Unsupported("arithmetic on raw table bytes")
    return piece


@lru_cache(maxsize=1 << 12)
def spans(bits: int, count: int) -> tuple[tuple[int, int, bool], ...]:
    """Return the runs of equal bits in a mask: (first, behind the last, value)."""
    out: list[tuple[int, int, bool]] = []
    for n in range(count):
        on = bool(bits >> n & 1)
        if out and out[-1][2] == on:
            out[-1] = (out[-1][0], n + 1, on)
        else:
            out.append((n, n + 1, on))
    return tuple(out)
