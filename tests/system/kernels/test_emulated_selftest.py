"""Under qemu-user, too, the harness accepts right kernels and reports each fault of a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.kernels.emulated import AARCH64, PPC64LE, RISCV64, S390X, Emulation, Machine
from tests.system.kernels.emulator import Emulator, Emulators, Tracer
from tests.system.kernels.sweeping import RECIPES, SWEEPS
from tests.system.kernels.test_harness_selftest import BAKED_FAULTS, FAULTS, RIGHT

CPUS = (
    Emulation("scalar", AARCH64, "cortex-a53", 8),
    Emulation("scalar", AARCH64, "a64fx,sve-default-vector-length=32", 8),
    Emulation("scalar", PPC64LE, "power8", 8),
    Emulation("scalar", RISCV64, "rv64,v=true,vext_spec=v1.0,vlen=128", 8),
    Emulation("scalar", S390X, "qemu", 8),
)

#: Faults that need single-stepping: the first has a test below, the second is undetected under qemu-user.
STEPPED = ("bad_branches_on_coefficient", "bad_below_stack")
#: The watchdog is the same on all machines, and the test takes long.
SLOW = ("bad_never_returns",)

#: Faults that only the machine's own trampoline and abi.c can find, and the expected message.
OWN_FAULTS = {
    AARCH64: {
        "bad_clobbers_x19": "clobbers x19, which is callee-saved",
        "bad_clobbers_x29": "clobbers x29, which is callee-saved",
        "bad_clobbers_d8": "clobbers d8, which is callee-saved",
        "bad_clobbers_d15": "clobbers d15, which is callee-saved",
        "bad_fpcr": "changes FPCR",
        "bad_stack_pointer": "returns with sp off by -32 bytes",
        "bad_caller_frame": "overwrites the caller's frame, byte 16 of it",
        "bad_return_address": "leaves the kernel for 0x0",
    },
    PPC64LE: {
        "bad_clobbers_r13": "clobbers r13, which is callee-saved",
        "bad_clobbers_r14": "clobbers r14, which is callee-saved",
        "bad_clobbers_r31": "clobbers r31, which is callee-saved",
        "bad_clobbers_f14": "clobbers f14, which is callee-saved",
        "bad_clobbers_f31": "clobbers f31, which is callee-saved",
        "bad_clobbers_v20": "clobbers v20, which is callee-saved",
        "bad_clobbers_v31": "clobbers v31, which is callee-saved",
        "bad_clobbers_cr2": "clobbers CR2, CR3 or CR4",
        "bad_clobbers_cr4": "clobbers CR2, CR3 or CR4",
        "bad_vrsave": "changes VRSAVE",
        "bad_rounding": "changes the control bits of FPSCR",
        "bad_stack_pointer": "returns with r1 off by -32 bytes",
        # They store an address, of which any byte may be the one that is there.
        "bad_caller_frame": "overwrites the caller's frame, byte 3",
        "bad_back_chain": "overwrites the caller's frame, byte ",
    },
    RISCV64: {
        "bad_clobbers_s0": "clobbers s0, which is callee-saved",
        "bad_clobbers_s11": "clobbers s11, which is callee-saved",
        "bad_clobbers_gp": "clobbers gp, which is callee-saved",
        "bad_clobbers_fs0": "clobbers fs0, which is callee-saved",
        "bad_clobbers_fs11": "clobbers fs11, which is callee-saved",
        "bad_rounding": "changes the rounding mode",
        "bad_vstart": "leaves vstart at 1",
        "bad_stack_pointer": "returns with sp off by -32 bytes",
        "bad_caller_frame": "overwrites the caller's frame, byte 16 of it",
        "bad_return_address": "leaves the kernel for 0x0",
    },
    S390X: {
        "bad_clobbers_r6": "clobbers r6, which is callee-saved",
        "bad_clobbers_r7": "clobbers r7, which is callee-saved",
        "bad_clobbers_r13": "clobbers r13, which is callee-saved",
        "bad_clobbers_f8": "clobbers f8, which is callee-saved",
        "bad_clobbers_f15": "clobbers f15, which is callee-saved",
        "bad_rounding": "changes the rounding mode",
        "bad_stack_pointer": "returns with r15 off by -32 bytes",
        "bad_caller_frame": "overwrites the caller's frame, byte 160 of it",
        "bad_back_chain": "overwrites the caller's frame, byte 0 of it",
        "bad_return_address": "leaves the kernel for 0x0",
    },
}
#: Allowed behaviour that resembles a fault.
OWN_RIGHT = {
    AARCH64: ("good_upper_half",),
    PPC64LE: ("good_save_words", "good_second_half", "good_cr5"),
    RISCV64: ("good_flags",),
    S390X: ("good_save_area", "good_second_half"),
}


def name(cpu: Emulation) -> str:
    return f"{cpu.machine.name}-{cpu.cpu.partition(',')[0]}"


def faults(cpu: Emulation) -> list[tuple[str, str, str]]:
    """Return kernel, the sweep that must find its fault, and a part of the expected report."""
    common = [
        # qemu does not tell signal handlers whether an access was a read or a write.
        (symbol, sweep, reason.replace("reads in", "in").replace("writes in", "in"))
        for symbol, _, sweep, reason in FAULTS + BAKED_FAULTS
        if symbol not in STEPPED and (symbol not in SLOW or cpu == CPUS[0])
    ]
    if cpu.machine == S390X:  # a signal's address is that of the page
        common = [
            (symbol, sweep, reason.replace(", 1 bytes", ", 4096 bytes")) for symbol, sweep, reason in common
        ]
    own = {**OWN_FAULTS[cpu.machine], "bad_illegal_instruction": "illegal instruction (SIGILL) at kernel+0x"}
    return common + [(symbol, "lengths", reason) for symbol, reason in own.items()]


@pytest.mark.parametrize(
    "cpu, symbol, sweep, reason",
    [pytest.param(cpu, *fault, id=f"{fault[0]}-{name(cpu)}") for cpu in CPUS for fault in faults(cpu)],
)
def test_fault_is_reported(
    selftest_emulators: Emulators[Emulator], cpu: Emulation, symbol: str, sweep: str, reason: str
) -> None:
    calls, report = selftest_emulators.process(cpu).run(symbol, sweep, 0x11D)
    assert calls == -1
    assert reason in report
    assert report.startswith(f"{symbol} (")


@pytest.mark.parametrize("cpu", CPUS, ids=name)
def test_right_kernels_pass(selftest_emulators: Emulators[Emulator], cpu: Emulation) -> None:
    """Right kernels pass after wrong ones, so no fault affects later calls."""
    process = selftest_emulators.process(cpu)
    right = {symbol: p for symbol, p in RIGHT.items() if symbol != "good_shadow_or_red_zone"}
    right |= dict.fromkeys(OWN_RIGHT[cpu.machine], 0x11D)
    for symbol, polynomial in right.items():
        assert process.run("bad_writes_past_in_page", "lengths", 0x11D)[0] == -1
        assert process.run("bad_illegal_instruction", "lengths", 0x11D)[0] == -1
        for sweep in SWEEPS if symbol == "good_dot" else ("lengths", "coefficients", "in_place"):
            calls, report = process.run(symbol, sweep, polynomial)
            assert calls >= 0, report
            assert calls > 0 or sweep == "in_place", (symbol, sweep)
    assert process.run("good_mulb", "lengths", 0x11D)[0] == -1  # generated for another polynomial


@pytest.mark.parametrize("cpu", CPUS, ids=name)
def test_invalid_requests_and_programs_are_reported(
    selftest_emulators: Emulators[Emulator], cpu: Emulation
) -> None:
    process = selftest_emulators.process(cpu)
    assert process.run("no_such_kernel", "lengths", 0x11D)[0] == -1
    assert process.run("good_dot", "no_such_sweep", 0x11D)[0] == -1
    assert process.ask("good_dot") == (-1, "not a request: good_dot")


@pytest.mark.parametrize("cpu", CPUS, ids=name)
@pytest.mark.parametrize("symbol, right", [("good_dot", True), ("bad_branches_on_coefficient", False)])
def test_branches_on_coefficients_are_detected(
    selftest_programs: Callable[[Machine], Path], tables: Path, cpu: Emulation, symbol: str, right: bool
) -> None:
    tracer = Tracer(selftest_programs(cpu.machine), cpu, tables, [symbol])
    calls, report = tracer.run(symbol, "stepped", 0x11D)
    traces = tracer.traces()
    tracer.close()
    assert calls == len(traces) > 0, report
    assert all(traces[n] == traces[n + 1] for n in range(0, calls, RECIPES)) == right
