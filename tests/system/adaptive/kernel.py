"""A simulated kernel for the coordinator's counters.c: records the requested events and serves samples."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

PAGE = mmap.PAGESIZE
RING = 4 * PAGE  #: bytes of records after the page that controls them

SAMPLE, LOST, THROTTLE = 9, 2, 5  #: PERF_RECORD_*
LOAD, STORE = 0x02, 0x04  #: perf_mem_data_src.mem_op
LVL_L3, LVL_LOC_RAM, LVL_REM_RAM1 = 0x40 << 5, 0x80 << 5, 0x100 << 5
NUM_L3, NUM_LFB, NUM_CXL, NUM_RAM, NUM_PMEM = (n << 33 for n in (3, 12, 9, 13, 14))

#: Offsets of the fields of struct perf_event_mmap_page.
_CAPABILITIES, _TIME_SHIFT, _TIME_MULT, _HEAD, _TAIL = 40, 50, 52, 1024, 1032
_USER_TIME = 1 << 3


class Identity(ctypes.Structure):
    """gfs_cpu_identity"""

    _fields_ = (("vendor", ctypes.c_char * 13), ("family", ctypes.c_uint), ("model", ctypes.c_uint))


@dataclass(frozen=True)
class Event:
    """A request to perf_event_open; `flags` are the bits after read_format."""

    type: int
    config: int
    frequency: int
    sample_type: int
    read_format: int
    flags: int
    config1: int
    config2: int
    processor: int
    group: int

    @property
    def precise(self) -> int:
        return self.flags >> 15 & 3


def _function(result: type | None, *arguments: type) -> Callable[..., type]:
    return ctypes.CFUNCTYPE(result, *arguments, use_errno=True)


_POINTER, _INT, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t


class System(ctypes.Structure):
    """gfs_counters_system"""

    _fields_ = (
        ("identify", _function(None, ctypes.POINTER(Identity))),
        ("processors", _function(_INT)),
        ("ibs_type", _function(_INT)),
        ("open", _function(_INT, _POINTER, _INT, _INT)),
        ("map", _function(_POINTER, _INT, _SIZE)),
        ("unmap", _function(None, _POINTER, _SIZE)),
        ("read", _function(ctypes.c_ssize_t, _INT, _POINTER, _SIZE)),
        ("close", _function(None, _INT)),
    )


@dataclass
class Kernel:
    """fails: the error (errno) of the n-th perf_event_open, or of the n-th mmap."""

    vendor: bytes = b"GenuineIntel"
    family: int = 6
    model: int = 0x55
    processors: int = 2
    ibs: int = 11
    steady: bool = True
    fails: dict[int, int] = field(default_factory=dict)
    map_fails: dict[int, int] = field(default_factory=dict)
    opened: list[Event] = field(default_factory=list)
    live: dict[int, Event] = field(default_factory=dict)
    pages: dict[int, ctypes.Array[ctypes.c_char]] = field(default_factory=dict)
    #: by default zero, counted all of the time
    counts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    reads: int = 0
    lent: set[int] = field(default_factory=set)  #: descriptors that cannot be read

    def system(self) -> System:
        fields = dict(System._fields_)
        made = {name: fields[name](getattr(self, f"_{name}")) for name in fields}
        return System(**made)

    def descriptor(self, config: int, processor: int | None = None) -> int:
        """Return the open event with this configuration."""
        (found,) = [
            d for d, e in self.live.items() if e.config == config and processor in (None, e.processor)
        ]
        return found

    def _identify(self, identity: ctypes._Pointer[Identity]) -> None:
        identity[0] = Identity(self.vendor, self.family, self.model)

    def _processors(self) -> int:
        return self.processors

    def _ibs_type(self) -> int:
        return self.ibs

    def _open(self, attr: int, processor: int, group: int) -> int:
        words = struct.unpack("=IIQQQQQIIQQ", ctypes.string_at(attr, 72))
        number = len(self.opened)
        self.opened.append(Event(words[0], *words[2:7], *words[9:11], processor, group))
        if number in self.fails:
            ctypes.set_errno(self.fails[number])
            return -1
        self.live[100 + number] = self.opened[-1]
        return 100 + number

    def _map(self, descriptor: int, size: int) -> int | None:
        assert size == PAGE + RING
        number = sum(e.frequency > 0 for e in self.opened) - 1
        if number in self.map_fails:
            ctypes.set_errno(self.map_fails[number])
            return None
        page = ctypes.create_string_buffer(size)
        stale = load(99999) * (RING // 24)  # records outside the range of the head are invalid
        page[PAGE : PAGE + len(stale)] = stale
        struct.pack_into("=Q", page, _CAPABILITIES, _USER_TIME if self.steady else 0)
        struct.pack_into("=HI", page, _TIME_SHIFT, 10, 512)  # half a nanosecond per tick: 2 GHz
        self.pages[descriptor] = page
        return ctypes.addressof(page)

    def _unmap(self, page: int, size: int) -> None:
        (found,) = [d for d, known in self.pages.items() if ctypes.addressof(known) == page]
        assert size == len(self.pages.pop(found))

    def _read(self, descriptor: int, to: int, size: int) -> int:
        assert size == 24
        if descriptor in self.lent:
            ctypes.set_errno(5)
            return -1
        self.reads += 1
        count = self.counts.get(descriptor, (0, self.reads, self.reads))
        ctypes.memmove(to, struct.pack("=QQQ", *count), 24)
        return 24

    def _close(self, descriptor: int) -> None:
        del self.live[descriptor]

    def write(self, descriptor: int, *records: bytes) -> None:
        """Put records into a ring until it is full; the others are lost, as in the real kernel."""
        page = self.pages[descriptor]
        for record in records:
            head, tail = struct.unpack_from("=QQ", page, _HEAD)
            if len(record) > RING - (head - tail):
                return
            for n, byte in enumerate(record):
                page[PAGE + (head + n) % RING] = byte
            struct.pack_into("=Q", page, _HEAD, head + len(record))

    def begin_at(self, descriptor: int, position: int) -> None:
        """Start at a position, as if that many bytes had been written and read."""
        struct.pack_into("=QQ", self.pages[descriptor], _HEAD, position, position)

    def unread(self, descriptor: int) -> int:
        head, tail = struct.unpack_from("=QQ", self.pages[descriptor], _HEAD)
        return int(head - tail)


def record(kind: int, *words: int, size: int | None = None) -> bytes:
    """size: the size in the record's header, if it differs from the true one."""
    return struct.pack("=IHH", kind, 0, 8 + 8 * len(words) if size is None else size) + struct.pack(
        f"={len(words)}Q", *words
    )


def load(cycles: int, source: int = LOAD | LVL_LOC_RAM) -> bytes:
    return record(SAMPLE, cycles, source)
