"""The simulation: the numbers of model.toml, core/*.c compiled and called, and the resulting counts.

    run(machine, events, work) -> Counts

A Machine is a device, a CPU and a prefetcher, named as in model.toml; replace() changes one number.
Raises MachineError for invalid numbers, bench.build.BuildError if there is no compiler.
"""

from __future__ import annotations

import ctypes
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import BUILD, shared_object

HERE = Path(__file__).resolve().parent
PARAMETERS = HERE / "model.toml"
CORE = HERE / "core"
LINE = 64

#: One event of a kernel; mm_event of core/model.h.
EVENT = np.dtype(
    [
        ("kind", "u1"),
        ("waiting", "u1"),
        ("shard", "<u2"),
        ("offset", "<u4"),
        ("instructions", "<u2"),
        ("cycles16", "<u2"),
    ]
)
LOAD, PREFETCH, PREFETCH_SECOND, STORE, STREAM, WORK = range(6)
Events = np.ndarray[Any, np.dtype[np.void]]

_PARAMS = (
    *("channels", "interleave", "line", "buffer", "lru", "latency", "hit", "read", "write", "queue"),
    *("cycle", "width", "rob", "scheduler", "fill_buffers", "store_buffer", "l1_sets", "l1_ways", "l1_hit"),
    *("l2_sets", "l2_ways", "l2_hit", "superqueue", "streams", "trigger", "degree", "reach", "growth"),
)
_WORK = ("inputs", "shards", "pitch", "blocks", "threads", "stripes", "warm", "seed")
_COUNTS = (
    *("events", "loaded", "demand", "software", "hardware", "media", "hits", "written"),
    *("useful", "useless", "dropped", "stalled", "time"),
)


class MachineError(ValueError):
    """An invalid number of the model. The message names it."""


class _Params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in _PARAMS]


class _Work(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in _WORK]


class _Counts(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("rate", ctypes.c_double)]


@dataclass(frozen=True, slots=True)
class Work:
    """k inputs and m outputs of `length` bytes, encoded by `threads` threads, each with its own stripes."""

    k: int
    m: int
    length: int
    threads: int = 1
    stripes: int = 0  #: per thread; 0: a sufficient number
    pitch: int = 4096  #: blocks begin at multiples of this number of bytes


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a run (mm_counts of core/model.h); gbps: encoded data."""

    events: int
    loaded: int
    demand: int
    software: int
    hardware: int
    media: int
    hits: int
    written: int
    useful: int
    useless: int
    dropped: int
    stalled: int
    time: int
    gbps: float
    line: int

    @property
    def controller(self) -> float:
        """Return the bytes read over the memory bus per byte that the kernels loaded."""
        return (self.demand + self.software + self.hardware) / self.loaded

    @property
    def stall(self) -> float:
        """Return the nanoseconds per loaded line in which the core waited for a line."""
        return self.stalled / 1000 / self.loaded

    @property
    def media_ratio(self) -> float:
        """Return the bytes read from the media per byte that the kernels loaded."""
        return self.media * self.line / (self.loaded * LINE)


@dataclass(frozen=True, slots=True)
class Machine:
    """The numbers of core/model.h by their names."""

    numbers: Mapping[str, int]

    def replace(self, **changed: int) -> Machine:
        unknown = changed.keys() - set(_PARAMS)
        if unknown:
            raise MachineError(f"no number of the model: {', '.join(sorted(unknown))}")
        return Machine({**self.numbers, **changed})


def _picoseconds(nanoseconds: float) -> int:
    return round(nanoseconds * 1000)


def _device(table: Mapping[str, Any]) -> dict[str, int]:
    if table["replacement"] not in ("fifo", "lru"):
        raise MachineError(f"replacement = {table['replacement']!r}; allowed: fifo, lru")
    return {
        **{name: table[name] for name in ("channels", "interleave", "line", "queue")},
        "buffer": table["buffer"] // table["line"] + table["underway"],
        "lru": int(table["replacement"] == "lru"),
        "latency": _picoseconds(table["latency"]),
        "hit": _picoseconds(table["hit"]),
        "read": _picoseconds(table["line"] / table["read"]),
        "write": _picoseconds(LINE / table["write"]),
    }


def _cpu(table: Mapping[str, Any]) -> dict[str, int]:
    kept = (
        "width",
        "scheduler",
        "fill_buffers",
        "store_buffer",
        "l1_ways",
        "l1_hit",
        "l2_ways",
        "l2_hit",
        "superqueue",
    )
    return {
        **{name: table[name] for name in kept},
        "cycle": _picoseconds(table["cycle"]),
        "rob": table["window"],
        "l1_sets": table["l1_bytes"] // LINE // table["l1_ways"],
        "l2_sets": table["l2_bytes"] // LINE // table["l2_ways"],
    }


@functools.cache
def parameters() -> dict[str, Any]:
    return tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))


def machine(device: str = "optane-100", prefetcher: str = "stream32", cpu: str = "gold-6240") -> Machine:
    """Return the machine of these names. Raises MachineError for a name that model.toml does not have."""
    tables = parameters()
    for kind, name in (("device", device), ("cpu", cpu), ("prefetcher", prefetcher)):
        if name not in tables[kind]:
            raise MachineError(f"no {kind} {name!r} in {PARAMETERS.name}; allowed: {', '.join(tables[kind])}")
    return Machine(
        {**_device(tables["device"][device]), **_cpu(tables["cpu"][cpu]), **tables["prefetcher"][prefetcher]}
    )


@functools.cache
def _core() -> Any:
    sources, headers = (sorted(CORE.glob(names)) for names in ("*.c", "*.h"))
    output = shared_object(BUILD / "memory.so", sources, headers)
    library = ctypes.CDLL(str(output))
    library.mm_run.argtypes = [
        *(ctypes.POINTER(_Params), ctypes.c_void_p, ctypes.c_size_t),
        *(ctypes.POINTER(_Work), ctypes.POINTER(_Counts)),
    ]  # fmt: skip
    return library


#: Least number of bytes of data per thread, least number of stripes, and warm-up stripes.
_ENOUGH, _LEAST, _WARM = 1 << 20, 4, 1
#: Binary logarithm of the largest source area in bytes (1 GiB; the paper, 5.1).
_AREA = 30


def _filled(work: Work) -> _Work:
    stripes = work.stripes or max(_LEAST, _ENOUGH // work.threads // (work.k * work.length))
    shards = work.k + work.m
    pitch = -(-work.length // work.pitch) * work.pitch
    blocks = max((1 << _AREA) // pitch, shards * work.threads * stripes)
    bits = (blocks - 1).bit_length()
    warm = min(_WARM, stripes - 1)
    return _Work(work.k, shards, pitch, bits, work.threads, stripes, warm, 0x5EED)


def run(machine: Machine, events: Events, work: Work) -> Counts:
    """Encode stripe after stripe; a call of the kernel has these events."""
    params = _Params(*(machine.numbers[name] for name in _PARAMS))
    filled, counts = _filled(work), _Counts()
    kept = np.ascontiguousarray(events, EVENT)
    if _core().mm_run(params, kept.ctypes.data, len(kept), filled, counts) != 0:
        raise MachineError("the model cannot run: a size in model.toml is 0 or too large")
    found = {name: int(getattr(counts, name)) for name in _COUNTS}
    gbps = counts.rate * work.k * work.length / 1000
    return Counts(**found, gbps=gbps, line=machine.numbers["line"])
