"""RAID parities P, Q and R, without a codec: gfsmith_raid.h.

k data shards d[0] .. d[k-1] and up to three parities, over GF(2^8) modulo 0x11d, for every byte:

    P = sum of d[j],    Q = sum of 2^j d[j],    R = sum of 4^j d[j].

`shards` is k data shards, then the first `parities` of the parities P, Q, R: a sequence of buffers of bytes,
or the rows of an array. Linux md and SnapRAID have the same P and Q, OpenZFS has these three with its columns
in reverse order. k is 1 to 255. Errors: as those of `Codec`.

>>> from gfsmith import raid
>>> stripe = [b"disk one", b"disk two", bytearray(8), bytearray(8)]
>>> raid.generate(stripe, parities=2)
>>> raid.check(stripe, parities=2)
True
>>> raid.recover([None, None, *stripe[2:]], [False, False, True, True], parities=2)[:2]
[bytearray(b'disk one'), bytearray(b'disk two')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from gfsmith.codec import _native
from gfsmith.codec.shards import filled, is_array

if TYPE_CHECKING:
    from gfsmith.codec.shards import Array, Flags, Rows, Shard, Shards, Some

    Rowed = TypeVar("Rowed", bound=Array)


def generate(shards: Rows, parities: int) -> None:
    """Compute the parities, in place: P (1), P and Q (2), or P, Q and R (3)."""
    _native.raid_gen(parities, shards)


def check(shards: Rows, parities: int) -> bool:
    """Do the parities match the data?"""
    return _native.raid_check(parities, shards)


@overload
def recover(shards: Rowed, present: Flags, parities: int) -> Rowed: ...
@overload
def recover(shards: memoryview, present: Flags, parities: int) -> memoryview: ...
@overload
def recover(shards: Some, present: Flags, parities: int) -> list[Shard]: ...
def recover(shards: Shards, present: Flags, parities: int) -> Any:
    """Rebuild every shard that is not present: in place, or in a new bytearray if it is None.

    Returns all shards: the array itself, or a list.
    """
    everything: Any = shards if is_array(shards) else filled(shards, present, [True] * len(shards))
    _native.raid_recover(parities, everything, present)
    return everything
