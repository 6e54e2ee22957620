"""Co-simulation for RISC-V: every instruction form in the prover's model, compared with qemu-user.

clang assembles random instances of each form and objdump decodes them; qemu and the prover's semantics
execute them from the same random state, with vectors of 128, 256 and 1024 bits, all policies and random
lengths. qemu leaves agnostic elements unchanged or fills them with ones. All registers and memory must
agree: once with plain numbers, once with unknowns in registers and memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gfsmith.prove.machine.architecture import Flow
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.riscv.architecture import CONDITIONS, RiscV, instruction_at
from gfsmith.prove.machine.riscv.decode import Decoded
from gfsmith.prove.machine.riscv.disassembler import Line
from gfsmith.prove.machine.riscv.registers import VL
from gfsmith.prove.machine.riscv.semantics import TABLE
from gfsmith.prove.machine.state import State
from tests.system.cosim.riscv.compare import check, trials
from tests.system.cosim.riscv.emulator import RiscVEmulator, build
from tests.system.cosim.riscv.instances import SLOT, Instance, assemble, write
from tests.system.cosim.trials import Mismatch, execute

#: Instances of each form; the numbers that must have a meaning with plain numbers, and with unknowns.
INSTANCES, WANTED, RARE = 16, 4, 1
#: Bytes of a vector, and whether agnostic elements become ones.
MACHINES = ((16, True), (16, False), (32, True), (128, True))

Meaning = Callable[[State, Decoded], None]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cosim_riscv"))


@pytest.fixture(scope="module", params=MACHINES, ids=lambda machine: f"{8 * machine[0]}-{machine[1]}")
def emulator(program: Path, request: pytest.FixtureRequest) -> RiscVEmulator:
    return RiscVEmulator(program, *request.param)


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    lines = [(form, write(form, Random(f"{form} {n}"))) for form in sorted(TABLE) for n in range(INSTANCES)]
    return assemble(lines, tmp_path_factory.mktemp("instances"))


def test_every_instance_has_its_form(instances: list[Instance]) -> None:
    """objdump decodes the intended instruction from clang's encoding."""
    other = {
        instance.text: instance.decoded.form
        for instance in instances
        if instance.decoded.form != instance.form
    }
    assert not other


def run(
    instances: list[Instance], emulator: RiscVEmulator, symbolic: bool, meanings: dict[str, Meaning] = TABLE
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    found = trials(instances, emulator, Random(len(instances)), symbolic)
    for trial in found:
        execute(trial, meanings)
    check(found, emulator)
    return Counter(trial.instance.form for trial in found if not trial.refused)


def test_every_form(emulator: RiscVEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=False)
    few = {form: equal[form] for form in TABLE if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(emulator: RiscVEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=True)
    without = sorted(form for form in TABLE if equal[form] < RARE)
    assert not without, f"no instance has a meaning: {without}"


def test_branches(program: Path, tmp_path: Path) -> None:
    """The model gives whether a branch is taken, and its target."""
    rng, arch, emulator = Random(1), RiscV(), RiscVEmulator(program, 16, ones=True)
    lines = [(form, write(form, rng)) for form in sorted(CONDITIONS) for _ in range(40)]
    lines += [("c.j #", "c.j .+8"), ("jal r #", "jal x0, .+8")]
    found = trials(assemble(lines, tmp_path), emulator, rng, symbolic=False)
    expected = []
    for number, trial in enumerate(found):
        line = trial.instance.decoded
        text = f"{line.mnemonic}\t{line.text.partition(' ')[2]}"
        instruction = instruction_at(Line(SLOT * number, SLOT, text), emulator.slot - SLOT * number)
        assert instruction.target == emulator.slot + 8
        taken = instruction.flow is Flow.JUMP
        if not taken:
            decision = decide(trial.state, *arch.test(trial.state, instruction))
            assert isinstance(decision, bool)
            taken = decision
        expected.append(trial.machine.general[31] ^ taken)
    after = emulator.states([(trial.instance.encoded, trial.machine) for trial in found])
    assert [machine.general[31] for machine in after] == expected


def _swap(one: str, other: str) -> dict[str, Meaning]:
    return {**TABLE, one: TABLE[other]}


def _whole(state: State, instr: Decoded) -> None:
    """vxor.vv of all elements instead of the first vl ones."""
    count = state.gpr[VL]
    state.gpr[VL] = 16
    TABLE["vxor.vv v v v"](state, instr)
    state.gpr[VL] = count


WRONG: dict[str, dict[str, Meaning]] = {
    "and is xor": _swap("vand.vv v v v", "vxor.vv v v v"),
    "all elements": {**TABLE, "vxor.vv v v v": _whole},
    "without mask": _swap("vle8.v v (r) m", "vle8.v v (r)"),
    "equal is below": _swap("vmseq.vi v v #", "vmsleu.vi v v #"),
    "signed": _swap("vsrl.vi v v #", "vsra.vi v v #"),
    "whole register": _swap("vl1re8.v v (r)", "vle8.v v (r)"),
    "a part is stored": _swap("vs1r.v v (r)", "vse8.v v (r)"),
    "a part is copied": _swap("vmv1r.v v v", "vmv.v.v v v"),
    "upper": _swap("lui r #", "c.li r #"),
    "the other half": _swap("clmulh r r r", "clmul r r r"),
    "a sum is a carry-less sum": _swap("xor r r r", "add r r r"),
    "the other direction": _swap("srli r r #", "slli r r #"),
    "bytes in their order": _swap("rev8 r r", "c.mv r r"),
    "a sum of 64 bits": _swap("addiw r r #", "addi r r #"),
    "difference": _swap("sub r r r", "add r r r"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(program: Path, instances: list[Instance], name: str) -> None:
    changed = [form for form in TABLE if WRONG[name][form] is not TABLE[form]]
    more = [instance for instance in instances if instance.form in changed] * 4
    assert more
    with pytest.raises(Mismatch):
        run(more, RiscVEmulator(program, 16, ones=True), symbolic=False, meanings=WRONG[name])
