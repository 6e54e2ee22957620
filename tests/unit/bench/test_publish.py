"""The pages of measured CPUs, and the choice of the cells' instruction set."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench import cells, index, publish
from bench.results import result
from bench.run import Samples
from gfsmith.kernel.isa import BY_NAME

ZEN3 = frozenset(BY_NAME["avx2"].cpu_flags)
MARKS = f"# Index\n\n{index.BEGIN}\n{index.END}\n"


def _measured(isa: str, without: str = "") -> list[publish.Result]:
    """Return results of all cells: every contender takes about 1 ns a byte, gfsmith half of it."""
    rng, found = random.Random(1), []
    for cell in cells.on_host(cells.full(), isa):
        taken = [] if cell.group == without else cells.contenders(cell, ("isal",))
        names = [name.lstrip("~!") for name in taken]
        time = {name: (0.5 if name.startswith("gfsmith") else 1) * cell.k * cell.length for name in names}
        ns = {name: [time[name] * rng.uniform(0.99, 1.01) for _ in range(9)] for name in names}
        found.append(result(Samples(cell, ns=ns)))
    return found


def test_cells_use_the_best_set_of_the_cpu() -> None:
    assert cells.host_set(ZEN3) == "avx2"
    assert cells.host_set(frozenset(BY_NAME[cells.BEST].cpu_flags)) == cells.BEST
    assert cells.host_set(frozenset()) == "avx2", "its cells then say that the CPU lacks it"
    here = cells.on_host(cells.table(), "avx2")
    assert {cell.isa for cell in here} == {"avx2"} and {cell.floor for cell in here} == {1.0}
    assert cells.on_host(cells.full(), cells.BEST) == cells.full()
    assert {cell.isa for cell in cells.on_host(cells.instruction_sets(), "avx2")} == {
        "avx2",
        "avx512",
        "gfni_avx2",
    }
    peers = cells.contenders(here[0], ("isal", "klauspost"))
    assert "isal:avx2" in peers and "klauspost:serial" in peers and not any("gfni" in peer for peer in peers)


def test_each_cpu_has_a_page_and_the_index_lists_all(tmp_path: Path) -> None:
    (tmp_path / index.INDEX).write_text(MARKS)
    publish.publish(_measured("avx2"), "znver3", "avx2", tmp_path)
    publish.publish(_measured("gfni_avx512"), "znver4", "gfni_avx512", tmp_path)
    page = (tmp_path / "performance/znver3.md").read_text()
    floors = len(cells.table())
    assert page.startswith("# Measured on znver3\n") and "(znver3-length.svg)" in page
    assert f". Set: avx2. {floors} of {floors} floors met" in page
    text = (tmp_path / index.INDEX).read_text()
    assert text.index("- [znver3](performance/znver3.md): ") < text.index(
        "- [znver4](performance/znver4.md): "
    )
    assert sorted(file.name for file in (tmp_path / "performance").glob("*.svg")) == [
        *("znver3-k.svg", "znver3-length.svg", "znver4-k.svg", "znver4-length.svg"),
    ]


def test_a_run_without_a_picture_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / index.INDEX).write_text(MARKS)
    with pytest.raises(ValueError, match="fewer than 2 rows"):
        publish.publish(_measured("avx2", without="length"), "znver3", "avx2", tmp_path)
    assert (tmp_path / index.INDEX).read_text() == MARKS
    assert not (tmp_path / "performance").exists()
