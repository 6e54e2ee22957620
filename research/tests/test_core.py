"""Prefetcher, device and counts of the model, in cases with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from research.memory import machine as m
from research.memory.machine import EVENT, Counts, Events, MachineError, Work, run
from research.memory.systems import Setting, isal
from research.memory.traversals import Kernel, call, isal_cost

PM = m.machine()


def _isal(k: int, length: int, prefetcher: str = "stream32", pitch: int = 4096) -> Counts:
    events = call(k, 4, length, Kernel(), isal_cost(4))
    return run(m.machine(prefetcher=prefetcher), events, Work(k, 4, length, pitch=pitch))


@pytest.mark.parametrize(("prefetcher", "streams"), [("stream32", 32), ("stream64", 64)])
def test_one_stream_more_than_the_table_stops_prefetching(prefetcher: str, streams: int) -> None:
    assert _isal(streams, 4096, prefetcher).hardware > 0.5 * _isal(streams, 4096, prefetcher).loaded
    assert _isal(streams + 1, 4096, prefetcher).hardware == 0
    assert _isal(streams + 1, 4096, "endless").hardware > 0


def test_no_prefetch_beyond_a_page() -> None:
    """Every page needs its own training, and no line is read beyond the end of a page."""
    whole = _isal(4, 8192, pitch=8192)
    trained = PM.numbers["trigger"] + 1
    assert whole.useless == 0
    assert whole.demand >= trained * whole.loaded // m.LINE
    assert _isal(4, 2048).useless > 0


def test_training_precedes_prefetches() -> None:
    """A shard of `trigger` lines has one step fewer than the trigger needs."""
    lines = PM.numbers["trigger"]
    assert _isal(4, lines * m.LINE).hardware == 0
    assert _isal(4, (lines + 1) * m.LINE).hardware > 0


def _loads(places: list[tuple[int, int]]) -> Events:
    """Return loads of lines (shard, line), far enough apart in time that none waits for another."""
    events = np.zeros(len(places), EVENT)
    for event, (shard, line) in zip(events, places, strict=True):
        event["kind"], event["shard"], event["offset"] = m.LOAD, shard, line * m.LINE
        event["instructions"], event["cycles16"] = 300, 16 * 2000
    return events


def _counted(events: Events, k: int = 4, **changed: int) -> Counts:
    off = m.machine(prefetcher="off").replace(**changed)
    return run(off, events, Work(k, 1, 4096, stripes=4))


def test_a_device_line_is_read_once() -> None:
    counts = _counted(_loads([(j, line) for j in range(4) for line in range(64)]))
    assert (counts.media, counts.hits) == (counts.loaded // 4, counts.loaded * 3 // 4)


def test_a_buffer_that_is_too_small_reads_again() -> None:
    """Row by row, three other lines come between two accesses to a device line."""
    events = _loads([(j, line) for line in range(64) for j in range(4)])
    assert _counted(events, channels=1, buffer=4).media_ratio == 1
    assert _counted(events, channels=1, buffer=3).media_ratio == 4
    assert _counted(events, channels=1, buffer=3, lru=1).media_ratio == 4


def test_replacement_is_fifo_or_lru() -> None:
    """With three places and device lines A B C, then A again, D, A: only LRU still has A."""
    a, b, c, d = ((j, 0) for j in range(4))
    events = _loads([a, b, c, (0, 1), d, (0, 2)])
    fifo, lru = (_counted(events, channels=1, buffer=3, lru=n) for n in (0, 1))
    assert (fifo.hits, lru.hits) == (4, 2 * 4)
    assert fifo.media == lru.media + 4


def test_a_line_leaves_the_buffer_after_its_last_read() -> None:
    """A line leaves the buffer once all of it is read, so one place is enough for whole lines in sequence."""
    events = _loads([(j, line) for j in range(4) for line in range(4)])
    assert _counted(events, channels=1, buffer=1).media_ratio == 1


def test_a_stall_is_the_wait_of_the_oldest_load() -> None:
    """Loads far apart wait for the device one by one; further loads of the same lines hit the first level."""
    cold = [(j, 4 * line) for j in range(4) for line in range(16)]
    alone, twice = _counted(_loads(cold)), _counted(_loads([*cold, *cold]))
    in_first = PM.numbers["l1_hit"] * PM.numbers["cycle"]
    assert alone.stalled / alone.loaded == pytest.approx(PM.numbers["latency"] - in_first, rel=0.02)
    assert twice.stalled == pytest.approx(alone.stalled, rel=0.02)
    together = _loads(cold)
    together["cycles16"], together["instructions"] = 0, 1
    assert _counted(together).stalled < alone.stalled / 4, "loads that overlap wait together"


def test_dependent_loads_take_the_latency() -> None:
    far = _loads([(j, 4 * line) for j in range(4) for line in range(16)])
    counts = _counted(far)
    fixed = 2000 * PM.numbers["cycle"]
    assert counts.media == counts.loaded
    waited = counts.time / counts.loaded - fixed
    assert waited == pytest.approx(PM.numbers["latency"], rel=0.1)


@pytest.mark.parametrize("k", [8, 24, 48])
@pytest.mark.parametrize("threads", [1, 6])
@pytest.mark.parametrize("device", ["optane-100", "dram-2666"])
def test_counts_add_up(k: int, threads: int, device: str) -> None:
    counts = isal(Setting(k, threads=threads, device=device))
    reads = counts.demand + counts.software + counts.hardware
    assert counts.media + counts.hits == reads
    assert counts.useful + counts.useless == counts.hardware
    assert reads - counts.useless == counts.loaded, "every line is read once, except for useless prefetches"
    assert counts.loaded * 4 == counts.written * k, "one line of each of four outputs per line of each source"


@pytest.mark.parametrize("length", [512, 4096])
def test_a_store_through_the_cache_is_written_once(length: int) -> None:
    """The result does not depend on whether the prefetcher had fetched the lines before."""
    counts = run(PM, call(8, 4, length, Kernel(nt=False), isal_cost(4)), Work(8, 4, length))
    assert counts.written * 8 == counts.loaded * 4
    reads = counts.demand + counts.hardware - counts.useless
    assert reads == counts.loaded + counts.written, "a line is read before it is written to"


def test_the_same_run_counts_the_same() -> None:
    s = Setting(24, threads=4)
    first, second = (run(s.machine, call(24, 4, 1024, Kernel(), isal_cost(4)), s.work) for _ in range(2))
    assert first == second


def test_bad_numbers_are_named() -> None:
    with pytest.raises(MachineError, match=r"no device 'paper-tape'.*optane-100"):
        m.machine(device="paper-tape")
    with pytest.raises(MachineError, match="no number of the model: wings"):
        PM.replace(wings=2)
    with pytest.raises(MachineError, match=r"model\.toml"):
        run(PM.replace(superqueue=0), _loads([(0, 0)]), Work(4, 1, 4096))
