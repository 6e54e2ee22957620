"""Cycles of a kernel's main loop as llvm-mca predicts them for a microarchitecture.

llvm-mca runs the instructions through LLVM's scheduling model of the core: dispatch width, execution ports,
latencies, register renaming. What it does not see, and what a prediction is therefore silent about:

- caches and memory: every load hits the first level, no line is split, nothing is prefetched or written back;
- the bandwidth of stores beyond their ports: store buffer, and stores around the cache;
- stores that wait for loads 4 KiB apart (4K aliasing), or forward to them: no two addresses alias;
- what surrounds the main loop: prologue, tails, and for a kernel that is rolled over its sources what it does
  once per block: pointers, first and last sums, stores;
- clock frequency, which wide vectors may lower, and a second thread on the core.

And the model is what LLVM 19 has: for znver5, for example, that of znver4. Resource names tell (`Zn4FP1`).
"""

from __future__ import annotations

import difflib
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from gfsmith import doctor, generate, parallel
from gfsmith.cache import PACKAGE, Cache, key
from gfsmith.emit.x86.listing import build
from gfsmith.model import features
from gfsmith.model.loop import MainLoop, main_loop
from gfsmith.spec import KernelSpec, SpecError

TOOL = "llvm-mca-19"
DEFAULT_CPUS = ("sapphirerapids", "icelake-server", "alderlake", "znver5", "znver4", "znver3")
_TRIPLE = "x86_64"
_INSTRUCTIONS = 40_000  #: simulated per prediction
_TURNS = 48  #: at least
_NEAR = 1.1  #: a bound that explains all but a tenth of the cycles is the bottleneck
_SOURCES = (PACKAGE,)


class ModelError(ValueError):
    """A prediction that cannot be asked for; the message says why and what is allowed."""


class ToolMissing(ModelError):
    """llvm-mca is not installed; the message names the command that gets it."""


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


def available() -> bool:
    """Whether llvm-mca is installed."""
    return shutil.which(TOOL) is not None


