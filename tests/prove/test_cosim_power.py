"""Co-simulation for POWER: every instruction form that the prover gives a meaning, against qemu-user.

Random instances of each form are assembled by clang, executed by qemu and by the prover's semantics, from
the same random state, and all registers, condition bits and memory must agree: once with plain numbers,
once with unknowns in registers and memory. All of them go through one process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from cosim64.instances import Instance, assemble
from cosim_power.compare import Mismatch, check, execute, trials
from cosim_power.emulator import PowerEmulator, build
from cosim_power.instances import ASSEMBLER, write

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.power.decode import Decoded
from gfsmith.prove.machine.power.semantics import TABLE
from gfsmith.prove.machine.state import State

#: Instances of each form; how many of them must have a meaning with plain numbers, and with unknowns.
INSTANCES, WANTED, RARE = 16, 6, 1

Meaning = Callable[[State, Decoded], None]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> PowerEmulator:
    return PowerEmulator(build(tmp_path_factory.mktemp("cosim_power")))


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    lines = [(form, write(form, Random(f"{form} {n}"))) for form in sorted(TABLE) for n in range(INSTANCES)]
    return assemble(lines, tmp_path_factory.mktemp("instances"), ASSEMBLER)


def run(
    instances: list[Instance], emulator: PowerEmulator, symbolic: bool, meanings: dict[str, Meaning] = TABLE
) -> Counter[str]:
    """How many instances of each form have a meaning, and the right one. Raises Mismatch."""
    found = trials(instances, emulator, Random(len(instances)), symbolic)
    for trial in found:
        execute(trial, meanings)
    check(found, emulator)
    return Counter(trial.decoded.form for trial in found if not trial.refused)


def test_every_form(emulator: PowerEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=False)
    few = {form: equal[form] for form in TABLE if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(emulator: PowerEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=True)
    without = sorted(form for form in TABLE if equal[form] < RARE)
    assert not without, f"no instance has a meaning: {without}"


def _swap(one: str, other: str) -> dict[str, Meaning]:
    return {**TABLE, one: TABLE[other]}


def _halves_stay(state: State, instr: Decoded) -> None:
    """lxvd2x as if it loaded the right doubleword first."""
    TABLE["lxvd2x v r r"](state, instr)
    number = instr.operands[0].number  # type: ignore[union-attr]
    runs = state.vectors[number]
    state.vectors[number] = domain.merge([*domain.cut(runs, 8, 16), *domain.cut(runs, 0, 8)])


def _reversed_tables(state: State, instr: Decoded) -> None:
    """vpermxor with its tables exchanged."""
    target, high, low, index = instr.operands
    TABLE["vpermxor v v v v"](state, instr._replace(operands=(target, low, high, index)))


def _keeps_base(state: State, instr: Decoded) -> None:
    before = state.gpr["r20"]
    TABLE["ldu r [r]"](state, instr)
    state.gpr["r20"] = before


WRONG: dict[str, dict[str, Meaning]] = {
    "unsigned is signed": _swap("cmpldi r #", "cmpdi r #"),
    "or is xor": _swap("crxor bit bit bit", "cror bit bit bit"),
    "halves": {**TABLE, "lxvd2x v r r": _halves_stay},
    "tables": {**TABLE, "vpermxor v v v v": _reversed_tables},
    "ldu": {**TABLE, "ldu r [r]": _keeps_base},
    "lwz is lhz": _swap("lwz r [r]", "lhz r [r]"),
    "merge": _swap("xxmrghd v v v", "xxmrgld v v v"),
    "addis is addi": _swap("addis r r #", "addi r r #"),
    "rotate": _swap("rldicl r r # #", "rldimi r r # #"),
    "word": _swap("stfiwx v r r", "stfdx v r r"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_noticed(emulator: PowerEmulator, instances: list[Instance], name: str) -> None:
    changed = [form for form in TABLE if WRONG[name][form] is not TABLE[form]]
    more = [replace(instance) for instance in instances if instance.form in changed] * 4
    assert more
    with pytest.raises(Mismatch):
        run(more, emulator, symbolic=False, meanings=WRONG[name])
