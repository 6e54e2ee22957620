"""Sets of shards in Python: their types, and the creation of new ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from gfsmith.codec.errors import InvalidError


class Array(Protocol):
    """Protocol of a NumPy array of integers, for type checks without NumPy installed."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def item(self, /) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...


class Truths(Protocol):
    """Protocol of a NumPy array of bool."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def item(self, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...


if TYPE_CHECKING:
    from typing_extensions import Buffer

    Shard: TypeAlias = Buffer | Array
    #: A set of shards: a sequence, or the rows of an array (NumPy's, or a memoryview of two dimensions).
    Rows: TypeAlias = Sequence[Shard] | Array | memoryview
    #: The same with missing shards.
    Some: TypeAlias = Sequence[Shard | None]
    Shards: TypeAlias = Some | Array | memoryview
    #: The shards of many stripes: one array (NumPy's, or a memoryview) with stripes, shards and bytes.
    Stripes: TypeAlias = Buffer | Array
    #: True or False for every shard.
    Flags: TypeAlias = Sequence[bool] | Truths


def is_array(shards: Any) -> bool:
    """Return whether the shards are rows of one buffer."""
    try:
        memoryview(shards).release()
    except TypeError:
        return False
    except (BufferError, ValueError):  # a buffer, but not of shards
        return True
    return True


def presence(shards: Any, count: int) -> list[bool]:
    """Return for every shard whether it is not None. Raises TypeError, and InvalidError unless there are
    `count`."""
    try:
        flags = [shard is not None for shard in shards]
    except TypeError:
        raise TypeError(
            f"shards: {type(shards)} is neither a sequence of buffers nor an array of rows"
        ) from None
    if len(flags) != count:
        raise InvalidError(f"shards: {len(flags)} shards, must be {count}")
    return flags


def flat(data: Any, name: str) -> memoryview:
    """Return the bytes of an argument. Raises a TypeError that names it."""
    try:
        whole = memoryview(data)
    except TypeError:
        raise TypeError(f"{name}: {type(data)} is not a buffer of bytes") from None
    return whole.cast("B")


def length_of(shards: Any) -> int:
    """Return the length of the first present shard; 0 if there is none, an error that the next call
    detects.
    """
    try:
        shape = memoryview(shards).shape
        return shape[-1] if shape else 0
    except TypeError:  # a sequence
        pass
    except (BufferError, ValueError):
        return 0
    first = (
        next((shard for shard in shards if shard is not None), b"") if isinstance(shards, Sequence) else b""
    )
    try:
        return memoryview(first).nbytes
    except (BufferError, TypeError, ValueError):
        return 0


def new(data: Any, count: int) -> Any:
    """Create shards of the same length as those of `data`: a NumPy array if `data` is one, else
    bytearrays.
    """
    length = length_of(data)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(data, numpy.ndarray):
        return numpy.empty((count, length), numpy.uint8)
    return [bytearray(length) for _ in range(count)]


def new_stripes(data: Any, count: int) -> Any:
    """Create a NumPy array for `count` shards of each stripe of `data`, which must be a NumPy array."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(data, numpy.ndarray):
        raise InvalidError("parity: must be given, unless data is a NumPy array")
    return numpy.empty((*data.shape[:1], count, *data.shape[-1:]), numpy.uint8)


def filled(shards: Any, present: Flags, wanted: Flags) -> list[Any]:
    """Return the shards, with new ones instead of None for missing wanted shards."""
    try:
        fits = len(shards) == len(present) == len(wanted)
    except TypeError:
        fits = False
    if not fits:  # the next call raises an exact error
        return list(shards)
    length = length_of(shards)
    return [
        bytearray(length) if shard is None and want and not here else shard
        for shard, here, want in zip(shards, present, wanted, strict=True)
    ]
