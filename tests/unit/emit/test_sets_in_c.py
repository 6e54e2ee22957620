"""Instruction sets in C: every Op has a spelling, and POWER's lookup has the semantics of its manual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gfsmith.build import generate
from gfsmith.emit.c.kernel import SPELLINGS
from gfsmith.field import Field
from gfsmith.ir import MEANING, Instr, Lane, Loop, Op, Program
from gfsmith.kernel import tables
from gfsmith.kernel.isa import ISAS, Encoding, Isa
from gfsmith.prove.polynomial import constant_byte
from gfsmith.prove.program.prove import prove
from tests.support.specs import bits, make_baked, make_program, make_spec, number
from tests.system.kernels.support import galois_field

FIELD = Field(0x11D)
IN_C = [isa for isa in ISAS if isa.encoding is Encoding.C]


@pytest.mark.parametrize("isa", IN_C, ids=lambda isa: isa.name)
def test_every_operation_has_a_spelling(isa: Isa) -> None:
    """Except the prefetch, which compilers spell alike on all machines."""
    assert set(SPELLINGS[isa.name].expressions) == isa.ops - {Op.PREFETCH}


def lxvd2x(memory: bytes) -> list[int]:
    """Return the bytes of a register from the left, after a little-endian load (Power ISA 2.07, lxvd2x): each
    doubleword is a number whose least significant byte comes first in memory.
    """
    halves = [int.from_bytes(memory[start : start + 8], "little") for start in (0, 8)]
    return list(b"".join(half.to_bytes(8, "big") for half in halves))


def vpermxor(a: list[int], b: list[int], c: list[int]) -> list[int]:
    """Power ISA 2.07, vpermxor: bits 0:3 of each byte of c, the upper ones, are an index into a."""
    return [a[x >> 4] ^ b[x & 15] for x in c]


@pytest.mark.parametrize("constant", [0x00, 0x01, 0x02, 0x8E, 0xFF])
def test_lookup2_matches_the_manual_and_multiplies(constant: int) -> None:
    entry = tables.permxor(FIELD.matrix(constant))
    low, high = (lxvd2x(entry[start : start + 16]) for start in (0, 16))
    lane = MEANING[Op.LOOKUP2].lane
    assert lane is not None
    loaded = [tuple(bits(byte) for byte in entry[start : start + 16]) for start in (0, 16)]
    product = (galois_field()(constant) * galois_field()(np.arange(256))).tolist()
    assert [number(lane(*loaded, bits(x))) for x in range(256)] == product
    assert vpermxor(high, low, list(range(256))) == product


def _swapped(instr: Instr) -> Instr:
    low, high, x = instr.args
    return replace(instr, args=(high, low, x))


def _swap_tables(program: Program) -> Program:
    """Exchange the tables of the first lookup of each loop."""

    def changed(code: tuple[Instr, ...]) -> tuple[Instr, ...]:
        first = next((n for n, i in enumerate(code) if i.op is Op.LOOKUP2), None)
        return code if first is None else (*code[:first], _swapped(code[first]), *code[first + 1 :])

    def loop(part: Loop) -> Loop:
        return replace(part, head=changed(part.head), body=changed(part.body))

    return replace(program, loops=tuple(map(loop, program.loops)))


@pytest.mark.parametrize("isa", ["vsx", "vsx_p10"])
@pytest.mark.parametrize(("operation", "inputs"), [("dot", 2), ("dot", None), ("mad", 1), ("mul", 1)])
def test_tables_that_are_swapped_are_refuted(isa: str, operation: str, inputs: int | None) -> None:
    spec = make_spec(operation, inputs, 1, isa)
    program = make_program(spec)
    assert prove(spec, program)
    assert "counterexample" in prove(spec, _swap_tables(program)).reason


def test_tables_in_the_order_of_other_sets_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Program's bytes give the known coefficients, a lookup with the required semantics all others."""
    baked = make_baked("vsx", "cauchy", 4, 2)
    program = generate.program(baked)
    straight = replace(
        program, constants=bytes(program.constants[n ^ 7] for n in range(len(program.constants)))
    )
    assert prove(baked, program) and not prove(baked, straight)
    spec = make_spec("dot", None, 2, "vsx")
    program, right = make_program(spec), MEANING[Op.LOOKUP2]
    for flipped in (0x77, 0x88, 0xFF):
        mask = constant_byte(flipped)

        def wrong(low: Lane, high: Lane, x: Lane, mask: Lane = mask) -> Lane:
            assert right.lane is not None
            return right.lane(low, high, tuple(bit ^ flip for bit, flip in zip(x, mask, strict=True)))

        monkeypatch.setitem(MEANING, Op.LOOKUP2, replace(right, lane=wrong))
        assert "counterexample" in prove(spec, program).reason, flipped
