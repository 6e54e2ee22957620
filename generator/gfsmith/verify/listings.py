"""Kernels of an output folder, read from its .S files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gfsmith.emit.template import render
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats import listing

_MACROS = "gfsmith_asm.h"


class FolderError(ValueError):
    """An output folder whose kernels cannot be read."""


def _check_macros(path: Path) -> None:
    """Raise FolderError unless the macros of the .S files are those of the generator."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror}; run `gfsmith gen`") from None
    if text != render(f"{_MACROS}.j2").encode():
        raise FolderError(f"{path}: not as the generator makes it; run `gfsmith gen`")


def read_folder(folder: Path, specs: Sequence[KernelSpec]) -> list[tuple[KernelSpec, str, bytes]]:
    """Return spec, ABI and code of every x86 kernel, from its .S file alone. Raises FolderError."""
    found = []
    if any(spec.machine_code for spec in specs):
        _check_macros(folder / _MACROS)
    for spec in specs:
        if not spec.machine_code:
            continue
        path = folder / "x86" / f"{spec.symbol}.S"
        try:
            code = listing.read(path.read_bytes().decode("utf-8", "replace"), spec.symbol)
        except OSError as error:
            raise FolderError(f"{path}: {error.strerror}; run `gfsmith gen`") from None
        except listing.ListingError as error:
            raise FolderError(f"{path}: {error}") from None
        found += [(spec, abi, data) for abi, data in code.items()]
    return found
