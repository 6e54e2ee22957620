"""Prefetches of the model: the lines of the coordinator's own code, in its order."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path

import pytest

from bench.build import ROOT
from research.memory.traversals import Kernel, Walk, plan

HERE = Path(__file__).resolve().parent
COORDINATOR = ROOT / "runtime/adaptive/src"
CALLS = 300
APART = 1 << 24


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("order") / "order.so"
    include = [
        f"-I{path}" for path in (COORDINATOR, ROOT / "runtime/core/src", ROOT / "runtime/core/include")
    ]
    sources = [HERE / "order.c", COORDINATOR / "order.c"]
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", *include, "-o", made, *sources], check=True)
    return ctypes.CDLL(str(made))


def _coordinator(library: ctypes.CDLL, k: int, length: int, kernel: Kernel) -> tuple[int, int, list[int]]:
    """Return the lines prefetched before the loop, the bytes of the pipelined part, and the prefetch
    pointers."""
    lead, piped = ctypes.c_size_t(), ctypes.c_size_t()
    sources = (ctypes.c_uint64 * k)(*((j + 1) * APART for j in range(k)))
    pointers = (ctypes.c_uint64 * (k + k * kernel.lines))()
    library.ahead(
        bytes(kernel.order), kernel.lines, int(kernel.walk is Walk.ROWS), k, ctypes.c_size_t(length),
        kernel.distance, kernel.first, sources, ctypes.byref(lead), ctypes.byref(piped), pointers,
    )  # fmt: skip
    return lead.value, piped.value, list(pointers[k:])


def test_pointers_are_the_coordinator_s(library: ctypes.CDLL) -> None:
    some = random.Random(1)
    pipelined = 0
    for _ in range(CALLS):
        lines, k, length = some.choice((1, 2, 4, 8)), some.choice((3, 9, 24, 48)), 64 * some.randint(1, 80)
        order = tuple(some.sample(range(lines), lines))
        distance, first = some.randint(0, 120), some.choice((0, some.randint(1, 150)))
        kernel = Kernel(some.choice(list(Walk)), lines, order, distance, first)
        lead, piped, pointers = _coordinator(library, k, length, kernel)
        asked = plan(k, length, kernel)
        assert (asked.lead, asked.piped) == (lead, piped), kernel
        source, offset = asked.pointers()
        if piped > 0:
            pipelined += 1
            ours = [(int(j) + 1) * APART + int(at) for j, at in zip(source, offset, strict=True)]
            assert ours == pointers, kernel
    assert pipelined > CALLS // 4
