"""Every kernel for s390x, as clang compiles it, is proved from its object; `gfsmith verify --objects`."""

from __future__ import annotations

import json
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
from tests.support.paths import ROOT
from tests.unit.prove import proved_objects
from tests.unit.prove.aarch64.compile import kernels
from tests.unit.prove.compiled import named, specs
from tests.unit.prove.s390x.targets import CLANG

ISA, ABI = "vx", "s390x"
PARTS = 4


def _objects(chosen: Sequence[KernelSpec], folder: Path) -> list[Path]:
    return kernels([(ISA, spec.symbol) for spec in chosen], folder, CLANG)


def _loaded(files: Sequence[Path]) -> dict[str, Image]:
    return {symbol: image for image in map(load, files) for symbol in image.functions}


def _images(chosen: Sequence[KernelSpec], folder: Path) -> dict[str, Image]:
    return _loaded(_objects(chosen, folder))


@proved_objects.LEVELS
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The instructions that are never reached belong to loops that clang unrolled further than needed."""
    update = request.config.getoption("--update-golden")
    assert len(specs(ISA)) > 45
    files = _objects(specs(ISA)[part::PARTS], tmp_path)
    images = _loaded(files)
    chosen = proved_objects.part(f"{ISA} {part}", specs(ISA)[part::PARTS], files, ABI)
    for spec in chosen.to_prove(proved_objects.of_each_kind(specs(ISA)), every or update):
        report = prove_code(contract_of(spec, ABI), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        assert report.instructions - report.covered <= 65, spec.symbol
    chosen.confirm("clang-19 -O2", update)


def test_the_record_has_every_kernel() -> None:
    assert PROVED_OBJECTS.symbols(ISA) == {spec.symbol for spec in specs(ISA)}


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    spec, claimed = named(ISA, name), named(ISA, other)
    image = _images([spec], tmp_path)[spec.symbol]
    report = prove_code(contract_of(claimed, ABI), image, spec.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def test_every_length_without_induction(tmp_path: Path) -> None:
    """The lengths up to four blocks follow one by one, too."""
    spec = named(ISA, "mad_1x1")
    image = _images([spec], tmp_path)[spec.symbol]
    report = prove_code(contract_of(spec, ABI), image, spec.symbol, exhaustive=True)
    assert report.status is Status.PROVED, report.reason


def test_verify_reads_objects(tmp_path: Path) -> None:
    (found,) = _objects([named(ISA, "xor_2x1")], tmp_path)
    command = [sys.executable, "-m", "gfsmith", "verify", "--objects", str(found), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["isa"], row["abi"], row["status"]) == (ISA, ABI, "proved")


def test_verify_reads_functions_of_other_programs(tmp_path: Path) -> None:
    """A function with a contract from a few words, right and wrong."""
    spec = named(ISA, "xor_2x1")
    (found,) = _objects([spec], tmp_path)
    words = ["--symbol", spec.symbol, "--operation", "xor", "--inputs", "2", "--outputs", "1"]
    words += ["--arguments", "len,k,tables,src,dst", "--tables", "none", "--isa", ISA]
    for inputs, status in (("2", 0), ("3", 1)):
        words[words.index("--inputs") + 1] = inputs
        command = [sys.executable, "-m", "gfsmith", "verify", str(found), *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
