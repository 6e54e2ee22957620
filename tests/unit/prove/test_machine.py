"""The machine-code proof accepts the generator's kernels: every set, operation and calling convention."""

from __future__ import annotations

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.isa import Isa
from gfsmith.kernel.spec import KernelSpec, Store
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import CHECKS, Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import X86, label, make_spec

SHAPES = [
    ("dot", 2, 1),
    ("dot", None, 1),
    ("mad", 2, 1),
    ("mad", None, 1),
    ("mul", 1, 1),
    ("mul", None, 1),
    ("xor", 2, 1),
    ("xor", None, 1),
]


def prove(spec: KernelSpec, abi: str, exhaustive: bool = False) -> Report:
    code = generate_one(spec).code[Abi(abi)]
    return prove_code(contract_of(spec, abi), raw(spec.symbol, code), spec.symbol, exhaustive)


def check(report: Report) -> None:
    assert report.status is Status.PROVED, report.reason
    assert report.checks == CHECKS
    assert report.covered == report.instructions > 0


@pytest.mark.parametrize("abi", ["sysv", "ms"])
@pytest.mark.parametrize("isa", X86, ids=label)
@pytest.mark.parametrize("operation, inputs, outputs", SHAPES)
def test_proved(operation: str, inputs: int | None, outputs: int, isa: Isa, abi: str) -> None:
    check(prove(make_spec(operation, inputs, outputs, isa, unroll=1), abi))


@pytest.mark.parametrize("isa", X86, ids=label)
def test_proved_streaming_with_prefetch(isa: Isa) -> None:
    spec = make_spec("dot", 2, 2, isa, unroll=1, store=Store.STREAMING, prefetch=256)
    check(prove(spec, "sysv"))


@pytest.mark.parametrize("isa", X86, ids=label)
def test_proved_with_several_vectors_per_iteration(isa: Isa) -> None:
    check(prove(make_spec("dot", None, 2, isa, unroll=2), "ms"))


@pytest.mark.parametrize("isa", ["sse", "gfni_avx512"])
def test_proved_for_each_length_by_itself(isa: str) -> None:
    """A proof that follows every length up to four blocks separately takes more steps and gives the same
    verdict.
    """
    spec = make_spec("xor", 2, 1, isa, unroll=1)
    by_induction, by_length = prove(spec, "sysv"), prove(spec, "sysv", exhaustive=True)
    check(by_length)
    assert by_length.steps > by_induction.steps
