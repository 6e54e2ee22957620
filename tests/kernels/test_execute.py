"""Every generated kernel, executed under both ABIs on every instruction set of this CPU."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from gfsmith.isa import ISAS

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


def test_kernel(library: Any, kernel: Kernel, abi: str, require_isa: Callable[[str], None]) -> None:
    require_isa(kernel.isa)
    polynomial = usual_polynomial(kernel)
    calls = {}
    for sweep in SWEEPS:
        calls[sweep], report = library.run(kernel.symbol, abi, sweep, polynomial)
        assert calls[sweep] >= 0, f"{sweep}: {report}"
    sets = 4 if kernel.matrix is None else 1  # of coefficients
    assert calls["lengths"] == sets * PLACEMENTS * (4 * library.block_bytes(kernel.symbol) + 4)
    assert calls["coefficients"] == (256 if kernel.matrix is None else 0)
    assert (calls["wide"] > 0) == (kernel.inputs == 0)
    assert (calls["in_place"] > 0) == (kernel.operation in ("mad", "mul"))

    if kernel.tables not in ("mulb", "none"):
        other = OTHER_POLYNOMIALS[zlib.crc32(kernel.symbol.encode()) % len(OTHER_POLYNOMIALS)]
        made, report = library.run(kernel.symbol, abi, "coefficients", other)
        assert made > 0, f"polynomial {other:#x}: {report}"


def test_block_of_a_baked_kernel_is_the_listed_one(
    library: Any, kernels: list[Kernel], listed: dict[str, dict[str, Any]]
) -> None:
    """The harness reads it from the symbol: no length may be left out unnoticed."""
    vector_bytes = {isa.name: isa.vector_bytes for isa in ISAS}
    for kernel in kernels:
        if kernel.matrix is not None:
            block = listed[kernel.symbol]["unroll"] * vector_bytes[kernel.isa]
            assert library.block_bytes(kernel.symbol) == block, kernel.symbol


def test_every_assembly_kernel_has_a_microsoft_copy(library: Any, kernels: list[Kernel]) -> None:
    """The copies are linked weakly: a missing one must not go unnoticed."""
    missing = [k.symbol for k in kernels if k.in_assembly and not library.address(k.symbol, "ms")]
    assert not missing
    assert any(kernel.in_assembly for kernel in kernels)


def test_python_and_c_read_the_same_list(library: Any, kernels: list[Kernel]) -> None:
    assert library.kernel_count == len(kernels)
