"""INEC's figures 9 to 13: latency percentiles of each primitive while YCSB runs, composed and incoherent."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT, KIB
from bench.compose.primitives import traces
from bench.compose.quantiles import PERCENTILES, compare, enough
from bench.compose.results import figures
from bench.compose.ycsb.client import Figures, Load, fill, run
from bench.compose.ycsb.results import spread
from bench.compose.ycsb.study import MORE, Study
from bench.result_store import Json
from bench.run import RunError

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Node:
    """A node that the paper selects. reduction: how much shorter its p50, p95 and p99 are with INEC, from 0
    to 1 (section IV-B; a speedup of s is a reduction of 1 - 1/s). primitive: ours at this place, as traces
    name it."""

    letter: str
    words: str
    graph: str
    primitive: str
    agent: bool
    reduction: tuple[float, float, float]

    @property
    def part(self) -> traces.Part:
        return traces.Part(self.graph, self.primitive, self.agent)


def _speedups(*factors: float) -> tuple[float, float, float]:
    p50, p95, p99 = (round(1 - 1 / factor, 4) for factor in factors)
    return p50, p95, p99


@dataclass(frozen=True, slots=True)
class Figure:
    number: int
    study: Study
    nodes: tuple[Node, ...]


#: Shapes, values, workloads and lost chunks are the paper's. Ten reads of 100 are degraded instead of one, so
#: that a percentile has enough samples. The paper does not state its records and operations.
FIGURES = (
    Figure(
        9,
        Study("rs", (3, 2), MORE, 4 * KIB, ("A",)),
        (
            Node("A", "ec-send", "encode", "ec-send", True, (0.44, 0.3682, 0.3299)),
            Node("B", "recv-ec", "repair", "recv-ec", True, _speedups(1.20, 1.09, 1.05)),
        ),
    ),
    Figure(
        10,
        Study("lrc", (12, 2, 2), MORE, 32 * KIB, ("A",)),
        (
            Node("A", "ec-send", "encode", "ec-send", True, _speedups(1.27, 1.26, 1.28)),
            Node("B", "recv-ec", "repair", "recv-xor", True, (0.1219, 0.2464, 0.3148)),
        ),
    ),
    Figure(
        11,
        Study("ppr", (12, 4), MORE, 64 * KIB, ("C",)),
        (
            Node("A", "ec-send", "repair", "ec-send", False, (0.7716, 0.6679, 0.6240)),
            Node("B", "recv-ec-send", "repair", "recv-ec-send", False, (0.6903, 0.6532, 0.5873)),
            Node("C", "recv-xor", "repair", "recv-xor", True, _speedups(2.05, 1.86, 1.17)),
        ),
    ),
    Figure(
        12,
        Study("ecpipe", (6, 3), MORE, 16 * KIB, ("B",), slice=KIB),
        (
            Node("A", "ec-send", "repair", "ec-send", False, _speedups(5.47, 4.25, 3.54)),
            Node("B", "recv-ec-send", "repair", "recv-ec-send", False, (0.4847, 0.5051, 0.4786)),
            Node("C", "receive only", "repair", "recv", True, (0.6873, 0.6929, 0.6845)),
        ),
    ),
    Figure(
        13,
        Study("triec", (3, 2), MORE, 8 * KIB, ("A",), lost=2),
        (
            Node("A", "recv-ec-send", "encode", "recv-ec-send", False, _speedups(5.87, 4.21, 3.60)),
            Node("B", "recv-xor", "encode", "recv-xor", False, (0.3959, 0.3196, 0.3162)),
            Node("C", "recv-xor-send", "repair", "recv-ec", True, (0.8127, 0.5017, 0.4719)),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """rounds: of both contenders, in a new order each; records, clients, seconds: as in Load."""

    rounds: int = 5
    records: int = 1000
    clients: int = 16
    seconds: int = 6


@dataclass(slots=True)
class Measured:
    """By contender: YCSB's figures of each round, and the latencies by round. load: the processes that ran or
    waited for a processor before each round (the average of a minute)."""

    runs: dict[str, list[Figures]]
    latencies: dict[str, traces.Latencies]
    load: list[float]


def measure(figure: Figure, effort: Effort) -> Measured:
    """Measure a figure. Raises RunError, BuildError."""
    study = figure.study
    chance = random.Random(study.id)
    load = Load(effort.records, study.value, effort.clients, effort.seconds)
    runs: dict[str, list[Figures]] = {who: [] for who in CONTENDERS}
    times: dict[str, list[traces.Interval]] = {who: [] for who in CONTENDERS}
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as top:
        folders = {who: Path(top) / who for who in CONTENDERS}
        with ExitStack() as stack:
            for folder in folders.values():
                folder.mkdir()
            servers = {who: study.server(who, ["--trace", str(folders[who])]) for who in CONTENDERS}
            ports = {who: stack.enter_context(server) for who, server in servers.items()}
            for each in ports.values():
                fill(each, load)
            for _ in range(effort.rounds):
                loads.append(os.getloadavg()[0])
                for who in chance.sample(CONTENDERS, len(CONTENDERS)):
                    begin = time.monotonic_ns()
                    runs[who].append(run(ports[who], load, study.workloads[0]))
                    times[who].append((begin, time.monotonic_ns()))
        latencies = {who: traces.read(folders[who], times[who]) for who in CONTENDERS}
        return Measured(runs, latencies, loads)


def _compared(composed: Sequence[Sequence[float]], incoherent: Sequence[Sequence[float]]) -> Json:
    """Return microseconds of both, and their ratio, by percentile. Rounds without samples of both are left
    out."""
    pairs = [(a, b) for a, b in zip(composed, incoherent, strict=True) if a and b]
    if not pairs:
        raise RunError("no operation of a kind: more seconds are needed")
    both = compare([a for a, _ in pairs], [b for _, b in pairs])
    counts = [sum(map(len, side)) for side in (composed, incoherent)]
    told = [p for p in PERCENTILES if enough(min(counts), p)]
    return {
        COMPOSED: {"operations": counts[0], **{f"p{p}": figures(both.above[p]) for p in told}},
        INCOHERENT: {"operations": counts[1], **{f"p{p}": figures(both.below[p]) for p in told}},
        "ratio": {f"p{p}": figures(both.ratio[p]) for p in told},
    }


def _both(
    found: Mapping[str, Mapping[Key, list[list[float]]]], key: Key, what: str
) -> tuple[list[list[float]], list[list[float]]]:
    missing = [who for who in CONTENDERS if key not in found[who]]
    if missing:
        raise RunError(f"no {what} in the trace of the {missing[0]} store")
    return found[COMPOSED][key], found[INCOHERENT][key]


def figure_json(figure: Figure, measured: Measured) -> Json:
    """Return the record of a figure. Raises RunError if a node or read has no operations."""
    parts = {who: one.parts for who, one in measured.latencies.items()}
    whole = {who: one.whole for who, one in measured.latencies.items()}
    kinds = [kind for kind in (traces.HEALTHY, traces.DEGRADED, traces.WRITE) if kind in whole[COMPOSED]]
    study = figure.study
    speeds = [[one.throughput for one in measured.runs[who]] for who in CONTENDERS]
    return {
        "scheme": study.scheme,
        "shape": list(study.shape),
        "value": study.value,
        "workload": study.workloads[0],
        "degraded": study.degraded,
        "lost": study.lost,
        "slice": study.slice,
        "failed": sum(one.failed for who in CONTENDERS for one in measured.runs[who]),
        "operations": sum(one.operations for who in CONTENDERS for one in measured.runs[who]),
        "load": [min(measured.load), max(measured.load)],
        "throughput": {
            **{who: spread(speed) for who, speed in zip(CONTENDERS, speeds, strict=True)},
            "gain": spread([a / b for a, b in zip(*speeds, strict=True)]),
        },
        "nodes": {
            node.letter: {
                "primitive": node.primitive,
                **_compared(*_both(parts, node.part, node.part.title)),
            }
            for node in figure.nodes
        },
        "whole": {kind: _compared(*_both(whole, kind, kind)) for kind in kinds},
    }
