"""Every generated kernel, executed under both ABIs on every instruction set of this CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gfsmith.kernel.isa import ISAS
from tests.support.golden_record import EXECUTED
from tests.system.kernels.lists import Kernel
from tests.system.kernels.sweeping import SWEEPS, sweep_all


def test_kernel(
    library: Any, kernel: Kernel, abi: str, require_isa: Callable[[str], None], request: pytest.FixtureRequest
) -> None:
    require_isa(kernel.isa)

    def run(sweep: str, polynomial: int) -> tuple[int, str]:
        calls: tuple[int, str] = library.run(kernel.symbol, abi, sweep, polynomial)
        return calls

    sweep_all(run, kernel, SWEEPS, block=library.block_bytes(kernel.symbol), sets=4)
    if request.config.getoption("--update-golden"):
        EXECUTED.add(kernel.isa, [kernel.symbol], "the CPU")


def test_block_of_a_baked_kernel_is_the_listed_one(
    library: Any, kernels: list[Kernel], listed: dict[str, dict[str, Any]]
) -> None:
    """The harness reads the block from the symbol; a wrong block would omit lengths silently."""
    vector_bytes = {isa.name: isa.vector_bytes for isa in ISAS}
    for kernel in kernels:
        if kernel.matrix is not None:
            entry = listed[kernel.symbol]
            bytes_ = entry["width"] // 8 if entry["width"] else vector_bytes[kernel.isa]
            block = entry["unroll"] * bytes_
            assert library.block_bytes(kernel.symbol) == block, kernel.symbol


def test_every_assembly_kernel_has_a_microsoft_copy(library: Any, kernels: list[Kernel]) -> None:
    """The copies are linked weakly, so the linker does not report a missing one."""
    missing = [k.symbol for k in kernels if k.in_assembly and not library.address(k.symbol, "ms")]
    assert not missing
    assert any(kernel.in_assembly for kernel in kernels)


def test_python_and_c_read_the_same_list(library: Any, kernels: list[Kernel]) -> None:
    assert library.kernel_count == len(kernels)
