"""Batch calls: the operations of codecs on many stripes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gfsmith.codec import _native
from gfsmith.codec.construction import Construction
from gfsmith.codec.errors import InvalidError
from gfsmith.codec.shards import new_stripes

if TYPE_CHECKING:
    from gfsmith.codec.shards import Array, Stripes

    Written = TypeVar("Written", bound=Stripes)
    Rowed = TypeVar("Rowed", bound=Array)


class Batches(Construction):
    """The base class of `Codec` with the calls on many stripes (docs/batches.md).

    Stripes are one array of three dimensions: stripes, shards of a stripe, bytes of a shard. NumPy arrays
    and memoryviews are such arrays; they are never copied. The bytes of a shard must be contiguous, and the
    distances of stripes and shards may be any that are not negative: `stripes[:, :k]` of an array with all
    shards are its data. In an array that is written, distances are at least the length of a shard.

    A call computes the same as one call for each stripe, in the calling thread. It is faster if shards are
    short: arguments are checked once, and stripes in memory are prefetched.
    """

    @overload
    def encode_stripes_checksums(
        self, kind: str, data: Rowed, parity: None = None, states: Iterable[Iterable[int]] | None = None
    ) -> tuple[Rowed, list[list[int]]]: ...
    @overload
    def encode_stripes_checksums(
        self, kind: str, data: Stripes, parity: Written, states: Iterable[Iterable[int]] | None = None
    ) -> tuple[Written, list[list[int]]]: ...
    def encode_stripes_checksums(
        self,
        kind: str,
        data: Stripes,
        parity: Stripes | None = None,
        states: Iterable[Iterable[int]] | None = None,
    ) -> Any:
        """Compute all parities of many stripes, and the checksums of all their shards in the same pass.

        kind: one of gfsmith.CHECKSUMS. data, parity: as for `encode_stripes`. states: for each stripe the
        states of its k + m shards, as for `encode_checksums`; None: 0 for all. Returns the parities, and for
        each stripe the checksums. Errors: as for `encode_checksums`.
        """
        before = None if states is None else tuple(self._flat(states))
        if parity is None:
            parity = new_stripes(data, self.m)
        after = _native.encode_stripes_checksums(self._handle, kind, data, parity, before)
        return parity, [after[first : first + self.n] for first in range(0, len(after), self.n)]

    def _flat(self, states: Iterable[Iterable[int]]) -> Iterator[int]:
        """Yield the states of all stripes. Raises InvalidError for a stripe with another number of them."""
        for stripe, row in enumerate(states):
            numbers = tuple(row)
            if len(numbers) != self.n:
                raise InvalidError(f"states[{stripe}]: {len(numbers)}, must be {self.n}")
            yield from numbers

    def update_stripes(self, indices: Iterable[int], deltas: Stripes, parity: Stripes) -> None:
        """Update the parities of many stripes, in each of which one data shard changed.

        indices: for each stripe, the changed data shard. deltas: an array of two dimensions, in row s old XOR
        new of stripe s. parity: stripes of m shards, updated. Errors: as for `update`.
        """
        _native.update_stripes(self._handle, tuple(indices), deltas, parity)

    def check_stripes(self, stripes: Stripes) -> list[bool]:
        """Do the parities of each stripe match its data? stripes: stripes of all k + m shards."""
        return _native.check_stripes(self._handle, stripes)
