"""Records of compiled kernels that the tests prove: tests/unit/golden/proved_objects.json has their names,
proved_files.json digests of their object files.

The tests compare them with their proofs, and rewrite them with --update-golden; the picture in README takes
its numbers from the first. A proof depends on the object file, on the contracts of its kernels, and on the
prover. So `make test-all` proves all kernels of a part whose files or contracts are not as recorded, and of
the other parts one kernel of each kind, which tests the prover; `make test-long` proves all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from warnings import warn

import pytest

from bench.build_lock import locked
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.prove import contract_of
from tests.support.golden_record import GOLDEN, PROVED_OBJECTS
from tests.support.levels import sample
from tests.support.paths import ROOT

FILES = GOLDEN / "proved_files.json"  #: name of a part -> the digest of its files and contracts
#: Marks a test that proves all kernels of a part, or the ones above.
LEVELS = pytest.mark.parametrize(
    "every", sample([False, True], False), ids=["changed kernels", "every kernel"]
)


def kind(spec: KernelSpec) -> tuple[object, ...]:
    """Return the instruction set and the operation, and whether the number of sources and the coefficients
    are known."""
    return spec.isa.name, spec.operation, spec.inputs is None, spec.baked is None


def digest(files: Iterable[Path], chosen: Iterable[KernelSpec], abi: str) -> str:
    """Return a digest of object files and of the contracts of their kernels."""
    found = hashlib.sha256()
    for file in files:
        found.update(hashlib.sha256(file.read_bytes()).digest())
    for spec in chosen:
        found.update(f"{spec.symbol} {contract_of(spec, abi)}\n".encode())
    return found.hexdigest()


def of_each_kind(
    specs: Iterable[KernelSpec], *others: Callable[[KernelSpec], object]
) -> tuple[KernelSpec, ...]:
    """Return the first kernels of each kind, and of each value of other functions."""
    seen: set[object] = set()
    kept = []
    for spec in specs:
        values = {(number, judge(spec)) for number, judge in enumerate((kind, *others))}
        if not values <= seen:
            kept.append(spec)
        seen |= values
    return tuple(kept)


def read() -> dict[str, str]:
    """Return name of a part -> digest; empty without a file."""
    found = json.loads(FILES.read_text(encoding="utf-8")) if FILES.exists() else {}
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """Compiled kernels that one test proves, and the digest of their files and contracts."""

    name: str
    kernels: Sequence[KernelSpec]
    digest: str

    def to_prove(self, kept: Sequence[KernelSpec], every: bool) -> list[KernelSpec]:
        """Return the kernels in `kept`; all with `every`, or if they are not as recorded."""
        if every or read().get(self.name) != self.digest:
            return list(self.kernels)
        return [spec for spec in self.kernels if spec in kept]

    def confirm(self, compiler: str, update: bool) -> None:
        """Assert that the record has the kernels, which the caller has proved; with `update`, record them."""
        confirm(self.kernels, compiler, update)
        if update:
            self.record()
        elif read().get(self.name) != self.digest:
            warn(f"{self.name}: not as recorded, so all are proved; pytest --update-golden", stacklevel=2)

    def record(self) -> None:
        """Replace the digest in the record."""
        with locked(ROOT / "build" / f"{FILES.stem}.lock"):
            text = json.dumps({**read(), self.name: self.digest}, indent=1, sort_keys=True)
            FILES.write_text(f"{text}\n", encoding="utf-8")


def part(name: str, kernels: Sequence[KernelSpec], files: Iterable[Path], abi: str) -> Part:
    return Part(name, kernels, digest(files, kernels, abi))


def confirm(proved: Iterable[KernelSpec], compiler: str, update: bool) -> None:
    """Assert that the record has these kernels; with `update`, add them to it."""
    specs = list(proved)
    if update:
        for isa in {spec.isa.name for spec in specs}:
            PROVED_OBJECTS.add(isa, (spec.symbol for spec in specs if spec.isa.name == isa), compiler)
    known = PROVED_OBJECTS.read()
    for spec in specs:
        found = PROVED_OBJECTS.symbols(spec.isa.name)
        assert spec.symbol in found, f"{spec.symbol}: run pytest with --update-golden"
        assert known[spec.isa.name]["compiler"] == compiler
