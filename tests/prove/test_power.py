"""Every VSX kernel, as clang-19 compiles it, is proved from its object; and `gfsmith verify --objects`."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from aarch64.compile import GEN_OUT, ROOT, kernels
from power.targets import CLANG

from gfsmith import config
from gfsmith.prove.machine.image import Image
from gfsmith.prove.machine.kernel import contract_of, prove_code
from gfsmith.prove.machine.load import load
from gfsmith.prove.verdict import Status
from gfsmith.spec import KernelSpec

TOML = ROOT / "gfsmith.toml"


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name == "vsx")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    assert len(specs()) > 45
    return kernels([("vsx", s.symbol) for s in specs()], tmp_path_factory.mktemp("objects"), CLANG)


@pytest.fixture(scope="module")
def images(objects: list[Path]) -> dict[str, Image]:
    return {symbol: image for image in map(load, objects) for symbol in image.functions}


def test_every_kernel_is_proved(images: dict[str, Image]) -> None:
    """What is never reached is a compiler's alignment and a few branches that it did not see decided."""
    for spec in specs():
        report = prove_code(contract_of(spec, "elfv2"), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        assert report.instructions - report.covered < 16, spec.symbol


def test_kernels_with_constants_have_two_entries(images: dict[str, Image]) -> None:
    """One for calls through pointers, which finds the table of contents, and one for those that know it."""
    baked = [spec.symbol for spec in specs() if spec.baked is not None and "packets" not in spec.symbol]
    assert baked
    for symbol in baked:
        assert images[symbol].functions[symbol].local == 8


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(images: dict[str, Image], name: str, other: str) -> None:
    """No proof is vacuous: a kernel is not another one."""
    symbol, claimed = (f"gfs_{each}__vsx_u4" for each in (name, other))
    spec = next(s for s in specs() if s.symbol == claimed)
    report = prove_code(contract_of(spec, "elfv2"), images[symbol], symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def test_verify_reads_objects(objects: list[Path]) -> None:
    small = min(objects, key=lambda path: path.stat().st_size)
    command = [sys.executable, "-m", "gfsmith.cli", "verify", "--objects", str(small), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["kernels"]
    assert {row["symbol"] for row in rows} == set(load(small).functions)
    assert {(row["isa"], row["abi"], row["status"]) for row in rows} == {("vsx", "elfv2", "proved")}
