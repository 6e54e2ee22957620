"""The library's policies as events of a call: its steps, plain kernels, and the coordinator's variants.

The text of a policy is that of the coordinator (docs/adaptive.md): default, plain, or
row | rows4 | block | block-shuffled | shuffled [,d=LINES] [,first=LINES] [,nt] [,pages].
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from gfsmith.build.config import parse, specs
from gfsmith.build.generate import program
from gfsmith.ir import Program
from gfsmith.kernel import tuning_parameters
from gfsmith.kernel.spec import KernelSpec
from gfsmith.kernel.tuning_parameters import LINE, Store, shuffled
from research.memory import streams
from research.memory.machine import Events
from research.memory.traversals import Kernel, Walk, asking, fetched, plan

#: From runtime/core/src/apply.c and path.h; research/tests/test_reproduction.py compares them.
STEP_BUDGET, STEP_MIN, STEP_MAX = 8192, 128, 1024
PAGE = 4096  #: gfsmith_adaptive_options.page
FEW_SHARDS, LONG_SHARD, GFS_BULK_MIN = 16, 4096, 16 << 10
STREAM_MIN = 1024  #: of the stored forecasts; the library has a limit for each CPU

#: Walk, lines per iteration (for `block`, the most that fit), shuffled.
VARIANTS = {
    "row": (tuning_parameters.Walk.ROWS, 1, False),
    "rows4": (tuning_parameters.Walk.ROWS, 4, False),
    "block": (tuning_parameters.Walk.TOGETHER, None, False),
    "block-shuffled": (tuning_parameters.Walk.TOGETHER, None, True),
    "shuffled": (tuning_parameters.Walk.ROWS, 8, True),
}


@dataclass(frozen=True, slots=True)
class Policy:
    walk: str
    distance: int = 0
    first: int = 0
    nt: bool = False
    pages: bool = False

    @classmethod
    def read(cls, text: str) -> Policy:
        """Return the policy with this text."""
        walk, *rest = text.split(",")
        named = dict(part.split("=") for part in rest if part not in ("nt", "pages"))
        numbers = int(named.get("d", 0)), int(named.get("first", 0))
        return cls(walk, *numbers, "nt" in rest, "pages" in rest)

    def __str__(self) -> str:
        parts = [self.walk]
        parts += [f"d={self.distance}"] if self.walk in VARIANTS else []
        parts += [f"first={self.first}"] if self.first else []
        parts += ["nt"] if self.nt and self.walk in VARIANTS else []
        parts += ["pages"] if self.pages else []
        return ",".join(parts)


@functools.cache
def _kernels(isa: str, m: int) -> tuple[KernelSpec, ...]:
    """Return the default dot kernels for m outputs and any number of sources, and the variants."""
    text = (
        f'[generator]\nisas = ["{isa}"]\n[adaptive]\nisas = ["{isa}"]\noutputs = [{m}]\n'
        f'[[kernels]]\noperation = "dot"\nshapes = ["nx{m}"]\n'
        f'[[kernels]]\noperation = "dot"\nshapes = ["nx{m}"]\nstore = "streaming"\n'
    )
    return specs(parse(text, "model"), "model")


@functools.cache
def kernel(isa: str, m: int, walk: str, nt: bool) -> tuple[KernelSpec, Program]:
    """Return a kernel and its Program. Raises KeyError if there is none."""
    store = Store.STREAMING if nt else Store.TEMPORAL
    for spec in _kernels(isa, m):
        if spec.store is not store:
            continue
        if walk not in VARIANTS:
            if not spec.pipelined:
                return spec, program(spec)
            continue
        order, lines, mixed = VARIANTS[walk]
        wanted = (order, mixed) == (spec.walk, spec.shuffled) and lines in (None, spec.block // LINE)
        if spec.pipelined and wanted:
            return spec, program(spec)
    raise KeyError(f"{isa} has no kernel {walk} for {m} outputs")


@functools.lru_cache(maxsize=256)
def _plain(isa: str, m: int, k: int, length: int, nt: bool) -> Events:
    return streams.events(streams.accesses(kernel(isa, m, "plain", nt)[1], k, length))


def moved(found: Events, by: int) -> Events:
    result = found.copy()
    result["offset"] += by
    return result


def _steps(isa: str, m: int, k: int, length: int) -> Events:
    """Return the events of apply.c, which prefetches the sources of the next step before it computes this
    one."""
    step = STEP_BUDGET // (k + m) // STEP_MIN * STEP_MIN
    step = max(STEP_MIN, min(STEP_MAX, step))
    nt = length >= STREAM_MIN
    parts = [fetched(k, 0, min(step, length))]
    for start in range(0, length, step):
        after = min(start + 2 * step, length) - start - step
        if after > 0:
            parts.append(fetched(k, start + step, after))
        parts.append(moved(_plain(isa, m, k, min(step, length - start), nt), start))
    return np.concatenate(parts)


def _variant(isa: str, m: int, k: int, length: int, policy: Policy) -> Events:
    """Return the events of pipeline.c: prefetches before the loop, the pipelined part, last prefetches, the
    rest."""
    spec, lowered = kernel(isa, m, policy.walk, policy.nt)
    lines = spec.block // LINE
    order = shuffled(lines) if spec.shuffled else ()
    asked = plan(k, length, Kernel(Walk(spec.walk.value), lines, order, policy.distance, policy.first))
    parts = []
    done = asked.lead + asked.piped // LINE * k
    for some in (slice(0, asked.lead), slice(done, None)):
        inside = asked.offset[some] < length
        parts.append(asking(asked.source[some][inside], asked.offset[some][inside], False))
    found = streams.accesses(lowered, k, asked.piped)
    parts.insert(1, streams.events(found, asked.pointers()))
    parts.append(moved(_plain(isa, m, k, length - asked.piped, policy.nt), asked.piped))
    return np.concatenate(parts)


def _pages(isa: str, m: int, k: int, length: int, policy: Policy) -> Events:
    """Return the events of the whole pages, and then of the rest in the shuffled order."""
    whole, mixed = length // PAGE * PAGE, "block-shuffled" if policy.walk == "block" else "shuffled"
    both = ((whole, policy.walk, 0), (length - whole, mixed, whole))
    parts = (
        moved(call(isa, m, k, bytes_, replace(policy, walk=walk, pages=False)), start)
        for bytes_, walk, start in both
        if bytes_
    )
    return np.concatenate(list(parts))


def call(isa: str, m: int, k: int, length: int, policy: Policy) -> Events:
    """Return the events of one call under a policy. Raises KeyError if there is no kernel for it."""
    if policy.walk == "plain":
        return _plain(isa, m, k, length, False)
    if policy.walk == "default":
        followed = k if length >= GFS_BULK_MIN else k + m
        if followed > FEW_SHARDS or length < LONG_SHARD:
            return _steps(isa, m, k, length)
        return _plain(isa, m, k, length, length >= STREAM_MIN)
    if policy.pages:
        return _pages(isa, m, k, length, policy)
    return _variant(isa, m, k, length, policy)
