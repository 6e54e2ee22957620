"""Wrong SVE2 code is refuted for the right reason and at the right length of vectors, and so are systematic
mutants of one kernel.

qemu executes a mutant that is proved, and its results must equal those of the kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.prove.machine.aarch64.registers import MACHINE, SCALABLE_BYTES
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.specs import make_spec
from tests.unit.prove.aarch64.bits import changed_bits
from tests.unit.prove.aarch64.compile import CLANG, NAME, assemble
from tests.unit.prove.aarch64.execute import Program, build
from tests.unit.prove.aarch64.wrong import Change
from tests.unit.prove.aarch64.wrong_sve import AT_ONE_LENGTH, BY_LENGTH, EQUIVALENT, REFUTED, UNSUPPORTED
from tests.unit.prove.assembly import edit
from tests.unit.prove.compiled import assembled, listing, named

TEXT = (Path(__file__).parent / "aarch64" / "dot_2x1_sve2.s").read_text(encoding="utf-8")
LINES = [line.strip() for line in TEXT.splitlines()]
CONTRACT = contract_of(make_spec("dot", 2, 1, "sve2", unroll=2), "aapcs64")
ASSEMBLER = ("clang-19", "--target=aarch64-linux-gnu", "-march=armv8.2-a+sve2")
MUTANTS = 120
FEW = (16, 48)  #: bytes of vectors for mutants


def prove(image: Image, lengths: Container[int] | None = None, max_steps: int = 200_000) -> Report:
    return prove_code(CONTRACT, image, NAME, exhaustive=False, max_steps=max_steps, vector_bytes=lengths)


def changed(change: Change, folder: Path, lengths: Container[int] | None = FEW) -> Report:
    text = "\n".join(edit(LINES, change.old, change.new, change.nth)) + "\n"
    return prove(assemble(text, folder, ASSEMBLER), lengths)


def test_the_kernel_itself_is_proved(tmp_path: Path) -> None:
    report = prove(assemble(TEXT, tmp_path, ASSEMBLER))
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions > 80
    assert report.vector_bytes == SCALABLE_BYTES


@pytest.mark.parametrize("change", REFUTED, ids=str)
def test_refuted(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.REFUTED, report
    assert change.reason in report.reason


def _check_refuted_at(size: int, change: Change, folder: Path, right: Container[int]) -> None:
    """Check that a variant is refuted from vectors of `size` bytes on, and proved for the `right` lengths."""
    report = changed(change, folder, None)
    assert report.status is Status.REFUTED, report
    assert f"with vectors of {8 * size} bits: " in report.reason
    assert change.reason in report.reason
    assert changed(change, folder, right).status is Status.PROVED


@pytest.mark.parametrize("change", BY_LENGTH, ids=str)
def test_refuted_for_longer_vectors(change: Change, tmp_path: Path) -> None:
    _check_refuted_at(32, change, tmp_path, right=(16,))


@pytest.mark.parametrize("size, change", AT_ONE_LENGTH, ids=str)
def test_refuted_at_one_length(size: int, change: Change, tmp_path: Path) -> None:
    _check_refuted_at(size, change, tmp_path, right=set(SCALABLE_BYTES) - {size})


@pytest.mark.parametrize("change", UNSUPPORTED, ids=str)
def test_unsupported(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.UNSUPPORTED, report
    assert change.reason in report.reason


@pytest.mark.parametrize("change", EQUIVALENT, ids=str)
def test_equivalent(change: Change, tmp_path: Path) -> None:
    report = changed(change, tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("isa, feature", [("sve", "SVE2"), ("neon", "SVE")])
def test_other_instruction_sets_lack_the_instructions(isa: str, feature: str, tmp_path: Path) -> None:
    contract = contract_of(make_spec("dot", 2, 1, isa, unroll=2), "aapcs64")
    report = prove_code(contract, assemble(TEXT, tmp_path, ASSEMBLER), NAME, exhaustive=False)
    assert report.status is Status.REFUTED
    assert f"needs {feature}, which the instruction set does not have" in report.reason


def test_features_decide_the_lengths(tmp_path: Path) -> None:
    """A set without scalable vectors that is granted SVE2 is proved for every length all the same."""
    image = assemble(TEXT, tmp_path, ASSEMBLER)
    contract = replace(CONTRACT, features=("ASIMD", "SVE", "SVE2"))
    assert prove_code(contract, image, NAME, exhaustive=False).vector_bytes == SCALABLE_BYTES


def test_a_length_that_does_not_exist(tmp_path: Path) -> None:
    report = prove(assemble(TEXT, tmp_path, ASSEMBLER), (8, 24))
    assert report.status is Status.UNSUPPORTED
    assert "no permitted length" in report.reason


def test_a_loop_that_no_induction_closes_ends_the_proof(tmp_path: Path) -> None:
    """The loop over the sources is left in its middle, too, so each iteration has another branch."""
    spec = named("sve", "mad_nx1")
    inside, product = "\tsub\tx13, x0, x8\n", "\ttbl\tz2.b, { z4.b }, z2.b\n"
    text = listing(spec, CLANG)
    assert text.count(inside) == 1 and product in text
    wrong = text.replace(inside, f".Linside:\n{inside}").replace(product, "\tcbz\tx1, .Linside\n", 1)
    image = assembled(wrong, tmp_path, ASSEMBLER)
    contract = contract_of(spec, "aapcs64")
    report = prove_code(contract, image, spec.symbol, False, max_steps=5_000, vector_bytes=(16,))
    assert report.status is Status.UNSUPPORTED
    assert "too many undecided branches" in report.reason


def _code(folder: Path) -> bytes:
    image = assemble(TEXT, folder, ASSEMBLER)
    function = image.functions[NAME]
    code = image.read(function.address, function.size)
    assert code is not None
    return code


def test_no_mutant_is_proved_that_does_something_else(tmp_path: Path) -> None:
    code = _code(tmp_path)
    steps = 2 * prove(raw(NAME, code, machine=MACHINE), FEW).steps + 1000
    path = build(tmp_path)
    programs = [Program(path, f"max,sve-default-vector-length={size}") for size in FEW]
    outcomes: Counter[Status] = Counter()
    for mutant in changed_bits(code, MUTANTS):
        report = prove(raw(NAME, mutant, machine=MACHINE), FEW, steps)
        outcomes[report.status] += 1
        if report.status is Status.PROVED:
            assert all(each.run(mutant) == each.run(code) for each in programs), mutant.hex()
    assert sum(outcomes.values()) == MUTANTS
    assert outcomes[Status.REFUTED] > 0.3 * MUTANTS, outcomes
    assert outcomes[Status.PROVED] < 0.1 * MUTANTS, outcomes


def test_execution_distinguishes_mutants(tmp_path: Path) -> None:
    """The executions that the proofs are compared with detect a wrong kernel, one of them at its length."""
    path, code = build(tmp_path), _code(tmp_path)
    wrong = edit(LINES, "addvl x9, x9, #1", "add x9, x9, #16")
    image = assemble("\n".join(wrong) + "\n", tmp_path, ASSEMBLER)
    mutant = image.read(image.functions[NAME].address, image.functions[NAME].size)
    assert mutant is not None
    for size, same in ((16, True), (48, False)):
        program = Program(path, f"max,sve-default-vector-length={size}")
        assert (program.run(mutant) == program.run(code)) is same
