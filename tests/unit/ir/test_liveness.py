"""Live ranges of values, on Programs that are small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import CURRENT, Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.ir.liveness import last_use, pressure, uses, variables
from gfsmith.ir.program import Carry


def _load(result: int, index: int) -> Instr:
    return Instr(Op.LOAD, result, ref=Ref(Space.SOURCE, index, 0))


def _store(value: int) -> Instr:
    return Instr(Op.STORE, None, (value,), Ref(Space.DESTINATION, 0, 0))


def _program(loop: Loop, *preload: Instr) -> Program:
    return Program(lanes=32, preload=preload, loops=(loop,))


SUM = Loop(
    Role.BLOCK,
    32,
    head=(_load(0, 0), _load(1, 1), Instr(Op.XOR, 2, (0, 1)), Instr(Op.XOR, 3, (2, 1)), _store(3)),
)
ROLLED = Loop(
    Role.BLOCK,
    32,
    head=(Instr(Op.ZERO, 0), _load(1, 0)),
    body=(_load(3, CURRENT), Instr(Op.XOR, 4, (2, 3)), Instr(Op.XOR, 5, (4, 1))),
    carries=(Carry(phi=2, initial=0, updated=5),),
    close=(_store(2),),
)


def test_a_value_lives_to_its_last_read() -> None:
    assert last_use(SUM) == {0: 2, 1: 3, 2: 3, 3: 4}
    assert uses(_program(SUM)) == {0: 1, 1: 2, 2: 1, 3: 1}
    assert pressure(_program(SUM)) == 2


def test_a_value_of_the_head_that_the_body_reads_lives_through_every_iteration() -> None:
    assert last_use(ROLLED)[1] == 4  # the last instruction of the body
    assert last_use(ROLLED)[3] == 3


def test_a_carried_value_has_one_register_under_all_its_names() -> None:
    assert variables(ROLLED) == {2: 2, 0: 2, 5: 2, 4: 2}  # 4: the partial sum on the way from 2 to 5
    assert last_use(ROLLED)[2] == 5
    assert pressure(_program(ROLLED)) == 3  # the sum, the source, the value of the head


def test_a_partial_sum_shares_the_register_only_if_the_carried_value_is_read_no_more() -> None:
    again = (*ROLLED.body, Instr(Op.XOR, 6, (2, 5)))
    assert variables(replace(ROLLED, body=again)) == {2: 2, 0: 2, 5: 2}
    twice = (*ROLLED.body[:2], Instr(Op.XOR, 6, (4, 1)), Instr(Op.XOR, 5, (4, 6)))
    assert variables(replace(ROLLED, body=twice)) == {2: 2, 0: 2, 5: 2}
    product = (*ROLLED.body[:1], Instr(Op.TWICE, 4, (2,)), Instr(Op.XOR, 5, (4, 3)))
    assert variables(replace(ROLLED, body=product)) == {2: 2, 0: 2, 5: 2}


def test_values_of_the_preload_are_live_in_all_loops() -> None:
    assert pressure(_program(SUM, Instr(Op.ZERO, 9), Instr(Op.ZERO, 10))) == 4
