"""Display of a trace as tables and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from gfsmith.explore.adapt.trace import Event, Malformed, State, Trace
from gfsmith.words import counted

_NAMED = 5  #: malformed lines that are listed


def _start(trace: Trace) -> str:
    """Return the instruction set, the memory and the measurements of the coordinator."""
    if trace.start is None:
        return "the trace has no start event"
    more = trace.start.model_extra or {}
    device = more.get("device")
    memory = device.get("name", "?") if isinstance(device, dict) else "?"
    sees = "counters" if more.get("counters") else f"time only ({trace.start.why or 'no reason given'})"
    return f"{more.get('isa', '?')} on {memory}, measures {sees}"


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def cells(trace: Trace) -> Table:
    """Return the table with one row per cell, in the order of their first calls."""
    table = Table("cell", "policy", "since", "calls", "searches", "GB/s", "why")
    for cell, state in trace.cells.items():
        policy = f"{state.policy} (searching)" if state.searching else state.policy
        table.add_row(
            str(cell), policy, f"{state.since:.3f} s", _figure(state.calls, "d"), str(state.decisions),
            _figure(state.gbps, ".2f"), _why(state),
        )  # fmt: skip
    return table


def _why(state: State) -> str:
    before = f"; before: {state.before}" if state.before is not None else ""
    return f"{state.why}{before}"


def malformed(found: list[Malformed]) -> str:
    """Return the number of lines that could not be read, with the reasons of the first ones."""
    named = "; ".join(f"line {bad.line}: {bad.why}" for bad in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{counted(len(found), 'malformed line')} left out: {named}{more}"


def notes(trace: Trace) -> Iterator[str]:
    """Yield the notes below the table."""
    yield from (f"not available: {why}" for why in trace.blind)
    if trace.pressure is not None:
        yield f"pressure: {trace.pressure}"
    if trace.malformed:
        yield malformed(trace.malformed)


def summary(console: Console, trace: Trace) -> None:
    """Print a complete trace."""
    console.print(_start(trace))
    console.print(cells(trace))
    for line in notes(trace):
        console.print(line)
    decided = sum(state.decisions for state in trace.cells.values())
    console.print(
        f"{counted(trace.events, 'event')} in {trace.now:.3f} s, {counted(len(trace.cells), 'cell')}, "
        f"{counted(decided, 'decision')}"
    )


def view(trace: Trace) -> Group:
    """Return the view of a growing trace for a terminal."""
    below = [f"{trace.now:.1f} s, {counted(trace.events, 'event')}; Ctrl-C ends", *notes(trace)]
    return Group(Text(_start(trace)), cells(trace), *(Text(line) for line in below))


def line(trace: Trace, event: Event) -> str | None:
    """Return the line of an event for a pipe; None for events without news."""
    at = f"{event.t:.3f} s"
    match event.event:
        case "start":
            return f"{at}: {_start(trace)}"
        case "blind":
            return f"{at}: not available: {event.why}"
        case "pressure":
            return f"{at}: pressure: {event.why}"
        case "cell":
            return f"{at}: {event.cell}: {event.policy}: first call"
        case "decide":
            calls = "" if event.calls is None else f", after {counted(event.calls, 'timed call')}"
            before = f" (before: {event.before})" if event.before not in (None, event.policy) else ""
            return f"{at}: {event.cell}: {event.policy}{before}: {event.why}{calls}"
        case "recover":
            return f"{at}: {event.cell}: {event.policy}: searches again: {event.why}"
        case "review":
            return f"{at}: {event.cell}: {event.policy}: reviews: {event.why}"
        case "rate":
            return f"{at}: {event.cell}: {event.gbps:.2f} GB/s"
        case _:
            return None
