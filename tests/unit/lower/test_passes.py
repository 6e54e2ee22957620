"""Kernels with more outputs than registers: several passes over the outputs, for every shape on every set."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gfsmith.build.generate import Kernel, generate_one, program
from gfsmith.build.prove_kernels import prove_all, tasks_of
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.listing import build
from gfsmith.field.matrix import multiply
from gfsmith.ir import STORES, Instr, Loop, Op, Program, Ref, Space
from gfsmith.kernel import tables
from gfsmith.kernel.isa import ISAS, Isa
from gfsmith.kernel.spec import KernelSpec, Order, Walk
from gfsmith.lower import MOST_UNROLLED
from gfsmith.passes import check_frame
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.specs import X86, Machine, label, make_pipelined, make_spec

#: The corners of all shapes with at most 255 shards, and shapes inside.
SHAPES = [(None, 254), (None, 12), (1, 254), (254, 1), (128, 127), (10, 16), (4, 40)]
PROVED_AS_CODE = [
    ("dot", None, 12, "sse", 1),
    ("dot", 10, 16, "avx2", 1),
    ("dot", 4, 40, "gfni_sse", 1),
    pytest.param("dot", 128, 127, "gfni_avx512", 1, marks=pytest.mark.long),  # as mad, below
    ("dot", None, 8, "avx2", 2),
    ("mad", None, 20, "gfni_sse", 1),
    ("mad", 4, 20, "avx2", 1),
    ("mad", 128, 127, "gfni_avx512", 1),
    ("mad", 1, 40, "avx512", 1),
]
#: Shapes that need passes on the set: those with the largest frames, one source, many sources, more vectors.
IN_PLACE = [
    (None, 254, "gfni_avx512", 1),
    (None, 16, "sse", 1),
    (1, 254, "avx512", 1),
    (128, 127, "gfni_avx2", 1),
    (10, 16, "gfni_sse", 1),
    (4, 40, "avx2", 2),
]
#: Requests whose vectors do not fit into registers or frame at once.
HALVED = [
    ("mad", None, 254, "avx512", 2, Order.SUMS),
    ("mad", 4, 100, "gfni_avx512", 4, Order.STEPS),
    ("dot", None, 12, "sse", 8, Order.STEPS),
    ("dot", 10, 4, "avx2", 8, Order.STEPS),
    ("horner", None, 3, "sse", 8, Order.COPIES),
]
HALVED_IN_PLACE = make_spec("mad", None, 16, "gfni_sse", unroll=2)
IN_C = [
    (None, 254, "neon", 1),
    (None, 20, "sve2", 8),
    (4, 40, "vsx", 8),
    (None, 40, "lasx", 2),
    (3, 17, "scalar", 8),
]


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


@pytest.mark.parametrize(("inputs", "outputs", "isa", "unroll"), IN_PLACE)
def test_mad_keeps_its_sums_in_the_frame(inputs: int | None, outputs: int, isa: str, unroll: int) -> None:
    spec = make_spec("mad", inputs, outputs, isa, unroll=unroll)
    made = program(spec)
    assert prove(spec, made) and made.slots, spec.symbol
    last = {len(turn) - 1 for turn in made.iterations()}
    assert last == {n for turn in made.iterations() for n, loop in enumerate(turn) if _stores(loop)}


def _stores(loop: Loop) -> bool:
    return any(i.op in STORES for section in loop.sections() for i in section)


@pytest.mark.parametrize(("operation", "inputs", "outputs", "isa", "unroll"), PROVED_AS_CODE)
def test_machine_code_is_proved(
    operation: str, inputs: int | None, outputs: int, isa: str, unroll: int
) -> None:
    kernel: Kernel = generate_one(make_spec(operation, inputs, outputs, isa, unroll=unroll))
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


def test_mad_in_place_on_real_bytes() -> None:
    """Destinations 1, 6 and 9 are the sources 3, 1 and 0."""
    spec = make_spec("mad", 5, 20, "sse", unroll=1)
    rng = random.Random(31)
    matrix = tuple(tuple(rng.randbytes(5)) for _ in range(20))
    sources = [bytearray(rng.randbytes(37)) for _ in range(5)]
    out = [bytearray(rng.randbytes(37)) for _ in range(20)]
    out[1], out[6], out[9] = sources[3], sources[1], sources[0]
    gained = multiply(spec.field, matrix, tuple(map(tuple, sources)))
    expected = [bytes(a ^ b for a, b in zip(*rows, strict=True)) for rows in zip(out, gained, strict=True)]
    Machine(spec, tables.table(spec.field, spec.tables, matrix), sources, out).run(program(spec))
    assert out == expected


MUTATED = make_spec("mad", None, 20, "gfni_sse", unroll=1)


def _mutants(made: Program) -> Iterator[tuple[str, Program]]:
    """Yield wrong main loops: a store before the last pass, a sum in the slot of another one, a sum that is
    not put into its slot, and a destination that gets the sum of another one."""
    first, last, *others = made.loops

    def program_of(kept: tuple[Instr, ...], close: tuple[Instr, ...]) -> Program:
        return replace(made, loops=(replace(first, close=kept), replace(last, close=close), *others))

    early = Ref(Space.DESTINATION, 0, 0)
    kept, close = first.close, last.close
    at = next(n for n, i in enumerate(close) if i.op is Op.RELOAD)
    without = close[:at] + close[at + 2 :]
    yield "early", program_of((replace(kept[0], op=Op.STORE, ref=early), *kept[1:]), without)
    yield "same slot", program_of((kept[0], replace(kept[1], ref=kept[0].ref), *kept[2:]), close)
    yield "left out", program_of(kept[1:], close)
    swapped = [replace(close[at + n], ref=close[at + 2 - n].ref) for n in (0, 2)]
    yield "swapped", program_of(kept, (*close[:at], swapped[0], close[at + 1], swapped[1], *close[at + 3 :]))


def _proved_as_code(spec: KernelSpec, made: Program) -> Status:
    contract = replace(contract_of(spec, Abi.SYSV.value), unwind=False)
    return prove_code(contract, raw("k", build(spec, made).code[Abi.SYSV]), "k", exhaustive=False).status


def test_both_proofs_detect_a_wrong_slot_and_an_early_store() -> None:
    made = program(MUTATED)
    assert _proved_as_code(MUTATED, made) is Status.PROVED
    for what, wrong in _mutants(made):
        assert prove(MUTATED, wrong).status is Status.REFUTED, what
        assert _proved_as_code(MUTATED, wrong) is not Status.PROVED, what


def test_a_loop_over_the_sources_leaves_the_frame_alone() -> None:
    made = program(MUTATED)
    first, last, *others = made.loops
    spill = Instr(Op.SPILL, None, (last.carries[0].phi,), Ref(Space.SCRATCH, 0, 0))
    wrong = replace(made, loops=(first, replace(last, body=(*last.body, spill)), *others))
    assert "stores inside the loop over the sources" in prove(MUTATED, wrong).reason


@pytest.mark.parametrize("inputs", [None, 3])
def test_only_the_first_pass_uses_the_prefetch_pointers(inputs: int | None) -> None:
    spec = replace(make_pipelined("avx2", 20, 2, Walk.ROWS), inputs=inputs)
    made = program(spec)
    assert prove(spec, made) and _passes(made)[0] > 2


@pytest.mark.parametrize(("operation", "inputs", "outputs", "isa", "unroll", "order"), HALVED)
def test_loops_take_fewer_vectors_if_registers_or_frame_do_not_suffice(
    operation: str, inputs: int | None, outputs: int, isa: str, unroll: int, order: Order
) -> None:
    spec = replace(make_spec(operation, inputs, outputs, isa, unroll=unroll), order=order)
    made = program(spec)
    assert prove(spec, made), spec.symbol
    block, *_, single, _ = _passes(made)
    assert block > single, spec.symbol


def _by_single_vectors(monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return a kernel for two vectors whose frame may only hold the sums of one."""
    monkeypatch.setattr(check_frame, "MAX_FRAME", 8 * 16)
    made = program(HALVED_IN_PLACE)
    assert _passes(made)[0] == 4 and made.slots == 8
    return made


