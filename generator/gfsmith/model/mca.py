"""Cycles of a kernel's main loop as llvm-mca predicts them for a microarchitecture.

llvm-mca runs the instructions through LLVM's scheduling model of the core: dispatch width, execution ports,
latencies, register renaming. What it does not see, and what a prediction is therefore silent about:

- caches and memory: every load hits the first level, no line is split, nothing is prefetched or written back;
- the bandwidth of stores beyond their ports: store buffer, and stores around the cache;
- stores that wait for loads 4 KiB apart (4K aliasing), or forward to them: no two addresses alias;
- what surrounds the main loop: prologue, tails, and for a kernel that is rolled over its sources what it does
  once per block: pointers, first and last sums, stores;
- clock frequency, which wide vectors may lower, and a second thread on the core.

And the model is what LLVM 19 has: for znver5 that of znver4, for cortex-a76 that of cortex-a57. Resource
names tell (`Zn4FP1`), and so does `Target.models`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gfsmith.model.target import Target
from gfsmith.model.tools import MCA, run

_INSTRUCTIONS = 40_000  #: simulated per prediction
_TURNS = 48  #: at least
_NEAR = 1.1  #: a bound that explains all but a tenth of the cycles is the bottleneck


class Loop(Protocol):
    """What is modelled: assembler text, its instructions, and the bytes of all sources that a turn reads."""

    @property
    def text(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def target(self) -> Target: ...
    def bytes_on(self, cpu: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """One turn of the main loop on one core.

    cycles: in the steady state. source_bytes: bytes of all sources that the turn reads. uops: dispatched;
    width: dispatched at most per cycle. pressure: cycles a turn for which each execution resource is taken.
    """

    cpu: str
    cycles: float
    source_bytes: int
    instructions: int
    uops: float
    width: int
    pressure: dict[str, float]

    @property
    def cycles_per_64(self) -> float:
        """Cycles per 64 bytes of source."""
        return self.cycles * 64 / self.source_bytes

    @property
    def busiest(self) -> tuple[str, ...]:
        """The resources that are taken longest; several if they are within a hundredth."""
        most = max(self.pressure.values())
        return tuple(name for name, cycles in self.pressure.items() if cycles >= 0.99 * most)

    @property
    def bottleneck(self) -> str:
        """What bounds the loop: execution ports by name, the width of dispatch, or neither."""
        if self.cycles <= _NEAR * max(self.pressure.values()):
            return ", ".join(self.busiest)
        if self.cycles <= _NEAR * self.uops / self.width:
            return f"dispatch, {self.width} a cycle"
        return "latency or buffers"


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A core for which there is no prediction of this kernel, and why: the core or the model lacks
    instructions, or the kernel does not fit into the registers."""

    cpu: str
    reason: str


Outcome = Prediction | Unmodelled


def _readable(name: str) -> str:
    """LLVM 19 puts the number of one unit of a group as a control character: `Zn4FP45.` and a 1."""
    return "".join(char if char.isprintable() else str(ord(char)) for char in name)


def parse(report: Mapping[str, Any], cpu: str, source_bytes: int) -> Prediction:
    """A prediction from what `llvm-mca --json` prints for one region of code."""
    region = report["CodeRegions"][0]
    summary = region["SummaryView"]
    names = [_readable(name) for name in report["TargetInfo"]["Resources"]]
    count, turns = len(region["Instructions"]), summary["Iterations"]
    pressure: dict[str, float] = {}
    for row in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if row["InstructionIndex"] == count:  # the sum over all instructions
            name = names[row["ResourceIndex"]]
            pressure[name] = pressure.get(name, 0.0) + row["ResourceUsage"]
    return Prediction(
        cpu=cpu,
        cycles=summary["TotalCycles"] / turns,
        source_bytes=source_bytes,
        instructions=count,
        uops=summary["TotaluOps"] / turns,
        width=summary["DispatchWidth"],
        pressure=pressure,
    )


def steady(short: Mapping[str, Any], long: Mapping[str, Any]) -> float:
    """Cycles of a turn, from two runs of different length: filling and draining the pipeline cancels out.

    To four digits: what is left of it would order loops that take equally long.
    """
    few, many = (report["CodeRegions"][0]["SummaryView"] for report in (short, long))
    cycles = many["TotalCycles"] - few["TotalCycles"]
    return float(f"{cycles / (many['Iterations'] - few['Iterations']):.4g}")


def predict_loop(loop: Loop, cpu: str) -> Outcome:
    """Runs llvm-mca on a loop. `cpu` is one of known_cpus() of its target."""
    turns = max(_TURNS, _INSTRUCTIONS // loop.count)
    target = loop.target
    options = [f"-mtriple={target.triple}", f"-mcpu={cpu}", "--json"]
    options += [f"-mattr={target.attributes}"] if target.attributes else []
    short, long = (run(MCA, [*options, f"-iterations={n}"], loop.text) for n in (turns // 4, turns))
    for done in (short, long):
        if done.returncode:
            return _refused(done, cpu)
    first, second = json.loads(short.stdout), json.loads(long.stdout)
    return replace(parse(second, cpu, loop.bytes_on(cpu)), cycles=steady(first, second))


def _refused(done: subprocess.CompletedProcess[str], cpu: str) -> Unmodelled:
    """Why llvm-mca gave no figures."""
    lines = [line.partition(": ")[2].strip() for line in done.stderr.splitlines() if ": " in line]
    unsupported = [line for line in lines if line.startswith("instruction:")]
    if not unsupported:
        return Unmodelled(cpu, lines[0] if lines else f"{MCA} failed")
    name = " ".join(unsupported[0].partition(":")[2].split())
    return Unmodelled(cpu, f"not in its model: {name}")
