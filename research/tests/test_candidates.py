"""Candidates in the model: they are those of the coordinator, whose own code the model calls."""

from __future__ import annotations

import pytest

from research.memory.candidates import candidates, longest
from research.memory.policies import VARIANTS, Policy
from research.memory.systems import Setting


@pytest.mark.parametrize("walk", VARIANTS)
@pytest.mark.parametrize("nt", [False, True])
def test_policies_are_read_as_they_are_written(walk: str, nt: bool) -> None:
    for policy in (Policy(walk, 0, 0, nt), Policy(walk, 28, 32, nt), Policy("default"), Policy("plain")):
        assert Policy.read(str(policy)) == policy


def test_the_list_is_that_of_section_4_1() -> None:
    """Two distances under low pressure, k + 4 and k; if equation (1) fails, orders that stop the hardware
    prefetcher."""
    alone, low, high = (list(map(str, candidates(Setting(28, threads=n)))) for n in (1, 13, 14))
    assert low[:3] == alone[:3] == ["default", "plain", "rows4,d=28,first=32,nt"]
    assert {"row,d=28", "rows4,d=28", "shuffled,d=28,first=32,nt"} <= set(low)
    assert "row,d=56" in alone and "row,d=56" not in low
    assert high[:5] == ["default", "shuffled,d=0", "block-shuffled,d=28", "block,d=28", "plain"]
    assert not any("first" in text for text in high if not text.startswith("block"))


def test_blocks_may_ask_for_more_than_rows() -> None:
    """Equation (1) is for rows, which begin a line of the device in every source."""
    setting = Setting(154, threads=18)
    rows, blocks = (longest(setting, Policy(walk, 1)) for walk in ("row", "block"))
    assert (rows, blocks) == (0, 98304 // 256 // 18 * 4)
    assert longest(setting, Policy("no such walk")) == 0


def test_on_other_memory_it_is_another_list() -> None:
    """DRAM has no buffer, so pressure is unknown: orders that stop hardware are timed, but not two
    distances."""
    dram = list(map(str, candidates(Setting(12, length=1000, device="dram-2666"))))
    assert {"shuffled,d=12", "block,d=12"} <= set(dram) and not any("first" in text for text in dram)
