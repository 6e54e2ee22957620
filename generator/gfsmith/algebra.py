"""The routines of gfsmith_algebra.h: made, proved, and written as C.

They belong to no field and no configuration: which sets have some of their own, the build's instruction sets
decide, and every machine has those on words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gfsmith import parallel
from gfsmith.cache import PACKAGE, Cache, key
from gfsmith.emit.c.algebra import build
from gfsmith.emit.template import TEMPLATES
from gfsmith.field import Field, inverse_matrix, irreducible_polynomials, isomorphism
from gfsmith.generate import METHOD_PROGRAM, Refuted
from gfsmith.ir.algebra import Isomorphism, Routine
from gfsmith.lower.algebra import WIDTHS, lower
from gfsmith.lower.algebra_words import lower_words
from gfsmith.prove.algebra_bits import prove, prove_isomorphisms
from gfsmith.prove.verdict import Status, Verdict

#: The field that gf2p8mulb and gf2p8affineinvqb compute in.
INSTRUCTIONS_FIELD = 0x11B
_SSE = "gfni_sse"


@dataclass(frozen=True, slots=True)
class Algebra:
    """files: path -> text. proofs: what goes into PROOFS.json, a record for each routine."""

    files: dict[str, str]
    proofs: list[dict[str, Any]]


def _operand(matrix: Sequence[int]) -> int:
    """A bit matrix as gf2p8affineqb has it: row k in byte 7-k."""
    return int.from_bytes(bytes(reversed(matrix)), "little")


def isomorphisms() -> list[Isomorphism]:
    """Between every field of 256 elements and that of the instructions."""
    target = Field(INSTRUCTIONS_FIELD)
    entries = []
    for polynomial in irreducible_polynomials():
        forth = isomorphism(Field(polynomial), target)
        entries.append(Isomorphism(polynomial, _operand(forth), _operand(inverse_matrix(forth))))
    return entries


def routines(isas: Iterable[str]) -> tuple[tuple[Routine, ...], tuple[Routine, ...]]:
    """Those on words, and those of the named instruction sets that have their own. Where some have, SSE's
    are among them: a build for Windows takes them in place of wider ones (emit/c/algebra.py)."""
    named = set(isas) & set(WIDTHS)
    chosen = [set_ for set_ in WIDTHS if set_ in named or (named and set_ == _SSE)]
    return lower_words(), tuple(routine for set_ in chosen for routine in lower(set_))


def generate(isas: Iterable[str], jobs: int, cache: Path | None) -> Algebra:
    """Every routine for the instruction sets of a build. Raises Refuted for one that is wrong.

    What was made for the same sets by the same sources is taken from the cache file.
    """
    store = Cache(cache)
    name = key((PACKAGE, TEMPLATES), sorted(set(isas) & set(WIDTHS)))
    if name not in store.known():
        made = _generate(isas, jobs)
        store.save({name: {"files": made.files, "proofs": made.proofs}})
        return made
    return Algebra(**store.known()[name])


def _generate(isas: Iterable[str], jobs: int) -> Algebra:
    words, vectors = routines(isas)
    entries = isomorphisms()
    _demand(prove_isomorphisms(entries))
    parallel.run(prove, (*words, *vectors), jobs, lambda _, verdict: _demand(verdict))
    records = [
        {"symbol": r.symbol, "set": r.set, "status": Status.PROVED.value, "method": [METHOD_PROGRAM]}
        for r in (*words, *vectors)
    ]
    return Algebra(build(words, vectors, set(isas), entries), records)


def _demand(verdict: Verdict) -> None:
    if not verdict:
        raise Refuted(verdict.reason)
