"""The coordinator's candidates, from its own code: runtime/adaptive/src/candidates.c, compiled and called."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from bench.build import BUILD, ROOT, shared_object
from research.memory.machine import HERE, parameters
from research.memory.policies import Policy
from research.memory.systems import Setting, buffered

_ROOM = 4096
_SOURCES = ("candidates", "policy", "device", "options")


@functools.cache
def _asked() -> Any:
    runtime = ROOT / "runtime"
    folders = [runtime / part / kind for part in ("adaptive", "core") for kind in ("src", "include")]
    sources = [HERE / "candidates.c", *(runtime / "adaptive/src" / f"{name}.c" for name in _SOURCES)]
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
    """Return the longest distance of a policy for which equation (1) or, for blocks, their own limit
    holds."""
    return int(_asked().mm_furthest(s.k, s.m, s.threads, *_device(s), str(policy).encode()))


def candidates(s: Setting) -> list[Policy]:
    """Return the candidates in the coordinator's order, `default` first, for the setting's device, without
    counters."""
    text = ctypes.create_string_buffer(_ROOM)
    count = _asked().mm_candidates(s.k, s.m, s.length, s.threads, *_device(s), text, _ROOM)
    found = [Policy.read(one) for one in text.value.decode().splitlines()]
    if not found or len(found) != count:
        raise RuntimeError("the buffer is too small for the coordinator's candidates")
    return found
