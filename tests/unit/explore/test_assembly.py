"""Loops found in compiled code by control flow, on several architectures, and the bytes that an iteration
reads.
"""

from __future__ import annotations

import pytest

from gfsmith.build import generate
from gfsmith.explore.cost_model import compiled, tools
from gfsmith.explore.cost_model.assembly import Function, functions
from gfsmith.explore.cost_model.mca import Prediction, predict_loop
from gfsmith.explore.cost_model.target import TARGETS
from gfsmith.kernel.architecture import Arch
from tests.support.specs import make_spec

#: A loop over bytes that contains a loop over sources, in clang's layout: entered in the middle, after a
#: block for zero sources; then a smaller loop, and a tail that only loops over sources.
AARCH64 = """
0000000000000000 <kernel>:
       0: cbz x0, 0x60 <kernel+0x60>
       4: adrp x9, 0x0 <kernel>
       8: b 0x18 <kernel+0x18>
       c: movi v6.16b, #0x0
      10: stp q6, q7, [x14]
      14: b.ls 0x44 <kernel+0x44>
      18: cbz x1, 0xc <kernel+0xc>
      1c: movi v7.16b, #0x1
      20: ldr x17, [x15], #0x8
      24: ldp q17, q18, [x17] // 32 bytes
      28: tbl v1.16b, { v20.16b }, v17.16b
      2c: tbl v2.16b, { v20.16b }, v18.16b
      30: tbl v3.16b, { v20.16b }, v17.16b
      34: tbl v4.16b, { v20.16b }, v18.16b
      38: subs x16, x16, #0x1
      3c: b.ne 0x20 <kernel+0x20>
      40: b 0x10 <kernel+0x10>
      44: tbl v1.16b, { v20.16b }, v17.16b
      48: tbl v2.16b, { v20.16b }, v18.16b
      4c: b.ne 0x44 <kernel+0x44>
      50: tbl v1.16b, { v20.16b }, v17.16b
      54: tbl v2.16b, { v20.16b }, v18.16b
      58: tbl v2.16b, { v20.16b }, v18.16b
      5c: b.ne 0x50 <kernel+0x50>
      60: ret
"""

POWER = """
0000000000000000 <kernel>:
       0: mtctr 6
       4: lxv 34, 0(3)
       8: lxv 1, 32(1)
       c: vpermxor 2, 3, 4, 5
      10: vpermxor 2, 3, 4, 5
      14: bdnz 0x4 <kernel+0x4>
      18: blr
"""

RISCV = """
0000000000000000 <kernel>:
       0: vsetvli t0, t1, e8, m1, ta, ma

0000000000000004 <.Lpcrel_hi0>:
       4: bge t2, a0, 0x1c <kernel+0x1c>
       8: vle8.v v1, (t1)
       c: vrgather.vv v2, v3, v1
      10: beqz t3, 0x18 <kernel+0x18>
      14: vrgather.vv v2, v3, v1
      18: j 0x4 <kernel+0x4>
      1c: ret
"""

S390X = """
0000000000000000 <kernel>:
       0: vl %v1, 160(%r15)
       6: larl %r1, 0x0
       c: vperm %v2, %v3, %v3, %v1
      12: <unknown>
      18: brctg %r12, 0xc
      1e: br %r14
"""


def _function(listing: str, arch: Arch) -> Function:
    return functions(listing, TARGETS[arch])["kernel"]


ARM = _function(AARCH64, Arch.AARCH64)


def test_lines_are_read() -> None:
    lines = ARM.lines
    assert len(lines) == 25
    assert (lines[0].name, lines[0].jump) == ("cbz", 0x60)
    assert lines[1].jump is None, "adrp computes an address and does not branch"
    assert lines[9].text == "ldp q17, q18, [x17]"
    assert lines[15].at(".Lhere") == "b.ne .Lhere"


def test_loops_are_found_with_the_surrounding_loops() -> None:
    found = [
        (loop.lines[0].address, len(loop.members), around is not None) for loop, around in ARM.every_loop()
    ]
    assert found == [(0xC, 14, False), (0x44, 3, False), (0x50, 4, False), (0x20, 8, True)]
    outer = ARM.loops()[0]
    assert ARM.lines[outer.entry].address == 0x18, "the loop is entered in its middle"


def test_an_iteration_skips_the_block_for_no_sources() -> None:
    outer = ARM.loops()[0]
    turn = [line.address for line in outer.turn(outer.inner[0], 3)]
    body = list(range(0x20, 0x40, 4))
    assert turn == [0x18, 0x1C, *body, *body, *body, 0x40, 0x10, 0x14]


@pytest.mark.parametrize(("nested", "address", "lookups"), [(True, 0x20, 4), (False, 0x20, 4)])
def test_the_heaviest_loop(nested: bool, address: int, lookups: int) -> None:
    done, loop, around = compiled.heaviest(ARM, nested, lookups=True)
    assert (done, ARM.lines[loop.entry].address, around is not None) == (lookups, address, nested)


