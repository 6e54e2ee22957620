"""Proofs of the routines and tables of gfsmith_checksum.h and of ISA-L's checks.

The module imports only the prover and the definitions, not the code that makes routines, so that a change of
that code leaves the key of cached proofs (checksums.py) as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gfsmith.build import parallel
from gfsmith.field.checksum import CHECKSUMS, Checksum
from gfsmith.ir.folding import Routine, Tables
from gfsmith.prove.checksum.prove import prove, prove_tables
from gfsmith.prove.verdict import Verdict


def prove_all(
    entries: Sequence[tuple[Checksum, Tables]],
    routines: Sequence[Routine],
    jobs: int,
    demand: Callable[[Verdict], None],
) -> None:
    """Prove the tables of every check, and every routine for each check that calls it. `demand` receives the
    verdicts. ISA-L's checks have no updates."""
    for check, tables in entries:
        demand(prove_tables(check, tables))
    work = [
        (routine, check, tables)
        for check, tables in entries
        for routine in routines
        if routine.serves(check.name, check.reflected) and (check in CHECKSUMS or not routine.updates)
    ]
    parallel.run(_verdict, work, jobs, lambda _, verdict: demand(verdict))


def _verdict(task: tuple[Routine, Checksum, Tables]) -> Verdict:
    return prove(*task)
