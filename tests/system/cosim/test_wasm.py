"""Co-simulation for WebAssembly: every instruction in the prover's model, compared with Node.

WABT assembles random instances of each instruction, each in a function that stores the result. Node and the
prover's semantics execute them from the same random state, once with plain numbers, once with unknowns in
parameters and memory. Functions with control flow are compared in the same way.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gfsmith.prove.machine.architecture import Flow
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.state import State, constant_bytes
from gfsmith.prove.machine.wasm.architecture import WebAssembly
from gfsmith.prove.machine.wasm.lower import lowered
from gfsmith.prove.machine.wasm.semantics import TABLE, Entry
from tests.system.cosim.wasm.compare import Mismatch, check, execute, trials
from tests.system.cosim.wasm.instances import FORMS, Instance, instance, module
from tests.system.cosim.wasm.node import Call, assemble, call

#: Instances of each form; the numbers that must have a meaning with plain numbers, and with unknowns.
INSTANCES, WANTED, RARE = 24, 6, 1

Assembled = tuple[list[Instance], Image, Path]


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Assembled:
    rng = Random(1)
    forms = [form for form in FORMS for _ in range(INSTANCES)]
    instances = [instance(form, number, rng) for number, form in enumerate(forms)]
    path = tmp_path_factory.mktemp("cosim_wasm") / "instances.wasm"
    return instances, assemble(module(instances), path), path


def run(
    assembled: Assembled, symbolic: bool, table: dict[str, Entry] = TABLE, forms: frozenset[str] | None = None
) -> Counter[str]:
    """Return how many instances of each form have a meaning, which must be right. Raises Mismatch."""
    instances, image, path = assembled
    chosen = [each for each in instances if forms is None or each.form in forms]
    found = trials(chosen, Random(2), symbolic)
    for trial in found:
        execute(trial, image, table)
    check(found, path)
    return Counter(trial.instance.form for trial in found if not trial.refused)


def test_every_form(assembled: Assembled) -> None:
    equal = run(assembled, symbolic=False)
    few = {form: equal[form] for form in FORMS if equal[form] < WANTED}
    assert not few, f"too few instances have a meaning: {few}"


def test_every_form_on_unknowns(assembled: Assembled) -> None:
    equal = run(assembled, symbolic=True)
    without = sorted(form for form in FORMS if equal[form] < RARE)
    assert not without, f"no instance has a meaning: {without}"


def _swap(one: str, other: str) -> dict[str, Entry]:
    return {**TABLE, one: TABLE[other]}


WRONG: dict[str, dict[str, Entry]] = {
    "unsigned is signed": _swap("i32.lt_u", "i32.lt_s"),
    "below is not above": _swap("i32.lt_u", "i32.le_u"),
    "sub is add": _swap("i32.sub", "i32.add"),
    "32 bits are 64": _swap("i32.shr_u", "i64.shr_u"),
    "left is right": _swap("i8x16.shl", "i8x16.shr_u"),
    "signed shift": _swap("i8x16.shr_s", "i8x16.shr_u"),
    "8 bits are 16": _swap("i64.load8_u", "i64.load16_u"),
    "lane of 16 bits": _swap("v128.store8_lane", "v128.store16_lane"),
    "splat": _swap("v128.load64_splat", "v128.load64_zero"),
    "and is andnot": _swap("v128.and", "v128.andnot"),
    "ne is eq": _swap("i32.ne", "i32.eq"),
    "replace": _swap("i64x2.replace_lane", "i32x4.replace_lane"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_semantics_are_detected(assembled: Assembled, name: str) -> None:
    changed = frozenset(form for form in TABLE if WRONG[name][form] is not TABLE[form])
    with pytest.raises(Mismatch):
        run(assembled, symbolic=False, table=WRONG[name], forms=changed)


#: Functions with control flow: of two numbers, they store a number that shows the way taken.
WAYS = {
    "blocks": """
        (block (block (block (br_if 0 (i32.eqz (local.get 0))) (br_if 1 (local.get 1))
            (local.set 2 (i32.const 1)) (br 2))
          (local.set 2 (i32.const 2)) (br 1))
        (local.set 2 (i32.const 3)))""",
    "if": """
        (if (local.get 0)
          (then (local.set 2 (i32.const 1)) (if (local.get 1) (then (local.set 2 (i32.const 2)))))
          (else (local.set 2 (i32.const 3)) (br 0) (local.set 2 (i32.const 4))))""",
    "if with a result": """
        (local.set 2 (if (result i32) (i32.lt_u (local.get 0) (local.get 1))
          (then (i32.const 1)) (else (i32.add (i32.const 2) (local.get 1)))))""",
    "loop": """
        (loop (local.set 2 (i32.add (local.get 2) (local.get 1)))
          (br_if 0 (local.tee 0 (i32.shr_u (local.get 0) (i32.const 1)))))""",
    "loops": """
        (block (loop (local.set 3 (local.get 1))
          (loop (local.set 2 (i32.add (local.get 2) (i32.const 3)))
            (br_if 0 (local.tee 3 (i32.shr_u (local.get 3) (i32.const 1)))))
          (br_if 1 (i32.eqz (local.tee 0 (i32.shr_u (local.get 0) (i32.const 1))))) (br 0)))""",
    "br_table": """
        (block (block (block (br_table 1 0 2 (local.get 0)))
          (local.set 2 (i32.const 1)) (br 1)) (local.set 2 (i32.const 2)))""",
    "return": """
        (block (br_if 0 (local.get 0)) (i32.store (i32.const 0) (i32.const 9)) (return))
        (local.set 2 (local.get 1))""",
    "operands below": """
        (local.set 2 (i32.add (local.get 1) (block (result i32) (block (nop)) (local.get 0))))""",
}
NUMBERS = (0, 1, 2, 3, 5, 1 << 31, (1 << 32) - 1)


def _walk(image: Image, name: str, values: tuple[int, int]) -> int:
    """Return the number that a function stores, by the lowered instructions."""
    arch = WebAssembly()
    instructions = lowered(image.listings[name]).instructions
    state = State.concrete(
        {f"r{n}": value for n, value in enumerate((*values, 0, 0))}, [], [], {0: bytes(64)}
    )
    row = instructions[image.functions[name].address]
    while row.flow is not Flow.RETURN:
        arch.execute(state, row)
        assert row.flow in (Flow.NEXT, Flow.JUMP, Flow.BRANCH), row
        taken = row.flow is Flow.JUMP
        if row.flow is Flow.BRANCH:
            decision = decide(state, *arch.test(state, row))
            assert isinstance(decision, bool)
            taken = decision
        row = instructions[row.target if taken else row.next_ip]
    return int.from_bytes(constant_bytes(state.memory.load(0, 4)), "little")


def test_control_flow(tmp_path: Path) -> None:
    functions = [
        f'(func $f{number} (export "f{number}") (param i32 i32) (local i32 i32)\n'
        f"{body}\n(i32.store (i32.const 0) (local.get 2)))"
        for number, body in enumerate(WAYS.values())
    ]
    path = tmp_path / "ways.wasm"
    image = assemble(f'(module (memory (export "memory") 1)\n{"".join(functions)})', path)
    cases = [(f"f{number}", (a, b)) for number in range(len(WAYS)) for a in NUMBERS for b in NUMBERS]
    after = call(path, [Call(name, ("i32", "i32"), values, bytes(4)) for name, values in cases])
    assert after == [_walk(image, name, values).to_bytes(4, "little") for name, values in cases]
    assert len(set(after)) > 12
