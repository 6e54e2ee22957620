"""Fuzzed input from other programs, and the distribution of degraded reads."""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.support import EXAMPLE

HERE = Path(__file__).resolve().parent
RUNS = 300_000


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [
        HERE / "native/fuzz.c",
        *(EXAMPLE / name for name in ("agent/parse.c", "common/message.c", "common/record.c")),
    ]
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]
    sanitize = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
    headers = [
        f"-I{path}"
        for path in (
            EXAMPLE,
            ROOT / "tests" / "system",
            ROOT / "runtime/core/include",
            ROOT / "runtime/compose/include",
        )
    ]

    def build(folder: Path) -> None:
        command = ["clang-19", *flags, *sanitize, *headers, *sources, "-lxxhash", "-o", folder / "fuzz"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, "store-fuzz", build) / "fuzz"


def run_fuzzer(fuzzer: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    options = [f"-runs={RUNS}", "-seed=1", "-max_len=400", f"-dict={HERE / 'native/protocol.dict'}"]
    command = [fuzzer, *options, f"-artifact_prefix={folder}/"]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )


def test_nothing_is_found(fuzzer: Path, tmp_path: Path) -> None:
    done = run_fuzzer(fuzzer, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_planted_error_is_found(fuzzer: Path, tmp_path: Path) -> None:
    done = run_fuzzer(fuzzer, tmp_path, GFSMITH_FUZZ_TEETH="1")
    assert "does not hold: !planted()" in done.stderr


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("failures") / "failures.so"
    command = ["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-o", path, EXAMPLE / "agent/failures.c", "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(path))
    library.failures_next.restype = ctypes.c_uint64
    library.failures_next.argtypes = (ctypes.c_void_p, ctypes.c_uint)
    return library


def draws(library: ctypes.CDLL, text: str, count: int, k: int = 6, most: int = 3, seed: int = 1) -> list[int]:
    handle = ctypes.c_void_p()
    library.failures_create.restype = ctypes.c_bool
    assert library.failures_create(ctypes.byref(handle), text.encode(), most, ctypes.c_uint64(seed)), text
    found = [int(library.failures_next(handle, k)) for _ in range(count)]
    library.failures_destroy(handle)
    return found


@pytest.mark.parametrize(("shape", "rate"), [(0.75, 0.01), (0.7, 0.1), (1.0, 0.5), (0.8, 0.9)])
def test_the_share_of_degraded_reads(drawing: ctypes.CDLL, shape: float, rate: float) -> None:
    """The mean of count intervals of a Weibull distribution, within five of its standard deviations."""
    count = 400_000
    found = sum(lost != 0 for lost in draws(drawing, f"weibull:{shape}:{rate}", count))
    spread = math.sqrt(math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2 - 1)
    assert abs(found - rate * count) < 5 * spread * math.sqrt(rate * count) + 2


def test_the_intervals_are_those_of_the_distribution(drawing: ctypes.CDLL) -> None:
    """Kolmogorov and Smirnov: at rate 1/1000 rounding to whole reads is small compared with the allowed
    distance.
    """
    shape, rate, count = 0.75, 0.001, 1_000_000
    at = [i for i, lost in enumerate(draws(drawing, f"weibull:{shape}:{rate}", count)) if lost]
    intervals = sorted(b - a for a, b in pairwise(at))
    scale = 1 / rate / math.gamma(1 + 1 / shape)
    n = len(intervals)
    distance = max(
        abs((i + 0.5) / n - (1 - math.exp(-(((x) / scale) ** shape))))
        for i, x in enumerate(intervals)
        if x > 20
    )
    assert distance < 2 / math.sqrt(n) + 0.01


def test_lost_shards_of_degraded_reads(drawing: ctypes.CDLL) -> None:
    assert draws(drawing, "weibull:0.75:0", 100) == [0] * 100
    found = draws(drawing, "weibull:0.75:1:2", 3000, k=6)
    assert all(lost.bit_count() == 2 and lost < 1 << 6 for lost in found)
    assert len(set(found)) == 15
    assert found == draws(drawing, "weibull:0.75:1:2", 3000, k=6)
    assert found != draws(drawing, "weibull:0.75:1:2", 3000, k=6, seed=2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weibull",
        "weibull:0.75",
        "weibull:0:0.1",
        "weibull:0.75:1.5",
        "weibull:nan:0.1",
        "weibull:1:0.1:0",
        "weibull:1:0.1:4",
        "weibull:1:0.1:1x",
        "weibull:1:0.1x",
        "poisson:1:0.1",
    ],
)
def test_invalid_distributions(drawing: ctypes.CDLL, text: str) -> None:
    handle = ctypes.c_void_p()
    drawing.failures_create.restype = ctypes.c_bool
    assert not drawing.failures_create(ctypes.byref(handle), text.encode(), 3, ctypes.c_uint64(1))
