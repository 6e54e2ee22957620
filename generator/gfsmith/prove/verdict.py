"""The answer of every proof."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

#: The ways in which a kernel is established: its Program is proved, its machine code is.
METHOD_PROGRAM = "program"
METHOD_MACHINE = "machine"


class Status(Enum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of a proof: status and, unless proved, the reason with a counterexample if there is one."""

    status: Status
    reason: str = ""

    def __bool__(self) -> bool:
        return self.status is Status.PROVED


PROVED = Verdict(Status.PROVED)


class Refutation(Exception):
    """The exception for the first error that a proof finds."""
