"""zfec's interface: `from gfsmith.compat import zfec` replaces `import zfec` (docs/migrate/zfec.md).

zfec's k is gfsmith's k, zfec's m is the number of all blocks. Blocks, share files, and errors are those of
zfec; where zfec does not check its arguments, calls raise `Error`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from gfsmith import __version__
from gfsmith.compat.zfec import _fec, easyfec, filefec
from gfsmith.compat.zfec._fec import Decoder, Encoder, Error

__all__ = [
    "Decoder",
    "Encoder",
    "Error",
    "__version__",
    "_fec",
    "cmdline_zfec",
    "cmdline_zunfec",
    "easyfec",
    "filefec",
]


def __getattr__(name: str) -> ModuleType:
    """Import a command's module at its first use: `python -m` warns of one that its package has imported."""
    if name in {"cmdline_zfec", "cmdline_zunfec"}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
