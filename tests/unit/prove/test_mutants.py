"""The machine-code proof rejects mutants: a seeded sample of the campaign of tools/mutate.py."""

from __future__ import annotations

import random

import pytest

from gfsmith.kernel.isa import Isa
from tests.support.levels import first, share
from tests.support.specs import X86, label
from tools.mutation import tables
from tools.mutation.classify import EQUIVALENT, Class, classify
from tools.mutation.judge import Verdict, judge, steps_of
from tools.mutation.mutants import Mutant, mutants
from tools.mutation.sample import Target, targets

KERNELS = 4  #: per instruction set
MUTANTS = 24  #: per kernel, in PARTS, of which one stays in `make test-all`
PARTS = 3
REJECTED = frozenset({Class.REFUTED, Class.UNSUPPORTED})
#: Changes of bytes without effect on results: proved rightly, and excluded from the rejected share.
IDLE = frozenset({Class.PADDING, Class.PREFETCH})
SAMPLE = [target for isa in X86 for target in targets(isa, KERNELS)]


def _sample(target: Target) -> list[Mutant]:
    every = mutants(target.code, target.spec.isa.vector_bytes)
    return random.Random(target.name).sample(every, MUTANTS)


def _text(verdict: Verdict) -> str:
    return f"{verdict.kind} at {verdict.at}: {verdict.before} -> {verdict.after}\n{verdict.reason}"


def test_sample_covers_every_instruction_set() -> None:
    assert {target.spec.isa for target in SAMPLE} == set(X86)
    assert len(SAMPLE) * MUTANTS == 8 * 96


@pytest.mark.parametrize("part", share(range(PARTS), PARTS))
@pytest.mark.parametrize("isa", first(X86), ids=label)
def test_every_mutant_is_detected_or_equivalent(isa: Isa, part: int) -> None:
    verdicts: list[Verdict] = []
    for target in targets(isa, KERNELS):
        steps = steps_of(target)
        verdicts += [judge(target, mutant, steps) for mutant in _sample(target)[part::PARTS]]
    assert len(verdicts) == KERNELS * MUTANTS // PARTS
    unexplained = [_text(v) for v in verdicts if v.outcome not in REJECTED | EQUIVALENT]
    assert not unexplained, "\n".join(unexplained)
    counted = [v for v in verdicts if v.outcome not in IDLE]
    rejected = sum(v.outcome in REJECTED for v in counted)
    assert rejected >= 0.9 * len(counted) >= 0.7 * len(verdicts)


def test_all_single_byte_changes_are_tried() -> None:
    code = SAMPLE[0].code
    tried = {m.code for m in mutants(code, SAMPLE[0].spec.isa.vector_bytes)}
    flipped = {
        code[:place] + bytes([code[place] ^ 1 << bit]) + code[place + 1 :]
        for place in range(len(code))
        for bit in range(8)
    }
    assert flipped <= tried
    assert code not in tried
    assert all(len(other) == len(code) for other in tried)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("c5f1efc9", "c5f1efca", Class.OTHER),  # vpxor xmm1, xmm1, xmm1 -> xmm2
        ("c5e9efcb", "c5e1efca", Class.SYNONYM),  # the two sources exchanged
        ("4889d6", "488bf2", Class.ENCODING),  # mov rsi, rdx
        ("f30f1efa", "0f1f4000", Class.OTHER),  # endbr64 is not a no-op
        ("0f1f4000", "90909090", Class.PADDING),
        ("c3", "cb", Class.OTHER),  # a far return
        ("4889d6", "4889fe", Class.OTHER),  # mov rsi, rdx -> rdi
    ],
)
def test_classes(before: str, after: str, expected: Class) -> None:
    assert classify(bytes.fromhex(before), bytes.fromhex(after)) is expected


def test_far_and_interrupt_returns_are_not_proved() -> None:
    for target in (SAMPLE[0], SAMPLE[-1]):
        assert target.code[-1] == 0xC3
        for wrong in (0xCB, 0xCF):
            mutant = Mutant("return", len(target.code) - 1, target.code[:-1] + bytes([wrong]))
            assert judge(target, mutant, steps_of(target)).outcome in REJECTED


def test_every_bit_of_a_table_entry_matters() -> None:
    flips = tables.flips()
    assert all(flip.caught for flip in flips)
    # Six constants; two fields with nibble tables in both orders (256 bits) and matrices (64), one with
    # products (64).
    assert len(flips) == 6 * (2 * 2 * 256 + 2 * 64 + 64)
