"""runtime/adaptive/src/counters.c as a library, on a simulated kernel."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT
from tests.system.adaptive.kernel import Kernel

RUNTIME = ROOT / "runtime"
SOURCES = [RUNTIME / "adaptive/src/counters.c", *sorted((RUNTIME / "core/src").glob("cpu_*.c"))]
STRICT = (
    "-std=c11",
    "-O1",
    "-fsanitize=undefined",
    "-fno-sanitize-recover=undefined",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)
INCLUDES = tuple(f"-I{RUNTIME}/{part}/{kind}" for part in ("core", "adaptive") for kind in ("include", "src"))


@dataclass
class Counters:
    """gfs_counters on a simulated kernel."""

    library: ctypes.CDLL
    kernel: Kernel

    def __post_init__(self) -> None:
        self._system = self.kernel.system()
        self._room = ctypes.create_string_buffer(4096)
        self.why = ""

    def open(self) -> bool:
        why = ctypes.create_string_buffer(128)
        done = self.library.gfs_counters_open_on(self._room, ctypes.byref(self._system), why, len(why))
        self.why = why.value.decode()
        return bool(done)

    def read(self) -> tuple[float, float] | None:
        latency, useless = ctypes.c_double(-7), ctypes.c_double(-7)
        if self.library.gfs_counters_read(self._room, ctypes.byref(latency), ctypes.byref(useless)):
            return latency.value, useless.value
        assert (latency.value, useless.value) == (-7, -7)
        return None

    def close(self) -> None:
        self.library.gfs_counters_close(self._room)

    @property
    def allocations(self) -> int:
        return ctypes.c_uint.in_dll(self.library, "allocations").value


def compiled(folder: Path, *flags: str, sources: Sequence[Path] = SOURCES) -> ctypes.CDLL:
    target = folder / "counters.so"
    wrap = ("-Wl,--wrap=calloc,--wrap=malloc", Path(__file__).parent / "native" / "wrapped.c")
    command = ["gcc", *STRICT, *INCLUDES, "-fPIC", "-shared", *flags, *sources, *wrap, "-o", target]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return ctypes.CDLL(str(target))
