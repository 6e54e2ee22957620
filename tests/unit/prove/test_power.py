"""Every VSX kernel is proved from its object, also as other compilers compile it, and every kernel for
POWER10 as clang 19 compiles it; `gfsmith verify --objects`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.levels import sample
from tests.support.paths import ROOT
from tests.unit.prove import compiled, proved_objects
from tests.unit.prove.aarch64.compile import GEN_OUT, kernels
from tests.unit.prove.power.targets import CLANG, FLAGS, GCC

PARTS = 8


def specs(isa: str = "vsx") -> tuple[KernelSpec, ...]:
    return compiled.specs(isa)


def _objects(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    return kernels([(spec.isa.name, spec.symbol) for spec in chosen], folder, compiler)


def _loaded(files: Sequence[Path]) -> dict[str, Image]:
    return {symbol: image for image in map(load, files) for symbol in image.functions}


def _images(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> dict[str, Image]:
    return _loaded(_objects(chosen, folder, compiler))


#: Instruction set -> the number of instructions of a kernel that are never reached, at most.
UNREACHED = {"vsx": 15, "vsx_p10": 140}


@proved_objects.LEVELS
@pytest.mark.parametrize("isa", UNREACHED)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    isa: str, part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The instructions that are never reached are the compiler's alignment and a few branches that it failed
    to decide. A kernel with constants has two entry points: one for calls through a pointer, one for callers
    that share its table of contents.
    """
    update = request.config.getoption("--update-golden")
    assert len(specs(isa)) > 45
    files = _objects(specs(isa)[part::PARTS], tmp_path)
    images = _loaded(files)
    chosen = proved_objects.part(f"{isa} {part}", specs(isa)[part::PARTS], files, "elfv2")
    for spec in chosen.to_prove(proved_objects.of_each_kind(specs(isa)), every or update):
        image = images[spec.symbol]
        report = prove_code(contract_of(spec, "elfv2"), image, spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        assert report.instructions - report.covered <= UNREACHED[isa], spec.symbol
        if spec.baked is not None and not spec.symbol.count("packets"):
            assert image.functions[spec.symbol].local == 8
    chosen.confirm("clang-19 -O2", update)


CLANG_14 = ("clang-14", CLANG[1])
#: Compiler and level -> the command.
OTHERS = {
    "gcc-12 -O2": (*GCC, "-O2"),
    "gcc-12 -O3": (*GCC, "-O3"),
    "clang-14 -O2": (*CLANG_14, "-O2"),
    "clang-14 -O3": (*CLANG_14, "-O3"),
    "clang-19 -O3": (*CLANG[:2], "-O3"),
}
#: One level of each compiler, and -O2 of clang 19 above; `make test-long` proves other kernels as the others
#: compile them.
ONCE = ("gcc-12 -O2", "clang-14 -O2")


@pytest.mark.needs("qemu")
@pytest.mark.parametrize("compiler", sample(OTHERS, *ONCE))
def test_kernels_of_other_compilers(compiler: str, tmp_path: Path) -> None:
    chosen = compiled.share(specs(), OTHERS, compiler)
    images = _images(chosen, tmp_path, (*OTHERS[compiler], *FLAGS))
    for spec in chosen:
        report = prove_code(contract_of(spec, "elfv2"), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason


#: Kernel, a pattern in gcc's assembly, its replacement.
GCC_MUTANTS = (
    ("dot_nx1", r"rldicr\. (\d+),(\d+),58,1", r"rldicr. \1,\2,59,1"),
    ("dot_nx1", r"rldicr\. (\d+),(\d+),58,1", r"rldicr. \1,\2,58,0"),
    ("dot_nx1", r"mtvsrd (\d+),4", r"mtvsrd \1,3"),
    ("dot_nx1", r"vspltisw 10,0", "vspltisw 10,1"),
    ("dot_6x3", r"andi\. 9,30,0x30", "andi. 9,30,32"),
    ("mul_nx1", r"subfic (\d+),(\d+),63", r"subfic \1,\2,127"),
    ("mul_nx1", r"rlwinm (\d+),(\d+),0,26,27", r"rlwinm \1,\2,0,26,26"),
    ("mad_1x3", r"stvx 28,1,0", "stvx 29,1,0"),
    ("mad_1x1", r"lxsiwzx (\d+),0,(\d+)", r"lxsdx \1,0,\2"),
)


@pytest.mark.needs("qemu")
@pytest.mark.parametrize(("name", "pattern", "instead"), GCC_MUTANTS)
def test_wrong_masks_and_saved_numbers_are_not_proved(
    name: str, pattern: str, instead: str, tmp_path: Path
) -> None:
    """gcc keeps numbers in vector registers and computes lengths by rotations and masks."""
    gcc = (*OTHERS["gcc-12 -O2"], *FLAGS)
    listing = compiled.proved_listing("vsx", name, "elfv2", gcc)
    wrong, changes = re.subn(pattern, instead, listing, count=1)
    assert changes == 1
    image = compiled.assembled(wrong, tmp_path, gcc[:1])
    report = compiled.prove("elfv2")(image, compiled.named("vsx", name))
    assert report.status is not Status.PROVED, report


@pytest.mark.parametrize("isa", UNREACHED)
def test_the_record_has_every_kernel(isa: str) -> None:
    assert PROVED_OBJECTS.symbols(isa) == {spec.symbol for spec in specs(isa)}


@pytest.mark.parametrize("isa", UNREACHED)
@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(isa: str, name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    spec, claimed = (compiled.named(isa, each) for each in (name, other))
    image = _images([spec], tmp_path)[spec.symbol]
    report = prove_code(contract_of(claimed, "elfv2"), image, spec.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


@pytest.mark.parametrize("isa", UNREACHED)
def test_verify_reads_objects(isa: str, tmp_path: Path) -> None:
    (found,) = _objects([compiled.named(isa, "xor_2x1")], tmp_path)
    command = [sys.executable, "-m", "gfsmith", "verify", "--objects", str(found), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["isa"], row["abi"], row["status"]) == (isa, "elfv2", "proved")
