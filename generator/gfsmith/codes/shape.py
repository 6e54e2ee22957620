"""A code and shape as users give them: a family with k and m, or lrc with k, l and r."""

from __future__ import annotations

from gfsmith import codes
from gfsmith.codes.family import CodeError
from gfsmith.codes.lrc import Lrc
from gfsmith.matrix import Matrix

LRC = "lrc"

#: Every name that a code has here.
NAMES = (*codes.FAMILIES, *codes.ALIASES, LRC)


def known(name: str) -> str:
    """The name itself, or what it is an alias of. Raises CodeError."""
    if name == LRC:
        return LRC
    try:
        return codes.find(name).name
    except CodeError as error:
        raise CodeError(f"{error}; or {LRC}") from None


def complete(
    name: str, k: int | None, m: int | None, local: int | None, r: int | None
) -> tuple[int, int, int | None]:
    """Data shards, parities and, of lrc, groups, out of the flags --k, --m, --l and --r. Raises CodeError."""
    if name == LRC:
        if k is None or local is None or r is None or m is not None:
            raise CodeError("lrc takes --k, --l (groups) and --r (global parities), and not --m")
        return k, local + r, local
    if local is not None or r is not None:
        raise CodeError(f"{name} takes --k and --m; --l and --r are for lrc")
    return *codes.find(name).complete(k, m), None


def matrix_of(name: str, k: int, m: int, local: int | None) -> Matrix:
    """The m x k parity matrix over 0x11d of a family, or of lrc with so many groups. Raises CodeError."""
    if name != LRC:
        if local is not None:
            raise CodeError(f"{name} has no groups: local = {local} is for lrc")
        return codes.parity_matrix(name, k, m)
    if local is None:
        raise CodeError("lrc needs its number of groups, such as local = 2, which are among its parities")
    return Lrc(k, local, m - local).parity()


def label(name: str, local: int | None) -> str:
    """The code in the name of a kernel: shapes of lrc differ in their groups too."""
    return name if local is None else f"{name}{local}"
