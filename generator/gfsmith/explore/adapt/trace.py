"""The coordinator's trace: JSON lines, and the state of each cell that results from them.

A cell is a shape, a length, a number of threads, and single or batch calls. Events: `start` (available
measurements), `cell` (first call), `trial` (comparison of two policies), `decide` (end of a search),
`recover` (a new search), `review` (repetition of the last trials), `pressure` (threads or memory), `blind`
(an unavailable measurement), and `rate`, which the workload of `gfsmith adapt` adds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
)

from gfsmith.words import counted

#: Members that an event must have; for other events, only those that all events have.
_NEEDED = {
    "cell": ("k", "m", "len", "threads", "policy"),
    "trial": ("k", "m", "len", "threads", "policy", "ratio"),
    "decide": ("k", "m", "len", "threads", "policy", "why"),
    "recover": ("k", "m", "len", "threads", "policy", "why"),
    "review": ("k", "m", "len", "threads", "policy", "why"),
    "rate": ("k", "m", "len", "threads", "gbps"),
    "blind": ("why",),
    "pressure": ("why",),
}


class TraceError(Exception):
    """A file that is not a trace. The message is one line."""


class Event(BaseModel):
    """One line of a trace. `model_extra` keeps the members that are not named here."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    t: NonNegativeFloat
    event: str = Field(min_length=1)
    k: PositiveInt | None = None
    m: PositiveInt | None = None
    len: PositiveInt | None = None
    threads: PositiveInt | None = None
    batched: bool = False
    policy: str | None = None
    before: str | None = None
    why: str | None = None
    calls: NonNegativeInt | None = None
    ratio: float | None = None
    gbps: NonNegativeFloat | None = None

    @property
    def cell(self) -> Cell | None:
        if self.k is None or self.m is None or self.len is None or self.threads is None:
            return None
        return Cell(self.k, self.m, self.len, self.threads, self.batched)


class Cell(NamedTuple):
    """len: bytes of a shard. batched: batch calls."""

    k: int
    m: int
    len: int
    threads: int
    batched: bool = False

    def __str__(self) -> str:
        size = f"{self.len // 1024} KiB" if self.len % 1024 == 0 else f"{self.len} B"
        calls = ", batch calls" if self.batched else ""
        return f"{self.k}+{self.m}, {size}, {counted(self.threads, 'thread')}{calls}"


class Malformed(NamedTuple):
    """A line that is not an event. line: its number, from 1."""

    line: int
    why: str


@dataclass(slots=True)
class State:
    """The state of a cell. since: seconds at which the policy was chosen. decisions: finished searches;
    calls: timed calls of the last search. searching: a search is running. gbps: rate of the workload while
    this was the last cell of its shape and length. The coordinator counts threads itself, a little later."""

    policy: str
    since: float
    why: str
    before: str | None = None
    calls: int | None = None
    ratio: float | None = None
    decisions: int = 0
    trials: int = 0
    searching: bool = True
    gbps: float | None = None


@dataclass(slots=True)
class Trace:
    """The part of a trace that has been read."""

    start: Event | None = None
    cells: dict[Cell, State] = field(default_factory=dict)
    blind: list[str] = field(default_factory=list)
    pressure: str | None = None
    malformed: list[Malformed] = field(default_factory=list)
    events: int = 0
    lines: int = 0
    now: float = 0.0
    _latest: dict[tuple[int, int, int], Cell] = field(default_factory=dict)  #: by shape and length

    def read(self, line: str) -> Event | None:
        """Read one line; None, and one more malformed line, if it is not an event."""
        self.lines += 1
        try:
            event = Event.model_validate_json(line)
        except ValidationError as error:
            self.malformed.append(Malformed(self.lines, _reason(error)))
            return None
        missing = [name for name in _NEEDED.get(event.event, ()) if getattr(event, name) is None]
        if missing:
            self.malformed.append(Malformed(self.lines, f"'{event.event}' without '{missing[0]}'"))
            return None
        self.add(event)
        return event

    def add(self, event: Event) -> None:
        self.events += 1
        self.now = max(self.now, event.t)
        if event.event == "start":
            self.start = event
        elif event.event == "blind" and event.why is not None:
            self.blind.append(event.why)
        elif event.event == "pressure":
            self.pressure = event.why
        elif event.cell is not None:
            self._in_cell(event, event.cell)

    def _in_cell(self, event: Event, cell: Cell) -> None:
        if event.event == "rate":
            cell = self._latest.get(cell[:3], cell)
            if cell in self.cells:
                self.cells[cell].gbps = event.gbps
            return
        self._latest[cell[:3]] = cell
        policy = event.policy or "default"
        state = self.cells.setdefault(cell, State(policy, event.t, "first guess"))
        if event.event == "trial":
            state.trials += 1
            state.searching = True
        elif event.event in ("recover", "review"):
            state.searching = True
            state.why = event.why or state.why
        elif event.event == "decide":
            if policy != state.policy:
                state.before, state.since = state.policy, event.t
            state.policy, state.why = policy, event.why or state.why
            state.calls, state.ratio = event.calls, event.ratio
            state.decisions += 1
            state.searching = False

    def check(self, path: Path) -> None:
        """Raise TraceError if no line can belong to a trace."""
        if self.events == 0:
            first = (
                f"; line {self.malformed[0].line}: {self.malformed[0].why}"
                if self.malformed
                else ": it is empty"
            )
            raise TraceError(f"{path}: no trace of a coordinator{first}")


def _reason(error: ValidationError) -> str:
    """Return in a few words why a line is not an event."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "not JSON"
    where = ".".join(str(part) for part in first["loc"])
    if not where:
        return "not an object"
    return f"no '{where}'" if first["type"] == "missing" else f"'{where}': {first['msg'].lower()}"


def load(path: Path) -> Trace:
    """Return the trace in a complete file without an unfinished last line, which is still being written.
    Raises TraceError."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from None
    return of(text.split("\n")[:-1], path)


def of(lines: Iterable[str], path: Path) -> Trace:
    """Raises TraceError."""
    trace = Trace()
    for line in lines:
        trace.read(line)
    trace.check(path)
    return trace


def to_json(trace: Trace) -> dict[str, Any]:
    """Return the data that `--json` prints."""
    start = trace.start
    cells = [
        cell._asdict()
        | {
            "policy": state.policy,
            "since": state.since,
            "why": state.why,
            "before": state.before,
            "calls": state.calls,
            "ratio": state.ratio,
            "decisions": state.decisions,
            "trials": state.trials,
            "searching": state.searching,
            "gbps": state.gbps,
        }
        for cell, state in trace.cells.items()
    ]
    return {
        "start": None if start is None else start.model_dump(exclude_none=True),
        "seconds": trace.now,
        "events": trace.events,
        "cells": cells,
        "blind": trace.blind,
        "pressure": trace.pressure,
        "malformed": [bad._asdict() for bad in trace.malformed],
    }
