"""Batch calls: the operations of codecs on many stripes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gfsmith.codec import _native
from gfsmith.codec.construction import Construction
from gfsmith.codec.shards import new_stripes

if TYPE_CHECKING:
    from gfsmith.codec.shards import Array, Flags, Stripes

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
    def encode_stripes(self, data: Rowed, parity: None = None) -> Rowed: ...
    @overload
    def encode_stripes(self, data: Stripes, parity: Written) -> Written: ...
    def encode_stripes(self, data: Stripes, parity: Stripes | None = None) -> Any:
        """Compute all parities of many stripes.

        data: stripes of k shards. parity: as many stripes of m shards of the same length, overwritten; if
        None, a new NumPy array, for data in one. Returns the parities. Errors: as for `encode`.
        """
        if parity is None:
            parity = new_stripes(data, self.m)
        _native.encode_stripes(self._handle, data, parity)
        return parity

    def update_stripes(self, indices: Iterable[int], deltas: Stripes, parity: Stripes) -> None:
        """Update the parities of many stripes, in each of which one data shard changed.

        indices: for each stripe, the changed data shard. deltas: an array of two dimensions, in row s old XOR
        new of stripe s. parity: stripes of m shards, updated. Errors: as for `update`.
        """
        _native.update_stripes(self._handle, tuple(indices), deltas, parity)

    def reconstruct_stripes(self, stripes: Written, present: Flags, wanted: Flags | None = None) -> Written:
        """Rebuild missing shards of many stripes in place; all stripes miss the same ones.

        stripes: stripes of all k + m shards. present, wanted: as for `reconstruct`. Returns the stripes.
        Errors: as for `reconstruct`.
        """
        _native.reconstruct_stripes(
            self._handle, stripes, present, [True] * self.n if wanted is None else wanted
        )
        return stripes

    def check_stripes(self, stripes: Stripes) -> list[bool]:
        """Do the parities of each stripe match its data? stripes: stripes of all k + m shards."""
        return _native.check_stripes(self._handle, stripes)
