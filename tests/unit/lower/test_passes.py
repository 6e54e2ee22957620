"""Kernels with more outputs than registers: several passes over the outputs, for every shape on every set."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gfsmith.build.generate import Kernel, generate_one, program
from gfsmith.build.prove_kernels import prove_all, tasks_of
from gfsmith.field.matrix import multiply
from gfsmith.ir import Program
from gfsmith.kernel import tables
from gfsmith.kernel.isa import BY_NAME, ISAS, Isa
from gfsmith.kernel.spec import SpecError
from gfsmith.lower import MOST_UNROLLED
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.specs import X86, Machine, label, make_spec

#: The corners of all shapes with at most 255 shards, and shapes inside.
SHAPES = [(None, 254), (None, 12), (1, 254), (254, 1), (128, 127), (10, 16), (4, 40)]
PROVED_AS_CODE = [("sse", None, 12), ("avx2", 10, 16), ("gfni_sse", 4, 40), ("gfni_avx512", 128, 127)]


def _passes(made: Program) -> list[int]:
    """Return the number of loops in each iteration."""
    return [len(turn) for turn in made.iterations()]


@pytest.mark.parametrize("isa", [*X86, *(i for i in ISAS if i not in X86)], ids=label)
def test_every_shape_is_generated_and_proved(isa: Isa) -> None:
    for inputs, outputs in SHAPES:
        spec = make_spec("dot", inputs, outputs, isa, unroll=1)
        made = program(spec)
        assert prove(spec, made), spec.symbol
        large = (inputs or 1) * outputs > MOST_UNROLLED
        assert made.loops[0].rolled or not (inputs is None or large), spec.symbol


@pytest.mark.parametrize(("isa", "inputs", "outputs"), PROVED_AS_CODE)
def test_machine_code_is_proved(isa: str, inputs: int | None, outputs: int) -> None:
    kernel: Kernel = generate_one(make_spec("dot", inputs, outputs, isa, unroll=1))
    found = prove_all(tasks_of([kernel]), 1, None, lambda done: None)
    assert [proof.status for proof in found.values()] == [Status.PROVED] * 2


def test_a_pass_takes_as_many_outputs_as_fit() -> None:
    fewest = {
        outputs: _passes(program(make_spec("dot", None, outputs, "avx2", unroll=1))) for outputs in (8, 16)
    }
    assert fewest == {8: [1, 1], 16: [2, 2]}
    assert _passes(program(make_spec("dot", None, 16, "gfni_avx512", unroll=1))) == [1, 1]


def test_a_missing_pass_is_refuted() -> None:
    spec = make_spec("dot", None, 16, "avx2", unroll=1)
    made = program(spec)
    for number in (1, 3):
        loops = made.loops[:number] + made.loops[number + 1 :]
        assert "is not written" in prove(spec, replace(made, loops=loops)).reason
    first, *others = made.loops
    twice = replace(made, loops=(first, replace(first, joined=True), *others))
    assert "is stored twice" in prove(spec, twice).reason


def test_passes_on_real_bytes() -> None:
    spec = make_spec("dot", 5, 20, "sse", unroll=1)
    rng = random.Random(29)
    matrix = tuple(tuple(rng.randbytes(5)) for _ in range(20))
    sources = [bytearray(rng.randbytes(37)) for _ in range(5)]
    out = [bytearray(37) for _ in range(20)]
    Machine(spec, tables.table(spec.field, spec.tables, matrix), sources, out).run(program(spec))
    expected = multiply(spec.field, matrix, tuple(map(tuple, sources)))
    assert [tuple(row) for row in out] == list(expected)


def test_a_larger_unroll_and_mad_are_refused() -> None:
    assert BY_NAME["avx2"].registers == 16
    for operation, unroll in (("dot", 2), ("mad", 1)):
        spec = make_spec(operation, None, 16, "avx2", unroll=unroll)
        with pytest.raises(SpecError, match="vector registers"):
            program(spec)
