"""The routines of gfsmith_algebra.h: generated, proved, and written as C.

They depend on no field and no configuration, except that a build has vector routines only for its own
instruction sets. Every build has the routines on words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gfsmith.build import parallel
from gfsmith.build.cache import key
from gfsmith.build.routines import Routines, demand, record, remembered
from gfsmith.emit.c.algebra import build
from gfsmith.field import Field, irreducible_polynomials
from gfsmith.field.isomorphism import inverse_matrix, isomorphism
from gfsmith.ir.algebra import GROUP, Isomorphism, Routine
from gfsmith.lower.algebra import WIDTHS, lower
from gfsmith.lower.algebra_words import lower_words
from gfsmith.prove.algebra.prove import prove, prove_isomorphisms

#: The field of gf2p8mulb and gf2p8affineinvqb.
INSTRUCTIONS_FIELD = 0x11B
#: The set whose vectors have 16 bytes.
_SSE = next(name for name, width in WIDTHS.items() if width == GROUP)


def _operand(matrix: Sequence[int]) -> int:
    """Return a bit matrix as an operand of gf2p8affineqb: row k in byte 7-k."""
    return int.from_bytes(bytes(reversed(matrix)), "little")


def isomorphisms() -> list[Isomorphism]:
    """Return the isomorphisms between every field of 256 elements and the field of the instructions."""
    target = Field(INSTRUCTIONS_FIELD)
    entries = []
    for polynomial in irreducible_polynomials():
        forth = isomorphism(Field(polynomial), target)
        entries.append(Isomorphism(polynomial, _operand(forth), _operand(inverse_matrix(forth))))
    return entries


def routines(isas: Iterable[str]) -> tuple[tuple[Routine, ...], tuple[Routine, ...]]:
    """Return the routines on words, and those of the named instruction sets that have their own.

    If any set has routines, SSE's are included: a build for Windows uses them instead of wider ones
    (emit/c/algebra.py)."""
    named = set(isas) & set(WIDTHS)
    chosen = [set_ for set_ in WIDTHS if set_ in named or (named and set_ == _SSE)]
    return lower_words(), tuple(routine for set_ in chosen for routine in lower(set_))


def generate(isas: Iterable[str], jobs: int, cache: Path | None) -> Routines:
    """Return every routine for the instruction sets of a build. Raises Refuted for a wrong one.

    Results for the same sets and sources come from the cache file.
    """
    name = key((__name__,), sorted(set(isas) & set(WIDTHS)))
    return remembered(cache, name, lambda: _generate(isas, jobs))


def _generate(isas: Iterable[str], jobs: int) -> Routines:
    words, vectors = routines(isas)
    entries = isomorphisms()
    demand(prove_isomorphisms(entries))
    parallel.run(prove, (*words, *vectors), jobs, lambda _, verdict: demand(verdict))
    records = [record(routine.symbol, routine.set) for routine in (*words, *vectors)]
    return Routines(build(words, vectors, set(isas), entries), records)
