"""Erasure coding over GF(2^8) with the library's generated, proved kernels: docs/python.md.

Everything here is in `gfsmith` as well. It is compiled against runtime/ and one extension, `_native`, serves
all versions of Python from 3.11 on; it needs no other package, and works with NumPy where that is used.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("gfsmith.codec._native") is None:
    raise ImportError(
        "gfsmith: this installation has no codec, only the generator: install a wheel of gfsmith, or run "
        "`make python` in its sources"
    )

from gfsmith.codec import raid
from gfsmith.codec.codec import Codec
from gfsmith.codec.construction import CODES
from gfsmith.codec.dispatch import ISAS, get_isa, set_isa
from gfsmith.codec.errors import (
    GfsmithError,
    InvalidError,
    NotMdsError,
    SingularError,
    TooManyLostError,
    UnsupportedError,
)
from gfsmith.codec.located import INTACT, UNEXPLAINED, Located
from gfsmith.codec.plan import Plan

__all__ = [
    "CODES",
    "INTACT",
    "ISAS",
    "UNEXPLAINED",
    "Codec",
    "GfsmithError",
    "InvalidError",
    "Located",
    "NotMdsError",
    "Plan",
    "SingularError",
    "TooManyLostError",
    "UnsupportedError",
    "get_isa",
    "raid",
    "set_isa",
]
