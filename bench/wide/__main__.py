"""python -m bench.wide: codes with more than 255 shards, next to libraries of other projects.

Every library encodes the same data, or rebuilds the same data shards, in turn, round after round in one
process. Before the rounds, the parities of each are compared with those of the code with the same bytes, and
rebuilt shards with the data. Between two shards there are 64 bytes, so that their addresses do not collide
in the sets of the cache. With one thread, times are CPU times of the process, so that other processes count
less; with more, elapsed times. Ratios are paired: of the times within a round.

klauspost/reedsolomon and gfsmith share a call between threads. Crates have no threads: each thread has an
object of its own for an equal part of every shard. reed-solomon-simd and reed-solomon-novelpoly leave results
in memory of their own, so their times have no copies of them. reed-solomon-novelpoly takes a payload and is
measured with shards of 1 KiB only; its copies of the shards that a repair takes count.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import ROOT, BuildError, peer
from bench.machine import describe
from bench.options import OneLineParser, start
from bench.peer_calls import Job, Spec, open_peer
from bench.result_store import spread

SHAPES = ((128, 128), (256, 256), (1024, 1024), (4096, 4096), (342, 681))
LENGTHS = (1 << 10, 64 << 10)
PITCH = 64  #: bytes between shards
CALLS = ("encode", "third", "most")

#: Calls a number of times.
Run = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Other:
    """A library of another project: a variant of a peer, and the code of gfsmith with the same bytes."""

    name: str
    peer: str
    variant: str
    code: str
    threads: bool = False  #: the variant with two threads has " 2" behind its name
    longest: int = 1 << 20  #: bytes of a shard


OTHERS = (
    Other("klauspost", "klauspost", "leopard", "leopard", threads=True),
    Other("reed-solomon-simd", "rust", "simd", "reed_solomon_simd"),
    Other("leopard-codec", "wide", "leopard-codec", "leopard"),
    Other("novelpoly", "wide", "novelpoly", "lch16", longest=1 << 10),
)


def full_name(code: str, k: int, m: int) -> str:
    """Return the name of a code; "leopard" is the one that klauspost/reedsolomon chooses."""
    return f"leopard{8 if k + m <= 256 else 16}" if code == "leopard" else code


class Stripe:
    """The shards of a code in one piece of memory; row i of `shards` is shard i."""

    def __init__(self, k: int, m: int, length: int) -> None:
        rng = np.random.default_rng(k + length)
        self.k, self.m, self.length = k, m, length
        self.shards: Any = rng.integers(0, 256, (k + m, length + PITCH), dtype=np.uint8)
        self.rows = [row.ctypes.data for row in self.shards]

    @property
    def parities(self) -> Any:
        return self.shards[self.k :, : self.length]

    def missing(self, call: str) -> Any:
        """Return the flags of the shards that are present before a repair, or None to encode."""
        if call == "encode":
            return None
        total, rng = self.k + self.m, np.random.default_rng(self.k)
        count = self.m if call == "most" else min(self.m, total // 3)
        present = np.ones(total, dtype=np.uint8)
        present[rng.choice(total, count, replace=False)] = 0
        return present


class Gfsmith:
    """A code of the library. Raises BuildError."""

    def __init__(self, lib: ctypes.CDLL, code: str, stripe: Stripe, threads: int) -> None:
        self.lib, self.stripe, self.made = lib, stripe, ctypes.c_void_p()
        name = full_name(code, stripe.k, stripe.m)
        shape = (ctypes.c_uint(stripe.k), ctypes.c_uint(stripe.m))
        status = lib.gfsmith_wide_create(ctypes.byref(self.made), name.encode(), *shape)
        if status != 0:
            raise BuildError(f"gfsmith_wide_create returns {status}")
        self.executor = None
        if threads > 1:
            pool = ctypes.c_void_p()
            lib.gfsmith_pool_create(ctypes.byref(pool), threads)
            lib.gfsmith_pool_executor.restype = ctypes.c_void_p
            self.executor = ctypes.c_void_p(lib.gfsmith_pool_executor(pool))

    def run(self, present: Any) -> Run:
        stripe, length = self.stripe, ctypes.c_size_t(self.stripe.length)
        rows = (ctypes.c_void_p * len(stripe.rows))(*stripe.rows)
        if present is None:
            parity = (ctypes.c_void_p * stripe.m)(*stripe.rows[stripe.k :])
            function, arguments = self.lib.gfsmith_wide_encode_parallel, (rows, parity)
        else:
            wanted = np.arange(len(present)) < stripe.k
            flags = [(ctypes.c_bool * len(each))(*each) for each in (present.astype(bool), wanted)]
            function, arguments = self.lib.gfsmith_wide_reconstruct_parallel, (rows, *flags)

        def run(count: int) -> None:
            for _ in range(count):
                function(self.made, self.executor, length, *arguments)

        return run


class Peer:
    """A library of another project, as one object or as one for each thread. Raises BuildError."""

    def __init__(self, other: Other, library: Path, stripe: Stripe, threads: int) -> None:
        self.lib, self.stripe = ctypes.CDLL(str(library)), stripe
        parts = 1 if other.threads else threads
        variant = other.variant + (f" {threads}" if other.threads and threads > 1 else "")
        self.length = stripe.length // parts
        spec = Spec(variant.encode(), b"", bytes(stripe.k * stripe.m), stripe.k, stripe.m, self.length)
        self.made = [open_peer(self.lib, spec) for _ in range(parts)]
        self.workers = ThreadPoolExecutor(parts) if parts > 1 else None

    def _call(self, name: str, part: int, count: int, *flags: Any) -> None:
        stripe = self.stripe
        base, pitch = stripe.rows[0] + part * self.length, stripe.length + PITCH
        job = Job(base, None, count, self.length, pitch, stripe.k, stripe.m)
        getattr(self.lib, name)(self.made[part], ctypes.byref(job), *flags)

    def _all(self, name: str, count: int, *flags: Any) -> None:
        if self.workers is None:
            self._call(name, 0, count, *flags)
            return
        done = [self.workers.submit(self._call, name, n, count, *flags) for n in range(len(self.made))]
        for each in done:
            each.result()

    def run(self, present: Any) -> Run:
        name, flags = self._function(present)
        return lambda count: self._all(name, count, *flags)

    def results(self, present: Any) -> None:
        """Call once, with the results in the stripe."""
        if hasattr(self.lib, "peer_results"):
            self._all("peer_results", 1, *(self._function(present)[1] or (None,)))
        else:
            self.run(present)(1)

    @staticmethod
    def _function(present: Any) -> tuple[str, tuple[Any, ...]]:
        if present is None:
            return "peer_run", ()
        return "peer_repair", (present.ctypes.data_as(ctypes.c_void_p),)  # keeps the array


def timed(run: Run, count: int, clock: Callable[[], float]) -> float:
    """Return the seconds of one call."""
    start = clock()
    run(count)
    return (clock() - start) / count


def measure(runs: Sequence[Run], rounds: int, seconds: float, clock: Callable[[], float]) -> Any:
    """Return seconds of a call, rounds x libraries. Each sample takes about `seconds`."""
    counts = [max(1, round(seconds / timed(run, 1, clock))) for run in runs]
    pairs = list(zip(runs, counts, strict=True))
    return np.array([[timed(run, count, clock) for run, count in pairs] for _ in range(rounds)])


@dataclass(frozen=True, slots=True)
class Bench:
    """The libraries, and how they are measured."""

    lib: ctypes.CDLL
    peers: dict[str, Path]
    threads: int
    rounds: int
    seconds: float

    def compare(self, other: Other, made: Peer, present: Any) -> None:
        """Exit if a library has other parities than the code with the same bytes, or rebuilds other data."""
        stripe, k = made.stripe, made.stripe.k
        Gfsmith(self.lib, other.code, stripe, 1).run(None)(1)
        wanted = stripe.shards[:, : stripe.length].copy()
        if present is None:
            stripe.parities[:] = 0
        else:
            made.run(present)(1)  # those with shards of their own copy them
            stripe.shards[:k][present[:k] == 0] = 0
        made.results(present)
        has_rounded = other.name == "novelpoly" and present is None and k & (k - 1) != 0
        if not has_rounded and not np.array_equal(stripe.shards[:, : stripe.length], wanted):
            sys.exit(f"bench.wide: {k} + {stripe.m}: {other.name} has other bytes")

    def opened(self, call: str, stripe: Stripe) -> Iterator[tuple[str, Run]]:
        """Yield the libraries that have a shape, after comparing them."""
        present = stripe.missing(call)
        for other in OTHERS:
            if stripe.length > other.longest:
                continue
            k, m = stripe.k, stripe.m
            own = call != "encode" and other.code == "reed_solomon_simd" and k < m  # other parities
            try:
                at = Stripe(k, m, stripe.length) if own else stripe
                made = Peer(other, self.peers[other.peer], at, self.threads)
            except ValueError:
                continue
            self.compare(other, made, present)
            yield other.name, made.run(present)

    def line(self, call: str, k: int, m: int, length: int) -> str:
        """Return a row of the table. Rates count data and parity, as klauspost's benchmarks do."""
        stripe = Stripe(k, m, length)
        found = dict(self.opened(call, stripe))
        own = Gfsmith(self.lib, "leopard", stripe, self.threads)
        own.run(None)(1)
        clock = time.process_time if self.threads == 1 else time.perf_counter
        times = measure([own.run(stripe.missing(call)), *found.values()], self.rounds, self.seconds, clock)
        ratios = {name: spread(times[:, n] / times[:, 0], 2) for n, name in enumerate(found, 1)}
        rate = spread((k + m) * length / times[:, 0] / 1e9, 1)
        cells = [call, f"{k} + {m}", f"{length >> 10} KiB", rate, *(ratios.get(o.name, "-") for o in OTHERS)]
        return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="bench.wide", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each sample")
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=CALLS, help="repairs of two losses")
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "libgfsmith.so")
    given = parser.parse_args(arguments)
    try:
        peers = {name: peer(name, print) for name in dict.fromkeys(other.peer for other in OTHERS)}
        bench = Bench(ctypes.CDLL(str(given.library)), peers, given.threads, given.rounds, given.seconds)
        names = ("call", "k + m", "shard", "gfsmith, GB/s", *(f"over {other.name}" for other in OTHERS))
        print(f"{describe()}\n\n| {' | '.join(names)} |\n{'|---' * len(names)}|")
        for call in given.calls:
            for k, m in SHAPES:
                for length in LENGTHS:
                    print(bench.line(call, k, m, length), flush=True)
    except BuildError as error:
        sys.exit(f"bench.wide: {error}")


if __name__ == "__main__":
    start(main)
