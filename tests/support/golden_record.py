"""Records of kernels in tests/unit/golden, which tests write with --update-golden.

A record maps each instruction set to the program that made the evidence (a compiler, an executor) and to the
symbols of the kernels. tools/proofs_picture.py counts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.build_lock import locked
from tests.support.paths import ROOT

GOLDEN = ROOT / "tests" / "unit" / "golden"


@dataclass(frozen=True, slots=True)
class Record:
    """A file: instruction set -> {program: words, "symbols": sorted names}."""

    path: Path
    program: str  #: the key of the program, for example "compiler"

    def read(self) -> dict[str, dict[str, Any]]:
        """Return the contents; empty without a file."""
        found = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        assert isinstance(found, dict)
        return found

    def symbols(self, isa: str) -> set[str]:
        """Return the recorded kernels of one instruction set."""
        listed = self.read().get(isa, {}).get("symbols", [])
        assert isinstance(listed, list)
        return set(listed)

    def add(self, isa: str, symbols: Iterable[str], words: str) -> None:
        """Add kernels of one instruction set."""
        with locked(ROOT / "build" / f"{self.path.stem}.lock"):
            found = self.read()
            kept = set() if isa not in found else {str(symbol) for symbol in found[isa]["symbols"]}
            found[isa] = {self.program: words, "symbols": sorted(kept | set(symbols))}
            self.path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


#: Kernels that tests executed, with the executor: the CPU, qemu-user or Node.
EXECUTED = Record(GOLDEN / "executed_kernels.json", "executor")
#: Compiled kernels whose object code tests proved, with the compiler.
PROVED_OBJECTS = Record(GOLDEN / "proved_objects.json", "compiler")
