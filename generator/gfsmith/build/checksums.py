"""The routines and tables of gfsmith_checksum.h and of ISA-L's checks: generated, proved for every check, and
written as C.

They depend on no configuration: the compiler and the CPU decide which of them run. The proofs depend on the
routines and tables as they are, and on the prover, but not on the code that makes them.
"""

from __future__ import annotations

from pathlib import Path

from gfsmith.build import checksum_proofs
from gfsmith.build.cache import key
from gfsmith.build.routines import Routines, demand, proved, record, remembered
from gfsmith.emit.c.checksum import build
from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS
from gfsmith.ir.folding import Routine
from gfsmith.lower.checksum.routines import routines
from gfsmith.lower.checksum.tables import tables
from gfsmith.prove.checksum.machine import functions


def generate(jobs: int, cache: Path | None) -> Routines:
    """Return every routine and table. Raises Refuted for a wrong one. Results for the same sources come from
    the cache file."""
    return remembered(cache, key((__name__,)), lambda: _generate(jobs, cache))


def compiled_functions() -> dict[str, tuple[Routine, ...]]:
    """Return the functions of C that can be proved from machine code, by symbol, with their routines."""
    return functions(routines())


def _generate(jobs: int, cache: Path | None) -> Routines:
    entries = [(check, tables(check)) for check in (*CHECKSUMS, *ISAL_CHECKSUMS)]
    made = list(routines())
    name = key((checksum_proofs.__name__,), entries, made)
    proved(cache, name, lambda: checksum_proofs.prove_all(entries, made, jobs, demand))
    return Routines(
        build(made, {check.name: tables(check) for check in CHECKSUMS}, map(tables, ISAL_CHECKSUMS)),
        [record(routine.symbol, routine.set) for routine in made],
    )
