"""The judge accepts the certificates of kernels of every kind, and rejects changed code."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.isa import BY_NAME, Encoding, Isa
from gfsmith.kernel.spec import Store
from judge.integers import Rejected
from tests.support.levels import first, share
from tests.support.specs import make_spec
from tests.unit.judge.kernels import certified
from tools.mutation.classify import EQUIVALENT
from tools.mutation.judge import judge, steps_of
from tools.mutation.mutants import mutants
from tools.mutation.sample import Target, targets

SETS = [isa for isa in BY_NAME.values() if isa.encoding is not Encoding.C]
KINDS = (
    ("dot", None, 2),
    ("dot", 4, 2),
    ("mad", None, 2),
    ("mad", 1, 4),
    ("mul", None, 1),
    ("xor", None, 1),
    ("horner", None, 3),
    ("fft", 4, 4),
    ("ifft", 2, 2),
)
KERNELS = 3  #: per instruction set, of the mutation campaign
MUTANTS = 40  #: per kernel, in PARTS, of which one stays in `make test-all`
PARTS = 4


@pytest.mark.parametrize("abi", list(Abi), ids=lambda abi: abi.value)
@pytest.mark.parametrize("isa", first(SETS), ids=lambda isa: isa.name)
def test_kernels_of_every_kind_are_accepted(isa: Isa, abi: Abi) -> None:
    for operation, inputs, outputs in KINDS:
        spec = make_spec(operation, inputs, outputs, isa, unroll=1)
        assert certified(Target(spec, abi)).judge() > 0, spec.symbol


@pytest.mark.parametrize("isa", first(SETS), ids=lambda isa: isa.name)
def test_streaming_and_known_matrices_are_accepted(isa: Isa) -> None:
    spec = make_spec("dot", 3, 2, isa, unroll=1, store=Store.STREAMING)
    assert certified(Target(spec, Abi.SYSV)).judge() > 0
    for target in targets(isa, KERNELS):
        assert certified(target).judge() > 0, target.name


@pytest.mark.parametrize("part", share(range(PARTS), PARTS))
@pytest.mark.parametrize("isa", first(SETS), ids=lambda isa: isa.name)
def test_mutants_are_rejected_or_equivalent(isa: Isa, part: int) -> None:
    """An accepted mutant must be one that the prover calls equivalent."""
    rejected = 0
    for target in targets(isa, KERNELS):
        good, steps = certified(target), steps_of(target)
        every = mutants(target.code, isa.vector_bytes)
        for mutant in random.Random(target.name).sample(every, MUTANTS)[part::PARTS]:
            try:
                good.judge(mutant.code)
            except Rejected:
                rejected += 1
                continue
            verdict = judge(target, mutant, steps)
            assert verdict.outcome in EQUIVALENT, f"{target.name}: {verdict.before} -> {verdict.after}"
    assert rejected > 0.7 * KERNELS * MUTANTS / PARTS


@pytest.mark.parametrize("abi", list(Abi), ids=lambda abi: abi.value)
@pytest.mark.parametrize(
    ("operation", "planes", "isa"),
    [
        ("fft4", 4, "gfni_avx512"),
        ("ifft4", 4, "gfni_avx512"),
        ("fft16", 16, "gfni_avx512"),
        ("ifft16", 16, "gfni_avx512"),
        ("refft16", 16, "gfni_avx512"),
        ("fft4lines", 8, "gfni_avx2"),
        ("ifft4lines", 8, "gfni_avx2"),
        ("fft4scaled", 8, "gfni_avx2"),
        ("ifft4scaled", 8, "gfni_avx2"),
        ("fft4lines", 8, "gfni_avx512"),
        ("ifft4lines", 8, "gfni_avx512"),
        ("fft4scaled", 8, "gfni_avx512"),
        ("ifft4scaled", 8, "gfni_avx512"),
        ("fft4scaled", 4, "gfni_avx512"),
        ("ifft4scaled", 4, "gfni_avx512"),
    ],
)
def test_products_of_products_are_accepted_and_their_mutants_rejected(
    operation: str, planes: int, isa: str, abi: Abi
) -> None:
    target = Target(make_spec(operation, planes, planes, isa, unroll=1), abi)
    good, steps = certified(target), steps_of(target)
    assert good.judge() > 0
    rejected = 0
    for mutant in random.Random(operation).sample(mutants(target.code, 64), MUTANTS):
        try:
            good.judge(mutant.code)
        except Rejected:
            rejected += 1
            continue
        assert judge(target, mutant, steps).outcome in EQUIVALENT, f"{mutant.before} -> {mutant.after}"
    assert rejected > 0.7 * MUTANTS


def test_the_code_of_another_kernel_is_rejected() -> None:
    first, second = (Target(make_spec("dot", None, n, "avx2", unroll=1), Abi.SYSV) for n in (1, 2))
    with pytest.raises(Rejected):
        certified(first).judge(second.code)


def test_an_instruction_that_the_set_lacks_is_rejected() -> None:
    target = Target(make_spec("dot", None, 1, "avx512", unroll=1), Abi.SYSV)
    name = target.spec.symbol.replace("avx512", "avx2")
    with pytest.raises(Rejected, match="needs"):
        certified(target).judge(symbol=name)


def test_generated_code_is_what_was_certified() -> None:
    spec = make_spec("dot", None, 1, "sse", unroll=1)
    assert generate_one(spec).code[Abi.SYSV] == Target(spec, Abi.SYSV).code
    assert replace(spec, unroll=2).symbol != spec.symbol
