"""The page of predictions for POWER: instructions have kinds, and the page has the loop that clang makes."""

from __future__ import annotations

import pytest

from bench import power
from bench.power import ARTICLE, KINDS, Written
from gfsmith.explore.cost_model.loop import LABEL


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("lxvd2x 36, 6, 5", "loads"),
        ("vpermxor 4, 3, 2, 4", "products"),
        ("stxv 36, 0(9)", "stores"),
        ("addi 5, 5, 256", KINDS[3]),
        (f"bdnz {LABEL}", KINDS[3]),
    ],
)
def test_kinds(instruction: str, kind: str) -> None:
    assert power.kind_of(instruction) == kind


def test_the_articles_loop() -> None:
    """Four loads, products and stores for 64 bytes, and every instruction has a kind."""
    loop = Written(ARTICLE, 64)
    assert [power.per_64(loop, kind) for kind in KINDS] == [4, 4, 4, 3]
    assert loop.count == 15
    assert loop.text.startswith(f"{LABEL}:\nlvx 2, 0, 3\n")


def test_ratios() -> None:
    assert power._ratio(10.0, 12.5) == "1.25"
    assert power._ratio("has none", 12.5) == power._ratio(10.0, "has none") == "-"
    assert power._traffic(10, 4) == "25.6 | 512"


@pytest.mark.needs("clang")
@pytest.mark.parametrize("isa", power.SETS)
def test_clangs_loop_has_the_same_work(isa: str) -> None:
    """clang's loop has as many loads, products and stores as the article's, and the page has its text."""
    loop = power.clang_loop(isa)
    assert [power.per_64(loop, kind) for kind in KINDS[:3]] == [4, 4, 4]
    made, page = "\n".join(power.loops()), power.PAGE.read_text(encoding="utf-8")
    assert made in page, "run python -m bench.power"
