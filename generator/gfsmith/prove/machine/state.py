"""Registers and flags of one path through a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeAlias

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Address, Facts, Linear, Symbol, Word, private, substitute
from gfsmith.prove.verdict import Refutation

#: The value of a general register: a number or address, or eight bytes of data (or of junk).
Value: TypeAlias = Word | Runs


class Store(Protocol):
    """The interface of memory for instructions."""

    @property
    def pointer_bytes(self) -> int: ...
    def load(self, address: Word, size: int, /) -> Runs: ...
    def store(self, address: Word, runs: Runs, /) -> None: ...
    def load_end(self, address: Word, size: int, count: Word, /) -> Runs: ...
    def store_end(self, address: Word, runs: Runs, count: Word, /) -> None: ...
    def load_word(self, address: Word, size: int, /) -> Value: ...
    def store_word(self, address: Word, value: Value, size: int, /) -> None: ...
    def entry(self, offset: Word, /) -> tuple[str, Word, Word, int]: ...
    def extent(self, region: Address, /) -> tuple[Word, Word]: ...
    def relative(self, ip: int, next_ip: int, target: int, /) -> Word: ...
    def is_aligned(self, address: Word, size: int, /) -> bool: ...


class Condition(Enum):
    """The condition of a branch on left - right: unsigned, equality, signed, and the sign of the result."""

    BELOW = "below"
    NOT_BELOW = "not below"
    NOT_ABOVE = "not above"
    ABOVE = "above"
    EQUAL = "equal"
    NOT_EQUAL = "not equal"
    LESS = "less"
    NOT_LESS = "not less"
    NOT_GREATER = "not greater"
    GREATER = "greater"
    NEGATIVE = "negative"
    NOT_NEGATIVE = "not negative"


@dataclass(frozen=True, slots=True)
class Difference:
    """Flags of left - right, both `size` bytes wide. summed: an addition of left and -right made them,
    so that only SF != OF, the sign of the exact result, is that of a subtraction. logical: a logical
    operation with the result `left` made them, so that only ZF is that of left - 0."""

    left: Word
    right: Word
    size: int
    summed: bool = False
    logical: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """Flags as values; None: undefined. cf: a subtraction borrows (Arm's term: no carry)."""

    cf: bool | None
    zf: bool | None
    sf: bool | None
    of: bool | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Flags of a TEST of some bits: whether all the addresses are multiples of mask + 1."""

    addresses: frozenset[Word]
    mask: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """Flags that differ between iterations of a loop in a way that the prover does not support."""


Flags = Difference | Known | Alignment | Unclear
UNDEFINED = Known(None, None, None, None)
_ONLY = "flags"


@dataclass(frozen=True, slots=True)
class Joined:
    """The bitwise OR of addresses and then the AND with `mask`, 2^b - 1, which permits only a test of low
    bits."""

    addresses: frozenset[Word]
    mask: int = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class LowBits:
    """The number 2^count - 1, which permits only the use as a write mask."""

    count: Word


@dataclass(frozen=True, slots=True)
class LowHalf:
    """The low 32 bits of a number that may have more, which permit only the AND with a number."""

    number: Linear


@dataclass(frozen=True, slots=True)
class Truth:
    """The number 1 if a condition on flags holds, else 0."""

    flags: Flags
    condition: Condition


#: A value of a general register that can be neither computed with nor stored.
Opaque: TypeAlias = Joined | LowBits | LowHalf | Truth


@dataclass(slots=True)
class State:
    """One machine state. conditions: sets of flags by name. dirty: upper halves of vectors may be in use.
    unfenced: a store around the cache has not been followed by a fence. multiples: the known divisors of
    addresses. hints: the unknowns replaced since the state was copied, for the certificate."""

    gpr: dict[str, Value | Opaque]
    vectors: list[Runs]
    masks: list[int | LowBits | None]
    memory: Store
    facts: Facts = field(default_factory=Facts)
    conditions: dict[str, Flags] = field(default_factory=dict)
    dirty: bool = False
    unfenced: bool = False
    multiples: dict[Word, int] = field(default_factory=dict)
    hints: list[list[object]] = field(default_factory=list)

    @classmethod
    def concrete(
        cls, gpr: dict[str, int], vectors: list[bytes], masks: list[int], memory: dict[int, bytes]
    ) -> State:
        """Return a state of plain numbers, to compare instructions with the CPU. memory: block by address."""
        registers: dict[str, Value | Opaque] = {**gpr}
        runs = [domain.constant_runs(vector) for vector in vectors]
        return cls(registers, runs, list(masks), Block(memory))

    @property
    def flags(self) -> Flags:
        """The flags of a processor that has only one set of them."""
        return self.conditions.get(_ONLY, UNDEFINED)

    @flags.setter
    def flags(self, flags: Flags) -> None:
        self.conditions[_ONLY] = flags

    def vector_bytes(self, number: int) -> bytes:
        return constant_bytes(self.vectors[number])

    def mask_int(self, number: int) -> int:
        mask = self.masks[number]
        if mask is None:
            raise Unsupported(f"k{number} is undefined")
        if isinstance(mask, LowBits):
            raise Unsupported(f"k{number} has {mask.count} bits")
        return mask

    def flag(self, name: str) -> bool | None:
        flags = self.flags
        if isinstance(flags, Difference):
            flags = difference_flags(flags)
        if isinstance(flags, Known):
            return {"cf": flags.cf, "zf": flags.zf, "sf": flags.sf, "of": flags.of}[name]
        return None

    def word(self, name: str) -> Word:
        """Return a register as number or address. Refutes a register that holds data, which could leak by
        timing. Raises Unsupported for a number that is unclear."""
        value = self.gpr[name]
        if isinstance(value, Opaque):
            raise Unsupported(f"{name} holds {value}")
        if isinstance(value, tuple):
            if all(isinstance(p, domain.Form) and p.is_constant for _, p in value):
                return int.from_bytes(constant_bytes(value), "little")
            reason = f"an address, count or branch depends on {name}, which holds {value}"
            raise domain.refutation(value, reason)
        return value

    def prefetch(self, address: Word) -> None:
        """Check the address of a prefetch. A prefetch never faults, but its address is visible in the cache,
        so a private address is refuted."""
        name = private(address)
        if name is not None:
            raise Refutation(f"a prefetch through {name}")

    def substitute(self, name: Symbol, by: Word) -> None:
        """Replace a symbol everywhere but in memory and facts."""
        for register, value in self.gpr.items():
            if isinstance(value, Linear):
                self.gpr[register] = substitute(value, name, by)
            elif isinstance(value, tuple):
                self.gpr[register] = domain.substitute_runs(value, name, by)
            elif isinstance(value, Joined):
                moved = frozenset(substitute(a, name, by) for a in value.addresses)
                self.gpr[register] = Joined(moved, value.mask)
            elif isinstance(value, LowBits):
                self.gpr[register] = LowBits(substitute(value.count, name, by))
            elif isinstance(value, LowHalf):
                word = substitute(value.number, name, by)
                self.gpr[register] = word % (1 << 32) if isinstance(word, int) else LowHalf(word)
            elif isinstance(value, Truth):
                self.gpr[register] = replace(value, flags=_substitute_flags(value.flags, name, by))
        for number, mask in enumerate(self.masks):
            if isinstance(mask, LowBits):
                self.masks[number] = LowBits(substitute(mask.count, name, by))
        self.vectors = [domain.substitute_runs(runs, name, by) for runs in self.vectors]
        for what, flags in self.conditions.items():
            self.conditions[what] = _substitute_flags(flags, name, by)
        self.multiples = {substitute(a, name, by): m for a, m in self.multiples.items()}


def _substitute_flags(flags: Flags, name: Symbol, by: Word) -> Flags:
    if isinstance(flags, Difference):
        left, right = (substitute(x, name, by) for x in (flags.left, flags.right))
        return replace(flags, left=left, right=right)
    if isinstance(flags, Alignment):
        return Alignment(frozenset(substitute(a, name, by) for a in flags.addresses), flags.mask)
    return flags


def constant_bytes(runs: Runs) -> bytes:
    """Return runs as bytes if all are constant."""
    out = bytearray()
    for length, piece in runs:
        if not isinstance(piece, domain.Form) or not piece.is_constant:
            raise Unsupported("a value that should be known is symbolic")
        out += bytes([piece.constant]) * length
    return bytes(out)


def difference_flags(flags: Difference) -> Known:
    """Return the flags of a subtraction, or addition, of plain numbers."""
    if not isinstance(flags.left, int) or not isinstance(flags.right, int):
        return UNDEFINED
    if flags.logical:
        return Known(None, flags.left == 0, None, None)
    if flags.summed:
        return sum_flags(flags.left, -flags.right, flags.size)
    bits = 8 * flags.size
    span, half = 1 << bits, 1 << bits - 1
    left, right = flags.left % span, flags.right % span
    result = (left - right) % span
    overflow = ((left ^ right) & (left ^ result) & half) != 0
    return Known(left < right, result == 0, result >= half, overflow)


def sum_flags(left: int, right: int, size: int) -> Known:
    """Return the flags of an addition of plain numbers."""
    span, half = 1 << 8 * size, 1 << 8 * size - 1
    left, right = left % span, right % span
    total = (left + right) % span
    overflow = (~(left ^ right) & (left ^ total) & half) != 0
    return Known(left + right >= span, total == 0, total >= half, overflow)


def fork(state: State, memory: Store, facts: Facts) -> State:
    """Return an independent copy, which shares only immutable values."""
    return State(
        dict(state.gpr),
        list(state.vectors),
        list(state.masks),
        memory,
        facts,
        dict(state.conditions),
        state.dirty,
        state.unfenced,
        dict(state.multiples),
    )


class Block:
    """Plain memory for State.concrete: blocks of bytes by address."""

    pointer_bytes = 8

    def __init__(self, blocks: dict[int, bytes]) -> None:
        self._blocks = {address: bytearray(data) for address, data in blocks.items()}

    def _find(self, address: Word, size: int) -> tuple[bytearray, int]:
        if isinstance(address, int):
            for start, data in self._blocks.items():
                if start <= address and address + size <= start + len(data):
                    return data, address - start
        raise Refutation(f"accesses {size} bytes at {address}, outside of every block")

    def load(self, address: Word, size: int) -> Runs:
        data, offset = self._find(address, size)
        return domain.constant_runs(bytes(data[offset : offset + size]))

    def store(self, address: Word, runs: Runs) -> None:
        content = constant_bytes(runs)
        data, offset = self._find(address, len(content))
        data[offset : offset + len(content)] = content

    def load_end(self, address: Word, size: int, count: Word) -> Runs:
        raise Unsupported("a plain block has no end that is unknown")

    def store_end(self, address: Word, runs: Runs, count: Word) -> None:
        raise Unsupported("a plain block has no end that is unknown")

    def entry(self, offset: Word) -> tuple[str, Word, Word, int]:
        raise Unsupported("a plain block has no coefficient table")

    def relative(self, ip: int, next_ip: int, target: int) -> Word:
        return target

    def is_aligned(self, address: Word, size: int) -> bool:
        return isinstance(address, int) and address % size == 0

    def extent(self, region: Address) -> tuple[Word, Word]:
        raise Unsupported("a plain block has no regions")

    def load_word(self, address: Word, size: int) -> Value:
        return int.from_bytes(constant_bytes(self.load(address, size)), "little")

    def store_word(self, address: Word, value: Value, size: int) -> None:
        if isinstance(value, int):
            value = domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
        if not isinstance(value, tuple):
            raise Unsupported("an address is stored in a plain block")
        self.store(address, domain.cut(value, 0, size))
