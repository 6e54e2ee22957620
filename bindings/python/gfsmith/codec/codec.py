"""Codecs: gfsmith.h for Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gfsmith.codec import _native
from gfsmith.codec.batches import Batches
from gfsmith.codec.checksums import sketch_tables
from gfsmith.codec.coding import integer
from gfsmith.codec.errors import InvalidError
from gfsmith.codec.located import Located
from gfsmith.codec.plan import Plan
from gfsmith.codec.shards import flat, is_array, new, presence

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from gfsmith.codec.shards import Array, Flags, Rows, Shard, Shards

    Written = TypeVar("Written", bound=Rows)
    Rowed = TypeVar("Rowed", bound=Array)


class Codec(Batches):
    """A code with a shape: parity[i] = sum over j < k of c[i][j] * data[j], for every byte, i < m.

    Bytes are elements of GF(2^8). A shard is any object with the buffer protocol and contiguous bytes: bytes,
    bytearray, memoryview, array.array, mmap, a row of a NumPy array. All shards of a call have the same
    length, any length. Sets of shards are sequences of such objects, or arrays whose rows are the shards (of
    dtype uint8; rows may have any stride, their bytes must be contiguous). Shards are never copied. In
    indices, data shards come first: shard j < k is data[j], shard k + i is parity[i].

    A codec never changes: any number of threads may use it at once, each on its own shards. Calls that touch
    32 KiB or more release the GIL; with `threads`, several threads share calls on 4 MiB or more. It can be
    copied and pickled.

    >>> import gfsmith
    >>> codec = gfsmith.Codec(code="cauchy", k=3, m=2)
    >>> shards = [b"one.", b"two.", b"six.", *codec.encode([b"one.", b"two.", b"six."])]
    >>> codec.reconstruct([None, shards[1], None, *shards[3:]])[:3]
    [bytearray(b'one.'), b'two.', bytearray(b'six.')]
    """

    _encode = staticmethod(_native.encode)
    _reconstruct = staticmethod(_native.reconstruct)
    _encode_stripes = staticmethod(_native.encode_stripes)
    _reconstruct_stripes = staticmethod(_native.reconstruct_stripes)

    @overload
    def encode_checksums(
        self, kind: str, data: Rowed, parity: None = None, states: Iterable[int] | None = None
    ) -> tuple[Rowed, list[int]]: ...
    @overload
    def encode_checksums(
        self,
        kind: str,
        data: Sequence[Shard] | memoryview,
        parity: None = None,
        states: Iterable[int] | None = None,
    ) -> tuple[list[bytearray], list[int]]: ...
    @overload
    def encode_checksums(
        self, kind: str, data: Rows, parity: Written, states: Iterable[int] | None = None
    ) -> tuple[Written, list[int]]: ...
    def encode_checksums(
        self, kind: str, data: Rows, parity: Rows | None = None, states: Iterable[int] | None = None
    ) -> Any:
        """Compute all parities, and the checksums of all k + m shards in the same pass over memory.

        kind: one of gfsmith.CHECKSUMS. data, parity: as for `encode`. states: for each shard 0 or the
        checksum of its bytes before; None: 0 for all. Returns the parities and the checksums. One thread
        does all the work. Additional errors: InvalidError (another kind, a wrong number of states, a state
        with more bits than the check, for crc16_t10 a length that is not a multiple of 512).
        """
        before = (0,) * self.n if states is None else tuple(states)
        if parity is None:
            parity = new(data, self.m)
        return parity, _native.encode_checksums(self._handle, kind, data, parity, before)

    def sketch(self, data: Shard, offset: int = 0, start: bytes = bytes(8)) -> bytes:
        """Compute the sketch of a shard: 8 bytes that find damage, like a checksum, and are linear over the
        codec's field (docs/checksums.md).

        The sketches of a stripe's shards are a stripe of the same code. So `check` compares the sketches of
        parities with those of data, and `encode`, `locate` and `reconstruct` work with them as well.

        data: a buffer of bytes, a shard or a piece of one. offset: the place of the first byte in the shard.
        start: the sum of the sketches of other pieces. Errors: InvalidError (a codec in packet layout, a
        start that has not 8 bytes, an offset that is negative or too large).

        >>> codec = Codec("cauchy", k=3, m=2)
        >>> shards = [b"one.", b"two.", b"six.", *codec.encode([b"one.", b"two.", b"six."])]
        >>> codec.check([codec.sketch(shard) for shard in shards])
        True
        >>> codec.sketch(b"o.", offset=2, start=codec.sketch(b"tw")) == codec.sketch(b"two.")
        True
        """
        if self._packet:
            raise InvalidError("sketch: this codec is in packet layout, must be in ordinary layout")
        return _native.sketch_add(sketch_tables(self._polynomial, _native.isa()), start, offset, data)

    def append(self, index: int, data: Shard, parity: Rows, *, first: bool = False) -> None:
        """Encode data shards that arrive one at a time, in any order. After all k the parities are those of
        `encode`; before, those of data whose other shards are zeros. first: ignore the previous contents of
        the parities.
        """
        _native.append(self._handle, index, data, parity, first)

    def update(self, index: int, delta: Shard, parity: Rows) -> None:
        """Update the parities after data shard `index` changed; delta is old XOR new."""
        _native.update(self._handle, (index,), (delta,), parity)

    def update_many(self, indices: Iterable[int], deltas: Rows, parity: Rows) -> None:
        """Update the parities after several data shards changed; faster than `update` for each, because the
        parities are read and written once for up to 8 of them.
        """
        _native.update(self._handle, tuple(indices), deltas, parity)

    def check(self, shards: Rows) -> bool:
        """Do the parities match the data? shards: all k + m."""
        return _native.check(self._handle, shards)

    def check_checksums(
        self, kind: str, shards: Rows, states: Iterable[int] | None = None
    ) -> tuple[bool, list[int]]:
        """Compare the parities with the data, and compute the checksums of all k + m shards: every byte is
        read from memory once. Arguments and errors as for `encode_checksums`.
        """
        before = (0,) * self.n if states is None else tuple(states)
        return _native.check_checksums(self._handle, kind, shards, before)

    def locate(self, shards: Rows, where: Shard | None = None) -> Located:
        """Find the shard that is silently wrong, independently at each byte position.

        shards: all k + m. where: None, or as many 16-bit numbers as a shard has bytes (array.array("H"),
        numpy.uint16), written: the index of the wrong shard, gfsmith.INTACT or gfsmith.UNEXPLAINED.
        UnsupportedError: the code cannot tell shards apart (m = 1, for example), or packet layout.
        """
        counts = _native.locate(self._handle, shards, where)
        return Located(tuple(counts[: self.n]), counts[self.n], counts[self.n + 1])

    def correct(self, shards: Shards, present: Flags | None = None, found: Shard | None = None) -> Located:
        """Find and correct wrong symbols, independently at each byte position.

        At each position up to r // 2 of the present shards may be wrong, r being m less the number of missing
        shards: other shards at other positions, too. This holds for generalised Reed-Solomon codes (docs/
        repair.md); other codes correct one. More wrong symbols are detected or, if the position resembles
        another valid stripe, corrected to that.

        shards: all k + m. Present ones are corrected in place; missing ones are ignored.
        present: a flag for every shard, whether it is present; if None, the shards that are not None.
        found: None, or as many 16-bit numbers as a shard has bytes, written: the number of corrected symbols,
            or gfsmith.UNEXPLAINED for a position that could not be corrected and did not change.
        Returns for each shard the number of corrected positions, those that were intact, and those that could
        not be corrected. Errors: TooManyLostError (r < 2), UnsupportedError (as for `locate`).
        """
        if present is None:
            present = [True] * self.n if is_array(shards) else presence(shards, self.n)
        counts = _native.correct(self._handle, shards, present, found)
        return Located(tuple(counts[: self.n]), counts[self.n], counts[self.n + 1])

    def reconstruct_checksums(
        self,
        kind: str,
        shards: Shards,
        present: Flags | None = None,
        wanted: Flags | None = None,
        states: Iterable[int] | None = None,
        expected: Iterable[int] | None = None,
    ) -> tuple[Any, list[int], list[bool]]:
        """Rebuild missing shards, and compute the checksums of those that are read or written, in one pass.

        shards, present, wanted: as for `reconstruct`. kind, states: as for `encode_checksums`.
        expected: for each shard the checksum that it must have after this call if it is read; None: nothing
            is compared.
        Returns all shards, all states (those of other shards unchanged), and for each shard whether it was
        read and its checksum was not the expected one. If there is such a shard, the rebuilt ones are wrong:
        repeat the call without it. One thread does all the work. Errors: those of both other calls.
        """
        before = (0,) * self.n if states is None else tuple(states)
        due = None if expected is None else tuple(expected)
        everything, present, wanted = self._repair(shards, present, wanted)
        after, wrong = _native.reconstruct_checksums(
            self._handle, kind, everything, present, wanted, before, due
        )
        return everything, after, wrong

    def plan(self, present: Flags, wanted: Flags | None = None) -> Plan:
        """Return the plan of `reconstruct`, with the shards to fetch, to be run later."""
        return Plan(_native.plan(self._handle, present, [True] * self.n if wanted is None else wanted))

    def determined(self, present: Flags) -> list[bool]:
        """Return for every shard whether it is present or can be rebuilt."""
        return [flag == 1 for flag in _native.determined(self._handle, present)]

    def split(self, data: Buffer) -> list[memoryview]:
        """Split bytes into k data shards of equal length. The last is padded with zeros, and alone copied.

        >>> [bytes(shard) for shard in Codec("cauchy", k=3, m=2).split(b"seven b")]
        [b'sev', b'en ', b'b\\x00\\x00']
        """
        whole = flat(data, "data")
        unit = self.k * (8 * self._packet or 1)
        length = -(-len(whole) // unit) * unit // self.k
        full = len(whole) // length if length else self.k
        filled_up = bytes(whole[full * length :]).ljust((self.k - full) * length, b"\0")
        parts = ((whole, full), (memoryview(filled_up), self.k - full))
        return [part[i * length : (i + 1) * length] for part, count in parts for i in range(count)]

    def join(self, shards: Rows, size: int) -> bytes:
        """Return the first `size` bytes of the k data shards, the inverse of `split`. Ignores parities."""
        if integer("size", size) < 0:
            raise InvalidError(f"size = {size}: must be 0 or more")
        rest, parts = size, []
        for index, shard in enumerate(list[Any](shards)[: self.k]):
            if shard is None:
                raise InvalidError(f"shards[{index}]: None; join needs the data shards, see reconstruct")
            part = flat(shard, f"shards[{index}]")[: max(rest, 0)]
            rest -= len(part)
            parts.append(part)
        if rest > 0:
            raise InvalidError(f"size = {size}: the {len(parts)} data shards hold {size - rest} bytes")
        return b"".join(parts)
