"""The machine on one path: registers, flags, the frame, and the destinations written so far.

Shards are never stored. A destination byte may only be written with its specified value, so the only state of
a destination is which of its bytes are written: all below a prefix, and pieces beyond.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from judge import forms
from judge.forms import TABLE, Runs, cut, junk, moved, run_of, variable
from judge.integers import SPAN, Facts, Pointer, Region, Word, add, divide, pointer, require, scale, subtract
from judge.spec import FORMATS, LINE_PART, POINTER, Spec

DEEPEST = 1 << 16  #: bytes of stack that a kernel may use
PAGE = 4096


class Abi(NamedTuple):
    """arguments, preserved, vectors: registers. home: bytes above the return address that a function may
    write. red_zone: bytes below rsp that signal handlers keep."""

    arguments: tuple[str, ...]
    preserved: tuple[str, ...]
    vectors: range
    home: int
    red_zone: int


class Data(NamedTuple):
    """The bytes of a general register or slot: data, junk, or a value of the caller."""

    runs: Runs


class Joined(NamedTuple):
    """The OR of addresses, of which only the low bits may be tested."""

    addresses: frozenset[Pointer]


class LowBits(NamedTuple):
    """The number 2^bits - 1, for a write mask."""

    bits: Word


Value = Word | Pointer | Data | Joined | LowBits


class Compared(NamedTuple):
    """Flags of left - right, 64 bits wide."""

    left: Value
    right: Value


class Tested(NamedTuple):
    """Zero flag: whether all addresses are multiples of `multiple`."""

    addresses: frozenset[Pointer]
    multiple: int


Flags = Compared | Tested | None


class Written(NamedTuple):
    prefix: Word = 0
    pieces: tuple[tuple[Word, int], ...] = ()


@dataclass(slots=True)
class State:
    """gpr: the general and mask registers. vectors: the 64 bytes of each register. slots: (value, bytes) by
    place on the stack. floor: signal handlers may write below this place. touched: the lowest place that was
    accessed. complete: destinations before this number are written to their end. dirty: upper halves may
    be in use. unfenced: a streaming store may be pending. multiples: known divisors."""

    spec: Spec
    code: bytes
    abi: Abi
    facts: Facts
    length: Word
    sources: Word
    gpr: dict[str, Value]
    vectors: list[Runs]
    slots: dict[Word, tuple[Value, int]]
    floor: int
    flags: Flags = None
    touched: int = 0
    complete: Word = 0
    written: dict[Word, Written] = field(default_factory=dict)
    dirty: bool = False
    unfenced: bool = False
    multiples: dict[Pointer, int] = field(default_factory=dict)
    next_ip: int = 0

    def copy(self) -> State:
        parts = ("facts", "gpr", "vectors", "slots", "written", "multiples")
        return replace(self, **{name: getattr(self, name).copy() for name in parts})

    def replace(self, name: str, by: Word) -> None:
        """Replace an unknown everywhere."""
        self.facts.replace(name, by)
        for part in {each.name for each in fields(self)} - {"spec", "code", "abi", "facts"}:
            setattr(self, part, moved(getattr(self, part), name, by))
        self.gpr = {n: v % SPAN if isinstance(v, int) else v for n, v in self.gpr.items()}


def extent(state: State, region: Region) -> Word:
    """Return the size of a region. Raises Rejected for the stack, and for pointers behind the sources."""
    spec, sources = state.spec, state.sources
    if region.kind in ("src", "dst"):
        return state.length
    sizes: dict[str, Word] = {
        "srcs": scale(sources, POINTER * (1 + spec.ahead)),
        "dsts": scale(sources if spec.operation == "mul" else spec.outputs, POINTER),
        "coeffs": scale(spec.columns(sources), spec.entries * FORMATS[spec.table][0]),
        "code": len(state.code),
    }
    require(region.kind in sizes, "{} has no size", region.kind)
    return sizes[region.kind]


def _inside(state: State, region: Region, offset: Word, length: int, limit: Word) -> None:
    """Raise Rejected unless an access lies inside its region for all values of the unknowns."""
    inside = state.facts.low(offset) >= 0 and state.facts.low(subtract(limit, offset)) >= length
    require(inside, "{} bytes of {} at {}, of {}", length, region, offset, limit)


def _check_end(state: State, where: Pointer, count: Word, length: int) -> None:
    """Raise Rejected unless `count` bytes, at most `length`, are all bytes of a shard behind an offset."""
    low, high = state.facts.range(count)
    ends = subtract(state.length, add(where.offset, count)) == 0 and low >= 0 and high <= length
    require(ends and where.region.kind in ("src", "dst"), "{} bytes of {} are not its end", count, where)
    _inside(state, where.region, where.offset, 0, state.length)


def _counted(state: State, where: Pointer, length: int) -> Pointer:
    """Return the place of an access. In a shard in lines it counts the shard's own bytes: LINE_PART bytes of
    every line, of which the first is at a multiple of the line."""
    if where.region.kind != state.spec.in_lines:
        return where
    require(length <= LINE_PART, "{} bytes of {} from {} on, more than its part of a line", length, *where)
    return Pointer(where.region, scale(divide(where.offset, 2 * LINE_PART), LINE_PART))


def load(state: State, where: Pointer, length: int, count: Word | None = None) -> Runs:
    """Return bytes of memory. count: only the last `count` bytes of a shard, then zeros."""
    region, offset = where = _counted(state, where, length)
    end = "" if count is None else "$"
    if region.kind == "stack" and count is None:
        return as_bytes(_load_slot(state, offset, length), length)
    if count is None:
        _inside(state, region, offset, length, extent(state, region))
    else:
        _check_end(state, where, count, length)
    if region.kind == "src":
        if not state.spec.in_place or not _may_be_replaced(state, region, offset, length):
            return ((length, offset, variable(f"src{end}", region.number)),)
        return junk(length)
    if region.kind == "dst":
        _check_unwritten(state, region, offset, length)
        return ((length, offset, variable(f"dst{end}", region.number)),)
    if region.kind == "coeffs":
        return ((length, offset, TABLE),)
    require(region.kind == "code" and isinstance(offset, int), "reads data of {}", region)
    return forms.constant_runs(state.code[offset:][:length])  # type: ignore[index]


def _may_be_replaced(state: State, region: Region, offset: Word, length: int) -> bool:
    """Return whether a store to a destination, which may be this source, may have replaced a byte."""
    complete = subtract(state.complete, region.number if state.spec.operation == "mul" else 0)
    written = any(_overlaps(state.facts, each, offset, length) for each in state.written.values())
    return written or state.facts.high(complete) > 0


def _check_unwritten(state: State, region: Region, offset: Word, length: int) -> None:
    """Raise Rejected if a byte of a destination may have been written, also under another number."""
    for other, written in state.written.items():
        low, high = state.facts.range(subtract(other, region.number))
        apart = low > 0 or high < 0 or not _overlaps(state.facts, written, offset, length)
        require(apart, "{} is read back at {}", region, offset)
    _check_open(state, region)


def _check_open(state: State, region: Region) -> None:
    open_ = state.facts.high(subtract(state.complete, region.number)) <= 0
    require(open_, "{} is accessed after its end was written", region)


def _overlaps(facts: Facts, written: Written, start: Word, length: int) -> bool:
    gaps = [(facts.range(subtract(start, begin)), size) for begin, size in written.pieces]
    pieces = any(gap[0] < size and gap[1] > -length for gap, size in gaps)
    return pieces or facts.low(subtract(start, written.prefix)) < 0


def store(state: State, where: Pointer, value: Value, length: int, count: Word | None = None) -> None:
    """Write any value to the frame, or data to a destination, which must be as specified. count: only the
    last `count` bytes of a destination, of which all bytes before are written."""
    region, offset = where = _counted(state, where, length)
    if region.kind == "stack" and count is None:
        _store_slot(state, offset, value, length)
        return
    require(region.kind == "dst", "writes to {}", region)
    _check_open(state, region)
    want = run_of(length, offset, state.spec.expected(region.number, state.sources, count is not None))
    require(as_bytes(value, length) == (want,), "a wrong value is written to {} at {}", region, offset)
    written = state.written.get(region.number, Written())
    if count is None:
        _inside(state, region, offset, length, state.length)
        state.written[region.number] = _written(state.facts, written, offset, length)
    else:
        _check_end(state, where, count, length)
        require(written == (offset, ()), "writes the end of {} before its beginning", region)
        state.written[region.number] = Written(add(offset, count))


def _written(facts: Facts, written: Written, start: Word, length: int) -> Written:
    """Return the written bytes after a store. Adjacent pieces become one, or join the prefix."""
    prefix, pieces = written
    end = add(start, length)
    joins = facts.high(subtract(start, prefix)) <= 0 <= facts.low(subtract(end, prefix))
    for begin, size_ in pieces:
        gap = subtract(start, begin)
        rest = Written(prefix, tuple(piece for piece in pieces if piece != (begin, size_)))
        if isinstance(gap, int) and -length <= gap <= size_:
            whole = max(size_, gap + length) - min(gap, 0)
            return _written(facts, rest, begin if gap >= 0 else start, whole)
        if joins and facts.high(subtract(begin, end)) <= 0:
            return _written(facts, rest._replace(prefix=end), begin, size_)
    return Written(end, pieces) if joins else Written(prefix, (*pieces, (start, length)))


def settle(state: State) -> None:
    """Count destinations that are written to their end, in order, and forget them."""
    while state.complete in state.written:
        prefix, pieces = state.written[state.complete]
        if pieces or subtract(state.length, prefix) != 0:
            return
        del state.written[state.complete]
        state.complete = add(state.complete, 1)


def load_word(state: State, where: Pointer) -> Value:
    """Return the eight bytes that a general register loads."""
    region, offset = where
    if region.kind == "stack":
        return _load_slot(state, offset, POINTER)
    if region.kind not in ("srcs", "dsts"):
        return Data(load(state, where, POINTER))
    _inside(state, region, offset, POINTER, extent(state, region))
    index = divide(offset, POINTER)
    if region.kind == "dsts":
        return Pointer(Region("dst", index), 0)
    behind = subtract(index, state.sources)
    if state.facts.low(behind) >= 0:
        return Pointer(Region("ahead", behind), 0)
    require(state.facts.high(behind) < 0, "pointer {} may be behind the sources", index)
    return Pointer(Region("src", scale(add(behind, 1), -1) if state.spec.descending else index), 0)


def as_bytes(value: Value, length: int) -> Runs:
    if isinstance(value, Data):
        return cut(value.runs, 0, length)
    require(isinstance(value, int), "{} is used as data", value)
    return forms.constant_runs((value % (1 << 8 * length)).to_bytes(length, "little"))  # type: ignore[operator]


def _load_slot(state: State, place: Word, length: int) -> Value:
    require(state.facts.low(place) >= state.touched - PAGE, "the stack is read beyond a guard page")
    value, bytes_ = state.slots.get(place, (0, 0))
    require(bytes_ == length, "the stack is read at {}, where nothing was put", place)
    return value


def move_stack(state: State, value: Value) -> None:
    """Set rsp; the bytes below its red zone are lost."""
    region, place = pointer(value)
    kept = region.kind == "stack" and isinstance(place, int)
    require(kept, "rsp leaves the stack, or its position is not known")
    assert isinstance(place, int)
    deep = place < -DEEPEST or place < state.touched - PAGE
    require(not deep, "{} bytes of stack, {} of them untouched", -place, state.touched - place)
    state.floor = place - state.abi.red_zone
    state.slots = {at: slot for at, slot in state.slots.items() if state.facts.low(at) >= state.floor}


def _store_slot(state: State, place: Word, value: Value, length: int) -> None:
    """Store to the frame. Slots that the store may overlap are lost."""
    low, high = state.facts.range(place)
    home = low >= 8 and high + length <= 8 + state.abi.home
    require(high <= -length or home, "writes into the caller's frame")
    deep = low < state.floor or low < state.touched - PAGE
    require(not deep, "writes below the frame, or beyond a guard page")
    state.touched = min(state.touched, int(high))
    for other, (_, bytes_) in list(state.slots.items()):
        gap = state.facts.range(subtract(place, other))
        if gap[0] < bytes_ and gap[1] > -length:
            del state.slots[other]
    state.slots[place] = value, length
