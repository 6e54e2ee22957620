"""False certificates: the judge rejects every claim that does not follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gfsmith.emit.x86.frame import Abi
from judge.integers import Rejected
from tests.support.specs import make_spec
from tests.unit.judge.kernels import Certified, certified
from tools.mutation.sample import Target

Tree = list[Any]


def _nodes(node: Tree) -> Iterator[Tree]:
    """Yield every node of a tree."""
    yield node
    kind = node[0]
    below = node[2:] if kind == "align" else []
    if kind in ("split", "loop"):
        below = [part[3] for side in node[-2:] for part in side]
    for each in below:
        yield from _nodes(each)


def _loops(trees: list[Tree]) -> list[Tree]:
    return [node for tree in trees for node in _nodes(tree) if node[0] == "loop"]


def _parts(trees: list[Tree]) -> list[Tree]:
    return [
        part
        for tree in trees
        for node in _nodes(tree)
        if node[0] in ("split", "loop")
        for side in node[-2:]
        for part in side
    ]


def _sides(trees: list[Tree]) -> list[Tree]:
    every = [node for tree in trees for node in _nodes(tree) if node[0] in ("split", "loop")]
    return [side for node in every for side in node[-2:] if side]


def _kernel(operation: str, inputs: int | None, outputs: int, isa: str) -> Certified:
    return certified(Target(make_spec(operation, inputs, outputs, isa, unroll=1), Abi.SYSV))


KERNELS = {
    "dot": ("dot", None, 2, "avx2"),
    "fixed": ("dot", 4, 2, "gfni_avx512"),
    "mul": ("mul", None, 1, "sse"),
    "horner": ("horner", None, 3, "avx2"),
    "ifft": ("ifft", 4, 4, "gfni_avx512"),
}


@pytest.fixture(params=KERNELS, scope="module")
def good(request: pytest.FixtureRequest) -> Certified:
    return _kernel(*KERNELS[request.param])


def _each(
    good: Certified, choose: Callable[[list[Tree]], list[Any]], change: Callable[[Any], object]
) -> tuple[int, int]:
    """Change each chosen part of the certificate alone. Returns the numbers of changes and of rejections."""
    count = rejected = 0
    for number in range(len(choose(good.trees))):
        trees = copy.deepcopy(good.trees)
        if change(choose(trees)[number]) is False:
            continue
        count += 1
        try:
            good.judge(trees=trees)
        except Rejected:
            rejected += 1
    return count, rejected


def test_the_original_is_accepted(good: Certified) -> None:
    assert good.judge() > 0


def test_another_returned_number_is_rejected(good: Certified) -> None:
    code = good.target.code
    at = code.rindex(b"\x31\xc0")  # xor eax, eax
    with pytest.raises(Rejected, match="rax is not 0"):
        good.judge(code=code[:at] + b"\x31\xc9" + code[at + 2 :])  # xor ecx, ecx


def _faster(loop: Tree) -> bool:
    registers = [name for name, step in loop[4]["gpr"].items() if step]
    for name in registers:
        loop[4]["gpr"][name] *= 2
    return bool(registers)


def test_a_wrong_growth_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _loops, _faster)
    assert count == rejected > 0


def _still(loop: Tree) -> bool:
    changed = [name for name, step in loop[4]["gpr"].items() if step]
    for name in changed:
        del loop[4]["gpr"][name]
    return bool(changed)


def test_a_register_that_is_said_to_stay_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _loops, _still)
    assert count == rejected > 0


def _known(loop: Tree) -> bool:
    unknown = [name for name, step in loop[4]["gpr"].items() if step is None]
    for name in unknown:
        del loop[4]["gpr"][name]
    vectors = [name for name, claim in loop[4]["vectors"].items() if claim is None]
    for name in vectors:
        del loop[4]["vectors"][name]
    return bool(unknown or vectors)


def test_a_changed_register_without_a_claim_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _loops, _known)
    assert count == rejected > 0


def _sum_of_others(loop: Tree) -> bool:
    stretches = [s for claim in loop[4]["vectors"].values() for s in claim or () if isinstance(s, list)]
    for stretch in stretches:
        stretch[3] += 1
    return bool(stretches)


def test_a_sum_of_other_sources_is_rejected() -> None:
    count, rejected = _each(_kernel("dot", None, 2, "avx2"), _loops, _sum_of_others)
    assert count == rejected > 0


def _other_output(loop: Tree) -> bool:
    stretches = [s for claim in loop[4]["vectors"].values() for s in claim or () if isinstance(s, list)]
    for stretch in stretches:
        stretch[1] = 1 - stretch[1]
    return bool(stretches)


def test_a_sum_of_another_output_is_rejected() -> None:
    count, rejected = _each(_kernel("dot", None, 2, "avx2"), _loops, _other_output)
    assert count == rejected > 0


def _wide(loop: Tree) -> None:
    loop[3] = [None, None]


def test_bounds_that_hold_for_every_value_are_too_weak(good: Certified) -> None:
    """Wider bounds are true claims, and then an access may lie outside or the condition is decided
    otherwise."""
    count, rejected = _each(good, _loops, _wide)
    assert count > 0 and rejected > 0


def _narrow(loop: Tree) -> None:
    loop[3] = [0, 0]


def test_bounds_that_do_not_hold_are_rejected(good: Certified) -> None:
    count, rejected = _each(good, _loops, _narrow)
    assert count == rejected > 0


def test_a_dropped_side_of_a_branch_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _sides, lambda side: side.clear())
    assert count == rejected > 0


def test_a_dropped_part_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _sides, lambda side: side.pop())
    assert count == rejected > 0


def _never(part: Tree) -> bool:
    if part[3] == ["never"]:
        return False
    part[3] = ["never"]
    return True


def test_a_path_that_is_said_to_be_impossible_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _parts, _never)
    assert count == rejected > 0


def _wrong_hint(part: Tree) -> bool:
    equal = [hint for hint in part[2] if hint[0] == "=" and isinstance(hint[2], int)]
    for hint in equal:
        hint[2] += 1
    return bool(equal)


def test_a_wrong_value_of_an_unknown_is_rejected(good: Certified) -> None:
    count, rejected = _each(good, _parts, _wrong_hint)
    assert count == rejected


def test_a_return_in_place_of_the_rest_is_rejected(good: Certified) -> None:
    def ends(part: Tree) -> bool:
        if part[3] in (["ret"], ["never"]):
            return False
        part[3] = ["ret"]
        return True

    count, rejected = _each(good, _parts, ends)
    assert count == rejected > 0


def test_a_loop_that_is_closed_at_once_is_rejected(good: Certified) -> None:
    """The end of an iteration must belong to a loop that has begun."""

    def closes(part: Tree) -> bool:
        if part[3][0] != "loop":
            return False
        part[3] = ["close"]
        return True

    count, rejected = _each(good, _parts, closes)
    assert count == rejected > 0


@pytest.mark.parametrize(
    ("operation", "changes"),
    [
        ("dot", {"operation": "xor"}),
        ("dot", {"outputs": 3}),
        ("dot", {"table": "affine"}),
        ("dot", {"inputs": 5}),
        ("dot", {"group": 2}),
        ("dot", {"descending": True}),
        ("horner", {"descending": False}),
        ("horner", {"polynomial": 0}),
    ],
    ids=str,
)
def test_another_description_is_rejected(operation: str, changes: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        _kernel(operation, None, 2, "avx2").judge(**changes)


def test_another_matrix_is_rejected() -> None:
    from gfsmith.kernel.isa import BY_NAME
    from tools.mutation.sample import targets

    known = [t for t in targets(BY_NAME["avx2"], 8) if t.spec.baked is not None]
    assert known
    good = certified(known[0])
    rows = copy.deepcopy(good.kernel["rows"])
    rows[0][0] ^= 1
    with pytest.raises(Rejected, match="wrong value"):
        good.judge(rows=rows)


@pytest.mark.parametrize(
    "trees", [None, [], [[]], [["ret"]], [["split", 0, [], []]], [["loop"]], [7], "text"]
)
def test_malformed_certificates_are_rejected(trees: Any) -> None:
    with pytest.raises(Rejected):
        _kernel("dot", None, 2, "avx2").judge(trees=[[]] if trees is None else trees)
