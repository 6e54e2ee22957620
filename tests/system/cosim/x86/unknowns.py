"""Unknown data, table entries and numbers, as the semantics describe them, with values to fill in."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import lru_cache
from random import Random

from gfsmith.prove.machine import bitmatrix, domain
from gfsmith.prove.machine.domain import Atom, Entry, Form, Piece, Runs, Table, Unsupported
from gfsmith.prove.machine.linear import Facts, Linear, Word, symbol
from gfsmith.prove.machine.state import (
    Alignment,
    Difference,
    Flags,
    Joined,
    Known,
    LowHalf,
    State,
    Value,
)
from gfsmith.prove.machine.state import difference_flags as known_flags

#: Kinds of unknowns with which an instruction replaces untracked values.
FRESH = domain.UNKNOWN | {"crossing", "lost"}

SHARDS = 4
SHARD_BYTES = 512
ENTRIES = 16
VECTOR = 64

#: Bytes of a table entry by format.
ENTRY_BYTES = {"nibble": 32, "affine": 8, "mulb": 8, "permxor": 32}
X86_FORMATS = ("nibble", "affine", "mulb")

#: Numbers that a kernel computes with, and their upper bounds.
NUMBERS = {"tiny": 1 << 4, "small": 1 << 16, "word": 1 << 32, "long": 1 << 48}
_WITNESS = "witness of "

_HIGH_TO_LOW = bitmatrix.HIGH_NIBBLE  # row r selects bit 4 + r: the high nibble, shifted down
_MATRICES = (bitmatrix.IDENTITY, bitmatrix.IDENTITY, bitmatrix.LOW_NIBBLE, bitmatrix.LOW_NIBBLE, _HIGH_TO_LOW)


@lru_cache(maxsize=4096)
def translation(matrix: int) -> bytes:
    """Return matrix times byte for every byte."""
    return bytes(bitmatrix.apply(matrix, byte) for byte in range(256))


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def multiply(left: int, right: int) -> int:
    """Return the product modulo 0x11b, as gf2p8mulb computes it."""
    result = 0
    for bit in range(8):
        result ^= left << bit if right >> bit & 1 else 0
    for bit in range(14, 7, -1):
        result ^= 0x11B << bit - 8 if result >> bit & 1 else 0
    return result


def linear_bytes(rng: Random, bits: int) -> bytes:
    """Return a random XOR-linear function of `bits` bits, as the table of its values."""
    columns = rng.randbytes(bits)
    values = [0]
    for column in columns:
        values += [value ^ column for value in values]
    return bytes(values)


class Cancels(AssertionError):
    """Unknowns that cannot take all values which the bits in their places may have."""


def _check_free(length: int, piece: Form, seen: set[tuple[object, int]]) -> None:
    """Raise Cancels unless the unknown bits of a run may have all values: neighbouring bytes can be anything.

    Each byte of each fresh unknown is in one byte of the result only, and its bits there are independent.
    """
    fresh = {a: m for a, m in piece.atoms.items() if a.kind in FRESH and not a.maps}
    for atom in fresh:
        places = {((atom.kind, atom.shard), int(str(atom.start)) + n) for n in range(length)}
        if places & seen:
            raise Cancels(f"{piece}: an unknown byte is used twice")
        seen |= places
    basis: list[int] = []
    for row in range(8):
        bits = 0
        for matrix in fresh.values():
            bits = bits << 8 | matrix >> 8 * row & 0xFF
        reduced = bits
        for known in basis:
            reduced = min(reduced, reduced ^ known)
        if bits and not reduced:
            raise Cancels(f"{piece}: bit {row} follows from others")
        basis += [reduced] if reduced else []


def undetermined(runs: Runs) -> bytes:
    """Return bytes with a 1 for every bit that the semantics leave undetermined."""
    out = b""
    seen = set[tuple[object, int]]()
    for length, piece in runs:
        bits = 0
        if isinstance(piece, Form):
            _check_free(length, piece, seen)
            for atom, matrix in piece.atoms.items():
                if atom.kind in FRESH:
                    rows = matrix.to_bytes(8, "little")
                    bits |= 0xFF if atom.maps else sum(1 << r for r in range(8) if rows[r])
        out += bytes([bits]) * length
    return out


def _digits(witness: Linear, value: int) -> dict[str, int]:
    """Return the quotients and remainders that replace a number: its digits of mixed radix."""
    new = sorted(((abs(c), str(s)) for s, c in witness.terms if str(s)[0] in "qr"), reverse=True)
    if not new:
        return {}
    sign = 1 if next(c for s, c in witness.terms if str(s) == new[0][1]) > 0 else -1
    left = sign * (value - witness.constant)
    assert len(new) == len(witness.terms)
    digits = {}
    for factor, name in new:
        digits[name], left = divmod(left, factor)
    assert left == 0
    return digits


class Unknowns:
    """Random shards, a random coefficient table, random numbers; symbolic values
    and their concrete values.
    """

    def __init__(self, rng: Random, formats: tuple[str, ...] = X86_FORMATS) -> None:
        self._rng = rng
        self._shards = [rng.randbytes(SHARD_BYTES) for _ in range(SHARDS)]
        self.format = rng.choice(formats)
        self.table = b"".join(self._entry_bytes() for _ in range(ENTRIES))
        self.numbers = {
            name: rng.randrange(rng.choice((0, bound // 2)), bound) for name, bound in NUMBERS.items()
        }

    def _entry_bytes(self) -> bytes:
        if self.format == "permxor":
            straight = linear_bytes(self._rng, 4) + linear_bytes(self._rng, 4)
            return bytes(straight[n ^ 7] for n in range(32))
        if self.format == "nibble":
            return linear_bytes(self._rng, 4) + linear_bytes(self._rng, 4)
        return self._rng.randbytes(8) if self.format == "affine" else self._rng.randbytes(1) * 8

    # ---- symbolic values ----

    def form(self, size: int = VECTOR) -> Form:
        """Return constant + matrix times up to `size` bytes of a shard, or of two."""
        rng = self._rng
        atoms = {}
        for _ in range(rng.choice((1, 1, 2))):
            start = rng.randrange(SHARD_BYTES - max(size, VECTOR))
            matrix = rng.choice((*_MATRICES, rng.getrandbits(64)))
            atoms[Atom((), "src", rng.randrange(SHARDS), start)] = matrix
        return domain.make_form(rng.choice((0, 0, 0, rng.getrandbits(8))), atoms)

    def data(self, size: int) -> Runs:
        """Return `size` bytes of data in one to three runs."""
        cuts = sorted(self._rng.randrange(size + 1) for _ in range(self._rng.choice((0, 0, 1, 2))))
        ends = zip([0, *cuts], [*cuts, size], strict=True)
        return domain.merge([(high - low, self.form(size)) for low, high in ends])

    def coefficients(self, size: int) -> Runs:
        """Return raw table bytes: one entry, or half of one, repeated; or a part of the table."""
        rng = self._rng
        width = min(ENTRY_BYTES[self.format], 16)
        if not rng.randrange(4):
            return ((size, Table(rng.randrange(len(self.table) - size))),)
        start = width * rng.randrange(len(self.table) // width)
        return tuple((width, Table(start)) for _ in range(size // width))

    def constant(self, size: int) -> Runs:
        """Return known bytes with a structure that instructions may need to process unknown ones."""
        rng = self._rng
        kind = rng.randrange(3)
        if kind == 0:
            lane = linear_bytes(rng, 4)
        elif kind == 1:
            lane = bytes([rng.choice((0x0F, 0xF0, rng.getrandbits(8)))]) * 16
        else:
            lane = rng.randbytes(8) * 2
        return domain.constant_runs(lane * (size // 16))

    def number(self) -> Linear:
        """Return a number, or constant + factor * number; not negative."""
        rng = self._rng
        name = rng.choice(("small", "word", "word", "long"))
        if rng.getrandbits(1):
            return Linear(0, ((name, 1),))
        return Linear(
            rng.choice((0, rng.randrange(1 << 12))), ((name, rng.choice((8, rng.randrange(1, 100)))),)
        )

    @staticmethod
    def few() -> Linear:
        """Return a number below 16."""
        return symbol("tiny")

    def facts(self) -> Facts:
        facts = Facts()
        for name, bound in NUMBERS.items():
            facts.assume(symbol(name), 0, bound - 1)
        return facts

    # ---- quotients ----

    @staticmethod
    def watch(state: State) -> None:
        """Put every number into its own register; a division may replace the number there."""
        for name in NUMBERS:
            state.gpr[_WITNESS + name] = symbol(name)

    def resolved(self, state: State) -> Unknowns:
        """Return the unknowns with the values of new quotients and remainders; remove the registers."""
        found = copy(self)
        found.numbers = dict(self.numbers)
        for name in NUMBERS:
            witness = state.gpr.pop(_WITNESS + name, None)
            if isinstance(witness, Linear):
                found.numbers |= _digits(witness, self.numbers[name])
        return found

    # ---- concrete values ----

    def word(self, word: Word) -> int:
        """Return the value of a number, modulo 2^64."""
        if isinstance(word, int):
            return word % (1 << 64)
        total = word.constant
        for name, factor in word.terms:
            total += factor * self.numbers[str(name)]
        return total % (1 << 64)

    def register(self, value: Value | Joined | LowHalf) -> int:
        """Return the value of a general register."""
        if isinstance(value, tuple):
            return int.from_bytes(self.value(value), "little")
        if isinstance(value, Joined):
            result = 0
            for address in value.addresses:
                result |= self.word(address)
            return result & value.mask
        if isinstance(value, LowHalf):
            return self.word(value.number) % (1 << 32)
        return self.word(value)

    def flags(self, flags: Flags) -> Known:
        if isinstance(flags, Difference):
            return known_flags(replace(flags, left=self.word(flags.left), right=self.word(flags.right)))
        if isinstance(flags, Alignment):
            return Known(None, all(self.word(a) & flags.mask == 0 for a in flags.addresses), None, None)
        return flags

    def value(self, runs: Runs) -> bytes:
        """Return the bytes of runs; bits marked by `undetermined` are arbitrary."""
        return b"".join(self._value(length, piece) for length, piece in runs)

    def _value(self, length: int, piece: Piece) -> bytes:
        if isinstance(piece, Table):
            start = self._known(piece.offset)
            return self.table[start : start + length]
        result = bytes([piece.constant]) * length
        for atom, matrix in piece.atoms.items():
            if atom.kind in FRESH:
                continue
            start = self._known(atom.start)
            if atom.kind == domain.NUMBER:
                data = self.word(atom.shard).to_bytes(8, "little")[start : start + length]
                result = _xor(result, data.translate(translation(matrix)))
                continue
            if atom.kind == domain.PRODUCT:
                data = self._product(atom.shard)[start : start + length]
                result = _xor(result, data.translate(translation(matrix)))
                continue
            data = self._shards[self._known(atom.shard)][start : start + length]
            data = data.translate(translation(matrix))
            for entry in reversed(atom.maps):
                data = self._through(entry, data)
            result = _xor(result, data)
        return result

    def _product(self, number: Word) -> bytes:
        """Return a carry-less product of the values of its operands."""
        left, right = (int.from_bytes(self.value(runs), "little") for runs in domain.operands(number))
        total = 0
        for bit in range(64):
            total ^= left << bit if right >> bit & 1 else 0
        return total.to_bytes(16, "little")

    def _through(self, entry: Entry, data: bytes) -> bytes:
        """Return the result of the linear map that a table entry's bytes encode."""
        size = ENTRY_BYTES[self.format]
        start = size * self._known(entry.source)
        content = self.table[start : start + size]
        if self.format == "permxor":
            content = bytes(content[n ^ 7] for n in range(32))
        match entry.part:
            case "low":
                return bytes(content[:16][byte] for byte in data)
            case "high":
                return bytes(content[16:][byte] for byte in data)
            case "matrix":
                return data.translate(translation(int.from_bytes(content[::-1], "little")))
            case "product":
                return bytes(multiply(content[0], byte) for byte in data)
            case _:
                raise Unsupported(f"an entry's {entry.part}")

    def _known(self, word: Word) -> int:
        if not isinstance(word, int):
            raise Unsupported(f"{word} is not a number")
        return word

    def place(self, offset: Word) -> tuple[str, Word, Word, int]:
        """Return format, source, output and byte within the entry, of a place in the table."""
        entry, within = divmod(self._known(offset), ENTRY_BYTES[self.format])
        return self.format, entry, 0, within
