"""Wrong RISC-V kernels are refuted for the right reason; so are randomly changed kernels that are wrong."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gfsmith.kernel.isa import Tail
from gfsmith.prove.machine.contract import Contract, Layout
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.machine.riscv import disassembler
from gfsmith.prove.verdict import Status
from tests.unit.prove.aarch64.compile import NAME, assemble
from tests.unit.prove.compiled import flipped
from tests.unit.prove.riscv.targets import ASSEMBLER

HERE = Path(__file__).parent
TEXT = (HERE / "riscv" / "dot_nx1.s").read_text(encoding="utf-8")
CONTRACT = Contract(
    operation="dot",
    inputs=None,
    outputs=1,
    layout=Layout("nibble", 32, 1),
    parameters=("len", "k", "coeffs", "src", "dst"),
    abi="lp64d",
    features=("RVV",),
    in_place=False,
    block=64,
    vector=16,
    unwind=False,
    reach_all=False,
    tail=Tail.MASKED,
)


def prove(image: Image, steps: int = 20_000) -> Report:
    return prove_code(CONTRACT, image, NAME, exhaustive=False, max_steps=steps)


def test_the_kernel_is_proved(tmp_path: Path) -> None:
    """The kernel from which the mutants below are made."""
    report = prove(assemble(TEXT, tmp_path, ASSEMBLER))
    assert report.status is Status.PROVED, report.reason
    assert report.covered == report.instructions


def test_vectors_need_the_feature(tmp_path: Path) -> None:
    older = Contract(**{f: getattr(CONTRACT, f) for f in CONTRACT.__slots__} | {"features": ()})
    report = prove_code(older, assemble(TEXT, tmp_path, ASSEMBLER), NAME)
    assert (report.status, "needs RVV" in report.reason) == (Status.REFUTED, True), report.reason


_RETURN = "    ret\n"
_FIRST = "    vsetvli t0, zero, e8, m1, ta, ma\n"
_MASK = "    vmseq.vx v10, v10, a0\n    vmsbf.m v0, v10\n"
_BLOCK = "    slli a7, t0, 2\n"
_REST = "    vsetvli zero, a4, e8, m1, ta, ma\n"
_SOURCE = "    ld a5, 0(t4)\n"
#: Error -> the replaced text, its replacement, and the reason of the refutation.
WRONG = {
    "tables exchanged": ("    vrgather.vv v14, v17, v15\n", "    vrgather.vv v14, v16, v15\n", "byte 0 is"),
    "one table twice": ("    addi a4, t6, 16\n", "    addi a4, t6, 0\n", "byte 0 is"),
    "a table entry too far": ("    addi t6, t6, 32\n", "    addi t6, t6, 64\n", "beyond its end"),
    "between two pointers": ("    addi t4, t4, 8\n", "    addi t4, t4, 4\n", "between two pointers"),
    "half a nibble": ("    vmv.v.i v8, 15\n", "    vmv.v.i v8, 7\n", "byte 0 is"),
    "one source too many": ("    mv t5, a1\n", "    addi t5, a1, 1\n", "beyond its end"),
    "a block too many": ("    bltu a5, a7, .LBB0_2\n", "    beqz a5, .LBB0_2\n", "beyond its end"),
    "the whole last vector": (f"{_REST}    vse8", "    vse8", "beyond its end"),
    "no last bytes": ("    bgeu t3, a0, .LBB0_8\n", "    j .LBB0_8\n", "only"),
    "two vectors exchanged": ("    vse8.v v12, (a5)\n", "    vse8.v v11, (a5)\n", "byte 0 is"),
    "s0 is lost": (_RETURN, f"    li s0, 0\n{_RETURN}", "x8 is not preserved"),
    "s11 is lost": (_RETURN, f"    li s11, 0\n{_RETURN}", "x27 is not preserved"),
    "gp is lost": (_RETURN, f"    li gp, 0\n{_RETURN}", "x3 is not preserved"),
    "tp is lost": (_RETURN, f"    li tp, 0\n{_RETURN}", "x4 is not preserved"),
    "ra is lost": (_RETURN, f"    li ra, 0\n{_RETURN}", "x1 is not the return address"),
    "sp is moved": (_RETURN, f"    addi sp, sp, -16\n{_RETURN}", "x2 differs from its value on entry"),
    "sp is misaligned": (_RETURN, f"    addi sp, sp, -8\n    addi sp, sp, 8\n{_RETURN}", "no multiple of 16"),
    "sp is raised": (_RETURN, f"    addi sp, sp, 16\n    addi sp, sp, -16\n{_RETURN}", "to signal handlers"),
    "below sp": (_RETURN, f"    sd s0, -8(sp)\n{_RETURN}", "signal handler"),
    "the caller's frame": (_RETURN, f"    sd s0, 8(sp)\n{_RETURN}", "caller's frame"),
    "too deep": (
        _RETURN,
        f"    li t0, 1048576\n    sub sp, sp, t0\n    add sp, sp, t0\n{_RETURN}",
        "of stack",
    ),
    "branch on data": (_SOURCE, f"{_SOURCE}    ld a4, 0(a5)\n    beqz a4, .LBB0_8\n", "depends on x14"),
    "address from data": (
        _SOURCE,
        f"{_SOURCE}    ld a4, 0(a5)\n    add a4, a4, a2\n    ld a4, 0(a4)\n",
        "depends on x14",
    ),
    "length from data": (
        _SOURCE,
        f"{_SOURCE}    ld a4, 0(a5)\n    vsetvli zero, a4, e8, m1, ta, ma\n",
        "depends on x14",
    ),
    "store to a source": (
        "    add a4, a6, t3\n    vse8.v v13",
        "    mv a4, a2\n    vse8.v v13",
        "not to a dest",
    ),
    "a number is stored": ("    add a4, a6, t3\n", "    add a4, a6, t3\n    sd a7, 0(a4)\n", "not data"),
}
#: Errors at some vector lengths only -> the same, and the bits of the shortest wrong vector.
LENGTHS = {
    "indices repeat": (_MASK, "    vmsleu.vi v0, v10, 15\n", "&coeffs beyond its end", 4096),
    "vectors of 128 bits": (_FIRST, f"{_FIRST}    li t0, 16\n", "beyond its end", 256),
    "blocks of 64 bytes": (_BLOCK, "    li a7, 64\n", ".", 256),
    "a stack of 128 KiB": (
        _RETURN,
        f"    csrr t0, vlenb\n    slli t0, t0, 7\n    sub sp, sp, t0\n    add sp, sp, t0\n{_RETURN}",
        "of stack",
        16384,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_refuted(name: str, tmp_path: Path) -> None:
    line, by, reason = WRONG[name]
    assert line in TEXT
    report = prove(assemble(TEXT.replace(line, by, 1), tmp_path, ASSEMBLER))
    assert report.status is Status.REFUTED, report.reason
    assert re.search(reason, report.reason), report.reason


@pytest.mark.parametrize("name", LENGTHS)
def test_errors_at_one_length_are_refuted(name: str, tmp_path: Path) -> None:
    line, by, reason, bits = LENGTHS[name]
    assert line in TEXT
    report = prove(assemble(TEXT.replace(line, by, 1), tmp_path, ASSEMBLER))
    assert report.status is Status.REFUTED, report.reason
    assert re.search(rf"with vectors of {bits} bits: .*{reason}", report.reason), report.reason


#: Instructions before a return, or another replacement -> the obstacle of the proof.
UNSUPPORTED = {
    "a call": (_RETURN, "    call kernel\n    ret\n", "jal|call|kernel"),
    "an unknown instruction": (_RETURN, f"    vmv.x.s t0, v8\n{_RETURN}", "vmv.x.s"),
    "wider elements": (_FIRST, "    vsetvli t0, zero, e16, m1, ta, ma\n", "e16"),
    "groups": (_FIRST, "    vsetvli t0, zero, e8, m2, ta, ma\n", "m2"),
    "no type": (_FIRST, "    csrr t0, vlenb\n", "vtype|depends on vl"),
    "a jump into an instruction": (_BLOCK, ".option norvc\n    j .+6\n    lui t0, 8\n", "a jump into"),
    "the processor's choice": (
        _RETURN,
        f"    li t0, 24\n    vsetvli zero, t0, e8, m1, ta, ma\n{_RETURN}",
        "chooses",
    ),
    "a mask of the last bytes": (
        f"{_REST}    vle8.v v10, (a0)\n",
        f"{_REST}    vle8.v v10, (a0)\n    vmseq.vi v0, v10, 3\n",
        "arithmetic on",
    ),
    "a table from the last bytes": (
        "    vrgather.vv v14, v11, v13\n",
        "    vrgather.vv v14, v10, v13\n",
        "selects from data",
    ),
    "a jump by a register": (_RETURN, "    jr t0\n", "c.jr"),
    "an instruction of 6 bytes": (_RETURN, f"    .2byte 0x1f, 0\n{_RETURN}", "skips bytes|other bytes"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_code_is_not_proved(name: str, tmp_path: Path) -> None:
    line, by, reason = UNSUPPORTED[name]
    assert line in TEXT
    report = prove(assemble(TEXT.replace(line, by, 1), tmp_path, ASSEMBLER))
    assert report.status is Status.UNSUPPORTED, report.reason
    assert re.search(reason, report.reason), report.reason


def test_code_is_not_proved_without_the_disassembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembler, "TOOL", "no-objdump")
    text = TEXT.replace(_RETURN, f"    li s0, 9\n{_RETURN}")  # which no other test disassembles
    report = prove(assemble(text, tmp_path, ASSEMBLER))
    assert report.status is Status.UNSUPPORTED
    assert "no-objdump is not installed" in report.reason


def test_two_loads_of_an_end_may_differ_behind_it(tmp_path: Path) -> None:
    """A sum that is 0 in the shard is no table of zeros."""
    more = "    vle8.v v10, (a0)\n"
    wrong = f"{more}    vle8.v v20, (a0)\n    vsetvli a5, zero, e8, m1, ta, ma\n    vxor.vv v20, v20, v10\n"
    report = prove(assemble(TEXT.replace(more, wrong, 1), tmp_path, ASSEMBLER))
    assert (report.status, "cancel" in report.reason) == (Status.UNSUPPORTED, True), report.reason


FRAMED = """
    addi sp, sp, -32
    sd ra, 24(sp)
    sd s0, 16(sp)
    csrr t0, vlenb
    slli t1, t0, 1
    sub sp, sp, t1
    add t1, sp, t0
    vs1r.v v8, (sp)
    vs1r.v v9, (t1)
    vl1re8.v v8, (t1)
    li s0, 3
    mul t1, t0, s0
    sub t1, t1, t0
    add sp, sp, t1
    ld s0, 16(sp)
    ld ra, 24(sp)
    addi sp, sp, 32
"""


def test_frames_are_understood(tmp_path: Path) -> None:
    report = prove(assemble(TEXT.replace(_RETURN, FRAMED + _RETURN), tmp_path, ASSEMBLER))
    assert report.status is Status.PROVED, report.reason


#: Byte and bit -> the reason why a kernel with that bit flipped is equally right.
EQUIVALENT = {(228, 6): "a copy of another register that also holds 0"}
_SAMPLE = 60


def test_flipped_bits(tmp_path: Path) -> None:
    """No kernel with a random bit of its code flipped is proved, except the equivalent ones."""
    image = assemble(TEXT, tmp_path, ASSEMBLER)
    rng, size = Random(6), image.functions[NAME].size
    outcomes: Counter[Status] = Counter()
    proved = {}
    for _ in range(_SAMPLE):
        place, bit = rng.randrange(size), rng.randrange(8)
        report = prove(flipped(image, NAME, place, bit), 10_000)
        outcomes[report.status] += 1
        if report:
            proved[place, bit] = report
    assert set(proved) == set(EQUIVALENT)
    assert outcomes[Status.REFUTED] > _SAMPLE // 4
