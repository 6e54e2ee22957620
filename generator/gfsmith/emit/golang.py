"""Proved machine code as a Go package: Plan 9 assembly, prototypes, and the list of kernels.

Each kernel is inside a function that Go calls, or is called by one: golang_amd64.py, golang_arm64.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gfsmith.emit import golang_amd64, golang_arm64, packaged
from gfsmith.emit.packaged import Entry, Proved
from gfsmith.emit.plan9 import Listing
from gfsmith.emit.template import render
from gfsmith.kernel.architecture import Arch

#: Architecture -> Go's name.
_NAMES = {Arch.X86_64: "amd64", Arch.AARCH64: "arm64"}
#: Go's name -> the condition for machine code. The constants of kernels for arm64 lie in the code, which
#: OpenBSD does not let programs read.
_CONDITIONS = {"amd64": "amd64", "arm64": "arm64 && !openbsd"}


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of functions that contain kernels for AArch64. base: the distance of x26 from sp. used:
    symbol -> bytes that the kernel uses."""

    base: int
    used: Mapping[str, int]


def files(kernels: Sequence[Proved], package: str, frames: Frames) -> dict[str, str]:
    """Return path -> text of a Go package with these kernels, which must satisfy `packaged.takes`."""
    specs = [spec for spec, _ in kernels]
    present = [name for arch, name in _NAMES.items() if any(spec.isa.arch is arch for spec in specs)]
    found = {
        "kernels.go": render("golang_kernels.go.j2", package=package, matrices=packaged.matrices(specs)),
        "kernels_other.go": render("golang_other.go.j2", package=package, condition=_other(present)),
        "kernels_test.go": render("golang_test.go.j2", package=package),
    }
    for arch, name in _NAMES.items():
        if name in present:
            found |= _machine_files(kernels, package, arch, frames)
    return found


def _other(names: Sequence[str]) -> str:
    """Return the condition for a build without machine code, as gofmt writes it."""
    terms = [f"({each})" if " " in each else each for each in (_CONDITIONS[name] for name in names)]
    return f"!({' || '.join(terms)})" if len(terms) > 1 else f"!{terms[0]}"


def _machine_files(kernels: Sequence[Proved], package: str, arch: Arch, frames: Frames) -> dict[str, str]:
    """Return the files for one architecture."""
    name, rows = _NAMES[arch], packaged.entries(kernels, arch)
    isas = packaged.isas([row.spec for row in rows])
    listings = {row.spec.symbol: _listing(row, frames) for row in rows}
    found = {
        f"kernels_{name}.go": render(
            "golang_code.go.j2", package=package, arch=name, isas=isas, rows=rows, condition=_CONDITIONS[name]
        )
    }
    for number, isa in enumerate(isas):
        own = [row for row in rows if row.isa == number]
        found[f"{isa.name}_{name}.s"] = render(
            f"golang_{name}.s.j2",
            isa=isa,
            rows=own,
            listings=listings,
            base=frames.base,
            condition=_CONDITIONS[name],
        )
    return found


def _listing(row: Entry, frames: Frames) -> Listing:
    if row.spec.isa.arch is Arch.X86_64:
        return golang_amd64.listing(row.code)
    return golang_arm64.listing(row.code, frames.used[row.spec.symbol])
