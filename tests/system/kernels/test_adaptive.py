"""The kernels of [adaptive], executed with arbitrary prefetch pointers after those of the sources, each array
between guards. On this CPU's sets and in portable C, and under qemu for two other machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from bench.build_lock import locked
from gfsmith.build.adaptive_kernels import variants
from gfsmith.build.generate import generate_one
from gfsmith.emit import lists
from gfsmith.field import Field
from gfsmith.kernel.isa import BY_NAME
from tests.support.folders import shared_folder
from tests.system.kernels.conftest import ABIS, Harness, build, sources_of
from tests.system.kernels.emulated import AARCH64, S390X, Emulation, build_generated
from tests.system.kernels.emulator import Emulator
from tests.system.kernels.lists import Kernel, all_kernels_of, kernels_of
from tests.system.kernels.sweeping import usual_polynomial

HERE = ("gfni_avx512", "gfni_avx2", "avx512", "avx2", "gfni_sse", "sse", "scalar")
THERE = (Emulation("neon", AARCH64, "cortex-a53", 16), Emulation("vx", S390X, "qemu", 16))
OUTPUTS = 2

#: Bytes per iteration up to which every length is called; for longer ones the other sweeps run all loops.
SHORT = 256
SWEEPS = ("large", "alignments")


def write(folder: Path, sets: Sequence[str]) -> None:
    """Write all variants of some sets, with lists, as `gfsmith gen` writes them."""
    field = Field(0x11D)
    specs = [spec for name in sets for spec in variants(BY_NAME[name], OUTPUTS, field, "gfs")]
    # In portable C an iteration of many words takes long to compile and repeats the same text.
    specs = [spec for spec in specs if spec.isa.name != "scalar" or spec.lines <= 4]
    kernels = [generate_one(spec) for spec in specs]
    files = lists.build(specs) | {kernel.path: kernel.text for kernel in kernels}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def written(tmp_path_factory: pytest.TempPathFactory, name: str, sets: Sequence[str]) -> Path:
    folder = shared_folder(tmp_path_factory) / name
    folder.mkdir(exist_ok=True)
    with locked(folder / "lock"):
        if not (folder / "done").exists():
            write(folder / "out", sets)
            (folder / "done").touch()
    return folder / "out"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory, "adaptive", HERE)


@pytest.fixture(scope="module")
def harness(generated: Path) -> Harness:
    return build(generated.parent / "harness", generated, partial(sources_of, generated))


def _swept(run: Callable[[str, int], tuple[int, str]], kernel: Kernel, sweeps: Sequence[str]) -> None:
    for sweep in sweeps:
        calls, report = run(sweep, usual_polynomial(kernel))
        assert calls > 0, f"{kernel.symbol} {sweep}: {report}"


@pytest.mark.parametrize("name", HERE)
def test_executed(name: str, generated: Path, harness: Harness, require_isa: Callable[[str], None]) -> None:
    require_isa(name)
    mine = [kernel for kernel in kernels_of(generated) if kernel.isa == name]
    assert len(mine) >= 4
    for kernel in mine:
        block = harness.block_bytes(kernel.symbol)
        assert block % 64 == 0
        for abi in ABIS if kernel.in_assembly else ABIS[:1]:
            every = block <= SHORT and abi == "sysv" and kernel.in_assembly
            sweeps = [*SWEEPS, *(["lengths", "stepped"] if every else [])]
            _swept(partial(harness.run, kernel.symbol, abi), kernel, sweeps)
        _swept(partial(harness.run, kernel.symbol, "sysv"), kernel, ["wide"])


def test_python_and_c_read_the_same_list(generated: Path, harness: Harness) -> None:
    assert harness.kernel_count == len(kernels_of(generated)) > 40


@pytest.mark.needs("clang", "qemu")
@pytest.mark.parametrize("there", THERE, ids=str)
def test_emulated(there: Emulation, tmp_path_factory: pytest.TempPathFactory, tables: Path) -> None:
    generated = written(tmp_path_factory, f"adaptive-{there.isa}", [there.isa])
    program = build_generated(there.machine, generated, generated)
    emulator = Emulator(program, there, tables=tables)
    kernels = all_kernels_of(generated)
    assert len(kernels) >= 3
    try:
        for kernel in kernels:
            _swept(partial(emulator.run, kernel.symbol), kernel, ["large", "wide"])
    finally:
        emulator.close()
