"""Exceptions of codecs: one for each gfsmith_status of gfsmith.h."""

from __future__ import annotations

from typing import ClassVar

# begin facts: errors in Python
_EINVAL = -1
_ENOMEM = -2
_ENOTMDS = -3
_ETOOMANY = -4
_EUNSUPPORTED = -5
_ESINGULAR = -6
# end facts


class GfsmithError(ValueError):
    """An error of the library. `status` is its number in gfsmith.h.

    A call that raises it, or a TypeError, has written nothing to a shard.
    """

    status: ClassVar[int] = 0


class InvalidError(GfsmithError):
    """GFSMITH_EINVAL: an argument is out of range, unknown, or does not fit the others."""

    status = _EINVAL


class NotMdsError(GfsmithError):
    """GFSMITH_ENOTMDS: at this shape the named code cannot repair every loss of m shards."""

    status = _ENOTMDS


class TooManyLostError(GfsmithError):
    """GFSMITH_ETOOMANY: more shards are missing than there are parities."""

    status = _ETOOMANY


class UnsupportedError(GfsmithError):
    """GFSMITH_EUNSUPPORTED: this CPU, this build of the library, or this code cannot do it."""

    status = _EUNSUPPORTED


class SingularError(GfsmithError):
    """GFSMITH_ESINGULAR: this loss cannot be repaired with this matrix."""

    status = _ESINGULAR


class ShardFormatError(GfsmithError):
    """GFSMITH_SHARDS_EFORMAT of gfsmith_shards.h: no stream has the header of a shard."""

    status = -35


class MixedShardsError(GfsmithError):
    """GFSMITH_SHARDS_EMIXED: shards of different sets, or two with the same index."""

    status = -36


class DamagedShardsError(GfsmithError):
    """GFSMITH_SHARDS_EDAMAGED: no trailer is intact, or the checksum of the original does not match."""

    status = -37


_BY_STATUS = {kind.status: kind for kind in GfsmithError.__subclasses__()}


def of_status(status: int, message: str) -> Exception:
    """The exception for a gfsmith_status other than GFSMITH_OK."""
    return MemoryError(message) if status == _ENOMEM else _BY_STATUS[status](message)
