"""Kernels on 256-bit vectors of AVX-512VL: generated, proved in both ABIs, executed like the default set."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.build_lock import locked
from tests.support.configurations import known_proofs
from tests.support.folders import shared_folder
from tests.system.kernels.conftest import ABIS, HERE, Harness, build, sources_of
from tests.system.kernels.lists import Kernel, kernels_of
from tests.system.kernels.sweeping import SWEEPS, usual_polynomial

CONFIG = HERE / "narrow.toml"
KERNELS = 15


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of `gfsmith gen` for narrow.toml."""
    folder = shared_folder(tmp_path_factory) / "narrow"
    folder.mkdir(exist_ok=True)
    output = folder / "out"
    with locked(folder / "lock"):
        if not output.exists():
            (folder / "gfsmith.toml").write_text(CONFIG.read_text())  # the cache is in the same folder
            known_proofs(folder / ".gfsmith-cache")
            command = [sys.executable, "-m", "gfsmith", "gen", "-o", str(output)]
            subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return output


@pytest.fixture(scope="module")
def narrow(generated: Path) -> list[Kernel]:
    return kernels_of(generated)


@pytest.fixture(scope="module")
def harness(generated: Path) -> Harness:
    return build(generated.parent / "harness", generated, partial(sources_of, generated))


def test_proved_in_both_abis(generated: Path, narrow: list[Kernel]) -> None:
    proofs = json.loads((generated / "PROOFS.json").read_text())["kernels"]
    assert {(p["symbol"], p["abi"]) for p in proofs} == {(k.symbol, abi) for k in narrow for abi in ABIS}
    assert all(p["status"] == "proved" and "machine" in p["method"] for p in proofs)
    assert len(narrow) == KERNELS


def test_executed(harness: Harness, narrow: list[Kernel], require_isa: Callable[[str], None]) -> None:
    for isa in {kernel.isa for kernel in narrow}:
        require_isa(isa)
    for kernel in narrow:
        assert harness.block_bytes(kernel.symbol) % 32 == 0
        for abi in ABIS:
            for sweep in SWEEPS:
                calls, report = harness.run(kernel.symbol, abi, sweep, usual_polynomial(kernel))
                assert calls >= 0, f"{kernel.symbol} {abi} {sweep}: {report}"
                assert calls > 0 or sweep not in ("lengths", "large", "alignments"), (kernel.symbol, sweep)
