"""This CPU as an instruction executor: it runs one instruction from a machine state and returns the new
state.

The work is done by cpu.c and trampoline.S, compiled into a shared library.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

from iced_x86 import CpuidFeature

from bench.build_lock import locked

HERE = Path(__file__).parent

#: General registers by number, as in machine.h.
GPR = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))

FLAGS = {"cf": 1 << 0, "pf": 1 << 2, "af": 1 << 4, "zf": 1 << 6, "sf": 1 << 7, "of": 1 << 11}

#: The name in /proc/cpuinfo of a feature of iced's; None: every x86-64 CPU has it, or ignores the
#: instruction.
CPUINFO_FLAGS: dict[str, str | None] = {
    **dict.fromkeys(("INTEL8086", "INTEL186", "INTEL286", "INTEL386", "INTEL486", "X64"), None),
    **dict.fromkeys(("MULTIBYTENOP", "CET_IBT", "CMOV", "SSE", "SSE2"), None),
    "SSE3": "pni",
    "SSSE3": "ssse3",
    "SSE4_1": "sse4_1",
    "SSE4_2": "sse4_2",
    "PREFETCHW": "3dnowprefetch",
    "AVX": "avx",
    "AVX2": "avx2",
    "BMI1": "bmi1",
    "BMI2": "bmi2",
    "MOVBE": "movbe",
    "POPCNT": "popcnt",
    "GFNI": "gfni",
    "PCLMULQDQ": "pclmulqdq",
    "VPCLMULQDQ": "vpclmulqdq",
    "AVX512_VBMI2": "avx512_vbmi2",
    "AVX512F": "avx512f",
    "AVX512VL": "avx512vl",
    "AVX512BW": "avx512bw",
    "AVX512DQ": "avx512dq",
    "AVX512_VBMI": "avx512vbmi",
}

_FEATURE_NAMES = {value: name for name, value in vars(CpuidFeature).items() if isinstance(value, int)}


class Level(IntEnum):
    """The available vector state, as in machine.h: 16 xmm; 16 ymm; 32 zmm and 8 masks."""

    SSE = 0
    AVX = 1
    AVX512 = 2

    @property
    def vectors(self) -> int:
        return 32 if self is Level.AVX512 else 16

    @property
    def vector_bytes(self) -> int:
        return (16, 32, 64)[self]


@dataclass(slots=True)
class Machine:
    """A machine state: 16 general registers by number, flags, 8 masks, 32 vectors of 64 bytes, the block."""

    gpr: list[int]
    rflags: int
    masks: list[int]
    vectors: list[bytes]
    memory: bytes

    def flag(self, name: str) -> bool:
        return bool(self.rflags & FLAGS[name])


class Fault(Exception):
    """The CPU raised an exception; the argument is the signal's number."""


@lru_cache(maxsize=1)
def cpuinfo_flags() -> frozenset[str]:
    match = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return frozenset(match[1].split()) if match else frozenset()


def missing_features(features: Iterable[int]) -> list[str]:
    """Return the given CpuidFeature values of iced that this CPU lacks. Raises
    KeyError for an unlisted one.
    """
    flags = {CPUINFO_FLAGS[_FEATURE_NAMES[feature]] for feature in features} - {None}
    return sorted(str(flag) for flag in flags - cpuinfo_flags())


class Cpu:
    """The compiled executor. `block` and `code` are the addresses of the memory and of the instruction."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        for name in ("cosim_block_address", "cosim_code_address"):
            getattr(self._library, name).restype = ctypes.c_uint64
        self._library.cosim_run.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        if self._library.cosim_open() != 0:
            raise RuntimeError("the co-simulation cannot allocate memory")
        self.level = Level(self._library.cosim_detect_level())
        self.block: int = self._library.cosim_block_address()
        self.code: int = self._library.cosim_code_address()
        self.block_bytes = ctypes.c_size_t.in_dll(self._library, "cosim_block_bytes").value

        class State(ctypes.Structure):
            _fields_ = (
                ("gpr", ctypes.c_uint64 * 16),
                ("rflags", ctypes.c_uint64),
                ("masks", ctypes.c_uint64 * 8),
                ("reserved", ctypes.c_uint64 * 7),
                ("vectors", ctypes.c_uint8 * 64 * 32),
                ("memory", ctypes.c_uint8 * self.block_bytes),
            )

        if ctypes.sizeof(State) != ctypes.c_size_t.in_dll(self._library, "cosim_state_bytes").value:
            raise RuntimeError("cpu.c and cpu.py disagree on the state")
        self._before, self._after = State(), State()

    def run(self, instruction: bytes, machine: Machine, level: Level | None = None) -> Machine:
        """Return the state after the instruction. Raises Fault."""
        before, after = self._before, self._after
        before.gpr[:] = machine.gpr
        before.rflags = machine.rflags
        before.masks[:] = machine.masks
        ctypes.memmove(before.vectors, b"".join(machine.vectors), 64 * 32)
        ctypes.memmove(before.memory, machine.memory, self.block_bytes)
        status = self._library.cosim_run(
            instruction,
            len(instruction),
            self.level if level is None else level,
            ctypes.byref(before),
            ctypes.byref(after),
        )
        if status < 0:
            raise RuntimeError("the co-simulation cannot execute code")
        if status:
            raise Fault(status)
        return Machine(
            list(after.gpr),
            after.rflags,
            list(after.masks),
            [bytes(vector) for vector in after.vectors],
            bytes(after.memory),
        )


def build(folder: Path) -> Path:
    """Compile the executor into `folder`, unless another test process has done so."""
    library = folder / "libcosim.so"
    with locked(folder / "lock"):
        if not library.exists():
            flags = "-std=c11 -O2 -fPIC -Wall -Wextra -Wpedantic -Werror -shared -Wl,-z,noexecstack"
            new = folder / "new.so"
            command = [os.environ.get("CC", "gcc"), *flags.split(), "-o", str(new)]
            command += [str(HERE / name) for name in ("cpu.c", "trampoline.S")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
            new.rename(library)
    return library
