"""Address streams of the model: those of the machine code, one by one and in order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gfsmith.build.generate import program
from gfsmith.codes import parity_matrix
from research.memory import machine, packets, policies, streams
from research.tests.tracing import Touch, Tracer
from tests.oracle.matrices import decode_matrix
from tests.support.cpu import missing_flags

K, M = 5, 2
NAMES = {machine.LOAD: "load", machine.STORE: "store", machine.STREAM: "stream", machine.PREFETCH: "prefetch"}
WALKS = ("plain", *policies.VARIANTS)


def _from_program(found: streams.Accesses) -> list[Touch]:
    return [
        Touch(NAMES[int(a["kind"])], bool(a["ahead"]), int(a["shard"]), int(a["offset"]), int(a["size"]))
        for a in found
    ]


def _in_whole(touches: list[Touch], tail: int) -> list[Touch]:
    """Return accesses to bytes from `tail` on, masked or one by one, merged into one, and prefetches without
    a size."""
    found: list[Touch] = []
    for touch in touches:
        if touch.what == "prefetch":
            found.append(replace(touch, size=0))
        elif touch.offset + touch.size <= tail:
            found.append(touch)
        elif not found or (found[-1].what, found[-1].shard, found[-1].size) != (touch.what, touch.shard, -1):
            found.append(replace(touch, offset=tail, size=-1))
    return found


@pytest.mark.parametrize("isa", ["sse", "avx2", "gfni_avx512"])
@pytest.mark.parametrize("walk", WALKS)
def test_the_program_touches_what_the_code_touches(isa: str, walk: str, tmp_path: Path) -> None:
    if missing_flags(isa):
        pytest.skip(f"this CPU has no {isa}")
    outputs = 1 if walk.startswith("block") else M  # all sets have enough registers for these
    spec, lowered = policies.kernel(isa, outputs, walk, walk in ("rows4", "shuffled"))
    length = 2 * spec.block + 3 * spec.isa.vector_bytes + 7
    traced = Tracer(spec, K, length, tmp_path).touches()
    derived = _from_program(streams.accesses(lowered, K, length))
    tail = length - 7
    assert _in_whole(traced, tail) == _in_whole(derived, tail)
    assert any(touch.ahead for touch in derived) == spec.pipelined


@pytest.mark.parametrize("circuit", ["derived", "matched"])
def test_schedules_touch_what_their_code_touches(circuit: str, tmp_path: Path) -> None:
    if missing_flags(packets.ISA):
        pytest.skip(f"this CPU has no {packets.ISA}")
    spec = packets.kernel("cerasure", circuit, 3, 2, 0, 3)
    found = streams.accesses(program(spec), 24, 128)
    assert _from_program(found) == Tracer(spec, 24, 128, tmp_path).touches()


@pytest.mark.parametrize(("k", "most", "parts"), [(3, 31, 1), (7, 3, 3)])
def test_packets_of_a_block(k: int, most: int, parts: int) -> None:
    """Every line of every block is read, and of every parity written once for each sub-stripe and once more
    for each addition."""
    found = packets.call("cerasure", "derived", k, 2, 1024, most)
    lines = {(int(e["shard"]), int(e["offset"]) // 64) for e in found if e["kind"] == machine.LOAD}
    assert lines >= {(block, line) for block in range(k) for line in range(16)}
    stored = [(int(e["shard"]), int(e["offset"]) // 64) for e in found if e["kind"] == machine.STORE]
    expected = 2 * parts + parts - 1
    assert {stored.count((k + i, line)) for i in range(2) for line in range(16)} == {expected}
    assert len(stored) == 2 * 16 * expected


def test_a_decoder_s_matrix_rebuilds_the_lost_sources() -> None:
    k, m = 7, 3
    parity = parity_matrix("cerasure", k, m)
    expected = decode_matrix(packets.FIELD, parity, range(m, k + m), range(m))
    assert packets.matrix("cerasure", k, m, packets.Task.DECODE) == expected
    assert packets.matrix("cerasure", k, m, packets.Task.ENCODE) == parity != expected


def test_local_parities_cover_each_source_once() -> None:
    rows = packets.matrix("cerasure", 7, 2, packets.Task.LOCAL)
    assert rows[:2] == parity_matrix("cerasure", 7, 2)
    assert rows[2:] == ((1, 1, 1, 1, 0, 0, 0), (0, 0, 0, 0, 1, 1, 1))


def test_a_sub_stripe_writes_the_local_parity_of_its_own_group_only() -> None:
    found = packets.call("cerasure", "derived", 6, 2, 512, 3, packets.Task.LOCAL)
    stored = [int(e["shard"]) for e in found if e["kind"] == machine.STORE and e["offset"] == 0]
    assert [stored.count(6 + output) for output in range(4)] == [3, 3, 1, 1]


def test_another_order_is_noticed(tmp_path: Path) -> None:
    """Compare a kernel with the stream of another walk: the comparison must fail."""
    spec, _ = policies.kernel("sse", 1, "row", False)
    other = program(policies.kernel("sse", 1, "block", False)[0])
    length = 512
    traced = _in_whole(Tracer(spec, K, length, tmp_path).touches(), length)
    derived = _in_whole(_from_program(streams.accesses(other, K, length)), length)
    assert traced != derived
    assert {t for t in traced if t.what == "load"} == {t for t in derived if t.what == "load"}


def test_lines_written_around_the_cache_leave_once() -> None:
    """Two streaming stores of 32 bytes are one line for the device."""
    _, lowered = policies.kernel("avx2", M, "plain", True)
    found = streams.events(streams.accesses(lowered, K, 1024))
    assert np.count_nonzero(found["kind"] == machine.STREAM) == M * 1024 // 64
