"""Tables of the semantics of instruction forms, for processors whose instructions are decoded to named
forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.state import State

Meaning = TypeVar("Meaning")


class Formed(Protocol):
    """A decoded instruction."""

    @property
    def form(self) -> str: ...


Decoded = TypeVar("Decoded", bound=Formed)


def forms(meaning: Meaning, *names: str) -> dict[str, Meaning]:
    """Return entries for several forms with one meaning."""
    return dict.fromkeys(names, meaning)


def step(table: Mapping[str, Callable[[State, Decoded], None]], state: State, instr: Decoded) -> None:
    """Execute one instruction that is no branch. Raises Unsupported, or Refutation at a wrong access."""
    meaning = table.get(instr.form)
    if meaning is None:
        raise Unsupported(f"no semantics for the form '{instr.form}': {instr}")
    meaning(state, instr)
