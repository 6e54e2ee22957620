"""AltiVec kernels whose loads need aligned addresses, with one flaw each in the test of the alignment.

The kernels are the sum of two sources, and of any number of sources. Both join the pointers by OR, test the
low four bits, and copy each vector through the stack if the test fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.system.adversarial.attacks import POWER, Attack

TWO_WORDS = {"isa": "altivec", "features": ("ALTIVEC",)}
ANY_WORDS = {**TWO_WORDS, "inputs": None}

TWO = """
    .abiversion 2
    .text
    .globl f
    .type f, @function
f:  cmpldi 3, 0
    beqlr
    ld 8, 0(6)
    ld 9, 8(6)
    ld 10, 0(7)
    li 11, 0
    or 5, 8, 9
    or 5, 5, 10
    andi. 5, 5, 15
    bne 7f
6:  lvx 0, 8, 11
    lvx 1, 9, 11
    vxor 0, 0, 1
    stvx 0, 10, 11
    addi 11, 11, 16
    cmpld 11, 3
    blt 6b
    blr
7:  ldx 4, 8, 11
    ldx 5, 9, 11
    xor 4, 4, 5
    stdx 4, 10, 11
    addi 11, 11, 8
    cmpld 11, 3
    blt 7b
    blr
    .size f, . - f
"""

ANY = """
    .abiversion 2
    .text
    .globl f
    .type f, @function
f:  cmpldi 3, 0
    beqlr
    ld 10, 0(7)
    li 11, 0
    addi 5, 1, -32
    mr 0, 10
    cmpldi 4, 0
    beq 2f
    mtctr 4
    addi 12, 6, -8
1:  ldu 9, 8(12)
    or 0, 0, 9
    bdnz 1b
2:  andi. 0, 0, 15
    bne 6f
3:  vxor 0, 0, 0
    cmpldi 4, 0
    beq 5f
    mtctr 4
    addi 12, 6, -8
4:  ldu 9, 8(12)
    lvx 1, 9, 11
    vxor 0, 0, 1
    bdnz 4b
5:  stvx 0, 10, 11
    addi 11, 11, 16
    cmpld 11, 3
    blt 3b
    blr
6:  vxor 0, 0, 0
    cmpldi 4, 0
    beq 8f
    mtctr 4
    addi 12, 6, -8
7:  ldu 9, 8(12)
    add 9, 9, 11
    ld 8, 0(9)
    ld 9, 8(9)
    std 8, -32(1)
    std 9, -24(1)
    lvx 1, 0, 5
    vxor 0, 0, 1
    bdnz 7b
8:  stvx 0, 0, 5
    add 9, 10, 11
    ld 8, -32(1)
    std 8, 0(9)
    ld 8, -24(1)
    std 8, 8(9)
    addi 11, 11, 16
    cmpld 11, 3
    blt 6b
    blr
    .size f, . - f
