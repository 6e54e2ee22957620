"""Co-simulation: every instruction form in the prover's model, compared with this CPU.

The CPU and the prover's semantics execute random instances of each form from the same random state. All
registers, masks, defined flags and memory must agree: once with plain numbers, once with unknowns in
registers and memory. Forms that the CPU lacks are skipped.
"""

from __future__ import annotations

import platform
from collections import Counter
from functools import partial
from random import Random

import pytest
from iced_x86 import Code, Instruction

from gfsmith.prove.machine import bitmatrix
from gfsmith.prove.machine.x86 import semantics
from gfsmith.prove.machine.x86.semantics import FORMS
from tests.support.folders import shared_folder
from tests.system.cosim.x86.compare import Mismatch, Outcome, campaign, check
from tests.system.cosim.x86.cpu import Cpu, Fault, Level, build, missing_features
from tests.system.cosim.x86.instances import CODE_NAMES, Place, random_machine, vector_level
from tests.system.cosim.x86.mutants import MUTANTS, Mutant
from tests.system.cosim.x86.symbolic import check_symbolic
from tests.system.cosim.x86.unknowns import Cancels

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="executes x86-64 instructions")

#: Required number of equal instances of each form, and the maximum number of draws.
INSTANCES = 30
ATTEMPTS = 1200

#: Forms with special treatment of some unknowns (table bytes; a number with itself) get more instances.
SPECIAL = ("PSHUFB", "GF2P8AFFINEQB", "OR_RM32_R32", "OR_R32_RM32", "TEST_RM32_R32")

SIGILL, SIGTRAP, SIGSEGV = 4, 5, 11


@pytest.fixture(scope="session")
def cpu(tmp_path_factory: pytest.TempPathFactory) -> Cpu:
    return Cpu(build(shared_folder(tmp_path_factory) / "cosim"))


@pytest.fixture(scope="session")
def place(cpu: Cpu) -> Place:
    return Place(cpu.block, cpu.block_bytes, cpu.code)


def missing(code: int) -> list[str]:
    return missing_features(Instruction.create(code).cpuid_features())  # type: ignore[arg-type]


def require(code: int) -> None:
    """Skip the test if the CPU lacks the form."""
    if features := missing(code):
        pytest.skip(f"this CPU has no {', '.join(features)}")


def run(
    cpu: Cpu,
    place: Place,
    code: int,
    *,
    symbolic: bool = False,
    level: Level | None = None,
    wanted: int = INSTANCES,
) -> Counter[Outcome]:
    """Run a campaign whose seed is the form's number. Raises Mismatch."""
    level = cpu.level if level is None else level
    trial = partial(check, cpu=cpu, place=place, level=level)
    if symbolic:
        trial = partial(check_symbolic, cpu=cpu, place=place, level=level, rng=Random(code))
    return campaign(code, code, trial, place, level, wanted, ATTEMPTS)


@pytest.mark.parametrize("code", sorted(FORMS), ids=CODE_NAMES.get)
def test_form(cpu: Cpu, place: Place, code: int) -> None:
    require(code)
    outcomes = run(cpu, place, code)
    assert outcomes[Outcome.EQUAL] >= INSTANCES, f"too few instances have a meaning: {outcomes}"


@pytest.mark.campaign
@pytest.mark.parametrize("code", sorted(FORMS), ids=CODE_NAMES.get)
def test_form_on_unknowns(cpu: Cpu, place: Place, code: int) -> None:
    require(code)
    wanted = INSTANCES * (5 if any(name in CODE_NAMES[code] for name in SPECIAL) else 1)
    outcomes = run(cpu, place, code, symbolic=True, wanted=wanted)
    assert outcomes[Outcome.EQUAL] >= INSTANCES, f"too few instances have a meaning: {outcomes}"


@pytest.mark.parametrize("form", ["PSRLQ_XMM_IMM8", "PSRLW_XMM_IMM8", "PSRAW_XMM_IMM8"])
def test_one_unknown_for_several_bits_is_detected(
    cpu: Cpu, place: Place, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Bits that come from a neighbouring byte may have all values, so no two of them are one unknown."""
    monkeypatch.setattr(bitmatrix, "IDENTITY", (1 << 64) - 1)
    with pytest.raises(Cancels):
        run(cpu, place, getattr(Code, form), symbolic=True)


@pytest.mark.parametrize("level", [Level.SSE, Level.AVX], ids=lambda level: level.name)
def test_narrower_vectors(cpu: Cpu, place: Place, level: Level) -> None:
    """With only the vector state of CPUs without AVX or AVX-512, the results are the same."""
    if level > cpu.level:
        pytest.skip(f"this CPU has no {level.name}")
    forms = [code for code in sorted(FORMS) if vector_level(code) <= level and not missing(code)]
    assert len(forms) > 20
    for code in forms:
        outcomes = run(cpu, place, code, level=level, wanted=2)
        assert outcomes[Outcome.EQUAL] == 2, f"{CODE_NAMES[code]}: {outcomes}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_wrong_semantics_are_detected(
    cpu: Cpu, place: Place, monkeypatch: pytest.MonkeyPatch, mutant: Mutant
) -> None:
    code: int = getattr(Code, mutant.form)
    require(code)
    if mutant.level > cpu.level:
        pytest.skip(f"this CPU has no {mutant.level.name}, whose registers show this error")
    meaning = mutant.change(semantics._TABLE[code])
    monkeypatch.setitem(semantics._TABLE, code, meaning)
    with pytest.raises(Mismatch):
        run(cpu, place, code, symbolic=mutant.symbolic, wanted=INSTANCES * (20 if mutant.symbolic else 1))


@pytest.mark.parametrize(
    ("name", "encoded", "signal"),
    [
        ("ud2", "0f 0b", SIGILL),
        ("int3", "cc", SIGTRAP),
        ("mov rax, [rax]", "48 8b 00", SIGSEGV),
        ("mov rsp, 1; mov [rsp], rax", "48 c7 c4 01 00 00 00 48 89 04 24", SIGSEGV),
    ],
)
def test_faults_are_caught(cpu: Cpu, name: str, encoded: str, signal: int) -> None:
    """A fault is reported and leaves the executor usable."""
    machine = random_machine(Random(name), cpu.level, cpu.block_bytes)
    machine.gpr[0] = cpu.block - 8
    with pytest.raises(Fault) as caught:
        cpu.run(bytes.fromhex(encoded), machine)
    assert caught.value.args == (signal,)
    after = cpu.run(bytes.fromhex("90"), machine)
    assert (after.gpr, after.masks) == (machine.gpr, machine.masks)
    assert (after.vectors, after.memory) == (machine.vectors, machine.memory)
    assert after.rflags & 0x8D5 == machine.rflags & 0x8D5
