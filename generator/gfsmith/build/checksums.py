"""The routines and tables of gfsmith_checksum.h and of ISA-L's checks: generated, proved for every check, and
written as C.

They depend on no configuration: the compiler and the CPU decide which of them run.
"""

from __future__ import annotations

from pathlib import Path

from gfsmith.build import parallel
from gfsmith.build.cache import key
from gfsmith.build.routines import Routines, demand, record, remembered
from gfsmith.emit.c.checksum import build
from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS, Checksum
from gfsmith.ir.folding import Routine, Tables
from gfsmith.lower.checksums import routines, tables
from gfsmith.prove.checksum.machine import functions
from gfsmith.prove.checksum.prove import prove, prove_tables
from gfsmith.prove.verdict import Verdict


def generate(jobs: int, cache: Path | None) -> Routines:
    """Return every routine and table. Raises Refuted for a wrong one. Results for the same sources come from
    the cache file."""
    return remembered(cache, key((__name__,)), lambda: _generate(jobs))


def compiled_functions() -> dict[str, tuple[Routine, ...]]:
    """Return the functions of C that can be proved from machine code, by symbol, with their routines."""
    return functions(routines())


def _proved(task: tuple[Routine, Checksum, Tables]) -> Verdict:
    return prove(*task)


def _generate(jobs: int) -> Routines:
    entries = [(check, tables(check)) for check in (*CHECKSUMS, *ISAL_CHECKSUMS)]
    made = list(routines())
    for check, numbers in entries:
        demand(prove_tables(check, numbers))
    work = [
        (routine, check, numbers)
        for check, numbers in entries
        for routine in made
        if routine.serves(check.name, check.reflected) and (check in CHECKSUMS or not routine.updates)
    ]
    parallel.run(_proved, work, jobs, lambda _, verdict: demand(verdict))
    return Routines(
        build(made, {check.name: tables(check) for check in CHECKSUMS}, map(tables, ISAL_CHECKSUMS)),
        [record(routine.symbol, routine.set) for routine in made],
    )