def test_mad_by_single_vectors_is_proved_as_code(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _by_single_vectors(monkeypatch)
    assert prove(HALVED_IN_PLACE, made) and _proved_as_code(HALVED_IN_PLACE, made) is Status.PROVED


@pytest.mark.parametrize("loop", [0, 2])
def test_a_slot_with_the_sum_of_another_vector_is_refuted(monkeypatch: pytest.MonkeyPatch, loop: int) -> None:
    """The second vector's sum of an output is not spilled, and its slot still holds the first vector's; or
    the first vector's is not spilled at all."""
    made = _by_single_vectors(monkeypatch)
    without = replace(made.loops[loop], close=made.loops[loop].close[1:])
    wrong = replace(made, loops=(*made.loops[:loop], without, *made.loops[loop + 1 :]))
    assert prove(HALVED_IN_PLACE, wrong).status is Status.REFUTED
    assert _proved_as_code(HALVED_IN_PLACE, wrong) is not Status.PROVED


@pytest.mark.parametrize(("inputs", "outputs", "isa", "unroll"), IN_C)
def test_mad_in_c_takes_one_pass(inputs: int | None, outputs: int, isa: str, unroll: int) -> None:
    """Its text is the same for all vector lengths, which generate_one checks."""
    spec = make_spec("mad", inputs, outputs, isa, unroll=unroll)
    assert generate_one(spec).text
    assert len(set(_passes(program(spec))[1:])) == 1 and not program(spec).slots
