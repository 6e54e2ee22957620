"""The distribution of degraded reads."""

from __future__ import annotations

import ctypes
import math
import subprocess
from itertools import pairwise

import pytest

from tests.system.apps.stripe_store.support import EXAMPLE, HEADERS, LANGUAGE


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("failures") / "failures.so"
    sources = (EXAMPLE / "agent/failures.c", EXAMPLE / "common/report.c")
    flags = (*LANGUAGE, "-O1", "-shared", "-fPIC", *HEADERS)
    command = ["cc", *flags, "-o", path, *sources, "-lm"]
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
