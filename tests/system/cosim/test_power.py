"""Co-simulation for POWER: every instruction form in the prover's model, compared with qemu-user.

Instructions of POWER8 are compared on a POWER8, newer ones on a POWER10.

clang assembles random instances of each form; qemu and the prover's semantics execute them from the same
random state. All registers, condition bits and memory must agree: once with plain numbers, once with
unknowns in registers and memory. One process executes all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.architecture import RETURN, Flow
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.operands import Immediate
from gfsmith.prove.machine.power.architecture import VERSION, Power
from gfsmith.prove.machine.power.decode import Decoded, decode
from gfsmith.prove.machine.power.registers import GENERAL, VMX
from gfsmith.prove.machine.power.semantics import TABLE
from gfsmith.prove.machine.state import State
from tests.system.cosim.power.compare import check, model, random_machine, trials
from tests.system.cosim.power.emulator import CPUS, PowerEmulator, build
from tests.system.cosim.power.instances import ASSEMBLER, write
from tests.system.cosim.scalar64.instances import Instance, assemble
from tests.system.cosim.trials import Mismatch, execute
from tests.system.cosim.x86.unknowns import Unknowns

#: Instances of each form; the numbers that must have a meaning with plain numbers, and with unknowns.
INSTANCES, WANTED, RARE = 24, 6, 1
SLOT = 8  #: bytes
LR, CTR = GENERAL.index("lr"), GENERAL.index("ctr")

Meaning = Callable[[State, Decoded], None]


Emulators = dict[str, PowerEmulator]


@pytest.fixture(scope="module")
def emulators(tmp_path_factory: pytest.TempPathFactory) -> Emulators:
    program = build(tmp_path_factory.mktemp("cosim_power"))
    return {cpu: PowerEmulator(program, cpu) for cpu in CPUS}


def _cpu_of(form: str) -> str:
    return CPUS[VERSION.get(form.partition(" ")[0], "VSX207") > "VSX207"]


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    lines = [(form, write(form, Random(f"{form} {n}"))) for form in sorted(TABLE) for n in range(INSTANCES)]
    return assemble(lines, tmp_path_factory.mktemp("instances"), ASSEMBLER, SLOT)


def run(
    instances: list[Instance], emulators: Emulators, symbolic: bool, meanings: dict[str, Meaning] = TABLE
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    equal: Counter[str] = Counter()
    for cpu, emulator in emulators.items():
        mine = [instance for instance in instances if _cpu_of(instance.form) == cpu]
        if not mine:
            continue
        found = trials(mine, emulator, Random(len(mine)), symbolic)
        for trial in found:
            execute(trial, meanings)
        check(found, emulator)
        equal.update(trial.decoded.form for trial in found if not trial.refused)
    return equal


def test_every_form(emulators: Emulators, instances: list[Instance]) -> None:
    equal = run(instances, emulators, symbolic=False)
    few = {form: equal[form] for form in TABLE if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(emulators: Emulators, instances: list[Instance]) -> None:
    equal = run(instances, emulators, symbolic=True)
    without = sorted(form for form in TABLE if equal[form] < RARE)
    assert not without, f"no instance has a meaning: {without}"


#: Branches on a bit, on the counter, on both (which the model does not support), always; with hints.
_OPTIONS = (4, 6, 7, 12, 14, 15, 16, 18, 24, 25, 26, 27, 20, 0, 2, 8, 10)


def test_branches(emulators: Emulators, tmp_path: Path) -> None:
    """The model gives whether a branch is taken, its target, and the new counter."""
    rng, arch, emulator = Random(1), Power(), emulators["power8"]
    lines = [(kind, bit, n) for kind in ("bc", "bclr") for bit in range(32) for n in _OPTIONS]
    lines = [line for line in lines if line[0] == "bc" or line[2] & 4 or line[2] & 16]
    text = [(kind, f"{kind} {n}, {bit}{', .+12' * (kind == 'bc')}") for kind, bit, n in lines]
    given, expected = [], []
    for instance in assemble(text, tmp_path, ASSEMBLER, SLOT):
        instruction = arch.decode(instance.encoded, emulator.slot)
        assert instruction is not None
        machine = random_machine(rng, emulator.block, instruction.raw)
        machine.general[LR] = emulator.slot + 12
        machine.general[CTR] = rng.choice((0, 1, 1, 2, rng.getrandbits(64)))
        state = model(machine, Unknowns(rng), emulator.block)
        if instruction.flow is Flow.OTHER:
            assert instruction.raw.branch.links
            continue
        arch.execute(state, instruction)
        taken = True
        if instruction.flow is Flow.BRANCH:
            if instruction.raw.branch.bit is not None and instruction.raw.branch.bit.name == "so":
                with pytest.raises(Unsupported):
                    arch.test(state, instruction)
                continue
            decision = decide(state, *arch.test(state, instruction))
            assert isinstance(decision, bool)
            taken = decision
        if taken and instruction.flow is not Flow.RETURN:
            assert instruction.target in (emulator.slot + 12, RETURN)
        given.append((instance.encoded, machine))
        expected.append((machine.general[0] ^ taken, state.gpr["ctr"]))
    after = emulator.states(given)
    assert [(machine.general[0], machine.general[CTR]) for machine in after] == expected
    assert len(expected) > 500


def test_a_table_that_is_no_entry_is_refused() -> None:
    """vpermxor by the known index 0: only the half of an entry has 0 at its beginning."""
    rng = Random(1)
    numbers = sum(n << shift for n, shift in ((4, 26), (1, 21), (2, 16), (3, 11), (4, 6), (45, 0)))
    decoded = decode(numbers.to_bytes(4, "little"), 0)
    assert decoded is not None and decoded.text == "vpermxor v1, v2, v3, v4"
    state = model(random_machine(rng, 0, decoded), Unknowns(rng, ("permxor",)), 0)
    state.vectors[VMX + 2] = state.vectors[VMX + 4] = domain.zeros(16)
    for offset in (0, 16, 48):
        state.vectors[VMX + 3] = ((16, domain.Table(offset)),)
        TABLE[decoded.form](state, decoded)
        assert state.vectors[VMX + 1] == domain.zeros(16)
    for offset in (1, 8, 31):
        state.vectors[VMX + 3] = ((16, domain.Table(offset)),)
        with pytest.raises(Unsupported, match="a look-up in byte"):
            TABLE[decoded.form](state, decoded)


def _swap(one: str, other: str) -> dict[str, Meaning]:
    return {**TABLE, one: TABLE[other]}


def _other_halves(form: str) -> Meaning:
    """Return an instruction whose result has the doublewords in the other order."""

    def run(state: State, instr: Decoded) -> None:
        TABLE[form](state, instr)
        number = instr.operands[0].number  # type: ignore[union-attr]
        runs = state.vectors[number]
        state.vectors[number] = domain.merge([*domain.cut(runs, 8, 16), *domain.cut(runs, 0, 8)])

    return run


def _reversed_tables(state: State, instr: Decoded) -> None:
    """vpermxor with its tables exchanged."""
    target, high, low, index = instr.operands
    TABLE["vpermxor v v v v"](state, instr._replace(operands=(target, low, high, index)))


def _exchanged_vectors(state: State, instr: Decoded) -> None:
    """vperm with its first two vectors exchanged."""
    target, left, right, index = instr.operands
    TABLE["vperm v v v v"](state, instr._replace(operands=(target, right, left, index)))


def _keeps_base(state: State, instr: Decoded) -> None:
    before = state.gpr["r20"]
    TABLE["ldu r [r]"](state, instr)
    state.gpr["r20"] = before


def _loads_all(state: State, instr: Decoded) -> None:
    """lxvl as if its count had no effect."""
    target, base, _ = instr.operands
    TABLE["lxvx v # r"](state, instr._replace(operands=(target, Immediate(0), base)))


def _sum_of_two(state: State, instr: Decoded) -> None:
    TABLE["xxlxor v v v"](state, instr._replace(operands=instr.operands[:3]))


WRONG: dict[str, dict[str, Meaning]] = {
    "unsigned is signed": _swap("cmpldi r #", "cmpdi r #"),
    "or is xor": _swap("crxor bit bit bit", "cror bit bit bit"),
    "halves": {**TABLE, "lxvd2x v r r": _other_halves("lxvd2x v r r")},
    "halves of products": {**TABLE, "vpmsumd v v v": _other_halves("vpmsumd v v v")},
    "vectors exchanged": {**TABLE, "vperm v v v v": _exchanged_vectors},
    "tables": {**TABLE, "vpermxor v v v v": _reversed_tables},
    "ldu": {**TABLE, "ldu r [r]": _keeps_base},
    "lwz is lhz": _swap("lwz r [r]", "lhz r [r]"),
    "merge": _swap("xxmrghd v v v", "xxmrgld v v v"),
    "addis is addi": _swap("addis r r #", "addi r r #"),
    "rotate": _swap("rldicl r r # #", "rldimi r r # #"),
    "word": _swap("stfiwx v r r", "stfdx v r r"),
    "whole": _swap("lxvx v r r", "lxvd2x v r r"),
    "count": {**TABLE, "lxvl v r r": _loads_all},
    "sum of two": {**TABLE, "xxeval v v v v #": _sum_of_two},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(emulators: Emulators, instances: list[Instance], name: str) -> None:
    changed = [form for form in TABLE if WRONG[name][form] is not TABLE[form]]
    more = [replace(instance) for instance in instances if instance.form in changed] * 4
    assert more
    with pytest.raises(Mismatch):
        run(more, emulators, symbolic=False, meanings=WRONG[name])
