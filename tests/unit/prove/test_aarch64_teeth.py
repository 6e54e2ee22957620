"""Wrong AArch64 code is refuted for the right reason, and so are systematic mutants of one kernel.

qemu executes a mutant that is proved, and its results must equal those of the kernel.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.aarch64.decode import decode
from gfsmith.prove.machine.aarch64.registers import MACHINE
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import make_spec
from tests.unit.prove.aarch64.bits import changed_bits
from tests.unit.prove.aarch64.compile import NAME, assemble
from tests.unit.prove.aarch64.execute import Program, build
from tests.unit.prove.aarch64.wrong import EQUIVALENT, REFUTED, UNSUPPORTED, Change
from tests.unit.prove.assembly import edit

TEXT = (Path(__file__).parent / "aarch64" / "dot_2x1.s").read_text(encoding="utf-8")
LINES = [line.strip() for line in TEXT.splitlines()]
CONTRACT = contract_of(make_spec("dot", 2, 1, "neon", unroll=1), "aapcs64")
MUTANTS = 160


def prove(image: Image, max_steps: int | None = None) -> Report:
    if max_steps is None:
        return prove_code(CONTRACT, image, NAME, exhaustive=False)
    return prove_code(CONTRACT, image, NAME, exhaustive=False, max_steps=max_steps)


def changed(change: Change, folder: Path) -> Report:
    return prove(assemble("\n".join(edit(LINES, change.old, change.new, change.nth)) + "\n", folder))


def test_the_kernel_itself_is_proved(tmp_path: Path) -> None:
    report = prove(assemble(TEXT, tmp_path))
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions > 100


@pytest.mark.parametrize("change", REFUTED, ids=str)
def test_refuted(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.REFUTED, report
    assert change.reason in report.reason


def test_a_third_source_of_umulh_is_unsupported() -> None:
    """Its field must have ones; with others the effect is unpredictable (Arm ARM, C6.2)."""
    word = 0x9BC37C21  # umulh x1, x1, x3
    assert decode(word.to_bytes(4, "little"), 0) is not None
    for bit in range(10, 15):
        assert decode((word ^ 1 << bit).to_bytes(4, "little"), 0) is None


@pytest.mark.parametrize("change", UNSUPPORTED, ids=str)
def test_unsupported(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.UNSUPPORTED, report
    assert change.reason in report.reason


@pytest.mark.parametrize("change", EQUIVALENT, ids=str)
def test_equivalent(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.PROVED, report.reason


def test_x18_belongs_to_other_systems(tmp_path: Path) -> None:
    """Windows and macOS reserve x18, Linux does not."""
    image = assemble("\n".join(edit(LINES, "mov x9, xzr", "mov x9, xzr\nmov x18, x0")) + "\n", tmp_path)
    report = prove_code(replace(CONTRACT, abi="aapcs64-x18"), image, NAME, exhaustive=False)
    assert report.status is Status.REFUTED
    assert "x18 is not preserved" in report.reason


def test_another_machine_is_no_answer() -> None:
    report = prove_code(replace(CONTRACT, abi="sysv"), raw(NAME, bytes(4), machine=MACHINE), NAME)
    assert report.status is Status.UNSUPPORTED
    assert "code for AArch64, not x86-64" in report.reason


def _code(folder: Path) -> bytes:
    image = assemble(TEXT, folder)
    function = image.functions[NAME]
    code = image.read(function.address, function.size)
    assert code is not None
    return code


def test_no_mutant_is_proved_that_does_something_else(tmp_path: Path) -> None:
    code = _code(tmp_path)
    steps = 2 * prove(raw(NAME, code, machine=MACHINE)).steps + 1000
    program = Program(build(tmp_path))
    outcomes: Counter[Status] = Counter()
    for mutant in changed_bits(code, MUTANTS):
        report = prove(raw(NAME, mutant, machine=MACHINE), steps)
        outcomes[report.status] += 1
        if report.status is Status.PROVED:
            assert program.run(mutant) == program.run(code), mutant.hex()
    assert sum(outcomes.values()) == MUTANTS
    assert outcomes[Status.REFUTED] > 0.4 * MUTANTS, outcomes
    assert outcomes[Status.PROVED] < 0.1 * MUTANTS, outcomes


def test_execution_distinguishes_mutants(tmp_path: Path) -> None:
    """The executions that the proofs are compared with detect a wrong kernel."""
    program, code = Program(build(tmp_path)), _code(tmp_path)
    wrong = edit(LINES, "tbl v6.16b, { v3.16b }, v6.16b", "tbl v6.16b, { v1.16b }, v6.16b")
    image = assemble("\n".join(wrong) + "\n", tmp_path)
    function = image.functions[NAME]
    mutant = image.read(function.address, function.size)
    assert mutant is not None
    assert program.run(mutant) != program.run(code)
    assert "fault" in program.run(bytes(4) + code[4:])
