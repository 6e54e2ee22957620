"""Co-simulation for SVE: every form in the prover's model at several lengths of vectors, with qemu-user.

Forms of Advanced SIMD are compared too: where vectors are longer, a write clears the bytes behind.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.registers import SCALABLE_BYTES
from gfsmith.prove.machine.aarch64.scalable import decode
from gfsmith.prove.machine.aarch64.semantics import TABLE, scalable
from gfsmith.prove.machine.state import LowBits, State
from tests.system.cosim.scalable import instances as sve
from tests.system.cosim.scalable.emulator import ScalableEmulator, build
from tests.system.cosim.scalar64 import instances as scalar64
from tests.system.cosim.scalar64.compare import check, trials
from tests.system.cosim.scalar64.instances import Instance, assemble
from tests.system.cosim.trials import Meanings, Mismatch, execute

#: Bytes of vectors: the shortest, a length that is no power of two, and the longest.
LENGTHS = (16, 32, 48, 256)
#: Instances of each form and length; the number that must have a meaning with plain numbers, with unknowns.
INSTANCES, WANTED, RARE = 20, 5, 1
#: Forms of Advanced SIMD that write vectors, for the bytes behind them.
NARROW = ("ldr q [x]", "ldp q q [x]", "ldr d [x]", "mov 16b 16b", "fmov d x", "movi 16b #", "mov b[] w",
          "ld1 b[] [x]", "eor 16b 16b 16b", "tbl 16b 16b 16b", "eor 8b 8b 8b")  # fmt: skip


@pytest.fixture(scope="module")
def emulators(tmp_path_factory: pytest.TempPathFactory) -> dict[int, ScalableEmulator]:
    program = build(tmp_path_factory.mktemp("cosim_sve"))
    return {vector: ScalableEmulator(program, vector) for vector in LENGTHS}


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Instance]]:
    found = {}
    for vector in LENGTHS:
        rngs = [(form, Random(f"{form} {vector} {n}")) for form in scalable.TABLE for n in range(INSTANCES)]
        lines = [(form, sve.write(form, rng, vector)) for form, rng in rngs]
        found[vector] = assemble(lines, tmp_path_factory.mktemp(f"instances{vector}"), sve.ASSEMBLER)
    return found


def run(
    instances: list[Instance], emulator: ScalableEmulator, symbolic: bool, meanings: Meanings = TABLE
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    found = trials(instances, emulator, Random(emulator.vector), symbolic)
    for trial in found:
        execute(trial, meanings)
    check(found, emulator)
    return Counter(trial.decoded.form for trial in found if not trial.refused)


@pytest.mark.parametrize("symbolic, least", [(False, WANTED), (True, RARE)], ids=["numbers", "unknowns"])
@pytest.mark.parametrize("vector", LENGTHS)
def test_every_form(
    emulators: dict[int, ScalableEmulator],
    instances: dict[int, list[Instance]],
    vector: int,
    symbolic: bool,
    least: int,
) -> None:
    equal = run(instances[vector], emulators[vector], symbolic)
    few = {form: equal[form] for form in scalable.TABLE if equal[form] < least}
    assert not few, f"too few instances have a meaning: {few}"


@pytest.mark.parametrize("vector", LENGTHS[1:])
def test_short_vectors_clear_the_bytes_behind(
    emulators: dict[int, ScalableEmulator], vector: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [(form, scalar64.write(form, Random(f"{form} {n}"))) for form in NARROW for n in range(INSTANCES)]
    found = assemble(lines, tmp_path_factory.mktemp("narrow"))
    equal = run(found, emulators[vector], symbolic=False)
    assert all(equal[form] >= WANTED for form in NARROW), equal


def test_every_length_of_vectors_is_the_emulators(tmp_path_factory: pytest.TempPathFactory) -> None:
    """rdvl, cntb and incb at each of the 16 lengths."""
    program = build(tmp_path_factory.mktemp("lengths"))
    forms = ("rdvl x #", "cntb x", "incb x all mul #", "ptrue p.b", "ldr z [x]", "tbl z.b z.b z.b")
    lines = [(form, sve.write(form, Random(form), SCALABLE_BYTES[-1])) for form in forms]
    found = assemble(lines, tmp_path_factory.mktemp("instances"), sve.ASSEMBLER)
    for vector in SCALABLE_BYTES:
        equal = run(found, ScalableEmulator(program, vector), symbolic=False)
        assert sum(equal.values()) == len(forms), (vector, equal)


def _changed(form: str, change: object) -> Meanings:
    def wrong(state: State, instr: Decoded) -> None:
        TABLE[form](state, instr)
        change(state, instr)  # type: ignore[operator]

    return {**TABLE, form: wrong}


def _whole_table(state: State, instr: Decoded) -> None:
    """tbl of 16 bytes."""
    entries = state.vectors[instr.operands[1].number]  # type: ignore[union-attr]
    low = domain.merge([*domain.cut(entries, 0, 16), *domain.zeros(domain.size(entries) - 16)])
    changed = [*state.vectors]
    state.vectors[instr.operands[1].number] = low  # type: ignore[union-attr]
    TABLE["tbl z.b z.b z.b"](state, instr)
    changed[instr.operands[0].number] = state.vectors[instr.operands[0].number]  # type: ignore[union-attr]
    state.vectors = changed


def _one_more(state: State, instr: Decoded) -> None:
    number = instr.operands[0].number  # type: ignore[union-attr]
    mask = state.masks[number]
    assert mask is not None and not isinstance(mask, LowBits)
    state.masks[number] = mask >> 1


def _other_flags(state: State, instr: Decoded) -> None:
    TABLE["cmp x x"](state, instr._replace(operands=instr.operands[1:]))


def _swap(one: str, other: str) -> Meanings:
    return {**TABLE, one: TABLE[other]}


def _as_sixteen(form: str) -> Meanings:
    """Return the table with one meaning that takes vectors for 16 bytes long."""

    def wrong(state: State, instr: Decoded) -> None:
        whole = state.vectors
        state.vectors = [domain.cut(runs, 0, 16) for runs in whole]
        TABLE[form](state, instr)
        state.vectors = whole

    return {**TABLE, form: wrong}


WRONG: dict[str, tuple[str, Meanings]] = {
    "eor is and": ("eor z.d z.d z.d", _swap("eor z.d z.d z.d", "and z.d z.d z.d")),
    "asr is lsr": ("asr z.b z.b #", _swap("asr z.b z.b #", "lsr z.b z.b #")),
    "ldr counts bytes": ("ldr z [x vl]", {
        **TABLE, "ldr z [x vl]": lambda s, i: TABLE["ldr z [x]"](s, i._replace(form="ldr z [x]"))}),
    "cnth is cntb": ("cnth x", {
        **TABLE, "cnth x": lambda s, i: TABLE["cntb x"](s, i._replace(mnemonic="cntb"))}),
    "rdvl of 16 bytes": ("rdvl x #", _as_sixteen("rdvl x #")),
    "addvl of 16 bytes": ("addvl x x #", _as_sixteen("addvl x x #")),
    "ptrue of 16 bytes": ("ptrue p.b", _as_sixteen("ptrue p.b")),
    "whilelo has one byte fewer": ("whilelo p.b x x", _changed("whilelo p.b x x", _one_more)),
    "whilelo has the flags of cmp": ("whilelo p.b x x", _changed("whilelo p.b x x", _other_flags)),
    "tbl of 16 bytes": ("tbl z.b z.b z.b", {**TABLE, "tbl z.b z.b z.b": _whole_table}),
    "ld1b is ldr": (
        "ld1b z.b p/z [x]",
        {**TABLE, "ld1b z.b p/z [x]": lambda s, i: TABLE["ldr z [x]"](
            s, i._replace(operands=(i.operands[0], i.operands[2])))},
    ),
    "st1b is str": (
        "st1b z.b p [x]",
        {**TABLE, "st1b z.b p [x]": lambda s, i: TABLE["str z [x]"](
            s, i._replace(operands=(i.operands[0], i.operands[2])))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(
    emulators: dict[int, ScalableEmulator], instances: dict[int, list[Instance]], name: str
) -> None:
    form, meanings = WRONG[name]
    mine = [instance for instance in instances[48] if instance.form == form]
    with pytest.raises(Mismatch):
        run(mine * 4, emulators[48], symbolic=False, meanings=meanings)


def test_what_capstone_decodes_is_the_instance(instances: dict[int, list[Instance]]) -> None:
    """Each instance is decoded to its form, so that no test of a form is empty."""
    for instance in instances[16]:
        found = decode(instance.encoded, 0)
        assert found is not None
        assert found.form == instance.form, instance.text
