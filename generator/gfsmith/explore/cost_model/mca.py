"""Predictions of llvm-mca: the cycles of a kernel's main loop on a microarchitecture.

llvm-mca simulates the instructions with LLVM's scheduling model of the core: dispatch width, execution ports,
latencies, register renaming. The model, and therefore a prediction, excludes:

- caches and memory: every load hits the first level, no line is split, nothing is prefetched or written back;
- the bandwidth of stores beyond their ports: store buffer, and stores around the cache;
- stores that wait for loads 4 KiB apart (4K aliasing), or forward to them: no two addresses alias;
- the code around the main loop: prologue, tails, and for a kernel that is rolled over its sources the code
that
  runs once per block: pointers, first and last sums, stores;
- clock frequency, which wide vectors may lower, and a second thread on the core.

The models are those of LLVM 19: for znver5 that of znver4, for cortex-a76 that of cortex-a57. Resource names
show it (`Zn4FP1`), and so does `Target.models`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gfsmith.explore.cost_model.target import Target
from gfsmith.explore.cost_model.tools import MCA, run

_INSTRUCTIONS = 40_000  #: simulated instructions per prediction
_TURNS = 48  #: least number of simulated iterations
_NEAR = 1.1  #: a bound that explains all but a tenth of the cycles is the bottleneck


class Loop(Protocol):
    """A modelled loop: assembler text, its instructions, and the bytes of all sources that an iteration
    reads."""

    @property
    def text(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def target(self) -> Target: ...
    def bytes_on(self, cpu: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """One iteration of the main loop on one core.

    cycles: in the steady state. source_bytes: bytes of all sources that the iteration reads. uops: dispatched
    micro-operations; width: most micro-operations dispatched per cycle. pressure: cycles per iteration for
    which each execution resource is busy.
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
        """Return the cycles per 64 bytes of source."""
        return self.cycles * 64 / self.source_bytes

    @property
    def busiest(self) -> tuple[str, ...]:
        """Return the resources that are busy longest; several if they differ by at most a hundredth."""
        most = max(self.pressure.values())
        return tuple(name for name, cycles in self.pressure.items() if cycles >= 0.99 * most)

    @property
    def bottleneck(self) -> str:
        """Return the bound of the loop: execution ports by name, the width of dispatch, or neither."""
        if self.cycles <= _NEAR * max(self.pressure.values()):
            return ", ".join(self.busiest)
        if self.cycles <= _NEAR * self.uops / self.width:
            return f"dispatch, {self.width} a cycle"
        return "latency or buffers"


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A core without a prediction for this kernel, and the reason: the core or the model lacks instructions,
    or the kernel does not fit into the registers."""

    cpu: str
    reason: str


Outcome = Prediction | Unmodelled


def _readable(name: str) -> str:
    """Return a readable name: LLVM 19 writes the number of a unit of a group as a control character
    (`Zn4FP45.` and a 1)."""
    return "".join(char if char.isprintable() else str(ord(char)) for char in name)


def parse(report: Mapping[str, Any], cpu: str, source_bytes: int) -> Prediction:
    """Return the prediction in the output of `llvm-mca --json` for one region of code."""
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
    """Return the cycles of an iteration, from two runs of different length. The difference cancels the
    filling and draining of the pipeline.

    The result has four digits: the remaining error would order loops that take equally long.
    """
    few, many = (report["CodeRegions"][0]["SummaryView"] for report in (short, long))
    cycles = many["TotalCycles"] - few["TotalCycles"]
    return float(f"{cycles / (many['Iterations'] - few['Iterations']):.4g}")


def predict_loop(loop: Loop, cpu: str) -> Outcome:
    """Run llvm-mca on a loop. `cpu` is one of known_cpus() of its target."""
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
    """Return the reason why llvm-mca gave no figures."""
    lines = [line.partition(": ")[2].strip() for line in done.stderr.splitlines() if ": " in line]
    unsupported = [line for line in lines if line.startswith("instruction:")]
    if not unsupported:
        return Unmodelled(cpu, lines[0] if lines else f"{MCA} failed")
    name = " ".join(unsupported[0].partition(":")[2].split())
    return Unmodelled(cpu, f"not in its model: {name}")
