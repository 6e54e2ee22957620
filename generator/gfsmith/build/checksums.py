"""The routines and tables of gfsmith_checksum.h and of ISA-L's checks: generated, proved for every check, and
written as C.

They depend on no configuration: the compiler and the CPU decide which of them run.
"""

from __future__ import annotations

from pathlib import Path

from gfsmith.build.cache import key
from gfsmith.build.routines import Routines, demand, record, remembered
from gfsmith.emit.c.checksum import build
from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS
from gfsmith.ir.folding import Routine
from gfsmith.lower.checksums import routines, tables
from gfsmith.prove.checksum.machine import functions
from gfsmith.prove.checksum.prove import prove, prove_tables


def generate(cache: Path | None) -> Routines:
    """Return every routine and table. Raises Refuted for a wrong one. Results for the same sources come from
    the cache file."""
    return remembered(cache, key((__name__,)), _generate)


def compiled_functions() -> dict[str, tuple[Routine, ...]]:
    """Return the functions of C that can be proved from machine code, by symbol, with their routines."""
    return functions(routines())


def _generate() -> Routines:
    entries = [(check, tables(check)) for check in (*CHECKSUMS, *ISAL_CHECKSUMS)]
    made = list(routines())
    for check, numbers in entries:
        demand(prove_tables(check, numbers))
        for routine in made:
            if routine.serves(check.name, check.reflected):
                demand(prove(routine, check, numbers))
    return Routines(
        build(made, map(tables, CHECKSUMS), map(tables, ISAL_CHECKSUMS)),
        [record(routine.symbol, routine.set) for routine in made],
    )
