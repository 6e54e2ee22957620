"""Generated routines that are no kernels: their files and proofs, from a cache where it has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gfsmith.build.cache import Cache
from gfsmith.build.generate import Refuted
from gfsmith.prove.verdict import METHOD_PROGRAM, Status, Verdict


@dataclass(frozen=True, slots=True)
class Routines:
    """files: path -> text. proofs: one record for each routine in PROOFS.json."""

    files: dict[str, str]
    proofs: list[dict[str, Any]]


def remembered(cache: Path | None, name: str, make: Callable[[], Routines]) -> Routines:
    """Return the routines of a key from the cache file, or make and store them."""
    store = Cache(cache)
    if name not in store.known():
        made = make()
        store.save({name: {"files": made.files, "proofs": made.proofs}})
        return made
    return Routines(**store.known()[name])


def proved(cache: Path | None, name: str, prove: Callable[[], None]) -> None:
    """Run a proof, which raises Refuted for a wrong routine, unless the cache file has its key."""
    store = Cache(cache)
    if name not in store.known():
        prove()
        store.save({name: {}})


def record(symbol: str, set_: str) -> dict[str, Any]:
    """Return the record of a proved routine."""
    return {"symbol": symbol, "set": set_, "status": Status.PROVED.value, "method": [METHOD_PROGRAM]}


def demand(verdict: Verdict) -> None:
    """Raise Refuted for a wrong routine."""
    if not verdict:
        raise Refuted(verdict.reason)
