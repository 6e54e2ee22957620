"""What the coordinator would try: its own list, runtime/adaptive/situation.c, compiled and asked."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from bench.build import BUILD, ROOT, shared_object
from bench.memory.machine import HERE, parameters
from bench.memory.policies import Policy
from bench.memory.systems import Setting, buffered

_ROOM = 4096
_SOURCES = ("situation", "policy", "device", "options")


@functools.cache
def _asked() -> Any:
    runtime = ROOT / "runtime"
    folders = [runtime / "adaptive", runtime / "src", runtime / "include"]
    sources = [HERE / "candidates.c", *(runtime / "adaptive" / f"{name}.c" for name in _SOURCES)]
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    found = ctypes.CDLL(str(shared_object(BUILD / "candidates.so", sources, headers, folders)))
    number, size, text = ctypes.c_uint, ctypes.c_size_t, ctypes.c_char_p
    found.mm_candidates.argtypes = [number, number, size, number, number, number, text, size]
    found.mm_furthest.argtypes = [*(number for _ in range(5)), text]
    found.mm_candidates.restype = found.mm_furthest.restype = number
    return found


def _device(s: Setting) -> tuple[int, int]:
    return int(parameters()["device"][s.device]["line"]), buffered(s.device)


def longest(s: Setting, policy: Policy) -> int:
    """The longest distance of a policy for which equation (1) holds, or what blocks have in its place."""
    return int(_asked().mm_furthest(s.k, s.m, s.threads, *_device(s), str(policy).encode()))


def candidates(s: Setting) -> list[Policy]:
    """In its order, `default` first; the device is the setting's, and there are no counters."""
    text = ctypes.create_string_buffer(_ROOM)
    count = _asked().mm_candidates(s.k, s.m, s.length, s.threads, *_device(s), text, _ROOM)
    found = [Policy.read(one) for one in text.value.decode().splitlines()]
    if not found or len(found) != count:
        raise RuntimeError("the coordinator's candidates have no room")
    return found
