"""The record of compiled kernels that the tests prove: tests/unit/golden/proved_objects.json.

The tests compare it with their proofs, and rewrite it with --update-golden; the picture in README takes its
numbers from it.
"""

from __future__ import annotations

from collections.abc import Iterable

from gfsmith.kernel.spec import KernelSpec
from tests.support.golden_record import PROVED_OBJECTS, Record


def confirm(
    proved: Iterable[KernelSpec], compiler: str, update: bool, record: Record = PROVED_OBJECTS
) -> None:
    """Assert that the record has these kernels, which the caller has proved; with
    `update`, add them to it.
    """
    specs = list(proved)
    if update:
        for isa in {spec.isa.name for spec in specs}:
            record.add(isa, (spec.symbol for spec in specs if spec.isa.name == isa), compiler)
    known = record.read()
    for spec in specs:
        found = record.symbols(spec.isa.name)
        assert spec.symbol in found, f"{spec.symbol}: run pytest with --update-golden"
        assert known[spec.isa.name]["compiler"] == compiler
