"""gfsmith: erasure coding over GF(2^8), and the generator of its proven kernels.

The package exports the names of gfsmith.codec, among them `gfsmith.Codec` (docs/python.md), and imports
gfsmith.codec when one of them is first used. The generator is the command `gfsmith`; it needs neither
gfsmith.codec nor a compiler.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gfsmith.codec import (
        CHECKSUMS,
        CODES,
        INTACT,
        ISAS,
        UNEXPLAINED,
        WIDE_CODES,
        Codec,
        DamagedShardsError,
        GfsmithError,
        InvalidError,
        Located,
        MixedShardsError,
        NotMdsError,
        Plan,
        ShardFormatError,
        SingularError,
        TooManyLostError,
        UnsupportedError,
        Wide,
        checksum,
        checksum_combine,
        get_isa,
        raid,
        release_gil_from,
        set_isa,
        streams,
    )

#: The only version number written by hand; `make facts` copies it (docs/versions.md).
__version__ = "0.1.0"

# A wheel has gfsmith.codec in this folder, a checkout has it in bindings/python. Only these lines declare the
# second place: with setuptools' package_dir every import of an editable installation would use a finder.
_BINDING = (Path(__file__).parent / "../../bindings/python/gfsmith").resolve()
if _BINDING.is_dir():
    __path__.append(str(_BINDING))

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gfsmith' has no attribute {name!r}")
    return getattr(import_module("gfsmith.codec"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
