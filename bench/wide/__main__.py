"""python -m bench.wide: codes with more than 255 shards, next to klauspost/reedsolomon and reed-solomon-simd.

Every library encodes the same data with one thread, in turn, round after round in one process. Between two
shards there are 64 bytes, so that their addresses do not collide in the sets of the cache. Before the rounds,
gfsmith's parities are compared with klauspost's. Times are CPU times of the process, so that other processes
count less. Ratios are paired: of the times within a round.

The parities of reed-solomon-simd stay in its encoder's memory, so its time has no copy of them.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import ROOT, BuildError, peer
from bench.machine import describe
from bench.options import OneLineParser, start
from bench.peer_calls import Job, Spec, open_peer
from bench.result_store import spread

SHAPES = ((256, 256), (1024, 1024), (4096, 4096), (342, 681))
LENGTHS = (1 << 10, 64 << 10)
PITCH = 64  #: bytes between shards
COLUMNS = ("k + m", "shard", "gfsmith, GB/s", "klauspost", "reed-solomon-simd", "over klauspost", "over simd")


@dataclass(frozen=True, slots=True)
class Stripe:
    """The shards of a code in one piece of memory; row i of `shards` is shard i."""

    k: int
    m: int
    length: int
    shards: Any

    @staticmethod
    def random(k: int, m: int, length: int) -> Stripe:
        rng = np.random.default_rng(k + length)
        return Stripe(k, m, length, rng.integers(0, 256, (k + m, length + PITCH), dtype=np.uint8))

    @property
    def parities(self) -> Any:
        return self.shards[self.k :, : self.length]


def of_peer(library: Path, variant: bytes, stripe: Stripe) -> Callable[[int], None]:
    """Return the function that encodes a stripe so many times. Raises BuildError."""
    lib = ctypes.CDLL(str(library))
    zeros = bytes(stripe.k * stripe.m)  # the matrix, which these variants do not use
    try:
        made = open_peer(lib, Spec(variant, b"", zeros, stripe.k, stripe.m, stripe.length))
    except ValueError as error:
        raise BuildError(f"{library.stem}: {error}") from None

    def run(count: int) -> None:
        pitch = stripe.length + PITCH
        job = Job(stripe.shards.ctypes.data, None, count, stripe.length, pitch, stripe.k, stripe.m)
        lib.peer_run(made, ctypes.byref(job))

    return run


def of_gfsmith(library: Path, stripe: Stripe) -> Callable[[int], None]:
    """Return the function that encodes a stripe so many times."""
    lib, made = ctypes.CDLL(str(library)), ctypes.c_void_p()
    shape = (ctypes.c_uint(stripe.k), ctypes.c_uint(stripe.m))
    status = lib.gfsmith_wide_create(ctypes.byref(made), b"leopard16", *shape)
    if status != 0:
        raise BuildError(f"{library.name}: gfsmith_wide_create returns {status}")
    rows = [row.ctypes.data for row in stripe.shards]
    data = (ctypes.c_void_p * stripe.k)(*rows[: stripe.k])
    parity = (ctypes.c_void_p * stripe.m)(*rows[stripe.k :])

    def run(count: int) -> None:
        for _ in range(count):
            lib.gfsmith_wide_encode(made, ctypes.c_size_t(stripe.length), data, parity)

    return run


def timed(run: Callable[[int], None], count: int) -> float:
    """Return the seconds of one encoding."""
    start = time.process_time()
    run(count)
    return (time.process_time() - start) / count


def measure(runs: Sequence[Callable[[int], None]], rounds: int, seconds: float) -> Any:
    """Return seconds of an encoding, rounds x libraries. Each sample takes about `seconds`."""
    counts = [max(1, round(seconds / timed(run, 1))) for run in runs]
    return np.array([[timed(run, n) for run, n in zip(runs, counts, strict=True)] for _ in range(rounds)])


def compare(runs: Sequence[Callable[[int], None]], stripe: Stripe) -> None:
    """Exit if gfsmith's parities are not klauspost's."""
    runs[0](1)
    first = stripe.parities.copy()
    stripe.parities[:] = 0
    runs[1](1)
    if not np.array_equal(first, stripe.parities):
        sys.exit(f"bench.wide: {stripe.k} + {stripe.m}: klauspost/reedsolomon has other parities")


def line(stripe: Stripe, times: Any) -> str:
    """Return a row of the table. Rates count data and parity, as klauspost's benchmarks do."""
    total = (stripe.k + stripe.m) * stripe.length
    rates = [spread(total / column / 1e9, 1) for column in times.T]
    ratios = [spread(times[:, n] / times[:, 0], 2) for n in (1, 2)]
    return f"| {' | '.join([f'{stripe.k} + {stripe.m}', f'{stripe.length >> 10} KiB', *rates, *ratios])} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="bench.wide", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each sample")
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "libgfsmith.so")
    given = parser.parse_args(arguments)
    try:
        peers = [
            (peer(name, print), variant) for name, variant in (("klauspost", b"leopard"), ("rust", b"simd"))
        ]
        print(f"{describe()}\n\n| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
        for k, m in SHAPES:
            for length in LENGTHS:
                stripe = Stripe.random(k, m, length)
                others = [of_peer(library, variant, stripe) for library, variant in peers]
                runs = [of_gfsmith(given.library, stripe), *others]
                compare(runs, stripe)
                print(line(stripe, measure(runs, given.rounds, given.seconds)), flush=True)
    except BuildError as error:
        sys.exit(f"bench.wide: {error}")


if __name__ == "__main__":
    start(main)
