"""A trace as tables and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from gfsmith.adapt.trace import Event, Malformed, State, Trace

_NAMED = 5  #: malformed lines that are named


def _start(trace: Trace) -> str:
    """What it runs on and what it sees."""
    if trace.start is None:
        return "the trace lacks its beginning"
    more = trace.start.model_extra or {}
    device = more.get("device")
    memory = device.get("name", "?") if isinstance(device, dict) else "?"
    sees = "counters" if more.get("counters") else f"time only ({trace.start.why or 'no reason given'})"
    return f"{more.get('isa', '?')} on {memory}, sees {sees}"


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def cells(trace: Trace) -> Table:
    """One row a cell, in the order in which they were met."""
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
    """How many lines could not be read, and the first of them."""
    named = "; ".join(f"line {bad.line}: {bad.why}" for bad in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{len(found)} malformed line{'s' * (len(found) > 1)} left out: {named}{more}"


def notes(trace: Trace) -> Iterator[str]:
    """What is said beside the cells."""
    yield from (f"cannot see: {why}" for why in trace.blind)
    if trace.pressure is not None:
        yield f"pressure: {trace.pressure}"
    if trace.malformed:
        yield malformed(trace.malformed)


def summary(console: Console, trace: Trace) -> None:
    """The whole of a trace."""
    console.print(_start(trace))
    console.print(cells(trace))
    for line in notes(trace):
        console.print(line)
    decided = sum(state.decisions for state in trace.cells.values())
    console.print(
        f"{trace.events} events in {trace.now:.3f} s, {len(trace.cells)} cells, {decided} decisions"
    )


def view(trace: Trace) -> Group:
    """What a terminal shows of a trace that grows."""
    below = [f"{trace.now:.1f} s, {trace.events} events; Ctrl-C ends", *notes(trace)]
    return Group(Text(_start(trace)), cells(trace), *(Text(line) for line in below))


def line(trace: Trace, event: Event) -> str | None:
    """What a pipe gets of an event; None for those that say nothing new."""
    at = f"{event.t:.3f} s"
    match event.event:
        case "start":
            return f"{at}: {_start(trace)}"
        case "blind":
            return f"{at}: cannot see: {event.why}"
        case "pressure":
            return f"{at}: pressure: {event.why}"
        case "cell":
            return f"{at}: {event.cell}: {event.policy}: met"
        case "decide":
            before = f" (before: {event.before})" if event.before not in (None, event.policy) else ""
            return f"{at}: {event.cell}: {event.policy}{before}: {event.why}, after {event.calls} timed calls"
        case "recover":
            return f"{at}: {event.cell}: {event.policy}: searches again: {event.why}"
        case "review":
            return f"{at}: {event.cell}: {event.policy}: looks again: {event.why}"
        case "rate":
            return f"{at}: {event.cell}: {event.gbps:.2f} GB/s"
        case _:
            return None
