"""Cost of a call of gfsmith.Codec, compared with the same call from C and with other installed packages.

    .venv/bin/python -m bench.python.overhead [--k 10] [--m 4] [LENGTH ...]

All contenders run in one process on the same data and alternate by sample; figures are medians of nanoseconds
per call. PyECLib and zfec are measured if they can be imported (pip install pyeclib zfec). They do additional
work: both return new bytes, and PyECLib takes one string, which it cuts into shards with headers. Run `make
python` first.
"""

from __future__ import annotations

import ctypes
import importlib
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gfsmith
from bench.options import OneLineParser, start

ROOT = Path(__file__).resolve().parents[2]
LENGTHS = (0, 64, 1024, 4096, 65536, 1 << 20)
ROUNDS = 41
SAMPLE = 1e6  #: target duration of a sample in nanoseconds

Sample = Callable[[int], float]  #: number of calls -> nanoseconds


def c_calls(folder: Path) -> ctypes.CDLL:
    """Build the loop in C, linked with the library."""
    library = folder / "loop.so"
    source, archive = Path(__file__).with_name("loop.c"), ROOT / "build" / "libgfsmith.a"
    include = f"-I{ROOT / 'runtime/core/include'}"
    flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", "-Wl,--exclude-libs,ALL"]
    subprocess.run(["gcc", *flags, include, "-o", library, source, archive], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.loop.restype = ctypes.c_double
    return loaded


def from_c(loaded: ctypes.CDLL, data: np.ndarray, parity: np.ndarray) -> Sample:
    def pointers(rows: np.ndarray) -> ctypes.Array[ctypes.c_void_p]:
        return (ctypes.c_void_p * len(rows))(*(row.ctypes.data for row in rows))

    k, m, length = len(data), len(parity), ctypes.c_size_t(data.shape[1])
    where = pointers(data), pointers(parity)
    return lambda calls: float(loaded.loop(b"cauchy", k, m, length, *where, calls))


def from_python(call: Callable[[], object]) -> Sample:
    def sample(calls: int) -> float:
        turns = range(calls)
        begin = time.perf_counter_ns()
        for _ in turns:
            call()
        return float(time.perf_counter_ns() - begin)

    return sample


def peers(data: np.ndarray, m: int) -> dict[str, Sample]:
    """Return the installed packages that support this shape and length."""
    found: dict[str, Sample] = {}
    k, length = data.shape
    rows = [bytes(row) for row in data]
    whole = data.tobytes()
    try:
        encoder = importlib.import_module("zfec").Encoder(k, k + m)
        found["zfec"] = from_python(lambda: encoder.encode(rows, tuple(range(k, k + m))))
    except ImportError:
        pass
    for backend in ("liberasurecode_rs_vand", "isa_l_rs_vand"):
        try:
            driver = importlib.import_module("pyeclib.ec_iface").ECDriver(k=k, m=m, ec_type=backend)
        except Exception:  # PyECLib raises exceptions of many kinds if a backend is not installed
            continue
        if length:
            found[f"PyECLib {backend}"] = from_python(lambda driver=driver: driver.encode(whole))
    return found


def contenders(loaded: ctypes.CDLL, k: int, m: int, length: int) -> dict[str, Sample]:
    codec = gfsmith.Codec("cauchy", k, m)
    data = np.random.default_rng(0).integers(0, 256, (k, length), dtype=np.uint8)
    parity = np.zeros((m, length), np.uint8)
    rows, written = [bytes(row) for row in data], [bytearray(length) for _ in range(m)]
    return {
        "C": from_c(loaded, data, parity),
        "arrays": from_python(lambda: codec.encode(data, parity)),
        "lists of bytes": from_python(lambda: codec.encode(rows, written)),
        "new array": from_python(lambda: codec.encode(data)),
        **peers(data, m),
    }


def measure(samples: dict[str, Sample]) -> dict[str, float]:
    """Return the median nanoseconds per call of each."""
    calls = {}
    for name, sample in samples.items():
        sample(1)
        calls[name] = max(1, int(SAMPLE / max(sample(10) / 10, 1)))
    taken: dict[str, list[float]] = {name: [] for name in samples}
    for _ in range(ROUNDS):
        for name, sample in samples.items():
            taken[name].append(sample(calls[name]) / calls[name])
    return {name: statistics.median(values) for name, values in taken.items()}


def main() -> None:
    parser = OneLineParser(prog="bench.python.overhead", description="Cost of a call from Python.")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--m", type=int, default=4)
    parser.add_argument("lengths", type=int, nargs="*", default=LENGTHS, metavar="LENGTH")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        loaded = c_calls(Path(folder))
        header: list[str] = []
        for length in given.lengths:
            found = measure(contenders(loaded, given.k, given.m, length))
            if list(found) != header:
                header = list(found)
                print(f"| bytes a shard | {' | '.join(header)} |\n|{'---:|' * (len(header) + 1)}")
            print(f"| {length} | {' | '.join(f'{value:,.0f}' for value in found.values())} |", flush=True)


if __name__ == "__main__":
    start(main)
