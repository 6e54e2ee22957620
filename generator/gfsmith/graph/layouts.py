"""How each scheme spreads an encoding or a repair over nodes.

rs, lrc   Encode: the source computes all parities and sends every shard to its holder. Decode: the holders
          of what the plan reads send it to the sink, which computes. The two differ in their codes: the
          plan of a local code reads one group.
ppr       S. Mitra et al., "Partial-parallel-repair (PPR)", EuroSys 2016. Decode: the sink and the n helpers,
          in the order of their shards, are the places 0 .. n of a binomial tree: in step d = 1, 2, 4, ...
          each place i with i mod 2d = d adds what arrived to its own product and sends the sum to i - d.
          That takes ceil(log2(n + 1)) steps, in each of which no node sends or receives twice.
ecpipe    R. Li et al., "Repair pipelining for erasure-coded storage", USENIX ATC 2017. Decode: the helpers
          are a chain in the order of their shards, each adds its product to what arrives, the last sends to
          the sink. It pays with slices, which are given when it is posted: the graph does not know them.
triec     H. Shi, X. Lu, "TriEC: Tripartite graph based erasure coding NIC offload", SC 2019, as INEC
          describes it (figures 1, 5 and 13, sections II-B and IV-A). Encode: the source sends data to their
          holders, each of them computes its product for every parity, the parities' holders add. Decode:
          the helpers send their products for a lost shard to its holder, which adds them, keeps the shard
          (in-band recovery), and sends it on to the sink if that is another node.

A rank may have several parts: it holds several shards, or the sink holds some itself. Transfers from it to
itself then fall away, and the rest is one vertex. With several lost shards a helper's products for all of
them go the same way, and part only before sinks that differ. INEC's figures show structures, for one lost
shard mostly; the order of helpers, the places in PPR's tree and several lost shards are our reading.

runtime/compose/src/graph_layouts.c is the same algorithm, and tests hold the two to the same graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gfsmith.graph.build import Builder, Sum, shard
from gfsmith.matrix import Matrix, generator_matrix
from gfsmith.plan.planner import Plan


@dataclass(frozen=True, slots=True)
class Encoding:
    """All data are at `source`; shard i is to be at holders[i]."""

    parity: Matrix
    source: int
    holders: tuple[int, ...]

    @property
    def k(self) -> int:
        return len(self.parity[0])


@dataclass(frozen=True, slots=True)
class Decoding:
    """Shard i is at holders[i], or is to be there; target t goes to sinks[t] as well."""

    plan: Plan
    holders: tuple[int, ...]
    sinks: tuple[int, ...]

    @property
    def helpers(self) -> tuple[int, ...]:
        """The ranks that have what is read, in the order of the shards."""
        return tuple(dict.fromkeys(self.holders[n] for n in self.plan.reads))

    def part(self, rank: int, row: int) -> Sum:
        """What this rank's shards add to a target."""
        pairs = zip(self.plan.reads, self.plan.matrix[row], strict=True)
        return {shard(n): factor for n, factor in pairs if factor and self.holders[n] == rank}


def _row(elements: tuple[int, ...]) -> Sum:
    return {shard(n): factor for n, factor in enumerate(elements) if factor}


def gather_encode(builder: Builder, job: Encoding) -> None:
    for number, row in enumerate(generator_matrix(job.parity)):
        into: Sum = {}
        builder.bring(job.source, job.holders[number], _row(row), 1, into)
        builder.keep(job.holders[number], number, into)


def gather_decode(builder: Builder, job: Decoding) -> None:
    for target, sink, row in zip(job.plan.targets, job.sinks, job.plan.matrix, strict=True):
        into: Sum = {}
        for n, factor in zip(job.plan.reads, row, strict=True):
            if factor:
                builder.bring(job.holders[n], sink, {shard(n): 1}, factor, into)
        builder.keep(sink, target, into)


def triec_encode(builder: Builder, job: Encoding) -> None:
    data: list[Sum] = []
    for number, holder in enumerate(job.holders[: job.k]):
        data.append({})
        builder.bring(job.source, holder, {shard(number): 1}, 1, data[number])
        builder.keep(holder, number, data[number])
    for i, row in enumerate(job.parity):
        _triec_parity(builder, job, data, i, row)


def _triec_parity(builder: Builder, job: Encoding, data: list[Sum], i: int, row: tuple[int, ...]) -> None:
    holder = job.holders[job.k + i]
    into: Sum = {}
    if holder == job.source:  # it has all data itself, and its parts would have to wait for each other
        builder.add(into, _row(row), 1)
    else:
        for rank in dict.fromkeys(job.holders[: job.k]):
            part: Sum = {}
            for n, factor in enumerate(row):
                if factor and job.holders[n] == rank:
                    builder.add(part, data[n], factor)
            builder.bring(rank, holder, part, 1, into)
    builder.keep(holder, job.k + i, into)


def triec_decode(builder: Builder, job: Decoding) -> None:
    for row, (target, sink) in enumerate(zip(job.plan.targets, job.sinks, strict=True)):
        holder = job.holders[target]
        into: Sum = {}
        for rank in job.helpers:
            builder.bring(rank, holder, job.part(rank, row), 1, into)
        builder.keep(holder, target, into)
        if sink != holder:
            arrived: Sum = {}
            builder.bring(holder, sink, into, 1, arrived)
            builder.keep(sink, target, arrived)


def ppr_decode(builder: Builder, job: Decoding) -> None:
    for row, (target, sink) in enumerate(zip(job.plan.targets, job.sinks, strict=True)):
        places = (sink, *(rank for rank in job.helpers if rank != sink))
        sums = [job.part(rank, row) for rank in places]
        step = 1
        while step < len(places):
            for i in range(step, len(places), 2 * step):
                builder.bring(places[i], places[i - step], sums[i], 1, sums[i - step])
            step *= 2
        builder.keep(sink, target, sums[0])


def ecpipe_decode(builder: Builder, job: Decoding) -> None:
    for row, (target, sink) in enumerate(zip(job.plan.targets, job.sinks, strict=True)):
        before, total = sink, Sum()
        for rank in (*(rank for rank in job.helpers if rank != sink), sink):
            part = job.part(rank, row)
            if part or rank == sink:
                builder.bring(before, rank, total, 1, part)
                before, total = rank, part
        builder.keep(sink, target, total)


@dataclass(frozen=True, slots=True)
class Layout:
    """encode: None for what repairs only."""

    encode: Callable[[Builder, Encoding], None] | None
    decode: Callable[[Builder, Decoding], None]


LAYOUTS: dict[str, Layout] = {
    "rs": Layout(gather_encode, gather_decode),
    "lrc": Layout(gather_encode, gather_decode),
    "ppr": Layout(None, ppr_decode),
    "ecpipe": Layout(None, ecpipe_decode),
    "triec": Layout(triec_encode, triec_decode),
}
