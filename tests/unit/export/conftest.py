"""The x86 kernels of the default set that packages of other languages can use."""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.build import config
from gfsmith.emit import packaged
from gfsmith.verify import listings


@pytest.fixture(scope="session")
def kernels(root: Path) -> list[packaged.Proved]:
    specs = config.specs(config.load(root / "gfsmith.toml", {}), "gfsmith.toml")
    taken = [spec for spec in specs if packaged.takes(spec) and spec.machine_code]
    found = listings.read_folder(root / "gen_out", taken)
    return [(spec, code) for spec, abi, code in found if abi == "sysv"]
