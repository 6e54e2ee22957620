"""Memory that a kernel may access: shards, pointer arrays, the coefficient table, its stack, its constants.

Shards are never stored: a source byte is a variable, and so is a destination byte until it is written. The
kernel must write the value that the spec defines for that place, once. So the only state of a destination is
the extent of the written bytes. Every access is checked to lie inside its region for all values of the
unknowns. A kernel may use the pointers of src[] after those of the sources for prefetches only, which are no
accesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from gfsmith.kernel.operation import LINE_PART
from gfsmith.prove.machine import domain, masked_tail
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.domain import Runs, Table, Unsupported
from gfsmith.prove.machine.linear import (
    Address,
    Facts,
    Symbol,
    Word,
    add,
    base,
    divide,
    scale,
    substitute,
    subtract,
    symbol,
)
from gfsmith.prove.machine.stack import Stack, as_bytes
from gfsmith.prove.verdict import Refutation

_HALF = 16  #: bytes of a nibble entry's half
_LINE = 2 * LINE_PART
_reads = count()


@dataclass(slots=True)
class Written:
    """Bytes of one destination that have been written: all below `prefix`, and pieces beyond."""

    prefix: Word = 0
    pieces: list[tuple[Word, int]] = field(default_factory=list)

    def copy(self) -> Written:
        return Written(self.prefix, list(self.pieces))

    def add(self, start: Word, size: int, facts: Facts) -> None:
        """Record a write. Adjacent pieces become one, and a piece that continues the prefix joins it."""
        for piece in list(self.pieces):
            gap = subtract(start, piece[0])
            if isinstance(gap, int) and -size <= gap <= piece[1]:
                self.pieces.remove(piece)
                if gap > 0:
                    start = piece[0]
                size = max(size + max(gap, 0), piece[1] + max(-gap, 0))
        self.pieces.append((start, size))
        while any(self._join(piece, facts) for piece in self.pieces):
            pass

    def _join(self, piece: tuple[Word, int], facts: Facts) -> bool:
        """Make a piece part of the prefix if it begins there or before, and ends there or behind, always."""
        end = add(piece[0], piece[1])
        if facts.range(subtract(piece[0], self.prefix))[1] > 0:
            return False
        low, high = facts.range(subtract(end, self.prefix))
        if low < 0 < high:
            return False
        if low >= 0:
            self.prefix = end
        self.pieces.remove(piece)
        return True

    def overlaps(self, start: Word, size: int, facts: Facts) -> bool:
        """Return whether any byte of [start, start + size) may have been written."""
        if facts.range(subtract(start, self.prefix))[0] < 0:
            return True
        for begin, length in self.pieces:
            gap = subtract(start, begin)
            low, high = facts.range(gap)
            if not (low >= length or high <= -size):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes: bytes of a shard, sources, outputs, bytes of the table, pointers of src[], bytes of a pointer.

    in_place: a destination may be a source; if per_shard, only the source of the same index. stride: the
    distance of two pointers; start: the offset from them to the shards; joined: src[] also has the pointers
    of dst[], after those of the sources; sized: the length follows each pointer; columns: of the table;
    descending: the sources are numbered from the end of src[]; in_lines: src or dst, the shards that are
    LINE_PART bytes of every line.
    """

    length: Word
    sources: Word
    outputs: Word
    table: Word
    pointers: Word
    pointer: int
    in_place: bool
    per_shard: bool
    stride: int
    start: Word
    joined: bool
    sized: bool
    columns: Word
    descending: bool
    in_lines: str = ""


#: Table offset, columns of the table -> format, source, output, byte within the entry.
Decode = Callable[[Word, Word], tuple[str, Word, Word, int]]

#: dst index, offset, size, number of sources -> the bytes that must be there in the end.
Expect = Callable[[Word, Word, int, Word], Runs]


