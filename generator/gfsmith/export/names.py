"""The names of an exported library, such that two libraries link into one program.

With the default prefix gfs all names stay. With another prefix P every name changes by a fixed rule:
gfsmith_encode -> P_encode, gfs_x -> P_gfs_x, GFSMITH_X -> P_X in capitals, GFS_X -> P_GFS_X, and the files
likewise (gfsmith.h -> P.h). Kernels were generated with the prefix: P_dot_10x4__avx2_u2_steps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT = "gfs"
LIBRARY = "gfsmith"

#: A name starts after a character other than a letter, digit or underscore, or after -D of a command line.
_START = r"(?:(?<!\w)|(?<=(?<!\w)-D))"
_WORD = re.compile(rf"{_START}(gfsmith_|gfs_|GFSMITH_|GFS_)(?=\w)|{_START}gfsmith(?=\.[hc]\b)")
_NAME = re.compile(r"(?<![A-Za-z0-9])gfsmith(?![A-Za-z0-9])")
_OWN = re.compile(r"(?:^|_)gfs(?:mith)?(?:_|$)", re.IGNORECASE)

#: Headers of C11, and further system headers that the sources include: P.h must not hide them.
_HEADERS = (
    "assert complex ctype errno fcntl fenv float inttypes iso646 limits locale math setjmp signal stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar unistd "
    "wchar wctype altivec arm_acle arm_neon arm_neon_sve_bridge arm_sve cpuid immintrin intrin lasxintrin "
    "lsxintrin riscv_vector vecintrin wasm_simd128 windows pthread sched"
)
HEADERS = frozenset(_HEADERS.split())
#: Targets that CMake and make reserve.
TARGETS = frozenset(("all", "clean", "help", "install", "package", "test"))

#: Words with which names of the interface go on: P_wide_encode and P_wide.h are names of a library P and
#: would be those of a library P_wide, too.
PARTS = frozenset(
    ("adaptive", "algebra", "checksum", "parallel", "plan", "pq", "pqr", "raid", "set", "wide", "xor")
)


class PrefixError(ValueError):
    """A prefix that an exported library cannot have."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a library. prefix: of every symbol, as in the configuration. Raises PrefixError."""

    prefix: str

    def __post_init__(self) -> None:
        if self.prefix == DEFAULT:
            return
        if _OWN.search(self.prefix):
            why = f"its names would be confused with this library's; allowed: {DEFAULT}, or any without gfs"
        elif self.prefix in HEADERS:
            why = f"{self.prefix}.h would hide the system's header"
        elif (parts := self.prefix.rpartition("_"))[0] and parts[2] in PARTS:
            why = f"some of its names would be those of a library {parts[0]}; allowed: another last word"
        elif self.prefix in TARGETS:
            why = "CMake and make have a target of this name"
        else:
            return
        raise PrefixError(f"prefix '{self.prefix}': {why}")

    @property
    def is_default(self) -> bool:
        return self.prefix == DEFAULT

    @property
    def library(self) -> str:
        """The name of the library."""
        return LIBRARY if self.is_default else self.prefix

    def text(self, text: str) -> str:
        """Return a source with the library's names."""
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
        """Return a build file with the library's names; there the bare name also names targets and files."""
        return self.text(text) if self.is_default else _NAME.sub(self.prefix, self.text(text))