"""

_TEST = "andi. 5, 5, 15\n    bne 7f"
#: Flaw -> text of TWO and its replacement.
OF_TWO = {
    "no-test": (_TEST, "nop"),
    "mask-7": ("5, 5, 15", "5, 5, 7"),
    "mask-8": ("5, 5, 15", "5, 5, 8"),
    "mask-14": ("5, 5, 15", "5, 5, 14"),
    "mask-16": ("5, 5, 15", "5, 5, 16"),
    "wrong-sense": ("bne 7f", "beq 7f"),
    "sign": ("bne 7f", "blt 7f"),
    "sign-at-least": ("bne 7f", "bge 6f\n    b 7f"),
    "other-field": ("bne 7f", "bne 1, 7f"),
    "compared-again": ("bne 7f", "cmpldi 3, 16\n    bne 7f"),
    "first-omitted": ("or 5, 8, 9", "mr 5, 9"),
    "second-omitted": ("or 5, 8, 9", "mr 5, 8"),
    "destination-omitted": ("or 5, 5, 10", "nop"),
    "length-joined": ("or 5, 5, 10", "or 5, 5, 3"),
    "array-joined": ("or 5, 8, 9", "or 5, 8, 6"),
    "sum-joined": ("or 5, 8, 9", "add 5, 8, 9"),
    "masked-before": ("or 5, 8, 9", "andi. 5, 8, 7\n    or 5, 5, 9"),
    "step-8": ("addi 11, 11, 16", "addi 11, 11, 8"),
    "step-32": ("addi 11, 11, 16", "addi 11, 11, 32"),
    "position-8": ("6:  lvx", "    li 11, 8\n6:  lvx"),
    "loads-behind": ("lvx 1, 9, 11", "addi 5, 11, 8\n    lvx 1, 9, 5"),
    "stores-behind": ("stvx 0, 10, 11", "addi 5, 11, 8\n    stvx 0, 10, 5"),
    "pointer-moved": (_TEST, f"{_TEST}\n    addi 8, 8, 8"),
    "pointer-moved-before": ("or 5, 8, 9", "or 5, 8, 9\n    addi 8, 8, 4"),
    "pointer-of-length": (_TEST, f"{_TEST}\n    add 8, 8, 3"),
    "pointer-replaced": (_TEST, f"{_TEST}\n    mr 9, 6"),
    "moved-in-loop": ("vxor 0, 0, 1", "vxor 0, 0, 1\n    addi 8, 8, 8"),
    "unaligned-side": ("7:  ldx", "7:  lvx 0, 8, 11\n    ldx"),
    "shifted": ("andi. 5, 5, 15", "sldi 5, 5, 1\n    andi. 5, 5, 15"),
    "returned": ("    blt 6b\n    blr", "    blt 6b\n    mr 14, 5\n    blr"),
    "tested-by-another": (_TEST, "andi. 5, 5, 15\n    andi. 0, 10, 15\n    bne 7f"),
    "bit-set": (_TEST, "andi. 5, 5, 15\n    crset 2\n    bne 7f"),
    "field-moved": (_TEST, "andi. 5, 5, 15\n    mcrf 1, 0\n    beq 1, 7f"),
    "sides-meet": (_TEST, "andi. 5, 5, 15\n    bne 1f\n    nop\n1:  nop"),
    "masked-again": (_TEST, "andi. 5, 5, 7\n    andi. 5, 5, 15\n    bne 7f"),
    "doubled": ("or 5, 5, 10", "add 0, 10, 10\n    or 5, 5, 0"),
    "two-tables": ("vxor 0, 0, 1", "vspltisb 3, -1\n    vperm 0, 0, 1, 3"),
    "not-altivec": ("lvx 1, 9, 11", "lxvd2x 33, 9, 11"),
}
_COUNT = "mtctr 4\n    addi 12, 6, -8\n1:"
_DOWN = "mtctr 4\n    sldi 12, 4, 3\n    add 12, 6, 12"
#: Flaw -> text of ANY and its replacement.
OF_ANY = {
    "mask-7": ("0, 0, 15", "0, 0, 7"),
    "mask-8": ("0, 0, 15", "0, 0, 8"),
    "wrong-sense": ("bne 6f", "beq 6f"),
    "destination-omitted": ("mr 0, 10", "li 0, 0"),
    "only-last": ("or 0, 0, 9", "or 0, 10, 9"),
    "first-omitted": ("addi 12, 6, -8\n1:", "mr 12, 6\n1:"),
    "last-omitted": (_COUNT, "addi 8, 4, -1\n    mtctr 8\n    addi 12, 6, -8\n1:"),
    "every-second": ("1:  ldu 9, 8(12)", "1:  ldu 9, 16(12)"),
    "same-again": ("1:  ldu 9, 8(12)", "1:  ld 9, 8(12)"),
    "others-joined": ("addi 12, 6, -8\n1:", "addi 12, 7, -8\n1:"),
    "pointer-moved": ("4:  ldu 9, 8(12)", "4:  ldu 9, 8(12)\n    addi 9, 9, 8"),
    "pointer-omitted": ("1:  ldu 9, 8(12)\n    or 0, 0, 9", "1:  ldu 9, 8(12)\n    or 0, 0, 6"),
    "one-behind": ("4:  ldu 9, 8(12)", "4:  ldu 9, 8(12)\n    ld 9, 8(12)"),
    "half-tested": (_COUNT, "sldi 8, 4, 63\n    mtctr 8\n    addi 12, 6, -8\n1:"),
    "step-8": ("addi 11, 11, 16\n    cmpld 11, 3\n    blt 3b", "addi 11, 11, 8\n    cmpld 11, 3\n    blt 3b"),
    "frame-behind": ("addi 5, 1, -32", "addi 5, 1, -24"),
    "k-of-loop": ("mtctr 4\n    addi 12, 6, -8\n4:", "addi 8, 4, 1\n    mtctr 8\n    addi 12, 6, -8\n4:"),
    "tested-first": ("bdnz 1b", "andi. 8, 0, 15\n    bne 6f\n    b 3f"),
    "unaligned-side": ("lvx 1, 0, 5", "lvx 1, 9, 11"),
    "last-omitted-if-many": (
        _COUNT,
        "addi 8, 4, -1\n    cmpldi 8, 0\n    beq 2f\n    mtctr 8\n    addi 12, 6, -8\n1:",
    ),
    "ended-by-prefix": ("or 0, 0, 9", "or 0, 0, 9\n    andi. 8, 0, 15\n    beq 3f"),
    "untested-if-one": ("2:  andi.", "2:  cmpldi 4, 1\n    ble 3f\n    andi."),
    "untested-if-short": ("2:  andi.", "2:  cmpldi 3, 16\n    ble 3f\n    andi."),
    "halves-exchanged": ("std 8, -32(1)\n    std 9, -24(1)", "std 9, -32(1)\n    std 8, -24(1)"),
}


def changed(text: str, flaw: tuple[str, str]) -> str:
    assert text.count(flaw[0]) == 1, flaw
    return text.replace(*flaw)


def framed(distance: int) -> str:
    """Return ANY with its copy of a vector `distance` bytes below the stack pointer, a multiple of 16."""
    moved = ANY.replace("-32(1)", f"-{distance}(1)").replace("-24(1)", f"-{distance - 8}(1)")
    return changed(moved, ("addi 5, 1, -32", f"addi 5, 1, -{distance}"))


#: ANY, right, with a loop that the prover does not follow: it joins the pointers from the last to the first.
DOWNWARDS = changed(ANY, (f"{_COUNT}  ldu 9, 8(12)", f"{_DOWN}\n1:  ldu 9, -8(12)"))


def aligned_vectors() -> Iterator[Attack]:
    """Tests of the alignment of some pointers that do not establish the alignment of each access."""
    yield Attack("altivec-without-altivec", TWO, POWER, {"features": ()})
    for distance in (36, 40, 44):
        yield Attack(f"altivec-any-frame-{distance}", framed(distance), POWER, dict(ANY_WORDS))
    for kernel, flaws, words, name in (
        (TWO, OF_TWO, TWO_WORDS, "two"),
        (ANY, OF_ANY, ANY_WORDS, "any"),
    ):
        for flaw, change in flaws.items():
            yield Attack(f"altivec-{name}-{flaw}", changed(kernel, change), POWER, dict(words))


FAMILIES = {aligned_vectors.__name__: tuple(aligned_vectors())}
