"""Predictions for kernels, cached by content: machine code as generated, C as compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from gfsmith.build import generate, parallel
from gfsmith.build.cache import Cache, key
from gfsmith.emit.x86.listing import build
from gfsmith.explore.cost_model import compiled, features
from gfsmith.explore.cost_model.loop import MainLoop, main_loop
from gfsmith.explore.cost_model.mca import Loop, Outcome, Prediction, Unmodelled, predict_loop
from gfsmith.explore.cost_model.target import check_cpus
from gfsmith.explore.cost_model.tools import COMPILER, MCA, ToolMissing, Unavailable, available, run
from gfsmith.kernel.spec import KernelSpec, SpecError

_SOURCES = (__name__,)


@lru_cache(maxsize=1)
def _version() -> str:
    """Return the versions of the programs that make predictions."""
    said = "".join(run(tool, ["--version"]).stdout for tool in (MCA, COMPILER) if available(tool))
    return hashlib.sha256(said.encode()).hexdigest()


def machine_loop(spec: KernelSpec) -> MainLoop:
    """Return the main loop of the machine code that gfsmith generates for a spec."""
    return main_loop(build(spec, generate.program(spec)).body, spec.isa.vector_bytes)


def loop_of(spec: KernelSpec) -> Loop:
    """Return the main loop of a kernel. Raises Unavailable for C without one."""
    return machine_loop(spec) if spec.machine_code else compiled.loop_of(spec)


def _predict_spec(task: tuple[KernelSpec, tuple[str, ...]]) -> list[Outcome]:
    spec, cpus = task
    try:
        loop = loop_of(spec)
    except ToolMissing:
        raise
    except (SpecError, Unavailable) as error:
        return [Unmodelled(cpu, str(error)) for cpu in cpus]
    return [_without(spec, cpu) or predict_loop(loop, cpu) for cpu in cpus]


def _without(spec: KernelSpec, cpu: str) -> Unmodelled | None:
    """Return the missing features if the core is known to lack some that the kernel needs."""
    missing = features.lacking(cpu, spec.isa.cpu_flags)
    return Unmodelled(cpu, f"has no {', '.join(missing)}") if missing else None


def predict(spec: KernelSpec, cpus: Sequence[str], cache: Path | None = None) -> dict[str, Outcome]:
    """Return the prediction of each of `cpus` for the kernel of a spec; the cache file keeps the predictions.

    Raises ModelError for a core of another architecture, ToolMissing without llvm-mca or, for C, clang.
    """
    return predict_all([spec], cpus, 1, cache)[spec]


def predict_all(
    specs: Sequence[KernelSpec],
    cpus: Sequence[str],
    jobs: int,
    cache: Path | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> dict[KernelSpec, dict[str, Outcome]]:
    """Run `predict` for many kernels on `jobs` processes; call `advance(n)` after n more are done."""
    for spec in specs:
        check_cpus(spec.isa.arch, spec.symbol, cpus)
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
        # Keep only results of these sources and these programs.
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
    """Return kernels by their predicted cycles per byte of source, fastest first; unmodelled kernels last."""
    found = predict_all(specs, [cpu], jobs, cache)

    def cost(spec: KernelSpec) -> float:
        outcome = found[spec][cpu]
        return outcome.cycles_per_64 if isinstance(outcome, Prediction) else float("inf")

    return [(spec, found[spec][cpu]) for spec in sorted(specs, key=cost)]