@dataclass(slots=True)
class Memory:
    """The memory of one path. expanded: returns runs in the form in which equal sums are equal."""

    limits: Limits
    facts: Facts
    expect: Expect
    expanded: Callable[[Runs], Runs]
    constants: Constants
    decode: Decode
    stack: Stack = field(default_factory=Stack)
    written: dict[Word, Written] = field(default_factory=dict)
    complete: Word = 0

    @property
    def pointer_bytes(self) -> int:
        return self.limits.pointer

    def copy(self, facts: Facts) -> Memory:
        return Memory(
            self.limits,
            facts,
            self.expect,
            self.expanded,
            self.constants,
            self.decode,
            self.stack.copy(),
            {index: w.copy() for index, w in self.written.items()},
            self.complete,
        )

    def substitute(self, name: Symbol, by: Word) -> None:
        limits = self.limits
        self.limits = Limits(
            substitute(limits.length, name, by),
            substitute(limits.sources, name, by),
            substitute(limits.outputs, name, by),
            substitute(limits.table, name, by),
            substitute(limits.pointers, name, by),
            limits.pointer,
            limits.in_place,
            limits.per_shard,
            limits.stride,
            substitute(limits.start, name, by),
            limits.joined,
            limits.sized,
            substitute(limits.columns, name, by),
            limits.descending,
            limits.in_lines,
        )
        self.stack.substitute(name, by)
        self.complete = substitute(self.complete, name, by)
        self.written = {
            substitute(index, name, by): Written(
                substitute(w.prefix, name, by),
                [(substitute(start, name, by), size) for start, size in w.pieces],
            )
            for index, w in self.written.items()
        }

    def inside(self, what: Address, offset: Word, size: int, limit: Word) -> None:
        """Refute unless 0 <= offset and offset + size <= limit, always."""
        if self.facts.range(offset)[0] < 0:
            raise Refutation(f"accesses {what} before its first byte, at {offset}")
        if self.facts.range(subtract(limit, add(offset, size)))[0] < 0:
            raise Refutation(f"accesses {what} beyond its end: {size} bytes at {offset}, size {limit}")

    def _place(self, address: Word, size: int) -> tuple[Address, Word] | None:
        """Return the region and the offset of an access. In a shard in lines it counts the bytes there."""
        place = base(address)
        if place is None or place[0].kind != self.limits.in_lines:
            return place
        region, offset = place
        within = (offset if isinstance(offset, int) else offset.constant) % _LINE
        line = divide(subtract(offset, within), _LINE)
        if line is None:
            raise Unsupported(f"{region} at {offset}, which may be at any place in a line")
        if within + size > LINE_PART:
            raise Refutation(f"{size} bytes of {region} at {offset}, not all of them in its part of a line")
        return region, add(scale(line, LINE_PART), within)

    def load(self, address: Word, size: int) -> Runs:
        """Return bytes as runs. Raises Refutation outside of the readable regions."""
        place = self._place(address, size)
        if place is None:
            if not isinstance(address, int):
                raise Refutation(f"reads at {address}, which is no address of the contract")
            if self.constants.is_inside(address):
                raise Unsupported(f"reads {size} bytes at {address:#x}, an address of the file as a number")
            raise Refutation(f"reads {size} bytes at {address:#x}, outside of its constants")
        region, offset = place
        match region.kind:
            case "src":
                return self._load_source(region, offset, size)
            case "dst":
                return self._load_destination(region, offset, size)
            case "stack":
                return as_bytes(self.stack.load(offset, size), size)
            case "coeffs":
                self.inside(region, offset, size, self.limits.table)
                return ((size, Table(offset)),)
            case "low" | "high":
                self.inside(region, offset, size, _HALF)
                return ((size, Table(add(offset, _HALF if region.kind == "high" else 0))),)
            case "image":
                return domain.constant_runs(self._constant(region, offset, size))
            case "ahead":
                raise Refutation(f"reads from {region}, which is only good for prefetching")
            case _:
                raise Unsupported(f"data is read from {region}")

    def _constant(self, region: Address, offset: Word, size: int) -> bytes:
        index = region.index
        if isinstance(index, int) and isinstance(offset, int):
            data = self.constants.load(index, offset, size)
            if data is not None:
                return data
        raise Refutation(f"reads {size} bytes of {region} at {offset}, outside of its constants")

    def relative(self, ip: int, next_ip: int, target: int) -> Word:
        """Return the address of an operand that is relative to its instruction."""
        return self.constants.relative(ip, next_ip, target)

    def is_aligned(self, address: Word, size: int) -> bool:
        """Return whether an address of the file is a multiple of `size` for every placement by the linker."""
        place = base(address)
        if place is None or place[0].kind != "image" or not isinstance(place[0].index, int):
            return False
        return self.constants.is_aligned(place[0].index, place[1], size)

    def _load_source(self, region: Address, offset: Word, size: int) -> Runs:
        """Return source bytes. Bytes that a store in place may have replaced are unknown, and so is every
        destination byte that depends on them."""
        self.inside(region, offset, size, self.limits.length)
        lost = self._lost(region, offset, size) if self.limits.in_place else 0
        replaced = domain.variable(f"overwritten in place #{next(_reads)} ", region.index, offset)
        kept = domain.variable("src", region.index, add(offset, lost))
        return domain.merge([run for run in ((lost, replaced), (size - lost, kept)) if run[0]])

    def _lost(self, source: Address, offset: Word, size: int) -> int:
        """Return the number n of bytes such that the first n of [offset, offset + size) may have been
        replaced in place."""
        complete = subtract(self.complete, source.index if self.limits.per_shard else 0)
        if self.facts.range(complete)[1] > 0:
            return size
        return max((self._replaced(w, offset, size) for w in self.written.values()), default=0)

    def _replaced(self, written: Written, offset: Word, size: int) -> int:
        """Return the number of _lost for one destination."""
        if not written.overlaps(offset, size, self.facts):
            return 0
        done = subtract(written.prefix, offset)
        return min(done, size) if isinstance(done, int) and not written.pieces else size

    def _load_destination(self, region: Address, offset: Word, size: int) -> Runs:
        self.inside(region, offset, size, self.limits.length)
        if self.facts.range(subtract(self.complete, region.index))[1] > 0:
            raise Unsupported(f"{region} is read back after its end was written")
        written = self.written.get(region.index)
        if written is None or not written.overlaps(offset, size, self.facts):
            return ((size, domain.variable("dst", region.index, offset)),)
        done = subtract(written.prefix, offset)
        if not isinstance(done, int) or done <= 0 or written.pieces:
            raise Unsupported(f"{region} is read back at {offset}")
        done = min(done, size)
        known = self.expect(region.index, offset, done, self.limits.sources)
        rest = ((size - done, domain.variable("dst", region.index, add(offset, done))),)
        return known + rest if size > done else known

    def load_end(self, address: Word, size: int, count: Word) -> Runs:
        """Return the last `count` bytes of a shard, then zeros: `size` bytes, for any count up to `size`."""
        region, offset = self._end(address, size, count)
        changed = region.kind == "src" and self.limits.in_place and self._lost(region, offset, size)
        written = self.written.get(region.index) if region.kind == "dst" else None
        if changed or (written is not None and written.overlaps(offset, size, self.facts)):
            raise Unsupported(f"the end of {region} is read after it may have been written")
        return ((size, masked_tail.variable(region.kind, region.index, offset)),)

    def store_end(self, address: Word, runs: Runs, count: Word) -> None:
        """Write the last `count` bytes of a destination, those that `runs` begins with."""
        size = domain.size(runs)
        region, offset = self._end(address, size, count)
        if region.kind != "dst":
            raise Unsupported(f"writes the end of {region} at {offset}")
        whole = masked_tail.whole(runs, offset)
        want = self.expect(region.index, offset, size, self.limits.sources)
        if whole != want and self.expanded(whole) != self.expanded(want):
            raise Unsupported(f"the end of {region} is not as it must be, byte by byte")
        written = self.written.get(region.index, Written())
        if not written.pieces and subtract(written.prefix, offset) == 0:
            self.written[region.index] = Written(add(offset, count))
        elif want != ((size, domain.variable("dst", region.index, offset)),):  # else nothing changes
            raise Unsupported(f"writes the end of {region} at {offset}")

    def _end(self, address: Word, size: int, count: Word) -> tuple[Address, Word]:
        """Return shard and offset of an access to all bytes from the offset to the end of the shard, 1 to
        `size` bytes."""
        place = self._place(address, size)
        if place is None or place[0].kind not in ("src", "dst"):
            raise Unsupported(f"an unknown part of {size} bytes at {address}")
        region, offset = place
        low, high = self.facts.range(count)
        if subtract(self.limits.length, add(offset, count)) != 0 or low < 0 or high > size:
            raise Unsupported(f"{count} bytes of {region} at {offset}")
        self.inside(region, offset, 0, self.limits.length)
        if self.facts.range(subtract(self.complete, region.index))[1] > 0 and region.kind == "dst":
            raise Unsupported(f"{region} after its end was written")
        return region, offset

    def entry(self, offset: Word) -> tuple[str, Word, Word, int]:
        """Return format, source, output and byte within the entry for a place in the coefficient table."""
        return self.decode(offset, self.limits.columns)

    def store(self, address: Word, runs: Runs) -> None:
        """Write a shard. Raises Refutation for a wrong value or a place outside."""
        size = domain.size(runs)
        place = self._place(address, size)
        if place is None or place[0].kind != "dst":
            raise Refutation(f"writes at {place[0] if place else address}, not to a destination")
        region, offset = place
        self.inside(region, offset, size, self.limits.length)
        want = self.expect(region.index, offset, size, self.limits.sources)
        if runs != want and self.expanded(runs) != self.expanded(want):
            raise domain.refutation(runs, f"{region} at {offset}: {_difference(runs, want)}")
        self.written.setdefault(region.index, Written()).add(offset, size, self.facts)

    def load_word(self, address: Word, size: int) -> Word | Runs:
        """Return the value that a general register loads: a pointer, a saved register, or bytes."""
        place = base(address)
        if place is not None and size == self.pointer_bytes:
            region, offset = place
            if region.kind in ("srcs", "dsts"):
                return self.pointer(region, offset)
            if region.kind == "image" and isinstance(offset, int) and isinstance(region.index, int):
                found = self.constants.pointer(region.index, offset)
                if found is not None:
                    return found
            if region.kind == "stack":
                return self.stack.load(offset, size)
        return self.load(address, size)

    def store_word(self, address: Word, value: Word | Runs, size: int) -> None:
        """Store a general or vector register to the stack, or its bytes to a destination."""
        place = base(address)
        if place is None or place[0].kind != "stack":
            if not isinstance(value, tuple):
                raise Refutation(f"writes a number or pointer at {address}, not data")
            self.store(address, value)
            return
        self.stack.store(place[1], value, size, self.facts)

    def pointer(self, region: Address, offset: Word) -> Word:
        """Return the pointer at `offset` of src[] or dst[]: of a shard, or one after the pointers to the
        sources. If these are sized, return the length of a shard beside its pointer."""
        limits, stride, size = self.limits, self.limits.stride, self.pointer_bytes
        sources = scale(limits.sources, stride)
        beyond = region.kind == "srcs" and self.facts.range(subtract(offset, sources))[0] >= 0
        if beyond and limits.joined:
            region, offset, beyond = Address("dsts"), subtract(offset, sources), False
        kind, limit = ("src", limits.sources) if region.kind == "srcs" else ("dst", limits.outputs)
        self.inside(region, offset, size, scale(limits.pointers if beyond else limit, stride))
        if limits.sized and not beyond and divide(subtract(offset, size), stride) is not None:
            return limits.length
        index = divide(offset, stride)
        if index is None and stride > size:
            raise Unsupported(f"reads {region} at {offset}, beside a pointer")
        if index is None:
            raise Refutation(f"reads {region} at {offset}, between two pointers")
        ahead = Address("ahead", subtract(index, limits.sources))
        if kind == "src" and limits.descending:
            index = subtract(subtract(limits.sources, 1), index)
        return subtract(symbol(ahead if beyond else Address(kind, index)), limits.start)

    def extent(self, region: Address) -> tuple[Word, Word]:
        """Return the offsets in a region between which its addresses do not wrap around."""
        limits = self.limits
        match region.kind:
            case "src" | "dst":
                return 0, limits.length
            case "srcs":
                return 0, scale(limits.pointers, limits.stride)
            case "dsts":
                return 0, scale(limits.outputs, limits.stride)
            case "coeffs":
                return 0, limits.table
            case "stack":
                return -self.stack.deepest, 0
            case "image" if isinstance(region.index, int):
                return 0, self.constants.extent(region.index)
        raise Unsupported(f"a comparison of addresses in {region}")

    def settle(self) -> None:
        """Count destinations that are written to their end, in order, and forget them."""
        while True:
            written = self.written.get(self.complete)
            if written is None or written.pieces:
                return
            if not self._is_whole(written.prefix):
                return
            del self.written[self.complete]
            self.complete = add(self.complete, 1)

    def _is_whole(self, size: Word) -> bool:
        """Return whether a destination of which so many bytes are written is written to its end."""
        return subtract(self.limits.length, size) == 0


def _difference(got: Runs, want: Runs) -> str:
    position = 0
    for length, a, b in domain.aligned(got, want):
        if a != b:
            return f"byte {position} is {_short(a)}, must be {_short(b)}"
        position += length
    return f"{domain.size(got)} bytes, must be {domain.size(want)}"


def _short(piece: object) -> str:
    text = repr(piece)
    return text if len(text) < 160 else text[:157] + "..."
