"""The kernels for LoongArch in the harness: compiled and linked by zig, which has a C library for LoongArch,
and executed by the qemu-user of Debian's backports, because Debian 12's has no LSX and LASX."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from gfsmith.build.requirements import UNPACKED
from gfsmith.kernel.architecture import BY_ARCH, Arch
from tests.support.folders import once
from tests.support.golden_record import EXECUTED
from tests.system.kernels.conftest import GENERATED, multiplication_table
from tests.system.kernels.emulated import POLYNOMIALS, Emulation, Machine, build_generated, kernels_for
from tests.system.kernels.emulator import Emulator
from tests.system.kernels.lists import all_kernels_of
from tests.system.kernels.sweeping import SWEEPS, sweep_all, usual_polynomial

ZIG = (sys.executable, "-m", "ziglang", "cc", "-mcpu=loongarch64+lsx")
MUSL = replace(BY_ARCH[Arch.LOONGARCH], emulator="loongarch64", triple="loongarch64-linux-musl")
CPUS = {"lsx": ("la464,lasx=off", 16), "lasx": ("la464", 32)}


@dataclass(frozen=True, slots=True)
class LoongArch(Machine):
    @property
    def emulator(self) -> str:
        return str(UNPACKED / "qemu-loongarch64")


MACHINE = LoongArch(MUSL, ("-mlasx",), ZIG, ZIG)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        build_generated(MACHINE, folder, GENERATED)

    return once(tmp_path_factory, "loongarch", build) / "harness"


def test_the_harness_with_all_kernels_links(program: Path) -> None:
    header = program.read_bytes()[:20]
    assert (header[:4], int.from_bytes(header[18:20], "little")) == (b"\x7fELF", 258)  # EM_LOONGARCH


@contextmanager
def started(program: Path, isa: str, folder: Path, polynomials: Sequence[int]) -> Iterator[Emulator]:
    """Start the program on the CPU of an instruction set, with the products of some polynomials."""
    tables = folder / "tables"
    tables.write_bytes(b"".join(map(multiplication_table, polynomials)))
    process = Emulator(program, Emulation(isa, MACHINE, *CPUS[isa]), tables)
    yield process
    process.close()


@pytest.mark.needs("loongarch")
@pytest.mark.parametrize("vectors", CPUS)
def test_every_kernel_of_the_set_is_executed(
    vectors: str, program: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kernels = kernels_for(MACHINE, all_kernels_of(GENERATED))
    own = [kernel for kernel in kernels if kernel.isa == vectors]
    assert len(own) > 45
    with started(program, vectors, tmp_path, POLYNOMIALS) as process:
        assert process.ask("count")[0] == len(kernels)
        for kernel in own:
            block, _ = process.ask(f"block {kernel.symbol}")
            sweeps = [each for each in SWEEPS if each != "stepped"]
            sweep_all(partial(process.run, kernel.symbol), kernel, sweeps, block=block, sets=1)
    symbols = {kernel.symbol for kernel in own}
    if request.config.getoption("--update-golden"):
        EXECUTED.add(vectors, symbols, "qemu-user")
    assert symbols <= EXECUTED.symbols(vectors), "run pytest with --update-golden"


@pytest.mark.needs("loongarch")
@pytest.mark.parametrize("vectors", CPUS)
def test_other_products_are_detected(vectors: str, program: Path, tmp_path: Path) -> None:
    """The harness compares: with the products of another polynomial, a kernel for a known matrix is wrong."""
    baked = [k for k in all_kernels_of(GENERATED) if k.isa == vectors and k.matrix is not None]
    with started(program, vectors, tmp_path, POLYNOMIALS[1:] + POLYNOMIALS[:1]) as process:
        made, reason = process.run(baked[0].symbol, "lengths", usual_polynomial(baked[0]))
    assert made < 0, reason


@pytest.mark.needs("loongarch")
def test_lasx_faults_on_a_cpu_without_it(program: Path, tmp_path: Path) -> None:
    symbol = next(kernel.symbol for kernel in all_kernels_of(GENERATED) if kernel.isa == "lasx")
    with started(program, "lsx", tmp_path, POLYNOMIALS) as process:
        made, reason = process.run(symbol, "lengths", POLYNOMIALS[0])
    assert made < 0 and reason
