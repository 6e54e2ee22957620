"""Erasure coding over GF(2^8) with the library's generated, proved kernels: docs/python.md.

`gfsmith` exports all names of this package. The extension `_native` is compiled against runtime/ and works
with all versions of Python from 3.11 on; it needs no other package, and supports NumPy arrays.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("gfsmith.codec._native") is None:
    raise ImportError(
        "gfsmith: this installation contains the generator only, no codec: install a wheel of gfsmith, "
        "or run `make python` in its sources",
        name="gfsmith.codec._native",
    )

from gfsmith.codec import raid, streams
from gfsmith.codec.checksums import CHECKSUMS, checksum, checksum_combine
from gfsmith.codec.codec import Codec
from gfsmith.codec.construction import CODES
from gfsmith.codec.dispatch import ISAS, get_isa, release_gil_from, set_isa
from gfsmith.codec.errors import (
    DamagedShardsError,
    GfsmithError,
    InvalidError,
    MixedShardsError,
    NotMdsError,
    ShardFormatError,
    SingularError,
    TooManyLostError,
    UnsupportedError,
)
from gfsmith.codec.located import INTACT, UNEXPLAINED, Located
from gfsmith.codec.plan import Plan
from gfsmith.codec.wide import WIDE_CODES, Wide

__all__ = [
    "CHECKSUMS",
    "CODES",
    "INTACT",
    "ISAS",
    "UNEXPLAINED",
    "WIDE_CODES",
    "Codec",
    "DamagedShardsError",
    "GfsmithError",
    "InvalidError",
    "Located",
    "MixedShardsError",
    "NotMdsError",
    "Plan",
    "ShardFormatError",
    "SingularError",
    "TooManyLostError",
    "UnsupportedError",
    "Wide",
    "checksum",
    "checksum_combine",
    "get_isa",
    "raid",
    "release_gil_from",
    "set_isa",
    "streams",
]
