"""The kernels for LoongArch in the harness: compiled and linked by zig, which has a C library for LoongArch.

qemu-user has LSX and LASX since 8.1, and Debian 12 has 7.2, so the tests do not execute the kernels. By hand,
in some 30 seconds, with the qemu-user of bookworm-backports unpacked by dpkg -x:

    python -m tests.system.kernels.test_loongarch PATH/qemu-loongarch64
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from gfsmith.kernel.architecture import BY_ARCH, Arch
from tests.system.kernels.conftest import GENERATED, multiplication_table
from tests.system.kernels.emulated import (
    POLYNOMIALS,
    Emulation,
    Machine,
    build_generated,
    covered_by,
    kernels_for,
)
from tests.system.kernels.emulator import Emulator
from tests.system.kernels.lists import Kernel, all_kernels_of
from tests.system.kernels.sweeping import SWEEPS, sweep_all

ZIG = (sys.executable, "-m", "ziglang", "cc", "-mcpu=loongarch64+lsx")
MUSL = replace(BY_ARCH[Arch.LOONGARCH], emulator="loongarch64", triple="loongarch64-linux-musl")
CPUS = {"lsx": ("la464,lasx=off", 16), "lasx": ("la464", 32)}


@dataclass(frozen=True, slots=True)
class LoongArch(Machine):
    qemu: str = ""

    @property
    def emulator(self) -> str:
        return self.qemu


def machine(qemu: str = "") -> LoongArch:
    return LoongArch(MUSL, ("-mlasx",), ZIG, ZIG, qemu)


def test_the_harness_with_all_kernels_links(tmp_path: Path) -> None:
    program = build_generated(machine(), tmp_path, GENERATED)
    header = program.read_bytes()[:20]
    assert (header[:4], int.from_bytes(header[18:20], "little")) == (b"\x7fELF", 258)  # EM_LOONGARCH


def _counted(
    process: Emulator, calls: Counter[str], kernel: Kernel, sweep: str, polynomial: int
) -> tuple[int, str]:
    made, failure = process.run(kernel.symbol, sweep, polynomial)
    calls[kernel.isa] += made
    return made, failure


def execute(qemu: str, folder: Path) -> Counter[str]:
    """Execute all kernels with the sweeps of the other machines. Returns calls by instruction set."""
    program, calls = build_generated(machine(qemu), folder, GENERATED), Counter[str]()
    tables = folder / "tables"
    tables.write_bytes(b"".join(map(multiplication_table, POLYNOMIALS)))
    kernels = kernels_for(machine(), all_kernels_of(GENERATED))
    for isa, (cpu, size) in CPUS.items():
        emulation = Emulation(isa, machine(qemu), cpu, size)
        process = Emulator(program, emulation, tables)
        assert process.ask("count")[0] == len(kernels)
        for kernel in covered_by(emulation, kernels):
            block, _ = process.ask(f"block {kernel.symbol}")
            run = partial(_counted, process, calls, kernel)
            sweep_all(run, kernel, [each for each in SWEEPS if each != "stepped"], block=block, sets=1)
        process.close()
    return calls


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        print(dict(execute(sys.argv[1], Path(made))))
