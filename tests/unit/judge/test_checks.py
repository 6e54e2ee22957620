"""Each check of the judge rejects a value that no certificate of a kernel has; no other test needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judge import branch, contract, decode, forms, invariant, memory, semantics, spec
from judge.forms import variable
from judge.integers import Pointer, Region, Rejected, scale, subtract, unknown
from judge.memory import Compared, Data, State
from tests.unit.judge.test_soundness import KNOWN, LINES, PLAIN

N, T = unknown("n"), unknown("t0")
SRC = variable("src", 0)
DST, STACK = Region("dst", 0), Region("stack")


def _state(**changes: Any) -> State:
    return contract.entry(spec.read(PLAIN | changes), b"", contract.ABIS["sysv"])


def _either_side() -> Any:
    state = _state()
    state.facts.assume(T, 0, 2)
    state.flags = Compared(T, 1)
    return branch.decide(state, "je")


def _unfenced() -> Any:
    state = _state()
    state.gpr["rax"] = 0
    state.unfenced = True
    return contract.check_end(state)


def _old_name() -> Any:
    return invariant.begin(_state(), ["t0", [0, None], {}], N, {"t0"})


def _bounds_that_do_not_hold() -> Any:
    state = _state()
    return invariant.Loop(state, state, {}, "t0", (0, 10), ends=True).check(state, T)


def _read_after_the_end() -> Any:
    state = _state()
    state.facts.assume(N, 16, 16)
    state.complete = 1
    return memory.load(state, Pointer(DST, 0), 16)


def _pointer_of_unknown_kind() -> Any:
    state = _state(symbol="gfs_mad_2x4__sse_u1_pipe", ahead=1)
    state.facts.assume(T, 0, 3)
    return memory.load_word(state, Pointer(Region("srcs"), scale(T, 8)))


def _end_before_the_beginning() -> Any:
    state = _state()
    state.facts.assume(N, 16, 32)
    want = forms.run_of(16, 16, state.spec.expected(0, state.sources, end=True))
    return memory.store(state, Pointer(DST, 16), Data((want,)), 16, subtract(N, 16))


def _effect(code: str) -> Any:
    return semantics.effect(decode.decode(bytes.fromhex(code)))


_CASES: list[tuple[Callable[[], Any], str]] = [
    (_either_side, "both sides of 0"),
    (_unfenced, "not fenced"),
    (_old_name, "no new name"),
    (_bounds_that_do_not_hold, "do not hold again"),
    (_read_after_the_end, "after its end was written"),
    (_pointer_of_unknown_kind, "behind the sources"),
    (_end_before_the_beginning, "before its beginning"),
    (lambda: decode.decode(bytes.fromhex("62f1e54871d204")), "third register"),
    (lambda: decode.decode(bytes.fromhex("62411550ef3c04")), "with rounding"),
    (lambda: forms.ended(forms.CONSTANTS[1]), "constant behind the end"),
    (lambda: forms.cut(forms.zeros(4), 0, 8), "not known"),
    (lambda: forms.combine(forms.xor, forms.zeros(4), forms.zeros(8)), "different lengths"),
    (lambda: memory.extent(_state(), STACK), "has no size"),
    (lambda: memory.load(_state(), Pointer(STACK, -5000), 8), "beyond a guard page"),
    (lambda: memory.move_stack(_state(), Pointer(DST, 0)), "leaves the stack"),
    (lambda: semantics._add_bytes(SRC, forms.ZERO), "sum of different bytes"),
    (lambda: semantics._greater(SRC, SRC), "other bytes than 0"),
    (lambda: _effect("660f73d008"), "shift by whole bytes"),
    (lambda: semantics._shuffle(bytes(range(16)), SRC), "may exceed 15"),
    (lambda: semantics._linear_table(bytes([*range(15), 14])), "not linear"),
    (lambda: semantics._product(b"\1\2", SRC), "bytes that differ"),
    (lambda: semantics._exclusive(_state(), 1, 2), "different values"),
    (lambda: semantics._align(_state(), Pointer(DST, 0), -64), "no address on the stack"),
    (lambda: semantics._align(_state(), Pointer(STACK, 0), -48), "another number"),
    (lambda: spec.read(PLAIN | {"left_over": 0}), "other fields"),
    (lambda: spec.read(PLAIN | {"symbol": "f"}), "no name of a kernel"),
    (lambda: spec.read(PLAIN | {"table": "bytes"}), "unknown table format"),
    (
        lambda: spec.read(
            PLAIN | {"symbol": "gfs_mul_2x4__sse_u1", "operation": "mul"},
        ),
        "have one output",
    ),
    (lambda: spec.read(PLAIN | KNOWN | {"rows": [[1, 2]] * 3}), "another shape"),
    (lambda: spec.read(PLAIN | {"table": "mulb", "polynomial": 0x11D}), "modulo 0x11b"),
    (
        lambda: spec.read(
            LINES
            | {
                "symbol": "gfs_fft_2x4__gfni_avx2_u1",
                "operation": "fft",
                "inputs": 2,
                "outputs": 4,
                "in_place": True,
            }
        ),
        "butterfly of another shape",
    ),
    (lambda: spec.read(PLAIN | {"group": 0}), "wrong group"),
    (lambda: spec.read(PLAIN | KNOWN).place(0, 2), "no coefficient table"),
    (lambda: spec.read(PLAIN | KNOWN).product(T, 0), "unknown source"),
    (lambda: spec.read(LINES).butterfly(8), "unknown output"),
    (
        lambda: spec.read(
            PLAIN
            | {
                "symbol": "gfs_horner_2x4__sse_u1",
                "operation": "horner",
                "table": "none",
                "in_place": False,
                "descending": True,
            }
        ).gained(SRC, T, 0, 1),
        "unknown output",
    ),
]


@pytest.mark.parametrize(("wrong", "reason"), _CASES, ids=[reason for _, reason in _CASES])
def test_a_wrong_value_is_rejected(wrong: Callable[[], Any], reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        wrong()