def _run(arguments: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """llvm-mca with `text` as its input. Raises ToolMissing."""
    if not available():
        needed = next(r for r in doctor.requirements(doctor.Level.TEST) if r.name == TOOL)
        raise ToolMissing(f"{TOOL} is missing ({needed.purpose}); get it with: {doctor.remedy(needed)}")
    command = [TOOL, f"-mtriple={_TRIPLE}", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@lru_cache(maxsize=1)
def known_cpus() -> tuple[str, ...]:
    """The microarchitectures that this llvm-mca has a name for. Raises ToolMissing."""
    lines = _run(["-mcpu=help"]).stderr.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("Available CPUs"))
    end = next(n for n, line in enumerate(lines) if line.startswith("Available features"))
    return tuple(line.split()[0] for line in lines[start + 1 : end] if " - " in line)


def check_cpus(cpus: Sequence[str]) -> None:
    """Raises ModelError for the first name that llvm-mca does not know, ToolMissing without it."""
    if not cpus:
        raise ModelError(f"no cpu is named; allowed: one or more, such as {','.join(DEFAULT_CPUS)}")
    for cpu in cpus:
        if cpu not in known_cpus():
            near = difflib.get_close_matches(cpu, known_cpus(), n=3) or DEFAULT_CPUS
            raise ModelError(
                f"cpu '{cpu}' is not known to {TOOL}; allowed: {', '.join(near)} and others, "
                f"see `{TOOL} -mtriple={_TRIPLE} -mcpu=help`"
            )


@lru_cache(maxsize=1)
def _version() -> str:
    return hashlib.sha256(_run(["--version"]).stdout.encode()).hexdigest()


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


def predict_loop(loop: MainLoop, cpu: str) -> Outcome:
    """Runs llvm-mca on a loop. `cpu` is one of known_cpus()."""
    turns = max(_TURNS, _INSTRUCTIONS // len(loop.instructions))
    short, long = (
        _run([f"-mcpu={cpu}", "--json", f"-iterations={n}"], loop.text) for n in (turns // 4, turns)
    )
    for done in (short, long):
        if done.returncode:
            return _refused(done, cpu)
    first, second = json.loads(short.stdout), json.loads(long.stdout)
    return replace(parse(second, cpu, loop.source_bytes), cycles=steady(first, second))


def _refused(done: subprocess.CompletedProcess[str], cpu: str) -> Unmodelled:
    """Why llvm-mca gave no figures."""
    lines = [line.partition(": ")[2].strip() for line in done.stderr.splitlines() if ": " in line]
    unsupported = [line for line in lines if line.startswith("instruction:")]
    if not unsupported:
        return Unmodelled(cpu, lines[0] if lines else f"{TOOL} failed")
    name = " ".join(unsupported[0].partition(":")[2].split())
    return Unmodelled(cpu, f"not in its model: {name}")


def no_machine_code(spec: KernelSpec) -> ModelError:
    """Why a kernel in C has no prediction."""
    return ModelError(f"{spec.symbol} is C source: its instructions are the compiler's")


def loop_of(spec: KernelSpec) -> MainLoop:
    """The main loop of the kernel that gfsmith makes of a spec. Raises ModelError for C."""
    if not spec.machine_code:
        raise no_machine_code(spec)
    return main_loop(build(spec, generate.program(spec)).body, spec.isa.vector_bytes)


def _predict_spec(task: tuple[KernelSpec, tuple[str, ...]]) -> list[Outcome]:
    spec, cpus = task
    try:
        loop = loop_of(spec)
    except SpecError as error:
        return [Unmodelled(cpu, str(error)) for cpu in cpus]
    return [_without(spec, cpu) or predict_loop(loop, cpu) for cpu in cpus]


def _without(spec: KernelSpec, cpu: str) -> Unmodelled | None:
    """If the core is known to lack what the kernel needs, that."""
    missing = features.lacking(cpu, spec.isa.cpu_flags)
    return Unmodelled(cpu, f"has no {', '.join(missing)}") if missing else None


def predict(spec: KernelSpec, cpus: Sequence[str], cache: Path | None = None) -> dict[str, Outcome]:
    """What each of `cpus` should take for the kernel of a spec; the cache file keeps the answers.

    Raises ModelError for an unknown cpu and for a kernel in C, ToolMissing without llvm-mca.
    """
    return predict_all([spec], cpus, 1, cache)[spec]


def predict_all(
    specs: Sequence[KernelSpec],
    cpus: Sequence[str],
    jobs: int,
    cache: Path | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> dict[KernelSpec, dict[str, Outcome]]:
    """`predict` for many kernels on `jobs` processes; `advance(n)` as n more are done."""
    check_cpus(cpus)
    store = Cache(cache)
    keys = {(s, c): key(_SOURCES, s.identity, c, _version()) for s in specs for c in cpus}
    known = {at: _from_record(store.known()[k]) for at, k in keys.items() if k in store.known()}
    tasks = [(s, lacking) for s in specs if (lacking := tuple(c for c in cpus if (s, c) not in known))]
    advance(len(specs) - len(tasks))

    def done(number: int, outcomes: list[Outcome]) -> None:
        spec, lacking = tasks[number]
        known.update({(spec, cpu): outcome for cpu, outcome in zip(lacking, outcomes, strict=True)})
        advance(1)

    try:
        parallel.run(_predict_spec, tasks, jobs, done)
    finally:
        # Only what these sources and this llvm-mca made stays.
        made = key(_SOURCES, _version())
        old = {k: record for k, record in store.known().items() if record.get("made") == made}
        store.save(old | {keys[at]: _to_record(outcome, made) for at, outcome in known.items()})
    return {spec: {cpu: known[spec, cpu] for cpu in cpus} for spec in specs}


def _to_record(outcome: Outcome, made: str) -> dict[str, Any]:
    return {"made": made, "outcome": asdict(outcome)}


def _from_record(record: Mapping[str, Any]) -> Outcome:
    fields = record["outcome"]
    return Unmodelled(**fields) if "reason" in fields else Prediction(**fields)


def rank(
    specs: Sequence[KernelSpec], cpu: str, jobs: int = 1, cache: Path | None = None
) -> list[tuple[KernelSpec, Outcome]]:
    """Kernels by their predicted cycles per byte of source, fastest first; the unmodelled last."""
    found = predict_all(specs, [cpu], jobs, cache)

    def cost(spec: KernelSpec) -> float:
        outcome = found[spec][cpu]
        return outcome.cycles_per_64 if isinstance(outcome, Prediction) else float("inf")

    return [(spec, found[spec][cpu]) for spec in sorted(specs, key=cost)]
