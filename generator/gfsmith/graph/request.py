"""What a graph is to do, and the graph that does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gfsmith.field import Field
from gfsmith.graph.build import Builder
from gfsmith.graph.check import prove
from gfsmith.graph.layouts import LAYOUTS, Decoding, Encoding
from gfsmith.graph.types import MAX_RANKS, Graph, GraphError
from gfsmith.matrix import Matrix
from gfsmith.plan.planner import plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """parity: m x k over GF(2)[x] / polynomial; mds: whether it is known to be MDS."""

    polynomial: int
    parity: Matrix
    mds: bool

    @property
    def k(self) -> int:
        return len(self.parity[0])

    @property
    def m(self) -> int:
        return len(self.parity)


def _check_ranks(ranks: Iterable[int]) -> None:
    for rank in ranks:
        if not 0 <= rank < MAX_RANKS:
            raise GraphError(f"rank {rank} is out of range; allowed: 0..{MAX_RANKS - 1}")


def _finish(code: Code, scheme: str, builder: Builder, encodes: bool) -> Graph:
    has, wanted, edges, vertices = builder.finish()
    graph = Graph(scheme, encodes, code.polynomial, code.k, code.m, code.parity, has, wanted, edges, vertices)
    try:
        prove(graph)
    except GraphError as error:
        raise GraphError(f"{error}; {scheme} needs a sink or source that holds no shard here") from None
    return graph


def encoding(scheme: str, code: Code, holders: tuple[int, ...], source: int) -> Graph:
    """The graph that takes all data from `source`, and shard i to rank holders[i]. It is proved.

    Raises GraphError."""
    layout = LAYOUTS[scheme].encode
    if layout is None:
        able = ", ".join(name for name, each in LAYOUTS.items() if each.encode)
        raise GraphError(f"{scheme} repairs only; allowed for encoding: {able}")
    _check_ranks((*holders, source))
    builder = Builder(code.polynomial)
    layout(builder, Encoding(code.parity, source, holders))
    return _finish(code, scheme, builder, True)


def decoding(
    scheme: str,
    code: Code,
    holders: tuple[int, ...],
    lost: Iterable[int],
    wanted: Iterable[int] | None = None,
    sinks: dict[int, int] | None = None,
) -> Graph:
    """The graph that rebuilds lost shards by the plan that reads fewest. It is proved.

    wanted: those of the lost ones to rebuild, None for all; sinks: who gets each, its holder if it is not
    there. Raises PlanError for a loss that cannot be repaired, and GraphError."""
    found = plan(Field(code.polynomial), code.parity, lost, wanted, mds=code.mds)
    if not found.targets:
        raise GraphError("no lost shard is wanted: there is nothing to rebuild")
    to = tuple((sinks or {}).get(target, holders[target]) for target in found.targets)
    _check_ranks((*holders, *to))
    builder = Builder(code.polynomial)
    LAYOUTS[scheme].decode(builder, Decoding(found, holders, to))
    return _finish(code, scheme, builder, False)
