"""The program proof refutes mutants of every kind, for every instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from gfsmith.ir import CURRENT, LOADS, STORES, Instr, Loop, Op, Program, Role, Space
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.program import model
from gfsmith.prove.program.prove import prove
from tests.support.levels import first
from tests.support.specs import make_program, make_spec

SAMPLES = [
    ("dot", 3, 2, 1),
    ("dot", None, 2, 1),
    ("dot", None, 2, 2),
    ("mad", 2, 2, 1),
    ("mad", None, 1, 2),
    ("mul", None, 1, 2),
    ("xor", 3, 1, 2),
    ("xor", None, 1, 1),
    ("horner", None, 3, 1),
    ("horner", None, 2, 2),
    ("fft", 4, 4, 1),
    ("ifft", 4, 4, 1),
]

#: One instruction set of each technique: nibble tables, affine matrices, and C.
COMMON = ("avx2", "gfni_avx512", "neon")

#: Operations that replace another one in a mutant.
SWAPS = {Op.XOR: Op.AND, Op.AND: Op.XOR, Op.AFFINE: Op.MULB, Op.LOOKUP: Op.XOR, Op.CHOOSE: Op.AND}


def _references(instr: Instr, lanes: int) -> Iterator[tuple[str, Instr]]:
    """Yield the instruction with a wrong memory reference."""
    ref = instr.ref
    if ref is None or instr.op is Op.PREFETCH:
        return
    step = 1 if ref.space is Space.COEFFICIENT else lanes
    yield "offset", replace(instr, ref=replace(ref, offset=ref.offset + step))
    yield "offset", replace(instr, ref=replace(ref, offset=ref.offset - step))
    if ref.space is Space.COEFFICIENT:
        yield "output", replace(instr, ref=replace(ref, output=ref.output + 1))
    if ref.index > CURRENT:
        yield "index", replace(instr, ref=replace(ref, index=ref.index + 1))
    else:
        yield "index", replace(instr, ref=replace(ref, index=0))
        yield "one source on", replace(instr, ref=replace(ref, index=ref.index - 1))
        if ref.index < CURRENT:
            yield "one source back", replace(instr, ref=replace(ref, index=ref.index + 1))


def _mutants(instr: Instr, others: list[int], lanes: int) -> Iterator[tuple[str, Instr | None]]:
    """Yield each wrong version of an instruction; None: the instruction is omitted."""
    if instr.op is not Op.PREFETCH:
        yield "dropped", None
    yield from _references(instr, lanes)
    for position, arg in enumerate(instr.args):
        for other in others:
            if other not in instr.args:
                args = (*instr.args[:position], other, *instr.args[position + 1 :])
                yield f"operand {arg}", replace(instr, args=args)
                break
    if instr.op in SWAPS:
        yield "operation", replace(instr, op=SWAPS[instr.op])
    if instr.op in (Op.CONST, Op.BIT):
        yield "immediate", replace(instr, immediate=instr.immediate ^ 1)
    if instr.op is Op.ZERO:
        yield "operation", replace(instr, op=Op.CONST, immediate=1)


def _with(program: Program, number: int, section: str, code: tuple[Instr, ...]) -> Program:
    loops = list(program.loops)
    loops[number] = replace(loops[number], **{section: code})  # type: ignore[arg-type]
    return replace(program, loops=tuple(loops))


def _program_mutants(program: Program) -> Iterator[tuple[str, Program]]:
    for number, loop in enumerate(program.loops):
        known = [i.result for i in program.preload if i.result is not None]
        for section in ("head", "body", "rest", "close"):
            code: tuple[Instr, ...] = getattr(loop, section)
            for position, instr in enumerate(code):
                for kind, mutant in _mutants(instr, known, program.lanes):
                    rest = () if mutant is None else (mutant,)
                    changed = (*code[:position], *rest, *code[position + 1 :])
                    yield (
                        f"loop {number} {section} {instr}: {kind}",
                        _with(program, number, section, changed),
                    )
                if instr.result is not None:
                    known.append(instr.result)
        yield from _loop_mutants(program, number, loop)


def _loop_mutants(program: Program, number: int, loop: Loop) -> Iterator[tuple[str, Program]]:
    loops = program.loops
    for step in (loop.step + program.lanes, loop.step - program.lanes):
        changed = (*loops[:number], replace(loop, step=step), *loops[number + 1 :])
        yield f"loop {number}: step {step}", replace(program, loops=changed)
    if loop.role is Role.TAIL or (number and loop.step == program.lanes):
        left = loops[:number] + loops[number + 1 :]
        yield f"loop {number} left out", replace(program, loops=left)
    for carry in loop.carries:
        wrongs = [replace(carry, updated=carry.phi)]
        if carry.rest is not None:
            wrongs += [replace(carry, rest=v) for v in (carry.phi, carry.updated, None)]
        for wrong in wrongs:
            carries = tuple(wrong if c is carry else c for c in loop.carries)
            changed = (*loops[:number], replace(loop, carries=carries), *loops[number + 1 :])
            yield f"loop {number}: carry not updated", replace(program, loops=changed)
    if loop.rolled:
        for group in (loop.group - 1, loop.group + 1):
            changed = (*loops[:number], replace(loop, group=group), *loops[number + 1 :])
            yield f"loop {number}: {group} sources per iteration", replace(program, loops=changed)
    if loop.rest:
        swapped = replace(loop, body=loop.rest, rest=loop.body)
        for name, wrong_loop in (("no rest", replace(loop, rest=())), ("rest first", swapped)):
            changed = (*loops[:number], wrong_loop, *loops[number + 1 :])
            yield f"loop {number}: {name}", replace(program, loops=changed)


def _equivalent(description: str, program: Program, mutant: Program) -> bool:
    """Return True for mutants with the same results: a table entry's neighbour that is its copy (mulb has
    none here), or an omitted instruction whose value is not read. The decision comes from the uses of the
    change, not from the prover.
    """
    read = {a for i in mutant.instructions() for a in i.args}
    read |= {v for loop in mutant.loops for c in loop.carries for v in c.names()[1:]}
    gone = {i.result for i in program.instructions()} - {i.result for i in mutant.instructions()}
    return description.endswith("dropped") and bool(gone) and not gone & read


@pytest.mark.parametrize(("operation", "inputs", "outputs", "unroll"), SAMPLES)
@pytest.mark.parametrize(
    "isa", first(sorted((isa.name for isa in ISAS), key=COMMON.__contains__, reverse=True), 3)
)
def test_every_mutant_is_refuted(
    isa: str, operation: str, inputs: int | None, outputs: int, unroll: int
) -> None:
    _check_mutants(make_spec(operation, inputs, outputs, isa, unroll=unroll))


@pytest.mark.parametrize("operation", ["fft4", "ifft4", "fft4scaled", "ifft4scaled"])
def test_every_mutant_of_two_layers_is_refuted(operation: str) -> None:
    _check_mutants(make_spec(operation, 4, 4, "gfni_avx512", unroll=1))


@pytest.mark.parametrize("operation", ["fft16", "ifft16", "refft16"])
def test_mutants_of_four_layers_are_refuted(operation: str) -> None:
    _check_mutants(make_spec(operation, 16, 16, "gfni_avx512", unroll=1), every=5)


def test_products_of_different_products_differ() -> None:
    """Two products of one element are not exchanged, although each is an unknown."""
    x, y = (model.data_byte(model.Data("src", n, 0)) for n in (0, 1))
    maps = [model.linear_map(n, 0) for n in range(2)]
    once = [model.apply(matrix, x) for matrix in maps]
    assert model.apply(maps[1], once[0]) == model.apply(maps[1], once[0])
    assert model.apply(maps[1], once[0]) != model.apply(maps[0], once[1])
    assert model.apply(maps[0], once[0]) != model.apply(maps[0], model.apply(maps[0], y))


@pytest.mark.parametrize("operation", ["fft4lines", "ifft4lines", "fft4scaled", "ifft4scaled"])
def test_mutants_of_two_layers_with_lines_are_refuted(operation: str) -> None:
    _check_mutants(make_spec(operation, 8, 8, "gfni_avx2", unroll=1), every=7)


def test_a_loop_leaves_no_rest_if_lengths_are_lines() -> None:
    spec = make_spec("fft4lines", 8, 8, "gfni_avx2", unroll=2)
    program = make_program(spec)
    assert prove(spec, program)
    assert not prove(spec, replace(program, loops=program.loops[:1]))
    assert not prove(spec, replace(program, loops=()))
    plain = make_spec("fft4", 8, 8, "gfni_avx2", unroll=1)
    without = make_program(plain)
    assert "not a tail" in prove(plain, replace(without, loops=without.loops[:-1])).reason


def _check_mutants(spec: KernelSpec, every: int = 1) -> None:
    """Check that the proof refutes the mutants of a kernel, or every so many of them."""
    program = make_program(spec)
    assert prove(spec, program)
    count = 0
    for description, mutant in islice(_program_mutants(program), 0, None, every):
        count += 1
        if not _equivalent(description, program, mutant):
            assert not prove(spec, mutant), f"not refuted: {description}"
    assert count > 20


def test_a_refutation_names_kernel_output_and_a_counterexample_that_is_one() -> None:
    spec = make_spec("dot", 2, 2, "gfni_avx2", unroll=1)
    program = make_program(spec)
    loop = program.loops[0]
    head = list(loop.head)
    position = next(n for n, i in enumerate(head) if i.op is Op.XOR)
    head[position] = replace(head[position], args=(head[position].args[0],) * 2)
    verdict = prove(spec, _with(program, 0, "head", tuple(head)))
    assert not verdict
    assert spec.symbol in verdict.reason
    assert "dst[0] + 0 bit 0" in verdict.reason
    assert "counterexample: c[0][0] = 0x01, src[0][0] = 0x01 gives 0 instead of 1" in verdict.reason


def test_in_place_hazard_is_refuted() -> None:
    """A store moved before a load of the same place is wrong if dst equals src."""
    spec = make_spec("mul", 1, 1, "avx2", unroll=1)
    program = make_program(spec)
    loop = program.loops[0]
    load = next(i for i in loop.head if i.op is Op.LOAD)
    late = replace(load, result=10_000)
    head = (*loop.head, late)
    assert loop.head[-1].op in STORES and load.op in LOADS
    verdict = prove(spec, _with(program, 0, "head", head))
    assert "may have been written in place" in verdict.reason


@pytest.mark.parametrize("foreign", [Op.LOOKUP, Op.XOR3])
def test_an_operation_that_the_set_lacks_is_refuted(foreign: Op) -> None:
    spec = make_spec("xor", 2, 1, "gfni_avx2", unroll=1)
    program = make_program(spec)
    loop = program.loops[0]
    head = tuple(replace(i, op=foreign) if i.op is Op.XOR else i for i in loop.head)
    assert "does not exist on gfni_avx2" in prove(spec, _with(program, 0, "head", head)).reason
