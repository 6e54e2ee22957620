"""The judge rejects attacks on itself: equal names for different unknown bits, sums of a negative number of
sources, fractions, two names for one destination, irregular encodings, and text that is not assembled."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gfsmith.build.generate import generate_one
from gfsmith.emit.x86.frame import Abi
from judge import contract, decode, forms, listing, memory, semantics, spec
from judge.integers import Pointer, Region, Rejected, unknown
from tests.support.specs import make_spec
from tests.unit.judge.kernels import Certified, certified
from tools.mutation.sample import Target

PLAIN: dict[str, Any] = {
    "symbol": "gfs_mad_2x4__sse_u1",
    "operation": "mad",
    "inputs": 2,
    "outputs": 4,
    "table": "nibble",
    "rows": None,
    "polynomial": 0x11B,
    "in_place": True,
    "group": 1,
    "descending": False,
    "ahead": 0,
}


def _state() -> memory.State:
    return contract.entry(spec.read(PLAIN), b"", contract.ABIS["sysv"])


def _shifted(start: int, state: memory.State) -> forms.Runs:
    """Return 16 bytes of a source from a position on, after psrlq xmm0, 4."""
    state.vectors[0] = ((64, start, forms.variable("src", 0)),)
    effect = semantics.effect(decode.decode(bytes.fromhex("660f73d004")))
    assert effect is not None
    effect(state)
    return forms.cut(state.vectors[0], 0, 16)


def test_bits_of_the_next_byte_depend_on_the_place_within_the_element() -> None:
    """Byte 7 of an element receives zeros, and the same byte in the middle of an element bits of byte 8."""
    state = _state()
    first, again, later = (_shifted(start, state) for start in (0, 0, 4))
    assert forms.combine(forms.xor, first, again) == forms.zeros(16)
    same = forms.combine(forms.xor, forms.cut(first, 4, 16), forms.cut(later, 0, 12))
    assert same != forms.zeros(12)


def test_a_destination_under_another_number_is_not_read_back() -> None:
    state = _state()
    state.facts.assume(unknown("t0"), 0, 3)
    state.facts.assume(unknown("n"), 64, 64)
    state.written[unknown("t0")] = memory.Written(16)
    assert memory.load(state, Pointer(Region("dst", 1), 16), 16)
    with pytest.raises(Rejected, match="read back"):
        memory.load(state, Pointer(Region("dst", 1), 0), 16)


def test_two_destinations_do_not_become_one() -> None:
    state = _state()
    state.written = {unknown("t0"): memory.Written(16), 3: memory.Written(0)}
    with pytest.raises(Rejected, match="become one"):
        state.replace("t0", 3)


LINES = PLAIN | {
    "symbol": "gfs_fft4lines_8x8__gfni_avx2_u1",
    "operation": "fft4lines",
    "inputs": 8,
    "outputs": 8,
    "table": "affine",
    "in_place": False,
}


def test_a_shard_in_lines_is_32_bytes_of_each() -> None:
    state = contract.entry(spec.read(LINES), b"", contract.ABIS["sysv"])
    state.facts.assume(unknown("n"), 2, 2)
    assert memory.load(state, Pointer(Region("src", 1), 16), 32) == ((32, 16, forms.variable("src", 1)),)
    assert memory.load(state, Pointer(Region("dst", 1), 64), 32) == ((32, 32, forms.variable("dst", 1)),)
    for offset, length in ((0, 64), (32, 32), (1, 32), (128, 32), (-64, 32), (unknown("t0"), 16)):
        with pytest.raises(Rejected, match=r"its part of a line|no multiple of 64|bytes of Region"):
            memory.load(state, Pointer(Region("dst", 1), offset), length)


@pytest.mark.parametrize(
    "changes", [{"table": "nibble"}, {"inputs": 4, "outputs": 4, "in_place": True}], ids=str
)
def test_lines_of_other_elements_are_rejected(changes: dict[str, Any]) -> None:
    symbol = f"gfs_fft4lines_{changes.get('inputs', 8)}x{changes.get('outputs', 8)}__gfni_avx2_u1"
    with pytest.raises(Rejected, match="lines of other elements"):
        spec.read(LINES | changes | {"symbol": symbol})


KNOWN: dict[str, Any] = {"symbol": "gfs_mad_2x4_cauchy__sse_u1", "table": "none", "rows": [[1, 2]] * 4}


@pytest.mark.parametrize("changes", [{"polynomial": 0x1B}, {"rows": [[256, 1]] * 4}], ids=str)
def test_another_field_is_rejected(changes: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match="another field"):
        spec.read(PLAIN | KNOWN | changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": [[0, 0]] * 4}, "known coefficients"),
        ({"table": "none"}, "a table of coefficients"),
        (KNOWN | {"rows": None}, "known coefficients"),
        (KNOWN | {"table": "nibble"}, "a table of coefficients"),
        ({"in_place": False}, "other promises"),
        ({"ahead": 1}, "other promises"),
        (LINES | {"in_place": True}, "other promises"),
    ],
    ids=str,
)
def test_a_description_unlike_the_name_is_rejected(changes: dict[str, Any], reason: str) -> None:
    """Without a table, for example, zeros would be the products of run-time coefficients."""
    assert spec.read(PLAIN) and spec.read(PLAIN | KNOWN)
    with pytest.raises(Rejected, match=reason):
        spec.read(PLAIN | changes)


@pytest.mark.parametrize(
    "code",
    [
        "66eb00",  # jmp with an operand-size prefix
        "f2eb00",  # bnd jmp
        "2e7500",  # jne with a hint
        "66c3",
        "4190",  # xchg r8d, eax
        "f390",  # pause
        "6650",  # push ax
        "665b",  # pop bx
        "67488b4500",  # with a 32-bit address
        "64488b4500",  # with a segment
        "48488b4500",  # two REX prefixes
        "48c5e9efc1",  # REX before VEX
        "66c5e9efc1",  # a prefix before VEX
        "62f1654858c1",  # an arithmetic instruction on zmm registers
        "488b042500100000",  # an address without a base
        "c20800",  # ret 8
    ],
)
def test_only_regular_encodings_have_a_meaning(code: str) -> None:
    assert semantics.effect(decode.decode(bytes.fromhex("488b4500")))  # mov rax, [rbp]
    with pytest.raises(Rejected):
        semantics.effect(decode.decode(bytes.fromhex(code)))


def _good() -> Certified:
    return certified(Target(make_spec("dot", None, 2, "avx2", unroll=1), Abi.SYSV))


def _loops(node: Any) -> list[Any]:
    """Return the loops of a tree."""
    if node[0] == "align":
        return [loop for each in node[2:] for loop in _loops(each)]
    if node[0] not in ("split", "loop"):
        return []
    inner = [loop for side in node[-2:] for part in side for loop in _loops(part[3])]
    return [node] * (node[0] == "loop") + inner


def _stretches(loop: Any) -> list[Any]:
    return [s for claim in loop[4]["vectors"].values() for s in claim or () if isinstance(s, list)]


def _negative_count(loop: Any) -> bool:
    for stretch in _stretches(loop):
        stretch[3] = -1
    return bool(_stretches(loop))


def _negative_source(loop: Any) -> bool:
    for stretch in _stretches(loop):
        stretch[2] = -1
    return bool(_stretches(loop))


def _negative_bytes(loop: Any) -> bool:
    claims = [claim for claim in loop[4]["vectors"].values() if claim]
    for claim in claims:
        claim[1:1] = [-16, 16]
    return bool(claims)


def _fraction(loop: Any) -> bool:
    steps = {name: float(step) for name, step in loop[4]["gpr"].items() if step}
    loop[4]["gpr"] |= steps
    return bool(steps)


def _no_number(loop: Any) -> bool:
    loop[3] = [float("nan"), float("nan")]
    return True


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_negative_count, "before the first"),
        (_negative_source, "before the first"),
        (_negative_bytes, "stretch of -16 bytes"),
        (_fraction, "no integer"),
        (_no_number, "no integer"),
    ],
)
def test_claims_outside_of_the_format_are_rejected(change: Any, reason: str) -> None:
    good, count = _good(), 0
    for tree in range(len(good.trees)):
        for number in range(len(_loops(good.trees[tree]))):
            trees = copy.deepcopy(good.trees)
            if change(_loops(trees[tree])[number]):
                count += 1
                with pytest.raises(Rejected, match=reason):
                    good.judge(trees=trees)
    assert count > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# .L2:\n", "#if 0\n# .L2:\n"),
        ("# .L2:\n", "# if 0\n"),
        ("# .L2:\n", '#include "other.h"\n'),
        ("# .L2:\n", "# .L2: \\\n"),
        (" # endbr64\n", " # endbr64 \\\n"),
        (" # endbr64\n", " # endbr64 /*\n"),
        (" # endbr64\n", "; .byte 0x90\n"),
        ("(.cfi_adjust_cfa_offset 8;", "(.cfi_adjust_cfa_offset 8; .byte 0x90;"),
        ("GFSMITH_SEH(.seh_endprologue)\n", "GFSMITH_SEH(.byte 0x90)\n"),
        ("#else\n", "#endif\n#else\n"),
        ("#else\n", "#if defined(GFSMITH_ASM_MS_ABI)\n#else\n"),
        ("#endif\nGFSMITH_END", "GFSMITH_END"),
        ("GFSMITH_SEH(.seh_endprologue)\n", "GFSMITH_SEH(.seh_handlerdata)\n"),
        ("GFSMITH_FUNCTION", "#if 0\nGFSMITH_FUNCTION"),
        ("#include", "#define GFSMITH_END(name) .byte 0x90\n#include"),
        ("in GF(2^8)", "*??/\n/\n#define GFSMITH_SEH(rule) .byte 0x90\n/*"),
        ("\n#endif\nGFSMITH_OBJECT_NOTES", "GFSMITH_FUNCTION(f)\n\n#endif\nGFSMITH_OBJECT_NOTES"),
        ("OBJECT_NOTES\n", "OBJECT_NOTES\n    .byte 0x90\n"),
    ],
)
def test_lines_that_hide_or_add_code_are_rejected(old: str, new: str) -> None:
    kernel = generate_one(make_spec("dot", None, 1, "sse", unroll=1))
    text, symbol = kernel.text, kernel.spec.symbol
    assert listing.read(text, symbol)["sysv"] == kernel.code[Abi.SYSV]
    assert text.count(old) > 0
    with pytest.raises(Rejected):
        listing.read(text.replace(old, new, 1), symbol)
