"""ISA-L's kernels, proved and refuted from their object files.

The tests assert every statement of docs/foreign-objects.md about a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bench.peers.isal_sources import DEBIAN_LIBRARY, KERNELS, Kernel, objects
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import prove_code
from gfsmith.prove.verdict import Status
from tests.support.levels import sample
from tests.unit.prove.foreign.contracts import documented, shortfalls, strict

K = 5
#: Of each operation and instruction set the kernels with the fewest and the most outputs; `make test-long`
#: has the others.
KEPT = [
    kernel
    for kernel in KERNELS
    for outputs in [[k.outputs for k in KERNELS if (k.operation, k.isa) == (kernel.operation, kernel.isa)]]
    if kernel.outputs in (min(outputs), max(outputs))
]
KERNEL = pytest.mark.parametrize("kernel", sample(KERNELS, *KEPT), ids=lambda kernel: kernel.symbol)
MULS = [kernel for kernel in KERNELS if kernel.operation == "mul"]
PAIRS = [kernel for kernel in KERNELS if kernel.outputs == 2]
OLD = [kernel for kernel in KERNELS if not kernel.gfni]

#: (kernel, ABI) -> its object file.
Objects = Callable[[Kernel, str], Image]


@pytest.fixture(scope="session")
def isal() -> Objects:
    """The objects of ISA-L 2.32. If they cannot be fetched or assembled, the
    fixture fails with instructions.
    """
    folders: dict[str, Path] = {abi: objects(abi) for abi in ("sysv", "ms")}
    return cache(lambda kernel, abi: load(folders[abi] / f"{kernel.symbol}.o"))


@pytest.fixture(scope="session")
def debian() -> Image:
    return load(DEBIAN_LIBRARY)


@KERNEL
def test_proved_under_its_documented_contract(kernel: Kernel, isal: Objects) -> None:
    report = prove_code(documented(kernel, K), isal(kernel, "sysv"), kernel.symbol)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("k", sample([1, 2, 10], 2))
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.symbol)
def test_proved_for_other_numbers_of_sources(kernel: Kernel, k: int, isal: Objects) -> None:
    report = prove_code(documented(kernel, k), isal(kernel, "sysv"), kernel.symbol, exhaustive=False)
    assert report.status is Status.PROVED, report.reason


@KERNEL
def test_every_other_promise_is_refuted(kernel: Kernel, isal: Objects) -> None:
    """Each shortfall is real: its guarantee, demanded alone, is refuted for that reason."""
    for shortfall in shortfalls(kernel):
        contract = replace(documented(kernel, K), **shortfall.demand)
        report = prove_code(contract, isal(kernel, "sysv"), kernel.symbol, exhaustive=False)
        assert report.status is Status.REFUTED, (shortfall.promise, report.reason)
        assert shortfall.reason in report.reason, shortfall.promise


@KERNEL
def test_never_proved_under_the_contract_of_gfsmith(kernel: Kernel, isal: Objects) -> None:
    report = prove_code(strict(kernel, K), isal(kernel, "sysv"), kernel.symbol, exhaustive=False)
    assert report.status is not Status.PROVED


@pytest.mark.parametrize("kernel", [*MULS, *PAIRS], ids=lambda kernel: kernel.symbol)
def test_microsoft_objects(kernel: Kernel, isal: Objects) -> None:
    """All follow Microsoft's convention except one, which overwrites registers of its caller."""
    report = prove_code(documented(kernel, K, "ms"), isal(kernel, "ms"), kernel.symbol, exhaustive=False)
    if kernel.symbol == "gf_vect_mul_avx2_gfni":
        assert report.status is Status.REFUTED
        assert "xmm6 is not preserved" in report.reason
    else:
        assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    "kernel", sample(OLD, *(k for k in OLD if k in KEPT)), ids=lambda kernel: kernel.symbol
)
def test_shared_library_of_debian(kernel: Kernel, debian: Image) -> None:
    """ISA-L 2.30: its mul accepts a length that is not a multiple of 32 and exceeds the buffers."""
    contract = documented(kernel, K)
    report = prove_code(contract, debian, kernel.symbol)
    assert report.status is Status.PROVED, report.reason
    if kernel.operation == "mul":
        ragged = replace(contract, granule=1, minimum=33, maximum=33)
        report = prove_code(ragged, debian, kernel.symbol)
        assert report.status is Status.REFUTED
        assert "beyond its end: 16 bytes at 32, size 33" in report.reason


@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.symbol)
def test_another_operation_is_refuted(kernel: Kernel, isal: Objects) -> None:
    """No proof is vacuous: a dot product does not prove as an update, nor an update as a dot product."""
    other = {"dot": "mad", "mad": "dot"}[kernel.operation]
    contract = replace(documented(kernel, K), operation=other)
    report = prove_code(contract, isal(kernel, "sysv"), kernel.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason
    assert ", must be " in report.reason
