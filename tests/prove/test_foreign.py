"""ISA-L's kernels, proved and refuted from their object files.

docs/foreign-objects.md says what comes out; every statement there about a kernel is asserted here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from foreign.contracts import documented, shortfalls, strict
from foreign.isal import DEBIAN_LIBRARY, KERNELS, Kernel, objects

from gfsmith.prove.machine.image import Image
from gfsmith.prove.machine.kernel import prove_code
from gfsmith.prove.machine.load import load
from gfsmith.prove.verdict import Status

K = 5


def _within_reach(kernel: Kernel) -> bool:
    """Whether the prover knows what the kernel does: not yet words shifted in general registers
    (avx2_gfni), lengths masked with AND, and sources read again behind a store (mad, mul)."""
    plain_mad = kernel.operation == "mad" and kernel.isa != "avx512_gfni"
    return kernel.operation != "mul" and kernel.isa != "avx2_gfni" and not plain_mad


REACHED = [kernel for kernel in KERNELS if _within_reach(kernel)]
KERNEL = pytest.mark.parametrize("kernel", REACHED, ids=lambda kernel: kernel.symbol)
PAIRS = [kernel for kernel in REACHED if kernel.outputs == 2]
OLD = [kernel for kernel in REACHED if not kernel.gfni]

#: (kernel, ABI) -> its object file.
Objects = Callable[[Kernel, str], Image]


@pytest.fixture(scope="session")
def isal() -> Objects:
    """ISA-L 2.32. Fails, with what to do, where it cannot be fetched or assembled."""
    folders: dict[str, Path] = {abi: objects(abi) for abi in ("sysv", "ms")}
    return cache(lambda kernel, abi: load(folders[abi] / f"{kernel.symbol}.o"))


@pytest.fixture(scope="session")
def debian() -> Image:
    return load(DEBIAN_LIBRARY)


def test_how_many_are_within_reach() -> None:
    assert (len(REACHED), len(KERNELS)) == (36, 71)


@KERNEL
def test_proved_under_its_documented_contract(kernel: Kernel, isal: Objects) -> None:
    report = prove_code(documented(kernel, K), isal(kernel, "sysv"), kernel.symbol)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("k", [1, 2, 10])
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.symbol)
def test_proved_for_other_numbers_of_sources(kernel: Kernel, k: int, isal: Objects) -> None:
    report = prove_code(documented(kernel, k), isal(kernel, "sysv"), kernel.symbol)
    assert report.status is Status.PROVED, report.reason


@KERNEL
def test_every_other_promise_is_refuted(kernel: Kernel, isal: Objects) -> None:
    """Each shortfall is one: the promise, demanded by itself, is refuted for that very reason."""
    for shortfall in shortfalls(kernel):
        contract = replace(documented(kernel, K), **shortfall.demand)
        report = prove_code(contract, isal(kernel, "sysv"), kernel.symbol, exhaustive=False)
        assert report.status is Status.REFUTED, (shortfall.promise, report.reason)
        assert shortfall.reason in report.reason, shortfall.promise


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.symbol)
def test_never_proved_under_the_contract_of_gfsmith(kernel: Kernel, isal: Objects) -> None:
    report = prove_code(strict(kernel, K), isal(kernel, "sysv"), kernel.symbol)
    assert report.status is not Status.PROVED


@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.symbol)
def test_microsoft_objects(kernel: Kernel, isal: Objects) -> None:
    report = prove_code(documented(kernel, K, "ms"), isal(kernel, "ms"), kernel.symbol)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("kernel", OLD, ids=lambda kernel: kernel.symbol)
def test_shared_library_of_debian(kernel: Kernel, debian: Image) -> None:
    """ISA-L 2.30."""
    report = prove_code(documented(kernel, K), debian, kernel.symbol)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.symbol)
def test_another_operation_is_refuted(kernel: Kernel, isal: Objects) -> None:
    """No proof is vacuous: a dot product is no update, and an update is no dot product."""
    other = {"dot": "mad", "mad": "dot"}[kernel.operation]
    contract = replace(documented(kernel, K), operation=other)
    report = prove_code(contract, isal(kernel, "sysv"), kernel.symbol)
    assert report.status is Status.REFUTED, report.reason
    assert ", must be " in report.reason
