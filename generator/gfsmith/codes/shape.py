"""Codes and shapes from options: a family with k and m, or lrc with k, l and r."""

from __future__ import annotations

from gfsmith import codes
from gfsmith.codes.lrc import Lrc
from gfsmith.codes.names import LRC, Code, CodeError
from gfsmith.field.matrix import Matrix


def _code(name: str) -> Code:
    """Return a code with a matrix, given its name or an alias. Raises CodeError, which also allows lrc."""
    try:
        return codes.find(name).code
    except CodeError as error:
        raise CodeError(f"{error}; or {LRC.name}") from None


def known(name: str) -> str:
    """Return the name of a code, given its name or an alias. Raises CodeError for an unknown name."""
    return name if name == LRC.name else _code(name).name


def complete(
    name: str, k: int | None, m: int | None, local: int | None, r: int | None
) -> tuple[int, int, int | None]:
    """Return k, m and the number of groups (None except for lrc) from the flags --k, --m, --l and --r. Raises
    CodeError."""
    if name == LRC.name:
        if k is None or local is None or r is None or m is not None:
            raise CodeError("lrc takes --k, --l (groups) and --r (global parities), and not --m")
        return k, local + r, local
    if local is not None or r is not None:
        raise CodeError(f"{name} takes --k and --m; --l and --r are for lrc")
    return *_code(name).complete(k, m), None


def matrix_of(name: str, k: int, m: int, local: int | None) -> Matrix:
    """Return the m x k parity matrix over 0x11d of a family, or of lrc with `local` groups. Raises
    CodeError."""
    if name != LRC.name:
        if local is not None:
            raise CodeError(f"{name} has no groups: local = {local} is for lrc")
        return codes.parity_matrix(name, k, m)
    if local is None:
        raise CodeError("lrc needs its number of groups, such as local = 2; their local parities count in m")
    return Lrc(k, local, m - local).parity()


def title(name: str, k: int, m: int, local: int | None) -> str:
    """Return the name of a code with its shape, such as cauchy(10+4)."""
    return f"{name}({k}+{m})" if local is None else str(Lrc(k, local, m - local))


def label(name: str, local: int | None) -> str:
    """Return the code's part of a kernel name. For lrc it includes the number of groups, which KxM does not
    show."""
    return name if local is None else f"{name}{local}"
