"""Kernels that know their matrix: proved, and refuted for any other constant, row or matrix."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from gfsmith.build.generate import Kernel, generate_one, program
from gfsmith.codes import parity_matrix
from gfsmith.emit.x86.frame import Abi
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.levels import first
from tests.support.specs import make_baked

ISAS = ("gfni_avx512", "gfni_avx2", "avx512", "avx2", "gfni_sse", "sse")
CODE = "cauchy", 5, 3
FLIPS = 24  #: bits of the constants that the test flips in each kernel


@cache
def kernel(isa: str) -> Kernel:
    return generate_one(make_baked(isa, *CODE))


def examine(isa: str, code: bytes, rows: tuple[tuple[int, ...], ...] | None = None) -> Report:
    contract = contract_of(make_baked(isa, *CODE), "sysv")
    if rows is not None:
        contract = replace(contract, rows=rows)
    return prove_code(contract, raw("kernel", code), "kernel", exhaustive=False)


@pytest.mark.parametrize("isa", ISAS)
def test_proved_with_all_its_bytes(isa: str) -> None:
    report = examine(isa, kernel(isa).code[Abi.SYSV])
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("isa", ISAS)
def test_another_matrix_is_refuted(isa: str) -> None:
    """One element more or less, and two rows or two columns exchanged."""
    rows = [list(row) for row in parity_matrix("cauchy", 5, 3)]
    rows[2][4] ^= 0x80
    exchanged = tuple(tuple(row) for row in reversed(parity_matrix("cauchy", 5, 3)))
    across = tuple(tuple(reversed(row)) for row in parity_matrix("cauchy", 5, 3))
    for wrong in (tuple(map(tuple, rows)), exchanged, across):
        report = examine(isa, kernel(isa).code[Abi.SYSV], wrong)
        assert (report.status, "must be" in report.reason) == (Status.REFUTED, True), report


@pytest.mark.parametrize("isa", first(ISAS, 2))
def test_no_bit_of_the_constants_is_without_effect(isa: str) -> None:
    code, constants = kernel(isa).code[Abi.SYSV], program(make_baked(isa, *CODE)).constants
    assert code.count(constants) == 1
    start = code.index(constants)
    for bit in random.Random(7).sample(range(8 * len(constants)), FLIPS):
        wrong = bytearray(code)
        wrong[start + bit // 8] ^= 1 << bit % 8
        report = examine(isa, bytes(wrong))
        assert report.status is not Status.PROVED, f"bit {bit}"


@pytest.mark.parametrize("isa", ["gfni_avx512", "avx2"])
def test_program_with_a_wrong_constant_is_refuted(isa: str) -> None:
    right = program(make_baked(isa, *CODE))
    for place in range(0, len(right.constants), 7):
        constants = bytearray(right.constants)
        constants[place] ^= 4
        verdict = prove(make_baked(isa, *CODE), replace(right, constants=bytes(constants)))
        assert verdict.status is Status.REFUTED, place
    verdict = prove(make_baked(isa, *CODE), replace(right, constants=right.constants[:-1]))
    assert "outside the constants" in verdict.reason


@pytest.mark.parametrize("code", ["vandermonde", "backblaze", "lch"])
def test_every_code(code: str) -> None:
    for isa in ("gfni_avx512", "sse"):
        assert generate_one(make_baked(isa, code, 7, 2)).verdict
