"""Kernels for packets are proved with every schedule; both proofs refute any exchanged operand."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from gfsmith.build import config
from gfsmith.build.generate import Kernel, generate_one, program
from gfsmith.codes import parity_matrix
from gfsmith.emit.x86.frame import Abi
from gfsmith.field import Field
from gfsmith.field.matrix import bit_matrix
from gfsmith.ir import Instr, Loop, Op, Program
from gfsmith.kernel.spec import Baked, Circuit, KernelSpec, SpecError, Technique
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.specs import make_spec

ISAS = ("avx512", "avx2", "sse")
MUTANTS = 40


@cache
def spec(isa: str) -> KernelSpec:
    """The last parity of cauchy_good 3+3."""
    rows = bit_matrix(Field(), parity_matrix("cauchy_good", 3, 3))[16:]
    base = make_spec("xor", 24, 1, isa, unroll=1)
    values = {name: getattr(base, name) for name in KernelSpec.__dataclass_fields__}
    dot = make_spec("dot", 24, 8, isa, unroll=1).operation
    baked = Baked("cauchy_good", 24, 16, rows, packets=True)
    return KernelSpec(**{**values, "operation": dot, "outputs": 8, "baked": baked})


@cache
def kernel(isa: str) -> Kernel:
    return generate_one(spec(isa))


def examine(isa: str, code: bytes, rows: tuple[tuple[int, ...], ...] | None = None) -> Report:
    contract = contract_of(spec(isa), "sysv")
    if rows is not None:
        contract = replace(contract, rows=rows)
    return prove_code(contract, raw("kernel", code), "kernel", exhaustive=False)


@pytest.mark.parametrize("isa", ISAS)
def test_proved_and_any_other_matrix_refuted(isa: str) -> None:
    code = kernel(isa).code[Abi.SYSV]
    report = examine(isa, code)
    assert report.status is Status.PROVED, report.reason
    baked = spec(isa).baked
    assert baked is not None
    rng = random.Random(1)
    for _ in range(3):
        rows = [list(row) for row in baked.rows]
        rows[rng.randrange(8)][rng.randrange(24)] ^= 1
        wrong = examine(isa, code, tuple(map(tuple, rows)))
        assert (wrong.status, "must be" in wrong.reason) == (Status.REFUTED, True), wrong


def mutants(right: Program, rng: random.Random) -> list[Program]:
    """Return main loops with one operand of one addition replaced by another value, or one source by its
    neighbour.
    """
    loop = right.loops[0]
    sums = [n for n, i in enumerate(loop.head) if i.op in (Op.XOR, Op.XOR3)]
    found = []
    for number in rng.sample(sums, min(MUTANTS, len(sums))):
        instr = loop.head[number]
        earlier = [
            i.result for i in loop.head[:number] if i.result is not None and i.result not in instr.args
        ]
        if instr.ref is not None and instr.op is Op.XOR and rng.random() < 0.5:
            changed = replace(instr, ref=replace(instr.ref, index=(instr.ref.index + 1) % 24))
        elif instr.args and earlier:
            changed = replace(instr, args=(rng.choice(earlier), *instr.args[1:]))
        else:
            continue
        found.append(_with(right, loop, number, changed))
    return found


def _with(right: Program, loop: Loop, number: int, instr: Instr) -> Program:
    head = (*loop.head[:number], instr, *loop.head[number + 1 :])
    return replace(right, loops=(replace(loop, head=head), *right.loops[1:]))


@pytest.mark.parametrize("isa", ISAS)
def test_mutants_of_a_schedule_are_refuted(isa: str) -> None:
    right = program(spec(isa))
    assert prove(spec(isa), right)
    wrong = mutants(right, random.Random(2))
    assert len(wrong) >= MUTANTS // 2
    for mutant in wrong:
        verdict = prove(spec(isa), mutant)
        assert (verdict.status, "is wrong; counterexample" in verdict.reason) == (Status.REFUTED, True), (
            verdict
        )


def searched(code: str, circuit: Circuit, isa: str = "avx512") -> KernelSpec:
    """All three parities of a searched code for 6+3, with the schedule of its library."""
    rows = bit_matrix(Field(), parity_matrix(code, 6, 3))
    values = {name: getattr(spec(isa), name) for name in KernelSpec.__dataclass_fields__}
    changed = {
        "inputs": 48,
        "outputs": 24,
        "circuit": circuit,
        "baked": Baked(code, 24, 0, rows, packets=True),
    }
    return KernelSpec(**{**values, **changed})


@pytest.mark.parametrize("isa", ["avx512", "avx2"])
@pytest.mark.parametrize(
    ("code", "circuit"), [("zerasure", Circuit.MATCHED), ("cerasure", Circuit.DERIVED)], ids=lambda v: str(v)
)
def test_schedules_of_other_libraries(code: str, circuit: Circuit, isa: str) -> None:
    """Their kernels are proved, and every mutant of the schedule is refuted."""
    wanted = searched(code, circuit, isa)
    made = generate_one(wanted)
    assert f"_{circuit.value}_" in wanted.symbol
    report = prove_code(
        contract_of(wanted, "sysv"), raw("kernel", made.code[Abi.SYSV]), "kernel", exhaustive=False
    )
    assert report.status is Status.PROVED, report.reason
    wrong = mutants(program(wanted), random.Random(4))
    assert len(wrong) >= MUTANTS // 2
    assert all(prove(wanted, mutant).status is Status.REFUTED for mutant in wrong)


def test_circuits_of_packets_and_of_elements_are_distinct() -> None:
    with pytest.raises(SpecError, match=r"circuit = dense; allowed for .*: derived, matched"):
        program(searched("cerasure", Circuit.DENSE))
    baked = Baked("cauchy", 2, 0, parity_matrix("cauchy", 3, 2))
    values = {name: getattr(make_spec("dot", 3, 2, "avx2"), name) for name in KernelSpec.__dataclass_fields__}
    with pytest.raises(SpecError, match="circuit = matched; allowed for cauchy_3x2_11d: dense"):
        program(KernelSpec(**{**values, "baked": baked, "circuit": Circuit.MATCHED}))


@pytest.mark.parametrize("isa", ["avx512", "avx2"])
def test_all_parities_at_once_with_values_in_the_frame(isa: str) -> None:
    """10+4 needs far more live values than there are registers, in slots that are reused many times."""
    text = (
        f'[generator]\nisas = ["{isa}"]\n[[kernels]]\noperation = "dot"\ncode = "cauchy_good"\n'
        'packets = true\nshapes = ["10x4"]\n'
    )
    (whole,) = config.specs(config.parse(text, "x.toml"), "x.toml")
    right = program(whole)
    assert right.slots > 10
    verdict = prove(whole, right)
    assert verdict, verdict.reason


def test_plain_is_the_technique() -> None:
    assert all(spec(isa).technique is Technique.PLAIN for isa in ISAS)
