"""gfsmith: erasure coding over GF(2^8), and the generator of its proven kernels.

The codec is here: `gfsmith.Codec`, and what else gfsmith.codec has (docs/python.md). It is loaded when it is
first used; the generator is the command `gfsmith`, and needs neither it nor a compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gfsmith.codec import (
        CODES,
        INTACT,
        ISAS,
        UNEXPLAINED,
        Codec,
        GfsmithError,
        InvalidError,
        Located,
        NotMdsError,
        Plan,
        SingularError,
        TooManyLostError,
        UnsupportedError,
        get_isa,
        raid,
        set_isa,
    )

__version__ = "0.1.0"

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gfsmith' has no attribute {name!r}")
    return getattr(import_module("gfsmith.codec"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
