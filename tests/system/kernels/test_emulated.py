"""Every generated kernel for another machine, executed under qemu-user with the tests of x86.

The sweeps are thin (harness/sweeps.c states their omissions). qemu-user cannot single-step, so the bytes
below the stack are not destroyed after each instruction, but qemu-user logs the executed blocks.
"""

from __future__ import annotations

import pytest

from tests.support.cpu import CPU_FLAGS
from tests.support.golden_record import EXECUTED
from tests.system.kernels.conftest import GENERATED
from tests.system.kernels.emulated import EMULATIONS, MACHINES, Emulation, kernels_for
from tests.system.kernels.emulator import Emulator, Emulators, Tracer
from tests.system.kernels.lists import ARCHS, Kernel, all_kernels_of
from tests.system.kernels.sweeping import RECIPES, SWEEPS, sweep_all, usual_polynomial

#: Architectures whose kernels are not executed here: other tests execute WebAssembly in Node.js
#: (tests/system/bindings/wasm), and qemu 7.2 of Debian 12 lacks LoongArch's vectors (test_loongarch.py).
ELSEWHERE = {"wasm", "loongarch"}


def test_kernel(
    emulators: Emulators[Emulator], emulation: Emulation, kernel: Kernel, request: pytest.FixtureRequest
) -> None:
    process = emulators.process(emulation)

    def run(sweep: str, polynomial: int) -> tuple[int, str]:
        return process.run(kernel.symbol, sweep, polynomial)

    block, _ = process.ask(f"block {kernel.symbol}")
    turns, rest = divmod(block, emulation.vector_bytes)
    assert rest == 0 and (kernel.unroll == turns or kernel.matrix is not None)
    sweep_all(run, kernel, [sweep for sweep in SWEEPS if sweep != "stepped"], block=block, sets=1)
    if request.config.getoption("--update-golden") and kernel.isa not in CPU_FLAGS:
        EXECUTED.add(kernel.isa, [kernel.symbol], "qemu-user")


def test_instructions_do_not_depend_on_data(
    tracers: Emulators[Tracer], emulation: Emulation, kernel: Kernel
) -> None:
    """The executed instructions do not depend on coefficients either: each length is called with two sets
    of both.
    """
    tracer = tracers.process(emulation)
    calls, report = tracer.run(kernel.symbol, "stepped", usual_polynomial(kernel))
    assert calls > 0, report
    traces = tracer.traces()
    assert len(traces) == calls
    assert all(traces) and len(traces[-1]) > 1  # POWER returns from a call of no bytes within its first block
    for n in range(0, calls, RECIPES):
        assert traces[n] == traces[n + 1], f"the {n // RECIPES}th length"


def test_every_set_is_executed_somewhere() -> None:
    executed = set(CPU_FLAGS) | {emulation.isa for emulation in EMULATIONS}
    listed = {kernel.isa for kernel in all_kernels_of(GENERATED)}
    assert {isa for isa in listed if ARCHS[isa] not in ELSEWHERE} <= executed


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_python_and_c_read_the_same_list(emulators: Emulators[Emulator], machine: object) -> None:
    emulation = next(emulation for emulation in EMULATIONS if emulation.machine == machine)
    count, _ = emulators.process(emulation).ask("count")
    assert count == len(kernels_for(emulation.machine, all_kernels_of(GENERATED)))
