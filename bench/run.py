"""Running the driver over a plan and collecting its samples."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.build import Built
from bench.cells import Cell, Effort, plan_line


class RunError(Exception):
    """The driver stopped: wrong bytes, or it could not run."""


@dataclass(frozen=True, slots=True)
class Setting:
    """pool: MiB of memory. stagger: bytes between a shard's end and the next. pages: huge or small."""

    pool: int
    stagger: int
    pages: str


@dataclass(slots=True)
class Samples:
    """A cell's nanoseconds per stripe, by contender, one for each round; and the missing contenders.

    named: whether gfsmith has the code by name (otherwise it got the matrix).
    """

    cell: Cell
    named: bool = False
    ns: dict[str, list[float]] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


def driver_lines(command: Sequence[str], plan: str) -> Iterator[str]:
    """Yield the driver's output line by line. The driver is stopped when the caller stops iterating."""
    with tempfile.TemporaryFile("w+") as text, tempfile.TemporaryFile("w+") as errors:
        text.write(plan)
        text.seek(0)
        driver = subprocess.Popen(command, stdin=text, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert driver.stdout is not None
            yield from driver.stdout
            status = driver.wait()
        finally:
            driver.kill()
            driver.wait()
        errors.seek(0)
        if status != 0:
            raise RunError(errors.read().strip() or f"the driver ended with status {status}")


def _take(samples: Samples, event: dict[str, object]) -> bool:
    """Add one line of output; return whether it ends the cell."""
    match event:
        case {"ns": dict(ns)}:
            for name, value in ns.items():
                samples.ns.setdefault(name, []).append(float(value))
        case {"unavailable": str(name), "why": str(why)}:
            samples.unavailable[name] = why
        case {"named": bool(named)}:
            samples.named = named
    return "done" in event


def run(
    cells: Sequence[Cell],
    built: Built,
    setting: Setting,
    effort: Effort,
    done: Callable[[Samples], None],
) -> list[Samples]:
    """Measure all cells, those of one thread first. `done` is called after each, in every pass.

    Raises RunError.
    """
    collected: list[Samples] = []
    libraries = [f"{name}={path}" for name, path in built.libraries.items()]
    for threads in (1, 2):
        chosen = {cell.id: Samples(cell) for cell in cells if cell.threads == threads}
        if not chosen:
            continue
        command = [str(built.driver), str(setting.pool), str(threads), str(setting.stagger)]
        command += [setting.pages, *libraries]
        plan = "".join(plan_line(s.cell, effort, built.libraries) + "\n" for s in chosen.values())
        for line in driver_lines(command, plan * effort.passes):
            event = json.loads(line)
            samples = chosen[event["cell"]]
            if _take(samples, event):
                done(samples)
        collected += chosen.values()
    return collected
