"""Codes with a shape: the properties and calls that `Codec` and `Wide` have in common."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from gfsmith.codec.errors import InvalidError
from gfsmith.codec.shards import filled, is_array, new, new_stripes, presence

if TYPE_CHECKING:
    from typing import Self

    from gfsmith.codec.shards import Array, Flags, Rows, Shard, Shards, Some, Stripes

    Written = TypeVar("Written", bound=Rows)
    Rowed = TypeVar("Rowed", bound=Array)
    Filled = TypeVar("Filled", bound=Stripes)


def integer(name: str, value: int) -> int:
    """Return an argument as an int. Raises a TypeError that names it."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}: must be an integer, not {type(value).__name__}") from None


def shard_numbers(most: int, **numbers: int) -> tuple[int, ...]:
    """Return the numbers of data and parity shards after a check: at most `most` together."""
    found = {name: integer(name, number) for name, number in numbers.items()}
    if min(found.values()) < 1 or sum(found.values()) > most:
        given = ", ".join(f"{name} = {number}" for name, number in found.items())
        raise InvalidError(f"{given}: each must be 1 or more, and {' + '.join(found)} at most {most}")
    return tuple(found.values())


class Coding(ABC):
    """The base class of codes with k data and m parity shards, which never change."""

    _shape: tuple[int, ...]
    #: An object of `_native`, which `_start` creates. A pickle does not have it.
    _handle: Any
    #: Functions of `_native`: (handle, data, parity) and (handle, shards, present, wanted).
    _encode: staticmethod[[Any, Any, Any], None]
    _reconstruct: staticmethod[[Any, Any, Any, Any], None]
    #: The same for stripes.
    _encode_stripes: staticmethod[[Any, Any, Any], None]
    _reconstruct_stripes: staticmethod[[Any, Any, Any, Any], None]

    @abstractmethod
    def _start(self) -> None:
        """Create the handle."""

    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """Return values that are equal if and only if the code is the same."""

    @property
    def k(self) -> int:
        """Number of data shards."""
        return self._shape[0]

    @property
    def m(self) -> int:
        """Number of parity shards."""
        return self._shape[1]

    @property
    def n(self) -> int:
        """Number of all shards, k + m."""
        return sum(self._shape)

    def all_but(self, *lost: int) -> list[bool]:
        """A flag for every shard, False for the given indices: `present` after a loss.

        >>> import gfsmith
        >>> gfsmith.Codec("cauchy", k=3, m=2).all_but(0, 4)
        [False, True, True, True, False]
        """
        return [not flag for flag in self.only(*lost)]

    def only(self, *named: int) -> list[bool]:
        """A flag for every shard, True for the given indices: `wanted` of a repair."""
        flags = [False] * self.n
        for index in named:
            if not 0 <= index < self.n:
                raise InvalidError(f"shard {index}: must be 0 to {self.n - 1}")
            flags[index] = True
        return flags

    @overload
    def encode(self, data: Rowed, parity: None = None) -> Rowed: ...
    @overload
    def encode(self, data: Sequence[Shard] | memoryview, parity: None = None) -> list[bytearray]: ...
    @overload
    def encode(self, data: Rows, parity: Written) -> Written: ...
    def encode(self, data: Rows, parity: Rows | None = None) -> Any:
        """Compute all parities from the data.

        data: k shards. parity: m shards of the same length, which are overwritten; if None, new ones: an
        array of m rows if the data are a NumPy array, else a list of m bytearrays. Returns the parities.
        Errors of this and of all other calls: TypeError (an object that is not a buffer, elements that are
        not bytes), InvalidError (wrong number, lengths or dimensions of shards, gaps between elements,
        read-only shards or overlapping shards to be written). Nothing is written then.
        """
        if parity is None:
            parity = new(data, self.m)
        self._encode(self._handle, data, parity)
        return parity

    @overload
    def reconstruct(self, shards: Rowed, present: Flags, wanted: Flags | None = None) -> Rowed: ...
    @overload
    def reconstruct(self, shards: memoryview, present: Flags, wanted: Flags | None = None) -> memoryview: ...
    @overload
    def reconstruct(self, shards: Some, present: Flags | None = None, wanted: None = None) -> list[Shard]: ...
    @overload
    def reconstruct(self, shards: Some, present: Flags | None, wanted: Flags) -> list[Shard | None]: ...
    @overload
    def reconstruct(self, shards: Some, *, wanted: Flags) -> list[Shard | None]: ...
    def reconstruct(self, shards: Shards, present: Flags | None = None, wanted: Flags | None = None) -> Any:
        """Rebuild missing shards, data and parity alike.

        shards: all k + m. A missing one that is wanted is written in place, or into a new bytearray if it is
            None; one that is not wanted is ignored.
        present: a flag for every shard, whether it is intact; if None, the shards that are not None.
        wanted: a flag for every shard, whether to rebuild it; if None, all missing ones.
        Returns all shards: the array itself, or a list.
        Errors besides those of `encode`: TooManyLostError, and for a Codec SingularError (the present shards
        do not determine a wanted one). A Codec reads as few shards as possible; its first repair of a loss
        computes a plan, which it caches.
        """
        everything, present, wanted = self._repair(shards, present, wanted)
        self._reconstruct(self._handle, everything, present, wanted)
        return everything

    def _repair(
        self, shards: Shards, present: Flags | None, wanted: Flags | None
    ) -> tuple[Any, Flags, Flags]:
        """Return the shards of a repair, with room for those that are written, and all flags."""
        array = is_array(shards)
        if present is None:
            if array:
                raise InvalidError("present: must be given for the rows of an array")
            present = presence(shards, self.n)
        if wanted is None:
            wanted = [True] * self.n
        return shards if array else filled(shards, present, wanted), present, wanted

    @overload
    def encode_stripes(self, data: Rowed, parity: None = None) -> Rowed: ...
    @overload
    def encode_stripes(self, data: Stripes, parity: Filled) -> Filled: ...
    def encode_stripes(self, data: Stripes, parity: Stripes | None = None) -> Any:
        """Compute all parities of many stripes.

        data: stripes of k shards. parity: as many stripes of m shards of the same length, overwritten; if
        None, a new NumPy array, for data in one. Returns the parities. Errors: as for `encode`.
        """
        if parity is None:
            parity = new_stripes(data, self.m)
        self._encode_stripes(self._handle, data, parity)
        return parity

    def reconstruct_stripes(self, stripes: Filled, present: Flags, wanted: Flags | None = None) -> Filled:
        """Rebuild missing shards of many stripes in place; all stripes miss the same ones.

        stripes: stripes of all k + m shards. present, wanted: as for `reconstruct`. Returns the stripes.
        Errors: as for `reconstruct`.
        """
        self._reconstruct_stripes(
            self._handle, stripes, present, [True] * self.n if wanted is None else wanted
        )
        return stripes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coding):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_handle"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()
