"""Every VSX kernel, as clang compiles it, is proved from its object; and `gfsmith verify --objects`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from gfsmith.build import config
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.paths import ROOT
from tests.unit.prove import proved_objects
from tests.unit.prove.aarch64.compile import GEN_OUT, kernels
from tests.unit.prove.power.targets import CLANG

TOML = ROOT / "gfsmith.toml"
PARTS = 8


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name == "vsx")


def _objects(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    return kernels([("vsx", spec.symbol) for spec in chosen], folder, compiler)


def _images(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> dict[str, Image]:
    images = map(load, _objects(chosen, folder, compiler))
    return {symbol: image for image in images for symbol in image.functions}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(part: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The instructions that are never reached are the compiler's alignment and a few branches that it failed
    to decide. A kernel with constants has two entry points: one for calls through a pointer, one for callers
    that share its table of contents.
    """
    chosen = specs()[part::PARTS]
    assert len(specs()) > 45
    images = _images(chosen, tmp_path)
    for spec in chosen:
        image = images[spec.symbol]
        report = prove_code(contract_of(spec, "elfv2"), image, spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        assert report.instructions - report.covered < 16, spec.symbol
        if spec.baked is not None and not spec.symbol.count("packets"):
            assert image.functions[spec.symbol].local == 8
    proved_objects.confirm(chosen, "clang-19 -O2", request.config.getoption("--update-golden"))


@pytest.mark.parametrize(
    ("release", "level"), [("clang-14", "-O2"), ("clang-14", "-O3"), ("clang-19", "-O3")]
)
def test_every_kernel_of_other_compilers(release: str, level: str, tmp_path: Path) -> None:
    """The objects of gcc are unsupported."""
    images = _images(specs(), tmp_path, (release, CLANG[1], level, *CLANG[3:]))
    for spec in specs():
        report = prove_code(contract_of(spec, "elfv2"), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason


def test_the_record_has_every_kernel() -> None:
    assert PROVED_OBJECTS.symbols("vsx") == {spec.symbol for spec in specs()}


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    spec, claimed = (next(s for s in specs() if f"_{each}__" in s.symbol) for each in (name, other))
    image = _images([spec], tmp_path)[spec.symbol]
    report = prove_code(contract_of(claimed, "elfv2"), image, spec.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def test_verify_reads_objects(tmp_path: Path) -> None:
    (found,) = _objects([spec for spec in specs() if "xor_2x1" in spec.symbol], tmp_path)
    command = [sys.executable, "-m", "gfsmith", "verify", "--objects", str(found), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["isa"], row["abi"], row["status"]) == ("vsx", "elfv2", "proved")
