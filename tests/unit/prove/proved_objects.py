"""The record of compiled kernels that the tests prove: tests/unit/golden/proved_objects.json.

It maps each instruction set to its compiler and to the symbols whose object code was proved. The tests
compare it with their proofs, and rewrite it with --update-golden; the picture in README takes its numbers
from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.build_lock import locked
from gfsmith.kernel.spec import KernelSpec
from tests.support.paths import ROOT

FILE = Path(__file__).resolve().parents[1] / "golden" / "proved_objects.json"


def read(path: Path = FILE) -> dict[str, dict[str, Any]]:
    """Instruction set -> {"compiler": words, "symbols": sorted names}; empty without a file."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    assert isinstance(found, dict)
    return found


def symbols(isa: str, path: Path = FILE) -> set[str]:
    """Return the recorded kernels of one instruction set."""
    listed = read(path).get(isa, {}).get("symbols", [])
    assert isinstance(listed, list)
    return set(listed)


def confirm(proved: Iterable[KernelSpec], compiler: str, update: bool, path: Path = FILE) -> None:
    """Assert that the record has these kernels, which the caller has proved; with
    `update`, add them to it.
    """
    if update:
        with locked(ROOT / "build" / "proved_objects.lock"):
            _add(proved, compiler, path)
    known = read(path)
    for spec in proved:
        assert spec.symbol in symbols(spec.isa.name, path), f"{spec.symbol}: run pytest with --update-golden"
        assert known[spec.isa.name]["compiler"] == compiler


def _add(proved: Iterable[KernelSpec], compiler: str, path: Path) -> None:
    found = read(path)
    for spec in proved:
        kept = set() if spec.isa.name not in found else {str(s) for s in found[spec.isa.name]["symbols"]}
        found[spec.isa.name] = {"compiler": compiler, "symbols": sorted(kept | {spec.symbol})}
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
