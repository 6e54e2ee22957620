"""Co-simulation for AArch64: every form in the prover's model except SVE's, compared with qemu-user.

clang assembles random instances of each form; qemu and the prover's semantics execute them from the same
random state. All registers, defined flags and memory must agree: once with plain numbers, once with
unknowns in registers and memory. One process executes all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.semantics import TABLE, scalable
from gfsmith.prove.machine.state import State
from tests.system.cosim.scalar64.compare import check, trials
from tests.system.cosim.scalar64.emulator import Emulator, build
from tests.system.cosim.scalar64.instances import Instance, assemble, write
from tests.system.cosim.trials import Mismatch, Trial, execute

#: Instances of each form; the number that must have a meaning with plain numbers.
INSTANCES, WANTED = 14, 6
#: test_scalable.py compares the others.
FORMS = sorted(set(TABLE) - set(scalable.TABLE))
#: The number that must have a meaning with unknowns, for forms restricted to plain numbers or few unknowns.
RARE = 1

Meaning = Callable[[State, Decoded], None]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    return Emulator(build(tmp_path_factory.mktemp("cosim64")))


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    lines = [(form, write(form, Random(f"{form} {n}"))) for form in FORMS for n in range(INSTANCES)]
    return assemble(lines, tmp_path_factory.mktemp("instances"))


def run(
    instances: list[Instance], emulator: Emulator, symbolic: bool, meanings: dict[str, Meaning] = TABLE
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    found: list[Trial] = trials(instances, emulator, Random(len(instances)), symbolic)
    for trial in found:
        execute(trial, meanings)
    check(found, emulator)
    return Counter(trial.decoded.form for trial in found if not trial.refused)


def test_every_form(emulator: Emulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=False)
    few = {form: equal[form] for form in FORMS if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(emulator: Emulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=True)
    without = [form for form in FORMS if equal[form] < RARE]
    assert not without, f"no instance has a meaning: {without}"


def _changed(form: str, change: Callable[[State, State, Decoded], None]) -> dict[str, Meaning]:
    """Return the table with one meaning that has an additional effect."""
    right = TABLE[form]

    def wrong(state: State, instr: Decoded) -> None:
        before = State(dict(state.gpr), list(state.vectors), [], state.memory)
        before.flags = state.flags
        right(state, instr)
        change(before, state, instr)

    return {**TABLE, form: wrong}


def _swap(one: str, other: str) -> dict[str, Meaning]:
    return {**TABLE, one: TABLE[other]}


def _keep_upper(before: State, after: State, instr: Decoded) -> None:
    number = instr.operands[0].number  # type: ignore[union-attr]
    low = domain.cut(after.vectors[number], 0, 8)
    after.vectors[number] = domain.merge([*low, *domain.cut(before.vectors[number], 8, 16)])


def _keep_flags(before: State, after: State, instr: Decoded) -> None:
    after.flags = before.flags


def _keep_base(before: State, after: State, instr: Decoded) -> None:
    after.gpr["x20"] = before.gpr["x20"]


WRONG = {
    "eor is and": _swap("eor 16b 16b 16b", "and 16b 16b 16b"),
    "tbl is zip": _swap("tbl 16b 16b 16b", "zip1 2d 2d 2d"),
    "ushr is shl": _swap("ushr 16b 16b #", "shl 16b 16b #"),
    "pmull2 is pmull": _swap("pmull2 1q 2d 2d", "pmull 1q 1d 1d"),
    "crc32cx is crc32x": _swap("crc32cx w w x", "crc32x w w x"),
    "eor by lsr is by lsl": _swap("eor x x x lsr", "eor x x x lsl"),
    "lo is ls": {
        **TABLE,
        "csel x x x": lambda state, instr: TABLE["csel x x x"](
            state, instr._replace(condition={"lo": "ls"}.get(instr.condition, instr.condition))
        ),
    },
    "subs is sub": _changed("subs x x #", _keep_flags),
    "fmov keeps the upper half": _changed("fmov d d", _keep_upper),
    "ldr d keeps the upper half": _changed("ldr d [x]", _keep_upper),
    "ldp does not move its base": _changed("ldp q q [x], #", _keep_base),
    "st1 does not move its base": _changed("st1 16b [x], #", _keep_base),
    "add w is add x": {
        **TABLE,
        "add w w w": lambda state, instr: TABLE["add x x x"](
            state, instr._replace(operands=tuple(replace_size(each) for each in instr.operands))
        ),
    },
    "adrp is adr": {
        **TABLE,
        "adrp x #": lambda state, instr: TABLE["adrp x #"](
            state, instr._replace(operands=(instr.operands[0], instr.operands[1]._replace(shift=1)))
        ),
    },
}


def replace_size(operand: object) -> object:
    return operand._replace(size=8)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(emulator: Emulator, instances: list[Instance], name: str) -> None:
    changed = [form for form in TABLE if WRONG[name][form] is not TABLE[form]]
    mine = [instance for instance in instances if instance.form in changed]
    more = [replace(instance) for instance in mine] * 4
    assert more
    with pytest.raises(Mismatch):
        run(more, emulator, symbolic=False, meanings=WRONG[name])
