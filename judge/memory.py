"""The machine on one path: registers, flags, the frame, and the destinations written so far.

Shards are never stored. A destination byte may only be written with its specified value, so the only state of
a destination is which of its bytes are written: all below a prefix, and pieces beyond.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import NamedTuple

from judge import forms
from judge.forms import TABLE, Runs, Vector, cut, expand, junk, merge, moved, size, variable
from judge.integers import Facts, Linear, Pointer, Region, Rejected, Word, add, divide, scale, subtract
from judge.spec import FORMATS, POINTER, Spec

DEEPEST = 1 << 16  #: bytes of stack that a kernel may use
PAGE = 4096


class Data(NamedTuple):
    """A general register or slot with bytes of data, or with junk."""

    runs: Runs


class Token(NamedTuple):
    """A value that may only be kept: a callee-saved register on entry, or the return address."""

    name: str


class Joined(NamedTuple):
    """The OR of addresses, of which only the low bits may be tested."""

    addresses: frozenset[Pointer]


class LowBits(NamedTuple):
    """The number 2^bits - 1, for a write mask."""

    bits: Word


Value = int | Linear | Pointer | Data | Token | Joined | LowBits


class Compared(NamedTuple):
    """Flags of left - right, 64 bits wide."""

    left: Value
    right: Value


class Tested(NamedTuple):
    """Zero flag: whether all addresses are multiples of `multiple`."""

    addresses: frozenset[Pointer]
    multiple: int


Flags = Compared | Tested | None


class Register(NamedTuple):
    """The low `width` bytes of a vector register. cleared: the bytes above are 0, otherwise not known."""

    vector: Vector
    width: int
    cleared: bool

    def read(self, size: int) -> Runs:
        """Return the low `size` bytes. Raises Rejected for bytes that are not known."""
        if self.width >= size:
            return expand(self.vector, size)
        if not self.cleared:
            raise Rejected("bytes of a vector register that are not known")
        return merge([*expand(self.vector, self.width), *forms.zeros(size - self.width)])


def alike(one: Register, other: Register) -> bool:
    """Return whether two registers have equal bytes."""
    width = max(one.width, other.width)
    return one == other or (one.cleared == other.cleared and one.read(width) == other.read(width))


class Written(NamedTuple):
    prefix: Word = 0
    pieces: tuple[tuple[Word, int], ...] = ()


@dataclass(slots=True)
class State:
    """complete: destinations before this number are written to their end. floor: below this place signal
    handlers may write. touched: the lowest stack place that was accessed. multiples: known divisors."""

    spec: Spec
    code: bytes
    home: int
    red_zone: int
    facts: Facts
    length: Word
    sources: Word
    gpr: dict[str, Value]
    vectors: list[Register]
    masks: list[int | LowBits | None]
    flags: Flags = None
    slots: dict[Word, tuple[Value, int]] = field(default_factory=dict)
    floor: int = 0
    touched: int = 0
    complete: Word = 0
    written: dict[Word, Written] = field(default_factory=dict)
    dirty: bool = False
    unfenced: bool = False
    multiples: dict[Pointer, int] = field(default_factory=dict)
    next_ip: int = 0

    def copy(self) -> State:
        new = changed(self)
        new.facts, new.gpr, new.vectors = self.facts.copy(), dict(self.gpr), list(self.vectors)
        new.masks, new.slots, new.written = list(self.masks), dict(self.slots), dict(self.written)
        new.multiples = dict(self.multiples)
        return new

    def replace(self, name: str, by: Word) -> None:
        """Replace an unknown everywhere."""
        self.facts.replace(name, by)
        for field_ in _SYMBOLIC:
            setattr(self, field_, moved(getattr(self, field_), name, by))


#: The fields of a state in which unknowns may occur.
_SYMBOLIC = (
    "length",
    "sources",
    "gpr",
    "vectors",
    "masks",
    "flags",
    "slots",
    "complete",
    "written",
    "multiples",
)


def extent(state: State, region: Region) -> Word:
    """Return the size of a region."""
    match region.kind:
        case "src" | "dst":
            return state.length
        case "srcs":
            return scale(state.sources, POINTER * (1 + state.spec.ahead))
        case "dsts":
            return scale(state.sources if state.spec.per_shard else state.spec.outputs, POINTER)
        case "coeffs":
            return scale(state.sources, state.spec.outputs * FORMATS[state.spec.table][0])
        case "code":
            return len(state.code)
    raise Rejected(f"{region.kind} has no size")


def _inside(state: State, region: Region, offset: Word, length: int, limit: Word) -> None:
    """Raise Rejected unless an access lies inside its region for all values of the unknowns."""
    low = state.facts.range(offset)[0]
    if low < 0 or state.facts.range(subtract(limit, offset))[0] < length:
        raise Rejected(f"{length} bytes of {region} at {offset}, of {limit}")


def load(state: State, pointer: Value, length: int) -> Runs:
    """Return bytes of memory."""
    if not isinstance(pointer, Pointer):
        raise Rejected(f"reads at {pointer}")
    region, offset = pointer
    if region.kind == "stack":
        return as_bytes(_load_slot(state, offset, length), length)
    _inside(state, region, offset, length, extent(state, region))
    match region.kind:
        case "src":
            return _load_source(state, region, offset, length)
        case "dst":
            _unwritten(state, region, offset, length)
            return ((length, offset, variable("dst", region.number)),)
        case "coeffs":
            return ((length, offset, TABLE),)
        case "code" if isinstance(offset, int):
            return forms.constant_runs(state.code[offset : offset + length])
    raise Rejected(f"reads data of {region}")


def _load_source(state: State, region: Region, offset: Word, length: int) -> Runs:
    """Return bytes of a source; unknown bytes if a store in place may have replaced them."""
    if state.spec.in_place and _may_be_replaced(state, region, offset, length):
        return junk(length)
    return ((length, offset, variable("src", region.number)),)


def _may_be_replaced(state: State, region: Region, offset: Word, length: int) -> bool:
    before = subtract(state.complete, region.number if state.spec.per_shard else 0)
    if state.facts.range(before)[1] > 0:
        return True
    return any(_overlaps(state.facts, written, offset, length) for written in state.written.values())


def _unwritten(state: State, region: Region, offset: Word, length: int) -> None:
    written = state.written.get(region.number, Written())
    finished = state.facts.range(subtract(state.complete, region.number))[1] > 0
    if finished or _overlaps(state.facts, written, offset, length):
        raise Rejected(f"{region} is read back at {offset}")


def _overlaps(facts: Facts, written: Written, start: Word, length: int) -> bool:
    if facts.range(subtract(start, written.prefix))[0] < 0:
        return True
    gaps = ((facts.range(subtract(start, begin)), size) for begin, size in written.pieces)
    return any(gap[0] < size and gap[1] > -length for gap, size in gaps)


def store(state: State, pointer: Value, runs: Runs) -> None:
    """Write bytes to the frame, or to a destination, which must be as specified."""
    if not isinstance(pointer, Pointer):
        raise Rejected(f"writes at {pointer}")
    region, offset = pointer
    length = size(runs)
    if region.kind == "stack":
        store_slot(state, offset, Data(runs), length)
        return
    if region.kind != "dst":
        raise Rejected(f"writes to {region}")
    _inside(state, region, offset, length, state.length)
    want = state.spec.expected(region.number, state.sources)
    if runs != (forms.run_of(length, offset, want),):
        raise Rejected(f"a wrong value is written to {region} at {offset}")
    if state.facts.range(subtract(state.complete, region.number))[1] > 0:
        raise Rejected(f"{region} is written after its end")
    state.written[region.number] = _written(
        state.facts, state.written.get(region.number, Written()), offset, length
    )


def _written(facts: Facts, written: Written, start: Word, length: int) -> Written:
    """Return the written bytes after a store. Adjacent pieces become one, or join the prefix."""
    prefix, pieces = written
    for begin, size_ in pieces:
        gap = subtract(start, begin)
        if isinstance(gap, int) and -length <= gap <= size_:
            rest = tuple(piece for piece in pieces if piece != (begin, size_))
            whole = max(size_, gap + length) - min(gap, 0)
            return _written(facts, Written(prefix, rest), begin if gap >= 0 else start, whole)
    end = add(start, length)
    if facts.range(subtract(start, prefix))[1] <= 0 <= facts.range(subtract(end, prefix))[0]:
        for begin, size_ in pieces:
            if facts.range(subtract(begin, end))[1] <= 0:
                rest = tuple(piece for piece in pieces if piece != (begin, size_))
                return _written(facts, Written(end, rest), begin, size_)
        return Written(end, pieces)
    return Written(prefix, (*pieces, (start, length)))


def _end(state: State, pointer: Value, count: Word, length: int) -> tuple[Region, Word]:
    """Return shard and offset of an access to all bytes behind the offset, at most `length`."""
    if not isinstance(pointer, Pointer) or pointer.region.kind not in ("src", "dst"):
        raise Rejected(f"an unknown number of bytes at {pointer}")
    low, high = state.facts.range(count)
    if low < 0 or high > length or subtract(state.length, add(pointer.offset, count)) != 0:
        raise Rejected(f"{count} bytes of {pointer} are not its end")
    _inside(state, pointer.region, pointer.offset, 0, state.length)
    return pointer.region, pointer.offset


def load_end(state: State, pointer: Value, count: Word, length: int) -> Runs:
    """Return the last `count` bytes of a shard, then zeros."""
    region, offset = _end(state, pointer, count, length)
    if region.kind == "dst":
        _unwritten(state, region, offset, length)
    elif state.spec.in_place and _may_be_replaced(state, region, offset, length):
        raise Rejected(f"the end of {region} is read after it may have been replaced")
    return ((length, offset, variable(region.kind + "$", region.number)),)


def store_end(state: State, pointer: Value, runs: Runs, count: Word) -> None:
    """Write the last `count` bytes of a destination."""
    region, offset = _end(state, pointer, count, size(runs))
    written = state.written.get(region.number, Written())
    if region.kind != "dst" or written.pieces or subtract(written.prefix, offset) != 0:
        raise Rejected(f"writes the end of {region} before its beginning")
    if state.facts.range(subtract(state.complete, region.number))[1] > 0:
        raise Rejected(f"{region} is written after its end")
    want = state.spec.expected(region.number, state.sources, end=True)
    if runs != (forms.run_of(size(runs), offset, want),):
        raise Rejected(f"a wrong value is written to the end of {region}")
    state.written[region.number] = Written(add(offset, count))


def settle(state: State) -> None:
    """Count destinations that are written to their end, in order, and forget them."""
    while (written := state.written.get(state.complete)) is not None:
        if written.pieces or subtract(state.length, written.prefix) != 0:
            return
        del state.written[state.complete]
        state.complete = add(state.complete, 1)


def load_word(state: State, pointer: Value) -> Value:
    """Return the eight bytes that a general register loads."""
    if not isinstance(pointer, Pointer):
        raise Rejected(f"reads at {pointer}")
    region, offset = pointer
    if region.kind == "stack":
        return _load_slot(state, offset, POINTER)
    if region.kind not in ("srcs", "dsts"):
        return Data(load(state, pointer, POINTER))
    if region.kind == "dsts":
        _inside(state, region, offset, POINTER, extent(state, region))
        return Pointer(Region("dst", divide(offset, POINTER)), 0)
    index = divide(offset, POINTER)
    if state.facts.range(subtract(index, state.sources))[0] >= 0:
        _inside(state, region, offset, POINTER, extent(state, region))
        return Pointer(Region("ahead", subtract(index, state.sources)), 0)
    _inside(state, region, offset, POINTER, scale(state.sources, POINTER))
    return Pointer(Region("src", index), 0)


def as_bytes(value: Value, length: int) -> Runs:
    if isinstance(value, Data):
        return cut(value.runs, 0, length)
    if isinstance(value, int):
        return forms.constant_runs((value % (1 << 8 * length)).to_bytes(length, "little"))
    raise Rejected(f"{value} is used as data")


def _load_slot(state: State, place: Word, length: int) -> Value:
    low = state.facts.range(place)[0]
    if low < state.touched - PAGE:
        raise Rejected("the stack is read beyond a guard page")
    found = state.slots.get(place)
    if found is None or found[1] != length:
        raise Rejected(f"the stack is read at {place}, where nothing was put")
    return found[0]


def move_stack(state: State, place: Word) -> None:
    """Set rsp; the bytes below its red zone are lost."""
    if not isinstance(place, int):
        raise Rejected("the position of rsp is not known")
    if place < -DEEPEST or place < state.touched - PAGE:
        raise Rejected(f"{-place} bytes of stack, {state.touched - place} of them untouched")
    state.floor = place - state.red_zone
    state.slots = {at: slot for at, slot in state.slots.items() if state.facts.range(at)[0] >= state.floor}


def store_slot(state: State, place: Word, value: Value, length: int) -> None:
    """Store to the frame. Slots that the store may overlap are lost."""
    low, high = state.facts.range(place)
    if high > -length and not (low >= 8 and high + length <= 8 + state.home):
        raise Rejected("writes into the caller's frame")
    if low < state.floor or low < state.touched - PAGE:
        raise Rejected("writes below the frame, or beyond a guard page")
    state.touched = min(state.touched, int(high))
    for other, (_, bytes_) in list(state.slots.items()):
        gap = state.facts.range(subtract(place, other))
        if gap[0] < bytes_ and gap[1] > -length:
            del state.slots[other]
    state.slots[place] = value, length
