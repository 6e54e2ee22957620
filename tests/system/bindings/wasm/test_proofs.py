"""Every kernel with vectors in the modules of the package is proved, and changed kernels are not."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.levels import sample
from tests.system.bindings.wasm.mutants import Mutant, changed, mutants
from tests.system.bindings.wasm.support import (
    EXAMPLE,
    OBJECTS,
    VARIANTS,
    Variant,
    call,
    contract,
    link,
    specs,
)
from tests.system.bindings.wasm.test_kernels import described
from tests.unit.prove import proved_objects

WITH_VECTORS = [variant for variant in VARIANTS if variant.isa != "scalar"]
SIMD128 = WITH_VECTORS[0]
PARTS = 4


def module_of(variant: Variant) -> Path:
    return EXAMPLE / "dist" / f"gfsmith-{variant.name}.wasm"


def prove(spec: KernelSpec, image: Image, symbol: str, steps: int = 1_000_000) -> Report:
    return prove_code(contract_of(spec, "wasm32"), image, symbol, exhaustive=False, max_steps=steps)


def named(name: str) -> KernelSpec:
    """Return the kernel of simd128 with a name such as "dot_nx1"."""
    return next(spec for spec in specs(SIMD128.isa) if spec.symbol.startswith(f"gfs_{name}__"))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("variant", WITH_VECTORS, ids=lambda variant: variant.name)
def test_every_kernel_is_proved(
    package: None, variant: Variant, part: int, request: pytest.FixtureRequest
) -> None:
    """clang leaves no instruction that is never reached."""
    image = load(module_of(variant))
    assert len(specs(variant.isa)) > 50
    chosen = specs(variant.isa)[part::PARTS]
    for spec in chosen:
        report = prove(spec, image, spec.symbol)
        assert report.status is Status.PROVED, report.reason
        assert report.covered == report.instructions, spec.symbol
    proved_objects.confirm(chosen, "clang-19 -O2", request.config.getoption("--update-golden"))


@pytest.mark.parametrize("variant", WITH_VECTORS, ids=lambda variant: variant.name)
def test_the_record_has_every_kernel(variant: Variant) -> None:
    assert PROVED_OBJECTS.symbols(variant.isa) == {spec.symbol for spec in specs(variant.isa)}


def test_every_length_one_by_one(package: None) -> None:
    """The exhaustive proof agrees with the inductive one."""
    image = load(module_of(SIMD128))
    for name in ("mul_1x1", "xor_2x1", "dot_4x2_vandermonde"):
        spec = named(name)
        report = prove_code(contract_of(spec, "wasm32"), image, spec.symbol, exhaustive=True)
        assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(package: None, name: str, other: str) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    report = prove(named(other), load(module_of(SIMD128)), named(name).symbol)
    assert report.status is Status.REFUTED, report.reason


def test_relaxed_instructions_are_refuted_in_the_other_module(package: None) -> None:
    image = load(module_of(VARIANTS[-1]))
    relaxed = next(symbol for symbol in image.functions if symbol.startswith("gfs_dot_nx1__"))
    report = prove(named("dot_nx1"), image, relaxed)
    assert (report.status, "needs relaxed SIMD" in report.reason) == (Status.REFUTED, True), report.reason


def test_verify_reads_modules(package: None, tmp_path: Path) -> None:
    spec, module = named("xor_2x1"), tmp_path / "kernel.wasm"
    link(module, [OBJECTS / SIMD128.name / f"{SIMD128.isa}.o"], [spec.symbol])
    (row,) = json.loads(call(sys.executable, "-m", "gfsmith", "verify", "--json", "--objects", module))[
        "kernels"
    ]
    assert (row["symbol"], row["status"]) == (spec.symbol, "proved")
    assert (row["isa"], row["abi"]) == ("wasm_simd128", "wasm32")
    assert "clang" in row["compiler"]


#: Kernel -> every so many mutants are judged.
MUTATED = {
    "dot_nx1": 20,
    "dot_4x2": 25,
    "mad_nx2": 20,
    "xor_nx1": 15,
    "horner_nx3": 10,
    "dot_4x2_vandermonde": 15,
}


@pytest.mark.parametrize("part", sample(range(4), 0))
@pytest.mark.parametrize("name", MUTATED)
def test_no_wrong_mutant_is_proved(package: None, name: str, part: int, tmp_path: Path) -> None:
    """The kernels with a changed constant, offset, bound, variable or operation are not proved, except those
    that keep their contract in Node."""
    spec, module = named(name), tmp_path / "kernel.wasm"
    link(module, [OBJECTS / SIMD128.name / f"{SIMD128.isa}.o"], [spec.symbol])
    image, data = load(module), module.read_bytes()
    steps = prove(spec, image, spec.symbol).steps

    def judge(mutant: Mutant) -> Status:
        module.write_bytes(changed(data, mutant))
        return prove(spec, load(module), spec.symbol, 3 * steps + 10_000).status

    step = MUTATED[name]
    chosen = list(mutants(image.listings[spec.symbol], data))[part * step :: 4 * step]
    outcomes = Counter(_judged(chosen, judge, lambda: _keeps_contract(spec, module, tmp_path)))
    assert outcomes[Status.REFUTED] > len(chosen) // 3
    assert 4 * outcomes[Status.PROVED] < len(chosen)


def _judged(
    chosen: list[Mutant], judge: Callable[[Mutant], Status], keeps: Callable[[], bool]
) -> list[Status]:
    found = []
    for mutant in chosen:
        status = judge(mutant)
        assert status is not Status.PROVED or keeps(), mutant.what
        found.append(status)
    return found


def _keeps_contract(spec: KernelSpec, module: Path, folder: Path) -> bool:
    """Return whether a kernel passes all tests of execution."""
    (calls,) = contract(folder, module, [described(0, spec)]).values()
    return "failure" not in calls