def test_the_tail_is_not_the_main_loop() -> None:
    """Without the nested loop the tail has the most lookups; it loops over sources without an outer loop."""
    rest = Function(ARM.lines[17:], TARGETS[Arch.AARCH64])
    assert compiled.heaviest(rest, False, lookups=True)[0] == 3
    with pytest.raises(tools.Unavailable, match="no loop does the work"):
        compiled.heaviest(rest, True, lookups=True)


def test_power() -> None:
    """Loads from the stack belong to the compiler, not to the kernel."""
    function = _function(POWER, Arch.POWER)
    done, loop, _ = compiled.heaviest(function, False, lookups=True)
    assert (done, loop.turn()[0].text, len(loop.turn())) == (2, "lxv 34, 0(3)", 5)
    assert compiled.work(function.target, loop.turn(), lookups=False) == 1


def test_riscv() -> None:
    """The loop ends with an unconditional jump back; a branch over work is not taken, and a local label is
    not a function. The result includes the vector set-up before the loop.
    """
    function = _function(RISCV, Arch.RISCV)
    done, loop, around = compiled.heaviest(function, False, lookups=True)
    assert done == 2 and [line.address for line in loop.turn()] == list(range(4, 0x1C, 4))
    made = compiled.executed(function, loop, around, 16, True, 1, 1)
    assert made.text.splitlines()[:3] == ["# LLVM-MCA-RISCV-LMUL M1", "# LLVM-MCA-RISCV-SEW E8", ".Lmodel:"]
    assert made.bytes_on("sifive-p670") == 16 and made.bytes_on("sifive-x280") == 64


def test_s390x() -> None:
    """Its branches end in bare addresses, which data may contain too."""
    function = _function(S390X, Arch.S390X)
    done, loop, _ = compiled.heaviest(function, False, lookups=True)
    assert (done, loop.turn()[0].address, len(loop.turn())) == (1, 0xC, 3)
    assert function.lines[1].jump is None and function.lines[3].name == "<unknown>"


@pytest.mark.parametrize("victim", ["b.ne", "tbl"])
def test_mutants_are_detected(victim: str) -> None:
    """Without its backward branch there is no inner loop; without a lookup the count differs."""
    number = next(n for n, line in enumerate(ARM.lines) if line.name == victim)
    changed = Function((*ARM.lines[:number], *ARM.lines[number + 1 :]), ARM.target)
    if victim == "b.ne":
        with pytest.raises(tools.Unavailable):
            compiled.heaviest(changed, True, lookups=True)
    else:
        assert compiled.heaviest(changed, True, lookups=True)[0] == 3


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("shape", "source_bytes", "lookups"),
    [
        (("dot", 6, 2, 2), 6 * 2 * 16, 6 * 2 * 2 * 2),
        (("dot", None, 3, 2), 10 * 2 * 16, 10 * 2 * 2 * 3),
        (("mad", 1, 4, 1), 16, 2 * 4),
        (("mul", None, 1, 4), 4 * 16, 4 * 2),
        (("xor", None, 1, 2), 10 * 2 * 16, 0),
        (("xor", 4, 1, 2), 4 * 2 * 16, 0),
    ],
    ids=lambda v: "-".join(map(str, v)) if isinstance(v, tuple) else None,
)
def test_bytes_per_iteration_of_a_compiled_kernel(
    shape: tuple[str, int | None, int, int], source_bytes: int, lookups: int
) -> None:
    """The result follows from the shape: all sources, or ten if the number is variable."""
    operation, inputs, outputs, unroll = shape
    spec = make_spec(operation, inputs, outputs, "neon", unroll=unroll)
    loop = compiled.loop_of(spec)
    assert loop.source_bytes == source_bytes
    assert sum(line.name == "tbl" for line in loop.lines) == lookups
    assert len(loop.text.splitlines()) == loop.count + 1


@pytest.mark.needs("clang")
def test_a_loop_that_does_something_else_is_refused() -> None:
    spec = make_spec("dot", 6, 2, "neon", unroll=2)
    other = compiled.function_of(make_spec("dot", 5, 2, "neon", unroll=2))
    with pytest.raises(tools.Unavailable, match="has 40 lookups and the Program's 48"):
        compiled.main_loop(other, spec, generate.program(spec))


@pytest.mark.needs("clang")
def test_a_prediction_that_is_known_beforehand() -> None:
    """Eight lookups, eight sums, a shift and a mask for 16 bytes and four outputs, on two pipes: nine cycles,
    plus the stores.
    """
    found = predict_loop(compiled.loop_of(make_spec("dot", None, 4, "neon", unroll=2)), "neoverse-n1")
    assert isinstance(found, Prediction)
    assert 36 <= found.cycles_per_64 <= 39
    assert found.bottleneck == "N1UnitV0, N1UnitV1"
