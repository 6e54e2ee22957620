"""Cyclic redundancy checks: gfsmith_checksum.h."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gfsmith.codec import _native

if TYPE_CHECKING:
    from gfsmith.codec.shards import Shard

#: The checks: of iSCSI, ext4 and Ceph; of gzip and zlib; of NVMe and S3; of xz; of Go; of T10 DIF.
CHECKSUMS = ("crc32c", "crc32", "crc64_nvme", "crc64_ecma", "crc64_iso", "crc16_t10")


def checksum(kind: str, data: Shard, state: int = 0) -> int:
    """Compute a checksum, as the standard defines it (docs/checksums.md).

    kind: one of CHECKSUMS. data: a buffer of bytes. state: 0, or the checksum of the bytes before. Errors:
    InvalidError (another kind, a state with more bits than the check).

    >>> import gfsmith
    >>> hex(gfsmith.checksum("crc32c", b"123456789"))
    '0xe3069283'
    >>> hex(gfsmith.checksum("crc32c", b"6789", gfsmith.checksum("crc32c", b"12345")))
    '0xe3069283'
    """
    return _native.checksum(kind, data, state)


def checksum_combine(kind: str, first: int, second: int, second_length: int) -> int:
    """Compute the checksum of two consecutive pieces from the checksum of each, without their bytes.

    kind: one of CHECKSUMS. second: the checksum of a piece of second_length bytes, from state 0. Errors:
    InvalidError (another kind, a number with more bits than the check, a length below 0).

    >>> import gfsmith
    >>> pieces = [gfsmith.checksum("crc32c", piece) for piece in (b"12345", b"6789")]
    >>> hex(gfsmith.checksum_combine("crc32c", *pieces, 4))
    '0xe3069283'
    """
    return _native.checksum_combine(kind, first, second, second_length)


@cache
def sketch_tables(polynomial: int, isa: str) -> _native._Sketch:
    """Return the tables of sketches over a field, for an instruction set. Another thread may choose another
    set meanwhile: the sketches are the same."""
    return _native.sketch_tables(polynomial)
