"""What is done with every kernel, on the CPU at hand or on an emulated one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from .lists import Kernel

SWEEPS = ("lengths", "large", "wide", "coefficients", "alignments", "in_place", "stepped")

#: Irreducible polynomials besides the usual two. Run-time coefficients know no polynomial, so that
#: a sample of kernels with each is enough.
OTHER_POLYNOMIALS = (0x11B, 0x12D, 0x165, 0x1F9)

PLACEMENTS = 3  # of every length of the sweep: at both guards, and in between


def usual_polynomial(kernel: Kernel) -> int:
    if kernel.matrix is not None:
        return kernel.matrix.polynomial
    return 0x11B if kernel.tables == "mulb" else 0x11D


def sweep_all(
    run: Callable[[str, int], tuple[int, str]],
    kernel: Kernel,
    sweeps: Sequence[str],
    *,
    block: int,
    sets: int,
) -> None:
    """Every sweep of a kernel: `run` takes a sweep and a polynomial, `block` is what one turn of the main
    loop handles, `sets` how many sets of coefficients the sweep over all lengths takes."""
    polynomial = usual_polynomial(kernel)
    calls = {}
    for sweep in sweeps:
        calls[sweep], report = run(sweep, polynomial)
        assert calls[sweep] >= 0, f"{sweep}: {report}"
    sets = sets if kernel.matrix is None else 1
    assert calls["lengths"] == sets * PLACEMENTS * (4 * block + 4)
    assert calls["coefficients"] == (256 if kernel.matrix is None else 0)
    assert (calls["wide"] > 0) == (kernel.inputs == 0)
    assert (calls["in_place"] > 0) == (kernel.operation in ("mad", "mul"))

    if kernel.tables not in ("mulb", "none"):
        other = OTHER_POLYNOMIALS[zlib.crc32(kernel.symbol.encode()) % len(OTHER_POLYNOMIALS)]
        made, report = run("coefficients", other)
        assert made > 0, f"polynomial {other:#x}: {report}"
