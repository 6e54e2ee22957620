"""The names of an exported library, so that two of them link into one program.

With the prefix gfs, the default, everything keeps its name. With any other, P, every name changes by its
spelling alone: gfsmith_encode -> P_encode, gfs_x -> P_gfs_x, GFSMITH_X -> P_X in capitals, GFS_X ->
P_GFS_X, and so do the files (gfsmith.h -> P.h). Kernels were generated with the prefix:
P_dot_10x4__avx2_u1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT = "gfs"
LIBRARY = "gfsmith"

_WORD = re.compile(r"(?<![A-Za-z0-9])(gfsmith_|gfs_|GFSMITH_|GFS_)(?=\w)|(?<![A-Za-z0-9])gfsmith(?=\.[hc]\b)")
_NAME = re.compile(r"(?<![A-Za-z0-9])gfsmith(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Names:
    """prefix: of every symbol, as in the configuration."""

    prefix: str

    @property
    def is_default(self) -> bool:
        return self.prefix == DEFAULT

    @property
    def library(self) -> str:
        """What the library is called."""
        return LIBRARY if self.is_default else self.prefix

    def text(self, text: str) -> str:
        """A source with the library's names."""
        if self.is_default:
            return text
        capitals = self.prefix.upper()
        new = {
            "gfsmith_": f"{self.prefix}_",
            "gfs_": f"{self.prefix}_gfs_",
            "GFSMITH_": f"{capitals}_",
            "GFS_": f"{capitals}_GFS_",
            None: self.prefix,
        }
        return _WORD.sub(lambda found: new[found[1]], text)

    def build_text(self, text: str) -> str:
        """A file for a build system: there the library's bare name is that of targets and files."""
        return self.text(text) if self.is_default else _NAME.sub(self.prefix, self.text(text))
