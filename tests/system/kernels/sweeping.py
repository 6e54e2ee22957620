"""The sweeps over every kernel, on this CPU or on an emulated one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from gfsmith.kernel.operation import BUTTERFLIES, BUTTERFLY_PLANES, CHANGED, Operation
from tests.system.kernels.lists import Kernel

SWEEPS = ("lengths", "large", "wide", "coefficients", "alignments", "in_place", "stepped")

#: Irreducible polynomials other than the usual two. Kernels with run-time coefficients do not depend on the
#: polynomial, so a sample of kernels with each is enough.
OTHER_POLYNOMIALS = (0x11B, 0x12D, 0x165, 0x1F9)

#: Operations whose destinations may be sources, unless these or the sources are in lines.
IN_PLACE = {"mad", "mul", *(operation.value for operation in BUTTERFLIES)}

RECIPES = 2  #: sets of coefficients and data for every length of the sweep "stepped"
PLACEMENTS = 3  # of every length of the sweep: next to both guards, and in between


def usual_polynomial(kernel: Kernel) -> int:
    if kernel.matrix is not None:
        return kernel.matrix.polynomial
    return 0x11B if kernel.tables == "mulb" else 0x11D


def _has_lines(kernel: Kernel) -> bool:
    operation = Operation(kernel.operation)
    return operation in CHANGED and kernel.outputs == BUTTERFLY_PLANES[-1] * BUTTERFLIES[operation]


def sweep_all(
    run: Callable[[str, int], tuple[int, str]],
    kernel: Kernel,
    sweeps: Sequence[str],
    *,
    block: int,
    sets: int,
) -> None:
    """Run every sweep of a kernel. `run` takes a sweep and a polynomial, `block` is the number of bytes per
    iteration of the main loop, `sets` the number of coefficient sets in the sweep over all lengths.
    """
    polynomial = usual_polynomial(kernel)
    calls = {}
    for sweep in sweeps:
        calls[sweep], report = run(sweep, polynomial)
        assert calls[sweep] >= 0, f"{sweep}: {report}"
    sets = sets if kernel.matrix is None else 1
    assert calls["lengths"] == sets * PLACEMENTS * (4 * block + 4)
    assert calls["coefficients"] == (256 if kernel.matrix is None else 0)
    assert (calls["wide"] > 0) == (kernel.inputs == 0)
    assert (calls["in_place"] > 0) == (kernel.operation in IN_PLACE and not _has_lines(kernel))

    if kernel.tables not in ("mulb", "none"):
        other = OTHER_POLYNOMIALS[zlib.crc32(kernel.symbol.encode()) % len(OTHER_POLYNOMIALS)]
        made, report = run("coefficients", other)
        assert made > 0, f"polynomial {other:#x}: {report}"
