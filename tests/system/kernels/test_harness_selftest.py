"""The harness accepts right kernels and reports each fault of a wrong one correctly.

This file covers x86-64; test_emulated_selftest.py covers the other machines.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.levels import first

SWEEPS = ("lengths", "large", "wide", "coefficients", "alignments", "in_place", "stepped")
BOTH = ("sysv", "ms")

#: Kernel, ABIs, the sweep that must find the fault, a part of the expected report.
FAULTS = (
    ("bad_reads_past", BOTH, "lengths", "reads in the guard after src[1], 0 bytes past"),
    ("bad_reads_before", BOTH, "lengths", "reads in the guard before src[1], 1 bytes before"),
    ("bad_reads_empty", BOTH, "lengths", "len 0, k 3, buffers flush to the end"),
    ("bad_reads_past_coeffs", BOTH, "lengths", "reads in the guard after coeffs, 0 bytes past"),
    ("bad_reads_past_src_array", BOTH, "lengths", "reads in the guard after the src array"),
    ("bad_reads_past_ahead__scalar_u16", BOTH, "lengths", "reads in the guard after the src array"),
    ("bad_reads_ahead__scalar_u16", BOTH, "lengths", " at kernel+"),
    ("bad_writes_past", BOTH, "lengths", "writes in the guard after dst[1], 0 bytes past"),
    ("bad_writes_before", BOTH, "lengths", "writes in the guard before dst[1], 1 bytes before"),
    ("bad_writes_past_in_page", BOTH, "lengths", "writes out of bounds: byte 0 of dst[1], which"),
    ("bad_writes_before_in_page", BOTH, "lengths", "writes out of bounds: byte -1 of dst[0]"),
    ("bad_tail", BOTH, "lengths", "len 5, k 3, buffers flush to the end"),
    ("bad_above_256", BOTH, "large", "len 257, k 5, buffers flush to the end"),
    ("bad_16_bit_len", BOTH, "large", "len 65553, k 5, buffers flush to the end"),
    ("bad_36_sources", BOTH, "wide", "len 1, k 40, buffers flush to the end"),
    ("bad_8_bit_k", BOTH, "wide", "len 1, k 257, buffers flush to the end"),
    ("bad_ignores_last_output", BOTH, "lengths", "wrong value: dst[0][0] is"),
    ("bad_coefficient_77", BOTH, "coefficients", "wrong value: dst[1][0] is"),
    ("bad_accumulates", BOTH, "lengths", "wrong value: dst[0][0] is"),
    ("bad_reads_k", BOTH, "lengths", "reads in the guard after"),
    ("bad_in_place", BOTH, "in_place", ", dst[0] == src[0], coefficients"),
    ("bad_in_place_mad", BOTH, "in_place", "wrong value: dst[1][0] is"),
    ("bad_modifies_source", BOTH, "lengths", "modifies src[1], which is an input"),
    ("bad_modifies_coeffs", BOTH, "lengths", "modifies coeffs[0], which is an input"),
    ("bad_modifies_array", BOTH, "lengths", "modifies dst array[0], which is an input"),
    ("bad_branches_on_coefficient", BOTH, "stepped", "branches depend on data or coefficients"),
    ("bad_never_returns", BOTH[:1], "lengths", "does not return: still at kernel+"),
    ("bad_xor_reads_coeffs", BOTH, "lengths", "reads in address (nil), outside all buffers"),
)

#: The same for faults that depend on the machine.
X86_FAULTS = (
    ("bad_wants_alignment", BOTH, "lengths", "general protection fault (SIGSEGV) at kernel+"),
    ("bad_clobbers_rbx", BOTH, "lengths", "clobbers rbx, which is callee-saved"),
    ("bad_clobbers_r15", BOTH, "lengths", "clobbers r15, which is callee-saved"),
    ("bad_clobbers_rsi", BOTH[1:], "lengths", "clobbers rsi, which is callee-saved"),
    ("bad_clobbers_xmm6", BOTH[1:], "lengths", "clobbers xmm6, which is callee-saved"),
    ("bad_direction_flag", BOTH, "lengths", "leaves the direction flag set"),
    ("bad_leaks_push", BOTH, "lengths", "leaves the kernel for 0x0"),
    ("bad_pops_too_much", BOTH, "lengths", "returns with rsp off by 8 bytes"),
    ("bad_illegal_instruction", BOTH, "lengths", "illegal instruction (SIGILL) at kernel+0x0"),
    ("bad_mxcsr", BOTH, "lengths", "changes MXCSR"),
    ("bad_x87_control", BOTH, "lengths", "changes the x87 control word"),
    ("bad_mmx", BOTH, "lengths", "leaves the x87/MMX state in use"),
    ("bad_caller_frame", BOTH, "lengths", "overwrites the caller's frame, byte"),
    ("bad_below_stack", BOTH, "stepped", "single-stepped"),
)

#: The same for baked kernels.
BAKED_FAULTS = (
    ("bad_baked_coefficient__scalar_u1", BOTH, "lengths", "wrong value: dst[1][0] is"),
    ("bad_baked_rows__scalar_u1", BOTH, "lengths", "wrong value: dst[0][0] is"),
    ("bad_baked_writes_past__scalar_u1", BOTH, "lengths", "writes in the guard after dst[1], 0 bytes past"),
    ("bad_baked_writes_past_in_page__scalar_u1", BOTH, "lengths", "writes out of bounds: byte 0 of dst[1]"),
    ("bad_baked_reads_past__scalar_u1", BOTH, "lengths", "reads in the guard after src[2], 0 bytes past"),
    ("bad_baked_tail", BOTH, "lengths", "len 259, k 3, buffers flush to the end"),
    ("bad_baked_reads_coeffs__scalar_u1", BOTH, "lengths", "reads in address (nil), outside all buffers"),
    ("bad_baked_follows_coeffs__scalar_u1", BOTH, "lengths", "reads in the guard before coeffs, 8192 bytes"),
    ("bad_baked_reads_k__scalar_u1", BOTH, "lengths", "reads in the guard after the src array"),
)

#: The same for faults that appear only on a CPU with AVX2.
AVX2_FAULTS = (("bad_no_vzeroupper", BOTH, "lengths", "leaves bits 128 and up of vector register 3 in use"),)

RIGHT = {
    "good_dot": 0x11D,
    "good_dot_2x1": 0x11D,
    "good_mad": 0x11D,
    "good_mul": 0x11D,
    "good_xor": 0x11D,
    "good_affine": 0x165,
    "good_nibble": 0x11B,
    "good_mulb": 0x11B,
    "good_shadow_or_red_zone": 0x11D,
}


def flat(faults: tuple[tuple[str, tuple[str, ...], str, str], ...]) -> list[Any]:
    return [
        pytest.param(symbol, abi, sweep, reason, id=f"{symbol}-{abi}")
        for symbol, abis, sweep, reason in faults
        for abi in abis
    ]


@pytest.mark.parametrize("abi", first(BOTH))
@pytest.mark.parametrize("symbol", RIGHT)
def test_right_kernel_passes(selftest_library: Any, symbol: str, abi: str) -> None:
    calls = {}
    for sweep in SWEEPS:
        calls[sweep], report = selftest_library.run(symbol, abi, sweep, RIGHT[symbol])
        assert calls[sweep] >= 0, report
    assert calls["lengths"] == 4 * 3 * (4 * 8 + 3 + 1)
    assert calls["coefficients"] == 256


@pytest.mark.parametrize("abi", first(BOTH))
@pytest.mark.parametrize(
    "symbol, block", [("good_baked__scalar_u1", 8), ("good_baked__scalar_nibble_u2_p512t0", 16)]
)
def test_right_baked_kernel_passes(selftest_library: Any, symbol: str, block: int, abi: str) -> None:
    """A baked kernel has no choice of coefficients; its name states the block, otherwise the largest is
    assumed.
    """
    calls = {}
    for sweep in SWEEPS:
        calls[sweep], report = selftest_library.run(symbol, abi, sweep, 0x11D)
        assert calls[sweep] >= 0, report
    assert calls["lengths"] == 3 * (4 * block + 3 + 1)
    assert calls["coefficients"] == calls["wide"] == calls["in_place"] == 0
    assert selftest_library.block_bytes(symbol) == block
    assert selftest_library.block_bytes("bad_baked_tail") == 64


@pytest.mark.parametrize("abi", BOTH)
def test_right_pipelined_kernel_passes(selftest_library: Any, abi: str) -> None:
    """The values of the prefetch pointers do not matter."""
    symbol = "good_pipelined__scalar_u16"
    for sweep in ("lengths", "large", "wide"):
        calls, report = selftest_library.run(symbol, abi, sweep, 0x11D)
        assert calls > 0, report
    assert selftest_library.block_bytes(symbol) == 128


@pytest.mark.parametrize("symbol, abi, sweep, reason", flat(FAULTS + BAKED_FAULTS + X86_FAULTS))
def test_fault_is_reported(selftest_library: Any, symbol: str, abi: str, sweep: str, reason: str) -> None:
    calls, report = selftest_library.run(symbol, abi, sweep, 0x11D)
    assert calls == -1
    assert reason in report
    assert report.startswith(f"{symbol}")


@pytest.mark.parametrize("symbol, abi, sweep, reason", flat(AVX2_FAULTS))
def test_fault_of_avx2_is_reported(
    selftest_library: Any,
    require_isa: Any,
    symbol: str,
    abi: str,
    sweep: str,
    reason: str,
) -> None:
    require_isa("avx2")
    test_fault_is_reported(selftest_library, symbol, abi, sweep, reason)


@pytest.mark.parametrize("abi", BOTH)
def test_upper_halves_in_use_though_zero_are_reported(
    selftest_library: Any, require_isa: Any, abi: str
) -> None:
    """A register zeroed by VPXOR is still in use: zeros next to junk reveal it, or XGETBV does."""
    require_isa("avx2")
    calls, report = selftest_library.run("bad_no_vzeroupper_zeros", abi, "lengths", 0x11D)
    assert calls == -1
    assert "no vzeroupper" in report


def test_wrong_product_is_reported(selftest_library: Any) -> None:
    """A kernel with another built-in polynomial fails, because the expected bytes do not come from the
    kernel.
    """
    calls, report = selftest_library.run("good_mulb", "sysv", "lengths", 0x11D)
    assert calls == -1
    assert "wrong value: dst[0][" in report


def test_harness_continues_after_a_fault(selftest_library: Any) -> None:
    """A wrong kernel does not affect the check of the next one."""
    for symbol in ("bad_writes_past_in_page", "bad_direction_flag", "bad_reads_past", "bad_mmx"):
        assert selftest_library.run(symbol, "sysv", "lengths", 0x11D)[0] == -1
        calls, report = selftest_library.run("good_mad", "sysv", "lengths", 0x11D)
        assert calls > 0, report


def test_unknown_kernel_or_sweep_is_refused(selftest_library: Any) -> None:
    assert selftest_library.run("no_such_kernel", "sysv", "lengths", 0x11D)[0] == -1
    assert selftest_library.run("good_dot", "sysv", "no_such_sweep", 0x11D)[0] == -1
