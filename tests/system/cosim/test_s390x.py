"""Co-simulation for s390x: every instruction form in the prover's model, compared with qemu-user.

clang assembles random instances of each form; qemu and the prover's semantics execute them from the same
random state. All registers, the condition code and memory must agree: once with plain numbers, once with
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
from gfsmith.prove.machine.s390x.architecture import S390x
from gfsmith.prove.machine.s390x.decode import Decoded, decode
from gfsmith.prove.machine.s390x.semantics import TABLE
from gfsmith.prove.machine.state import State
from tests.system.cosim.s390x.compare import check, model, random_machine, trials
from tests.system.cosim.s390x.emulator import S390xEmulator, build
from tests.system.cosim.s390x.instances import ASSEMBLER, write
from tests.system.cosim.scalar64.instances import Instance, assemble
from tests.system.cosim.trials import Mismatch, execute
from tests.system.cosim.x86.unknowns import Unknowns

#: Instances of each form; the numbers that must have a meaning with plain numbers, and with unknowns.
INSTANCES, WANTED, RARE = 32, 8, 1
SLOT = 8  #: bytes
TARGET = 14  #: of branches, from the slot

Meaning = Callable[[State, Decoded], None]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> S390xEmulator:
    return S390xEmulator(build(tmp_path_factory.mktemp("cosim_s390x")))


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> list[Instance]:
    lines = [(form, write(form, Random(f"{form} {n}"))) for form in sorted(TABLE) for n in range(INSTANCES)]
    return assemble(lines, tmp_path_factory.mktemp("instances"), ASSEMBLER, SLOT)


def run(
    instances: list[Instance], emulator: S390xEmulator, symbolic: bool, meanings: dict[str, Meaning] = TABLE
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    found = trials(instances, emulator, Random(len(instances)), symbolic)
    for trial in found:
        execute(trial, meanings)
    check(found, emulator)
    return Counter(trial.decoded.form for trial in found if not trial.refused)


def test_every_form(emulator: S390xEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=False)
    few = {form: equal[form] for form in TABLE if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(emulator: S390xEmulator, instances: list[Instance]) -> None:
    equal = run(instances, emulator, symbolic=True)
    without = sorted(form for form in TABLE if equal[form] < RARE)
    assert not without, f"no instance has a meaning: {without}"


def _branches(rng: Random) -> list[str]:
    """Return branches on every code, of every comparison, and by counting."""
    lines = []
    for mask in range(16):
        lines += [f"brc {mask}, .+{TARGET}", f"brcl {mask}, .+{TARGET}", f"bcr {mask}, %r14"] * 2
    for name in ("cgrj", "clgrj", "crj", "clrj"):
        for mask in range(0, 15, 2):
            one, other = rng.sample(range(12), 2)
            lines += [f"{name} %r{one}, %r{other}, {mask}, .+{TARGET}"] * 4
    for name, numbers in (
        ("cgij", (-128, 128)),
        ("clgij", (0, 256)),
        ("cij", (-128, 128)),
        ("clij", (0, 256)),
    ):
        for mask in range(0, 15, 2):
            for _ in range(4):
                number = rng.choice((0, 15, rng.randrange(*numbers)))
                lines.append(f"{name} %r{rng.randrange(12)}, {number}, {mask}, .+{TARGET}")
    return lines + [f"brctg %r{rng.randrange(1, 12)}, .+{TARGET}"] * 8


def test_branches(emulator: S390xEmulator, tmp_path: Path) -> None:
    """The model gives whether a branch is taken, its target, and the new counter."""
    rng, arch = Random(1), S390x()
    text = [(line.partition(" ")[0], line) for line in _branches(rng)]
    given, expected = [], []
    for instance in assemble(text, tmp_path, ASSEMBLER, SLOT):
        instruction = arch.decode(instance.encoded, emulator.slot)
        assert instruction is not None
        machine = random_machine(rng, emulator.block, instruction.raw)
        machine.general[14] = emulator.slot + TARGET
        state = model(machine, Unknowns(rng), emulator.block)
        if instruction.flow in (Flow.BRANCH, Flow.NEXT):
            arch.execute(state, instruction)
        taken = instruction.flow in (Flow.JUMP, Flow.RETURN)
        if instruction.flow is Flow.BRANCH:
            decision = decide(state, *arch.test(state, instruction))
            assert isinstance(decision, bool)
            taken = decision
        if taken and instruction.flow is not Flow.RETURN:
            assert instruction.target in (emulator.slot + TARGET, RETURN)
        given.append((instance.encoded, machine))
        expected.append([state.word("r0") ^ taken, *(state.gpr[f"r{n}"] for n in range(1, 16))])  # type: ignore[operator]
    after = emulator.states(given)
    assert [machine.general for machine in after] == expected
    assert len(expected) > 300


def test_hints_have_no_effect(emulator: S390xEmulator, tmp_path: Path) -> None:
    """capstone does not decode vl and vst with an alignment hint; the decoder removes the hint."""
    lines = [(f"{name} v []", f"{name} %v{n}, 16(%r12)") for name in ("vl", "vst") for n in range(0, 32, 5)]
    plain = assemble(lines, tmp_path, ASSEMBLER, SLOT)
    hinted = [
        replace(each, encoded=bytes([*each.encoded[:4], each.encoded[4] | hint << 4, *each.encoded[5:]]))
        for each in plain
        for hint in (3, 4)
    ]
    equal = run(hinted, emulator, symbolic=False)
    assert equal.total() == len(hinted)
    for one, other in zip(plain, hinted[::2], strict=True):
        assert decode(one.encoded[:6], 0) == decode(other.encoded[:6], 0)


def test_reserved_fields_have_no_meaning(tmp_path: Path) -> None:
    lines = [("vl", "vl %v1, 0(%r12), 5"), ("vst", "vst %v1, 0(%r12), 2")]
    lines += [("cgrj", "cgrj %r1, %r2, 9, .+14"), ("clgij", "clgij %r1, 0, 1, .+14")]
    for instance in assemble(lines, tmp_path, (*ASSEMBLER, "-march=z14"), SLOT):
        found = decode(instance.encoded[:6], 0)
        assert found is None or (found.branch is None and found.form not in TABLE), instance.text


def _swap(one: str, other: str) -> dict[str, Meaning]:
    return {**TABLE, one: TABLE[other]}


def _little_endian(state: State, instr: Decoded) -> None:
    """lg as if memory were little endian."""
    TABLE["lg r []"](state, instr)
    name = instr.operands[0].name  # type: ignore[union-attr]
    state.gpr[name] = int.from_bytes(int(state.word(name)).to_bytes(8, "big"), "little")  # type: ignore[arg-type]


def _keeps_upper(state: State, instr: Decoded) -> None:
    """ahi as if it had 64 bits."""
    TABLE["aghi r #"](state, instr)


def _one_less(state: State, instr: Decoded) -> None:
    """vll as if its register held the number of bytes."""
    TABLE["vll v r []"](state, instr)
    number = instr.operands[0].number  # type: ignore[union-attr]
    state.vectors[number] = (*domain.cut(state.vectors[number], 0, 15), *domain.zeros(1))


WRONG: dict[str, dict[str, Meaning]] = {
    "unsigned is signed": _swap("clgfi r #", "cgfi r #"),
    "logical code": _swap("alghsik r r #", "aghik r r #"),
    "byte order": {**TABLE, "lg r []": _little_endian},
    "half": {**TABLE, "ahi r #": _keeps_upper},
    "count": {**TABLE, "vll v r []": _one_less},
    "shift": _swap("vesrlb v v #", "vesrab v v #"),
    "difference": _swap("sgrk r r r", "agrk r r r"),
    "upper half": _swap("llihf r #", "llilf r #"),
    "or is and": _swap("vx v v v", "vn v v v"),
    "tested bits": _swap("tmll r #", "cghi r #"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(emulator: S390xEmulator, instances: list[Instance], name: str) -> None:
    changed = [form for form in TABLE if WRONG[name][form] is not TABLE[form]]
    more = [replace(instance) for instance in instances if instance.form in changed] * 4
    assert more
    with pytest.raises(Mismatch):
        run(more, emulator, symbolic=False, meanings=WRONG[name])
