"""counters.c of the coordinator on a simulated kernel: its requests, and its evaluation of the answers."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.adaptive.counters import Counters, compiled
from tests.system.adaptive.kernel import (
    LOAD,
    LOST,
    LVL_L3,
    LVL_REM_RAM1,
    NUM_CXL,
    NUM_L3,
    NUM_LFB,
    NUM_PMEM,
    NUM_RAM,
    RING,
    SAMPLE,
    STORE,
    THROTTLE,
    Event,
    Kernel,
    load,
    record,
)

LEAST = 16  #: GFS_COUNTERS_LEAST
CYCLES, REFERENCE = 0, 9  #: PERF_COUNT_HW_*
HARDWARE, RAW = 0, 4  #: PERF_TYPE_*
INHERIT, NO_KERNEL, NO_HYPERVISOR, FREQUENCY = 1 << 1, 1 << 5, 1 << 6, 1 << 10
WEIGHT_AND_SOURCE, TIMES = 1 << 14 | 1 << 15, 3

SKYLAKE, ICELAKE, SAPPHIRE, GRANITE = 0x55, 0x6A, 0x8F, 0xAD
OLD, NEW = (0x04F2, 0x1FF1), (0x0426, 0x1F25)  #: useless prefetches, lines in: event and umask
INTEL = {SKYLAKE: OLD, ICELAKE: OLD, 0x6C: OLD, SAPPHIRE: NEW, 0xCF: NEW, GRANITE: NEW, 0xAE: NEW}
AMD = {(0x19, 0x11): "Zen 4", (0x19, 0x61): "Zen 4", (0x19, 0xA0): "Zen 4", (0x1A, 0x02): "Zen 5"}
#: Second level: prefetches served by the third level and by memory, data that the core found and missed.
FROM_L3, FROM_MEMORY, FOUND, MISSED = AMD_LINES = (0x1F71, 0x1F72, 0xF064, 0x0864)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("counters"))


@pytest.fixture
def opened(library: ctypes.CDLL) -> Callable[..., Counters]:
    def make(**settings: object) -> Counters:
        counters = Counters(library, Kernel(**settings))  # type: ignore[arg-type]
        assert counters.open(), counters.why
        return counters

    return make


def _count(type_: int, config: int) -> Event:
    return Event(type_, config, 0, 0, TIMES, INHERIT | NO_KERNEL | NO_HYPERVISOR, 0, 0, -1, -1)


@pytest.mark.parametrize("model", INTEL)
def test_requests_on_intel(opened: Callable[..., Counters], model: int) -> None:
    counters = opened(model=model, processors=2)
    flags = INHERIT | NO_KERNEL | NO_HYPERVISOR
    led = model in (SAPPHIRE, 0xCF)
    expected = []
    for processor in range(2):
        leader = -1
        if led:
            leader = 100 + len(expected)
            expected.append(Event(RAW, 0x8203, 0, 0, 0, flags, 0, 0, processor, -1))
        sampling = flags | FREQUENCY | 2 << 15
        expected.append(Event(RAW, 0x01CD, 1000, WEIGHT_AND_SOURCE, 0, sampling, 64, 0, processor, leader))
    counts = [(HARDWARE, CYCLES), (HARDWARE, REFERENCE), *((RAW, config) for config in INTEL[model])]
    assert counters.kernel.opened == [*expected, *(_count(*count) for count in counts)]
    counters.close()
    assert (counters.kernel.live, counters.kernel.pages) == ({}, {})


@pytest.mark.parametrize("family,model", AMD)
def test_requests_on_amd(opened: Callable[..., Counters], family: int, model: int) -> None:
    """IBS, filtered by the kernel, and six counts, which is the number of counters of these cores."""
    counters = opened(vendor=b"AuthenticAMD", family=family, model=model, processors=1, ibs=13)
    flags = INHERIT | NO_KERNEL | NO_HYPERVISOR | FREQUENCY
    sampled = Event(13, 1 << 19, 1000, WEIGHT_AND_SOURCE, 0, flags, 0, 1, 0, -1)
    counts = [(HARDWARE, CYCLES), (HARDWARE, REFERENCE), *((RAW, config) for config in AMD_LINES)]
    assert counters.kernel.opened == [sampled, *(_count(*count) for count in counts)]
    _run(counters, 1 << 19)
    assert counters.read() == (150.0, 0)


@pytest.mark.parametrize(
    "lines,useless",
    [
        ((100, 500, 600, 400), 0),  # the core found all that was prefetched
        ((100, 500, 450, 400), 0.15),  # 150 of 1000 fetched lines were not requested
        ((0, 600, 900, 400), 0),  # it found other lines too: no bound
        ((0, 0, 0, 0), 0),
        ((300, 0, 0, 0), 1),
    ],
)
def test_useless_prefetches_on_amd(
    opened: Callable[..., Counters], lines: tuple[int, ...], useless: float
) -> None:
    counters = opened(vendor=b"AuthenticAMD", family=0x19, model=0x11, processors=1)
    _run(counters, 1 << 19)
    for config, value in zip(AMD_LINES, lines, strict=True):
        counters.kernel.counts[counters.kernel.descriptor(config)] = (value, 10, 10)
    assert counters.read() == (150.0, useless)


def test_amd_events_that_share_the_counters(opened: Callable[..., Counters]) -> None:
    """Each count is scaled by its own time; without one of them nothing is known, and none is consumed."""
    counters = opened(vendor=b"AuthenticAMD", family=0x1A, model=0x02, processors=1)
    (ring,) = _run(counters, 1 << 19)
    found = (50, 100, 50), (300, 100, 100), (50, 100, 25), (600, 100, 100)
    at = {config: counters.kernel.descriptor(config) for config in AMD_LINES}
    for config, count in zip(AMD_LINES, found, strict=True):
        counters.kernel.counts[at[config]] = count
    counters.kernel.lent.add(at[MISSED])
    assert counters.read() == (150.0, -1)
    counters.kernel.lent.clear()
    counters.kernel.write(ring, *[load(600)] * LEAST)
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (16000, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (8000, 20, 20)
    assert counters.read() == (150.0, 0.2)  # 100 + 300 prefetched, 200 found; 600 missed


@pytest.mark.parametrize(
    "identity",
    [
        (b"", 0, 0),
        (b"GenuineIntel", 6, 0x97),  # hybrid
        (b"GenuineIntel", 6, 0x4F),  # Broadwell has no such event
        (b"GenuineIntel", 15, SKYLAKE),
        (b"AuthenticAMD", 0x19, 0x01),  # Zen 3 counts no reference cycles
        (b"AuthenticAMD", 6, SKYLAKE),
    ],
)
def test_unknown_cores(library: ctypes.CDLL, identity: tuple[bytes, int, int]) -> None:
    vendor, family, model = identity
    counters = Counters(library, Kernel(vendor=vendor, family=family, model=model))
    assert not counters.open()
    named = f"('{vendor.decode()}', family {family:#x}, model {model:#x})".replace("0x0,", "0,")
    assert counters.why == f"counters of this CPU are not known {named.replace('0x0)', '0)')}"
    assert counters.kernel.opened == []
    counters.close()


@pytest.mark.parametrize(
    "error,meaning",
    [
        (errno.EACCES, "perf_event_open: EACCES (not permitted: kernel.perf_event_paranoid is above 2)"),
        (errno.EPERM, "perf_event_open: EPERM (not permitted: "),
        (
            errno.ENOENT,
            "perf_event_open: ENOENT (this machine has no such counter, like most virtual machines)",
        ),
        (errno.EOPNOTSUPP, "perf_event_open: EOPNOTSUPP (this machine cannot sample loads"),
        (errno.ENOSYS, "perf_event_open: ENOSYS (this kernel or its sandbox has no counters)"),
        (errno.EINVAL, "perf_event_open: EINVAL ("),
        (errno.EMFILE, "perf_event_open: EMFILE (too many open files)"),
        (errno.EIO, f"perf_event_open: error {errno.EIO}"),
    ],
)
def test_refusals(library: ctypes.CDLL, error: int, meaning: str) -> None:
    """Any refused event gives one line and leaves nothing open. Sapphire Rapids requests the most events."""
    for number in range(8):
        counters = Counters(library, Kernel(model=SAPPHIRE, fails={number: error}))
        assert not counters.open()
        assert counters.why.startswith(meaning) and "\n" not in counters.why and len(counters.why) < 127
        assert len(counters.kernel.opened) == number + 1
        assert (counters.kernel.live, counters.kernel.pages) == ({}, {})
        counters.close()
    assert Counters(library, Kernel(model=SAPPHIRE, fails={8: error})).open()  # there is no ninth


def test_locked_memory_has_a_limit(library: ctypes.CDLL) -> None:
    for number in range(2):
        counters = Counters(library, Kernel(map_fails={number: errno.EPERM}))
        assert not counters.open()
        assert counters.why.startswith("perf_event_open: mmap: EPERM (")
        assert (counters.kernel.live, counters.kernel.pages) == ({}, {})


def test_missing_processors(library: ctypes.CDLL) -> None:
    counters = Counters(library, Kernel(processors=3, fails={1: errno.ENODEV}))
    assert counters.open()
    assert [e.processor for e in counters.kernel.live.values()][:2] == [0, 2]
    none = Counters(library, Kernel(fails={0: errno.ENODEV, 1: errno.ENODEV}))
    assert not none.open()
    assert none.why.startswith("perf_event_open: ENODEV (")
    assert (none.kernel.live, none.kernel.pages) == ({}, {})


def test_no_steady_clock_and_no_ibs(library: ctypes.CDLL) -> None:
    unsteady = Counters(library, Kernel(steady=False))
    assert not unsteady.open()
    assert unsteady.why == "the time-stamp counter is not constant, so cycles cannot be converted to time"
    assert (unsteady.kernel.live, unsteady.kernel.pages) == ({}, {})
    virtual = Counters(library, Kernel(vendor=b"AuthenticAMD", family=0x19, model=0x11, ibs=-1))
    assert not virtual.open()
    assert virtual.why == "this machine has no IBS, like most virtual machines"


def _run(counters: Counters, config: int = 0x01CD, **more: tuple[int, int, int]) -> list[int]:
    """Loads of 600 cycles at twice the reference clock of 2 GHz: 150 ns. Returns the descriptors of the
    rings.
    """
    kernel = counters.kernel
    rings = sorted(kernel.pages)
    assert rings == sorted(d for d, e in kernel.live.items() if e.config == config)
    kernel.counts[kernel.descriptor(CYCLES)] = (8000, 10, 10)
    kernel.counts[kernel.descriptor(REFERENCE)] = (4000, 10, 10)
    for ring in rings:
        kernel.write(ring, *[load(600)] * LEAST)
    return rings


def _lines(counters: Counters, useless: tuple[int, int, int], lines: tuple[int, int, int]) -> None:
    for config, count in zip(OLD, (useless, lines), strict=True):
        counters.kernel.counts[counters.kernel.descriptor(config)] = count


def test_the_average(opened: Callable[..., Counters]) -> None:
    """The average covers loads from memory on all processors: no stores, caches, fill buffers, or samples
    without a latency.
    """
    counters = opened()
    first, second = _run(counters)
    kernel = counters.kernel
    others = [LOAD | LVL_L3, LOAD | NUM_L3, LOAD | NUM_LFB, STORE | NUM_RAM, LOAD]
    kernel.write(first, *(load(9999, source) for source in others), load(0), record(THROTTLE, 1, 2, 3))
    memories = [LOAD | LVL_REM_RAM1, LOAD | NUM_RAM, LOAD | NUM_PMEM, LOAD | NUM_CXL]
    kernel.write(second, *(load(600, source) for source in memories * 8), *[load(1200)] * 64)
    _lines(counters, (30, 1, 1), (120, 1, 1))
    assert counters.read() == (225.0, 0.25)  # 64 of 600 cycles, 64 of 1200
    assert (kernel.unread(first), kernel.unread(second)) == (0, 0)


def test_a_few_samples_are_kept_for_later(opened: Callable[..., Counters]) -> None:
    counters = opened(processors=1)
    (ring,) = _run(counters)
    assert counters.read() is not None
    counters.kernel.write(ring, *[load(100)] * (LEAST - 1))
    assert counters.read() is None
    counters.kernel.write(ring, load(100))
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (8100, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (4200, 20, 20)
    assert counters.read() == (100.0, 0)  # 100 cycles at half the reference clock


@pytest.mark.parametrize("position", [RING - 8, RING - 16, 5 * RING - 24])
def test_records_that_go_round_the_end(opened: Callable[..., Counters], position: int) -> None:
    counters = opened(processors=1)
    (ring,) = counters.kernel.pages
    counters.kernel.begin_at(ring, position)
    _run(counters)
    assert counters.read() == (150.0, 0)
    assert counters.kernel.unread(ring) == 0


def test_lost_records(opened: Callable[..., Counters]) -> None:
    """A full ring, and the record in which the kernel states the number of lost records."""
    counters = opened(processors=1)
    (ring,) = _run(counters)
    counters.kernel.write(ring, *[load(600)] * (RING // 24))
    assert RING - counters.kernel.unread(ring) < 24
    assert counters.read() == (150.0, 0)
    counters.kernel.write(ring, record(LOST, 7, 1000), *[load(600)] * LEAST)
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (16000, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (8000, 20, 20)
    assert counters.read() == (150.0, 0)


@pytest.mark.parametrize(
    "broken",
    [
        record(SAMPLE, 600, size=24),
        record(SAMPLE, size=0),
        record(SAMPLE, size=7),
        record(SAMPLE, size=0xFFF8),
    ],
    ids=["cut", "empty", "short", "long"],
)
def test_a_record_that_is_cut_off(opened: Callable[..., Counters], broken: bytes) -> None:
    """Records before the broken one count; records after it are ignored; the next one is read again."""
    counters = opened(processors=1)
    (ring,) = _run(counters)
    counters.kernel.write(ring, broken)
    assert counters.read() == (150.0, 0)
    assert counters.kernel.unread(ring) == 0
    counters.kernel.write(ring, *[load(100)] * LEAST)
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (9000, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (5000, 20, 20)
    assert counters.read() == (50.0, 0)


def test_a_sample_without_all_its_words(opened: Callable[..., Counters]) -> None:
    counters = opened(processors=1)
    (ring,) = _run(counters)
    counters.kernel.write(ring, *[record(SAMPLE, 99999)] * LEAST, record(SAMPLE))
    assert counters.read() == (150.0, 0)


def test_counters_that_run_part_of_the_time(opened: Callable[..., Counters]) -> None:
    """Multiplexed: enabled for 100, running for 25, so the counter counted a quarter."""
    counters = opened(processors=1)
    _run(counters)
    _lines(counters, (10, 100, 25), (80, 100, 100))
    assert counters.read() == (150.0, 0.5)


def test_counters_that_did_not_run(opened: Callable[..., Counters]) -> None:
    counters = opened(processors=1)
    (ring,) = _run(counters)
    _lines(counters, (10, 100, 100), (40, 100, 100))
    assert counters.read() == (150.0, 0.25)
    counters.kernel.write(ring, *[load(600)] * LEAST)
    assert counters.read() is None  # without cycles, latency cannot be converted to time
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (16000, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (8000, 20, 20)
    _lines(counters, (20, 200, 200), (40, 200, 100))
    assert counters.read() == (150.0, -1)  # lines were not counted; the samples remain
    counters.kernel.write(ring, *[load(600)] * LEAST)
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (24000, 30, 30)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (12000, 30, 30)
    _lines(counters, (40, 300, 300), (60, 300, 200))
    assert counters.read() == (150.0, 0.75)  # 30 and, scaled, 40, since both counters ran


def test_numbers_that_go_round(opened: Callable[..., Counters]) -> None:
    counters = opened(processors=1)
    (ring,) = _run(counters)
    top = 1 << 64
    _lines(counters, (top - 5, top - 50, top - 50), (top - 10, top - 50, top - 50))
    assert counters.read() is not None
    counters.kernel.write(ring, *[load(600)] * LEAST)
    counters.kernel.counts[counters.kernel.descriptor(CYCLES)] = (16000, 20, 20)
    counters.kernel.counts[counters.kernel.descriptor(REFERENCE)] = (8000, 20, 20)
    _lines(counters, (5, 50, 50), (30, 50, 50))
    assert counters.read() == (150.0, 0.25)


def test_a_count_that_cannot_be_read(opened: Callable[..., Counters]) -> None:
    counters = opened(processors=1)
    _run(counters)
    counters.kernel.lent.add(counters.kernel.descriptor(OLD[0]))
    assert counters.read() == (150.0, -1)


def test_reading_allocates_nothing(opened: Callable[..., Counters]) -> None:
    counters = opened()
    before = counters.allocations
    assert before > 0  # the allocation in open is counted
    _run(counters)
    assert counters.read() == (150.0, 0)
    assert counters.read() is None
    assert counters.allocations == before


def test_this_machine(library: ctypes.CDLL) -> None:
    """On the real kernel: counters, or one reason."""
    room, why = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(b"", 128)
    if library.gfs_counters_open(room, why, len(why)):
        latency, useless = ctypes.c_double(), ctypes.c_double()
        library.gfs_counters_read(room, ctypes.byref(latency), ctypes.byref(useless))
    else:
        assert why.value and b"\n" not in why.value
    library.gfs_counters_close(room)


def test_systems_that_are_not_linux(tmp_path: Path) -> None:
    library = compiled(tmp_path, "-U__linux__")
    room, why = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(128)
    assert not library.gfs_counters_open(room, why, len(why))
    assert why.value == b"perf_event_open: this library was built without it"
    library.gfs_counters_close(room)
