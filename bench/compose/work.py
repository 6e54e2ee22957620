"""The work of a graph: transfers and products, the length of its longest path, and the time that the paper's
model predicts on a network where every node has its own link.

Here all ranks share two processors, so the cost is the sum of all copies and products, not the longest path.
Therefore alpha is compared with that sum (`shared`). The longest path determines the time on a cluster
(`projected`), which is a projection and not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from scipy import optimize


@dataclass(frozen=True, slots=True)
class Part:
    """A vertex. products: chunks that it multiplies and adds, without outputs that are forwarded inputs;
    sends: the receivers."""

    rank: int
    products: int
    sends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """A graph's parts. A receiver comes after its senders."""

    parts: tuple[Part, ...]

    @property
    def transfers(self) -> int:
        return sum(len(part.sends) for part in self.parts)

    @property
    def products(self) -> int:
        """Return the number of chunks that are multiplied and added."""
        return sum(part.products for part in self.parts)

    @property
    def hops(self) -> int:
        """Return the number of transfers on the longest path."""
        depth: dict[int, int] = {}
        for part in self.parts:
            for target in part.sends:
                depth[target] = max(depth.get(target, 0), depth.get(part.rank, 0) + 1)
        return max(depth.values(), default=0)


def work_of(graph: dict[str, Any]) -> Work:
    """Return the work of a graph, given as JSON. Raises ValueError for a cycle."""
    left = {v["rank"]: v for v in graph["vertices"]}
    parts: list[Part] = []
    edges = graph["edges"]
    while left:
        ready = [v for v in left.values() if not any(edges[e]["from"] in left for e in v["receives"])]
        if not ready:
            raise ValueError("the graph has a cycle")
        for vertex in ready:
            products = sum(sum(map(bool, row)) for row in vertex["matrix"] if sum(row) != 1)
            sends = tuple(edges[send["edge"]]["to"] for send in vertex["sends"])
            parts.append(Part(vertex["rank"], products, sends))
            del left[vertex["rank"]]
    return Work(tuple(parts))


def work_json(work: Work) -> dict[str, Any]:
    return {"parts": [[part.rank, part.products, list(part.sends)] for part in work.parts]}


def work_from(kept: dict[str, Any]) -> Work:
    return Work(tuple(Part(rank, products, tuple(sends)) for rank, products, sends in kept["parts"]))


@dataclass(frozen=True, slots=True)
class Shared:
    """alpha explained by transfers and products: seconds per byte of each; errors relative to the alphas."""

    transfer: float
    product: float
    errors: tuple[float, ...]


def shared(works: Sequence[Work], alphas: Sequence[float]) -> Shared:
    """Fit by least squares of relative errors, without negative figures. Raises ValueError for fewer than
    three graphs."""
    if len(works) < 3:
        raise ValueError(f"{len(works)} graphs; allowed: 3 or more, to fit two parameters")
    scale = max(alphas)
    rows = [[w.transfers * scale / a, w.products * scale / a] for w, a in zip(works, alphas, strict=True)]
    found, _ = optimize.nnls(numpy.asarray(rows), numpy.ones(len(rows)))
    transfer, product = (float(value) * scale for value in found)
    errors = tuple(
        (transfer * w.transfers + product * w.products) / a - 1 for w, a in zip(works, alphas, strict=True)
    )
    return Shared(transfer, product, errors)


@dataclass(frozen=True, slots=True)
class Network:
    """bandwidth: bytes per second of each node's link, in each direction. hop: seconds that a transfer takes
    in addition to its bytes. product: seconds in which a node multiplies and adds a byte."""

    bandwidth: float
    hop: float
    product: float


def projected(work: Work, length: int, slices: int, network: Network) -> float:
    """Return the seconds until all ranks have their results, on a network where nodes share nothing but links
    and processors of their own. A node computes a slice when it has received it from all senders, sends one
    message at a time and receives one at a time, in the order of the graph."""
    piece = length / slices
    wire = piece / network.bandwidth
    egress: dict[int, float] = {}
    ingress: dict[int, float] = {}
    busy: dict[int, float] = {}
    last = 0.0
    for _ in range(slices):
        here: dict[int, float] = {}
        for part in work.parts:
            start = max(here.get(part.rank, 0.0), busy.get(part.rank, 0.0))
            ready = start + part.products * piece * network.product
            busy[part.rank] = ready
            last = max(last, ready)
            for target in part.sends:
                begin = max(ready, egress.get(part.rank, 0.0), ingress.get(target, 0.0))
                egress[part.rank] = ingress[target] = begin + wire
                here[target] = max(here.get(target, 0.0), begin + wire + network.hop)
    return max([last, *here.values()])
