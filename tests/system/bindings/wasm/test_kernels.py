"""Every kernel of every module, executed in Node and checked against its contract; the check detects wrong
kernels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.spec import KernelSpec, Operation
from tests.support.cpu import CPU_FLAGS
from tests.support.golden_record import EXECUTED
from tests.system.bindings.wasm.support import (
    HERE,
    OBJECTS,
    POLYNOMIAL,
    POLYNOMIALS,
    VARIANTS,
    Variant,
    contract,
    link,
    specs,
)

SWEEPS = ("lengths", "large", "wide", "coefficients", "alignments", "in_place")


def _any_field(spec: KernelSpec) -> bool:
    """Return True if the kernel is right in every field: it has a table, or it only adds."""
    return spec.baked is None and spec.operation is not Operation.HORNER


def described(number: int, spec: KernelSpec) -> dict[str, Any]:
    """Return the description of a kernel for contract.mjs; its place in the list selects a polynomial."""
    baked = spec.baked
    return {
        "symbol": spec.symbol,
        "operation": spec.operation.value,
        "inputs": spec.inputs,
        "outputs": spec.outputs,
        "tables": spec.tables.label,
        "matrix": None if baked is None else [list(row) for row in baked.rows],
        "polynomial": POLYNOMIALS[number % len(POLYNOMIALS)] if _any_field(spec) else spec.field.polynomial,
        "vector": spec.isa.vector_bytes,
        "block": spec.isa.vector_bytes * spec.unroll,
    }


def test_every_set_has_a_module() -> None:
    assert {isa.name for isa in ISAS if isa.arch is Arch.WASM} <= {variant.isa for variant in VARIANTS}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_kernels(package: None, tmp_path: Path, variant: Variant, request: pytest.FixtureRequest) -> None:
    kernels = [described(n, spec) for n, spec in enumerate(specs(variant.isa))]
    symbols = [kernel["symbol"] for kernel in kernels]
    module = tmp_path / "kernels.wasm"
    link(module, [OBJECTS / variant.name / f"{variant.isa}.o"], symbols)
    results = contract(tmp_path, module, kernels)
    assert symbols
    assert list(results) == symbols
    for kernel in kernels:
        calls = results[kernel["symbol"]]
        assert "failure" not in calls, f"{kernel['symbol']}: {calls['failure']}"
        sets = 3 if kernel["inputs"] is None else 1
        chosen = kernel["tables"] != "none"
        assert calls["lengths"] >= 5 * sets * (4 * kernel["block"] + 4)
        assert calls["coefficients"] == (256 if chosen else 0)
        assert calls["alignments"] == 16 * 3
        assert (calls["wide"] > 0) == (kernel["inputs"] is None)
        assert (calls["in_place"] > 0) == (kernel["operation"] in ("mad", "mul", "fft", "ifft"))
    if request.config.getoption("--update-golden") and variant.isa not in CPU_FLAGS:
        EXECUTED.add(variant.isa, symbols, "Node")


#: Kernel: operation, inputs, outputs, and the sweep that must find the fault with its message.
FAULTS: dict[str, tuple[str, int | None, int, str]] = {
    "bad_reads_past": ("dot", None, 2, "lengths: trap"),
    "bad_reads_before": ("dot", None, 2, "lengths: trap"),
    "bad_reads_empty": ("dot", None, 2, "lengths: trap"),
    "bad_reads_past_coeffs": ("dot", None, 2, "lengths: trap"),
    "bad_reads_past_src_array": ("dot", None, 2, "lengths: trap"),
    "bad_reads_output": ("dot", None, 2, "lengths: trap"),
    "bad_xor_reads_coeffs": ("xor", None, 1, "lengths: trap"),
    "bad_reads_k": ("dot", 2, 1, "lengths: "),
    "bad_writes_past": ("dot", None, 2, "lengths: wrong byte"),
    "bad_writes_before": ("dot", None, 2, "lengths: wrong byte"),
    "bad_modifies_source": ("dot", None, 2, "lengths: wrong byte 2 of buffer 4"),
    "bad_modifies_coeffs": ("dot", None, 2, "lengths: wrong byte 3 of buffer 0"),
    "bad_tail": ("dot", None, 2, "lengths: wrong byte 11 of buffer 7"),
    "bad_16_bit_len": ("dot", None, 2, "large: wrong byte"),
    "bad_8_bit_k": ("dot", None, 2, "wide: wrong byte"),
    "bad_coefficient_77": ("dot", None, 2, "coefficients: wrong byte 0 of buffer 8"),
    "bad_wants_alignment": ("dot", None, 2, "wrong byte 0 of buffer"),
    "bad_accumulates": ("dot", None, 2, "lengths: wrong byte 0 of buffer 6"),
    "bad_in_place": ("mul", None, 1, "in_place: wrong byte"),
    "bad_in_place_mad": ("mad", None, 2, "in_place: wrong byte"),
    "bad_traps": ("dot", None, 2, "lengths: trap: unreachable; len 5"),
}

RIGHT: dict[str, tuple[str, int | None, int]] = {
    "good_dot": ("dot", None, 2),
    "good_dot_2x1": ("dot", 2, 1),
    "good_mad": ("mad", None, 2),
    "good_mul": ("mul", None, 1),
    "good_xor": ("xor", None, 1),
}


def test_contract_finds_faults(tmp_path: Path) -> None:
    """Right kernels pass, and each wrong one is refused for its fault."""
    shapes = {**RIGHT, **{symbol: fault[:3] for symbol, fault in FAULTS.items()}}
    kernels = [
        {
            "symbol": symbol,
            "operation": operation,
            "inputs": inputs,
            "outputs": outputs,
            "tables": "none" if operation == "xor" else "nibble",
            "polynomial": POLYNOMIAL,
            "matrix": None,
            "vector": 16,
            "block": 16,
        }
        for symbol, (operation, inputs, outputs) in shapes.items()
    ]
    module = tmp_path / "bad.wasm"
    warnings = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
    link(module, [HERE / "selftest" / "bad_kernels.c"], [], *warnings)
    results = contract(tmp_path, module, kernels)
    for symbol in RIGHT:
        assert set(results[symbol]) == set(SWEEPS), results[symbol]
    for symbol, (*_, reason) in FAULTS.items():
        assert reason in results[symbol].get("failure", "accepted"), (symbol, results[symbol])
