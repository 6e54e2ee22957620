"""Groups of instruction sets, by properties of their records, for the lists of sets in gfsmith.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gfsmith.ir import Op
from gfsmith.kernel.architecture import BY_ARCH, Arch
from gfsmith.kernel.isa import BY_NAME, ISAS, Encoding, Isa
from gfsmith.kernel.tuning_parameters import fits


def _names(belongs: Callable[[Isa], bool]) -> tuple[str, ...]:
    return tuple(isa.name for isa in ISAS if belongs(isa))


def _is_paired(isa: Isa) -> bool:
    """Return True for a set of machine code whose registers hold the sums of two vectors of four outputs, and
    whose instructions overwrite no operand."""
    return isa.encoding in (Encoding.VEX, Encoding.EVEX) and fits(isa, copies=2, outputs=4)


#: Names of groups of sets: all; written in C; in C with intrinsics; encoded with VEX or EVEX; with GFNI; of
#: machine code, with registers for two vectors an iteration or for one; and one group for each architecture,
#: under its name.
GROUPS: dict[str, tuple[str, ...]] = {
    "all": _names(lambda isa: True),
    "c": _names(lambda isa: isa.encoding is Encoding.C),
    "intrinsics": _names(lambda isa: isa.encoding is Encoding.C and isa.arch is not Arch.PORTABLE),
    "avx": _names(lambda isa: isa.encoding in (Encoding.VEX, Encoding.EVEX)),
    "gfni": _names(lambda isa: Op.AFFINE in isa.ops),
    "paired": _names(_is_paired),
    "unpaired": _names(lambda isa: isa.encoding is not Encoding.C and not _is_paired(isa)),
    **{arch.value: tuple(isa.name for isa in ISAS if isa.arch is arch) for arch in BY_ARCH},
}


def named(names: Iterable[str]) -> list[str]:
    """Return the sets for names of sets and groups.

    Raises ValueError for an unknown name, and for a set that is named twice."""
    found: list[str] = []
    for name in names:
        if name not in BY_NAME and name not in GROUPS:
            allowed = f"{', '.join(BY_NAME)}; or a group: {', '.join(GROUPS)}"
            raise ValueError(f"'{name}' is not an instruction set; allowed: {allowed}")
        for each in GROUPS.get(name, (name,)):
            if each in found:
                raise ValueError(f"an instruction set is named twice: {each}")
            found.append(each)
    return found
