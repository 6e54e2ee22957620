"""bench/adaptive: which contender is ahead or behind, from artificial times; the page; ISA-L-D. No test reads
a clock.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import matrices
from bench.adaptive import judge, page, plan
from bench.adaptive.measure import BATCH, CellMeasurer, Measured, settle
from bench.adaptive.results import TABLES, cell_json, method
from bench.build import peer
from bench.peer_calls import Job, Spec, open_peer
from bench.result_store import OtherRun, PageError, Store
from gfsmith.explore.stats import Estimate

STATIC = [plan.DEFAULT, "policy:row,d=28", "policy:row,d=56", "policy:block,d=112"]


def noisy(times: dict[str, float], rounds: int, seed: int, spread: float = 0.05) -> dict[str, list[float]]:
    """Return samples with separate noise, in rounds of which some are slower for all contenders."""
    chance = random.Random(seed)
    found: dict[str, list[float]] = {name: [] for name in times}
    for _ in range(rounds):
        weather = chance.choice((1.0, 1.0, 1.3, 4.0))
        for name, time in times.items():
            found[name].append(weather * time * (1 + abs(chance.gauss(0, spread))))
    return found


# ---- the fastest policy ----


@pytest.mark.parametrize(("time", "lost"), [(94.0, False), (100.0, False), (101.0, False), (108.0, True)])
def test_a_slower_contender_is_reported(time: float, lost: bool) -> None:
    times = dict(zip([*STATIC, "adaptive"], (160.0, 100.0, 130.0, 145.0, time), strict=True))
    found = judge.against_best(noisy(times, 41, seed=5, spread=0.02), "adaptive", STATIC)
    assert found.winners == ("policy:row,d=28", "policy:row,d=28")
    assert judge.behind(found.ratio) is lost
    assert judge.significantly_behind(found.ratio) is lost


def test_five_percent_without_noise() -> None:
    ns = {"a": [100.0] * 6, "b": [90.0] * 6, "adaptive": [94.5] * 6}
    assert judge.against_best(ns, "adaptive", ["a", "b"]).ratio == Estimate(1.05, 1.05, 1.05)


def test_lucky_samples_are_not_favoured() -> None:
    """With thirty equal policies, the one with the best samples is ahead by luck only."""
    names = [f"policy:{n}" for n in range(30)]
    lucky, fair = [], []
    for seed in range(30):
        ns = noisy(dict.fromkeys([*names, "adaptive"], 100.0), 16, seed, spread=0.2)
        winner = judge.fastest(ns, names, range(16))
        lucky.append(statistics.median(a / b for a, b in zip(ns["adaptive"], ns[winner], strict=True)))
        fair.append(judge.against_best(ns, "adaptive", names).ratio.median)
    assert statistics.mean(lucky) > 1.02
    assert abs(statistics.mean(fair) - 1) < 0.01 < statistics.mean(lucky) - statistics.mean(fair)


def test_one_round_cannot_pick_and_judge() -> None:
    with pytest.raises(ValueError, match="too few rounds"):
        judge.against_best({"a": [1.0], "adaptive": [1.0]}, "adaptive", ["a"])


@pytest.mark.parametrize(
    ("ratios", "at"),
    [
        ([1.0] * 20, 0),
        ([1.5] * 7 + [1.01] * 20, 7),
        ([1.5, 1.0] * 3 + [1.0] * 20, 1),  # a window that is near, with some samples that are not
        ([1.0] * 5 + [1.2] * 20, None),  # near at first, then behind forever
        ([1.04] * 30, None),
        ([1.0] * 3, None),  # shorter than the window
    ],
)
def test_when_a_contender_has_come_near(ratios: list[float], at: int | None) -> None:
    assert judge.within(ratios, 5) == at


# ---- measuring, without a clock ----


class Table:
    """A driver with given times, and the policy that the adaptive contender reports."""

    missing: tuple[str, ...] = ()  #: codes without a library

    def __init__(self, times: dict[str, float], other: float, answers: Sequence[str]) -> None:
        self.times, self.other = times, other
        self.answers = itertools.chain(answers, itertools.repeat(answers[-1]))
        self.slots: dict[int, list[str]] = {}
        self.codes: dict[int, str] = {}
        self.chance = random.Random(11)

    def cell(self, slot: int, cell: plan.Cell, who: Sequence[str], code: str = plan.CODE) -> dict[str, str]:
        assert slot not in self.slots
        missing = [name for name in who if name.startswith("policy:shuffled") or code in self.missing]
        self.slots[slot] = [name.removeprefix("~") for name in who if name not in missing]
        self.codes[slot] = code
        return dict.fromkeys(missing, "no such kernel")

    def add(self, slot: int, name: str) -> None:
        assert name not in self.slots[slot]
        self.slots[slot].append(name)

    def calibrate(self, slot: int, name: str, threads: int, microseconds: int) -> int:
        return 8 * microseconds

    def sample(self, slot: int, name: str, threads: int, lead: int, count: int) -> float:
        assert name in self.slots[slot] and count > 0
        key = name if self.codes[slot] == plan.CODE else self.codes[slot]
        return self.times.get(key, self.other) * (1 + self.chance.random() / 200)

    def policy(self, slot: int, name: str) -> str:
        assert name == plan.ADAPTIVE
        return next(self.answers)

    def close(self, slot: int) -> None:
        del self.slots[slot]


def measured(adaptive: float, threads: int = 1) -> Measured:
    """Return a cell in which row,d=56 takes 100 ns, the default 150, ISA-L 300, ISA-L-D 130."""
    times = {"policy:row,d=56": 100.0, plan.DEFAULT: 150.0, plan.ADAPTIVE: adaptive}
    times |= {plan.ISAL: 300.0, plan.ISAL_D: 130.0}
    driver = Table(times, 200.0, ["default", "row,d=28", "row,d=60"])
    (one,) = CellMeasurer(driver, plan.QUICK).measure([plan.Cell(28, 4, 1024, threads)])
    return one


def test_a_cell_is_measured_as_its_times_say() -> None:
    one = cell_json(measured(105.0))
    assert one["static_best"] == ["row,d=56", "row,d=56"]
    assert one["over_static_best"][0] == pytest.approx(1.05, abs=0.01)
    assert one["gain_isal"][0] == pytest.approx(2.86, abs=0.03)
    assert one["gain_isal_d"][0] == pytest.approx(1.24, abs=0.02)
    assert one["gain_default"][0] == pytest.approx(1.43, abs=0.02)
    # The final policy takes part too, although it is none of the screened ones.
    assert one["policy"] == one["policy_at_the_end"] == "row,d=60"
    assert one["cost"][0] == pytest.approx(105 / 200, abs=0.01)
    assert "shuffled,d=112" not in one["screening"]
    assert next(iter(one["screening"])) == "row,d=56"


def test_codes_in_packets_have_their_own_slots() -> None:
    driver = Table({plan.ADAPTIVE: 100.0, "zerasure": 400.0, "cerasure": 150.0}, 200.0, ["row,d=56"])
    measurer = CellMeasurer(driver, plan.QUICK)
    cells = [plan.Cell(8, 4, 1024, threads) for threads in plan.THREADS]
    made = [cell_json(one) for one in measurer.measure(cells)]
    for one in made:
        assert one["gain_zerasure"][0] == pytest.approx(4, abs=0.05)
        assert one["gain_cerasure"][0] == pytest.approx(1.5, abs=0.02)
    assert driver.slots == {}, "all slots are closed"
    shown = "\n".join(page.summary(made))
    assert "speed / Zerasure's | 4.0" in shown and "speed / Cerasure's | 1.5" in shown
    driver.missing = ("cerasure",)
    (one,) = map(cell_json, measurer.measure(cells[:1]))
    assert one["unavailable"]["cerasure"] == "no such kernel" and "gain_cerasure" not in one
    assert "Cerasure" not in "\n".join(page.summary([one]))


def test_only_cells_of_the_papers_size_have_searched_matrices() -> None:
    assert all(plan.xor_codes(cell) == plan.XOR_CODES for cell in plan.paper())
    for cell in (plan.Cell(100, 4, 1024, 1), plan.Cell(16, 8, 1024, 1), plan.Cell(16, 4, 1000, 1)):
        assert plan.xor_codes(cell) == ()
    assert plan.in_packets(1024) == "~packets:avx512+packet128"


def test_settling_counts_the_calls_until_the_last_policy_holds() -> None:
    trials = ["default", "row,d=28"] * 20
    before = 300  # batches of 0.2 ms, so 60 ms: a policy used for less than 100 ms was on trial
    answers = ["default"] * before + trials + ["row,d=28"]
    driver = Table({}, 1e4, answers)
    driver.slots, driver.codes = {0: [plan.ADAPTIVE]}, {0: plan.CODE}
    found = settle(driver, 0, 2, plan.Effort(settling=1000, quiet=100), 10 * BATCH)
    # 10 stripes of each of two threads per batch. The first report comes before any batch.
    assert (found.policy, found.changes, found.quiet) == ("row,d=28", len(trials) - 1, True)
    assert found.calls == 20 * (before + len(trials) - 2)


def test_a_policy_that_never_holds_is_reported_as_unsettled() -> None:
    driver = Table({}, 1e5, ["default", "plain"] * 1000)
    driver.slots, driver.codes = {0: [plan.ADAPTIVE]}, {0: plan.CODE}
    found = settle(driver, 0, 1, plan.Effort(settling=50, quiet=10), BATCH)
    assert not found.quiet


# ---- results and page ----


def content(*cells: Measured) -> dict[str, object]:
    how = method(plan.Setting(), plan.QUICK)
    made = {one.cell.id: cell_json(one) for one in cells}
    return {"machine": "a machine", "library": "0", "method": how, "cells": made, "changes": {}, "again": {}}


def test_the_page_names_the_cells_that_are_lost() -> None:
    found = page.section(content(measured(105.0), measured(101.0, threads=2)), [])
    behind = found.split("behind the static best: ")[1].split("\n## ")[0]
    assert behind.startswith("1\n")
    assert "28+4, 1024 B, 1 thread |" in behind and "2 threads" not in behind
    assert "| within 3% of the static best | 0 of 1 | 1 of 1 |" in found
    assert "behind ISA-L: 0\n" in found


def test_the_page_lists_cells_that_are_behind_twice() -> None:
    one, other = measured(105.0), measured(106.0, threads=2)
    first = content(one, other, measured(101.0, threads=3))
    again = {cell.cell.id: cell_json(cell) for cell in (measured(107.0), measured(101.0, threads=2))}
    found = page.section(first | {"again": again}, []).split("behind the static best: ")[1].split("\n## ")[0]
    assert found.startswith("2\n") and "1 of 2 are behind again" in found
    rows = [line for line in found.splitlines() if line.startswith("| 28+4")]
    assert "1 thread |" in rows[0] and "1.05 (" in rows[0] and "1.07 (" in rows[0]  # twice goes first
    assert "2 threads |" in rows[1] and "1.06 (" in rows[1] and "1.01 (" in rows[1]


def test_a_cell_behind_isal_is_named() -> None:
    found = page.section(content(measured(310.0)), [])
    assert "28+4, 1024 B, 1 thread | 0.97" in found.split("behind ISA-L: 1\n")[1]


CHANGE = {
    "what": "threads",
    "phases": [
        {
            "state": f"state {n}",
            "static_best": "row,d=100",
            "other_best": plan.DEFAULT,
            "calls_in_a_round": 10,
            "recovered_after_calls": after,
            "policies": ["row,d=100"],
            "second_half_over_static_best": {
                who: [time, time, time]
                for who, time in (("adaptive", 1.01), ("default", 1.8), ("other_best", 1.2))
            },
            "gigabytes_per_second": {
                who: [1.0, 2.0] for who in ("adaptive", "default", "static_best", "other_best")
            },
        }
        for n, after in enumerate((0, 640, None))
    ],
}


def test_publishing_replaces_its_part_of_the_page_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, target = tmp_path / "results.json", tmp_path / "memory.md"
    monkeypatch.setattr(page, "PAGE", target)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    target.write_text(f"# Memory\n\nbefore\n{page.BEGIN}\nold text\n{page.END}\nafter\n")
    results.write_text(json.dumps(content(measured(100.0)) | {"changes": {"threads": CHANGE}}))
    page.publish(results)
    once = target.read_text(), {path.name: path.read_bytes() for path in tmp_path.glob("*.svg")}
    assert (
        "what stood here" not in once[0]
        and once[0].startswith("# Memory\n\nbefore\n")
        and once[0].endswith("\nafter\n")
    )
    assert "| threads | state 1 | 640 | 1.01 | 1.80 | 1.20 | `row,d=100` |" in once[0]
    assert "| threads | state 2 | not within the phase |" in once[0]
    assert sorted(once[1]) == ["adaptive-cells.svg", "adaptive-recovery.svg"]
    page.publish(results)
    assert once == (target.read_text(), {path.name: path.read_bytes() for path in tmp_path.glob("*.svg")})


def test_a_page_with_one_mark_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, target = tmp_path / "results.json", tmp_path / "memory.md"
    monkeypatch.setattr(page, "PAGE", target)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    results.write_text(json.dumps(content(measured(100.0))))
    target.write_text(f"# Memory\n{page.END}\n")
    with pytest.raises(PageError, match="lacks one of the lines"):
        page.publish(results)
    assert target.read_text() == f"# Memory\n{page.END}\n"
    target.write_text("# Memory\n")
    page.publish(results)
    assert target.read_text().startswith("# Memory\n\n## Measured\n") and page.END in target.read_text()


def test_a_run_resumes_but_not_with_another_library(tmp_path: Path) -> None:
    path, how = tmp_path / "results.json", method(plan.Setting(), plan.QUICK)
    Store(path, "one", how, TABLES, fresh=False).put("cells", "a", {"k": 1})
    assert Store(path, "one", how, TABLES, fresh=False).content["cells"] == {"a": {"k": 1}}
    with pytest.raises(OtherRun, match="another library"):
        Store(path, "two", how, TABLES, fresh=False)
    with pytest.raises(OtherRun, match="another method"):
        Store(path, "one", method(plan.Setting(), plan.FULL), TABLES, fresh=False)
    assert Store(path, "two", how, TABLES, fresh=True).content["cells"] == {}


def test_cells_have_different_names_and_policies_the_library_takes() -> None:
    everything = plan.cells(quick=False)
    assert len({cell.id for cell in everything}) == len(everything) == 2 * (9 * 3 * 7 + 9)
    for k in plan.SOURCES:
        texts = plan.policies(k)
        assert len(set(texts)) == len(texts)
        distances = [int(text.split("d=")[1].split(",")[0]) for text in texts if "d=" in text]
        assert max(distances) <= plan.FARTHEST


# ---- ISA-L-D ----


def encoded(library: ctypes.CDLL, variant: str, k: int, m: int, data: Sequence[bytes]) -> list[bytes]:
    """Return the parities that a variant of the ISA-L peer computes."""
    length = len(data[0])
    matrix = bytes(value for row in matrices.cauchy(k, m) for value in row)
    made = open_peer(library, Spec(variant.encode(), b"cauchy", matrix, k, m, length))
    shards = ctypes.create_string_buffer(b"".join(data) + b"\xa5" * (m * length), (k + m) * length)
    library.peer_run(made, ctypes.byref(Job(ctypes.addressof(shards), None, 1, length, length, k, m)))
    library.peer_close(made)
    return [shards.raw[(k + i) * length : (k + i + 1) * length] for i in range(m)]


def best_set() -> str:
    flags = set(Path("/proc/cpuinfo").read_text().split("flags")[1].split("\n")[0].split())
    wide = {"avx512bw", "avx512vl"} <= flags
    return ("avx512_gfni" if wide else "avx2_gfni") if "gfni" in flags else ("avx512" if wide else "avx2")


@pytest.mark.needs("isal sources")
@pytest.mark.parametrize(("k", "m", "length"), [(15, 4, 256), (16, 2, 1000), (17, 3, 1024), (100, 8, 320)])
def test_decomposed_stripes_have_the_same_parities(k: int, m: int, length: int) -> None:
    library = ctypes.CDLL(str(peer("isal", lambda what: None)))
    chance = random.Random(k)
    data = [chance.randbytes(length) for _ in range(k)]
    whole = encoded(library, best_set(), k, m, data)
    assert encoded(library, f"{best_set()}+split{plan.SPLIT}", k, m, data) == whole
    rows, at = matrices.cauchy(k, m), length - 1
    for i, row in enumerate(rows):
        expected = 0
        for coefficient, shard in zip(row, data, strict=True):
            expected ^= matrices.multiply(coefficient, shard[at])
        assert whole[i][at] == expected
