"""The committed results: they equal the model's results, and the reproduction can fail."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import asdict, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.build import ROOT
from research.memory import candidates, evaluation, measurements, page, pictures, policies, reproduce
from research.memory.__main__ import RESULTS
from research.memory.claims import Claim, excess, ratio
from research.memory.distances import KS, MACHINES, compare
from research.memory.evaluation import figure17, figure18
from research.memory.forecast import ISA, forecast
from research.memory.hill_climbing import climb
from research.memory.machine import LOAD, PREFETCH, STREAM, run
from research.memory.orders import quiet
from research.memory.reproduce import observation2, observation3, observation4
from research.memory.systems import Setting
from research.memory.traversals import Kernel, Walk, call, isal_cost, plan
from research.memory.whole_pages import parts, settings

FOUND: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))


def _failed(claims: list[Claim]) -> set[str]:
    return {claim.text for claim in claims if not claim.agrees}


def test_observation_3_needs_a_table_that_ends() -> None:
    """The model refutes a prefetcher that follows any number of streams."""
    known = _failed(list(observation3()))
    assert {text for text in known if "useless" not in text} == set()
    mutant = _failed(list(observation3("endless")))
    assert {text.split(":")[0] for text in mutant - known} >= {"k > 32"}


@pytest.mark.parametrize(
    "part", [observation2, observation3, observation4, figure17, figure18], ids=lambda part: part.__name__
)
def test_the_committed_claims_are_reproduced(part: Any) -> None:
    again = [claim.record() for claim in part()]
    assert again == [c for c in FOUND["claims"] if c["source"] == again[0]["source"]][: len(again)]


def test_the_committed_claims_about_packets_are_reproduced() -> None:
    again = [claim.record() for claim in islice(evaluation.baselines(), 2)]
    assert [claim["text"] for claim in again] == [
        "Zerasure is slowest, k = 8; model: over ISA-L", "Cerasure over ISA-L, k = 8: below 1"
    ]  # fmt: skip
    assert all(claim in FOUND["claims"] for claim in again)


def test_a_committed_forecast_is_reproduced() -> None:
    stored = next(c for c in FOUND["forecasts"] if (c["k"], c["length"], c["threads"]) == (8, 256, 1))
    again = forecast(Setting(8, length=256))
    assert (again.gbps, again.rule, again.candidates, again.best) == tuple(
        stored[name] for name in ("gbps", "rule", "candidates", "best")
    )


def test_page_and_pictures_match_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, copy = page.PAGE.read_text(encoding="utf-8"), tmp_path / "memory.md"
    begin = text.index(page.BEGIN) + len(page.BEGIN)
    copy.write_text(f"{text[:begin]}\nold text\n{text[text.index(page.END) :]}", encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    page.write(FOUND)
    assert copy.read_text(encoding="utf-8") == text, "run make model-memory MODEL_FLAGS=--draw"
    for name, drawn in pictures.pictures(FOUND).items():
        assert (pictures.FOLDER / name).read_text(encoding="utf-8") == drawn, name


def test_measurements_belong_to_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {pictures.claim_name(claim) for claim in FOUND["claims"]}
    assert measurements.CLAIMS.keys() <= names
    cells = {"32+4/1024/1": 1.5, "48+4/1024/1": 1.8, "64+4/1024/2": 9.9, "16+2/1024/1": 9.9}
    file = tmp_path / "results.json"
    gains = {at: {"gain_isal": [gain, 1, 2], "gain_isal_d": [1.2, 1, 2]} for at, gain in cells.items()}
    file.write_text(json.dumps({"cells": gains}))
    monkeypatch.setattr(measurements, "MEASURED", file)
    tables = page.tables(FOUND)
    model = next(claim["model"] for claim in FOUND["claims"] if claim["text"] == "the same, k = 32")
    assert f"the same, k = 32 | yes | 1.221 | {model:.2f} | 1.20 (1.00..2.00) |" in tables
    wide = [
        line.split(" | ")[-1] for line in tables.splitlines() if "figure 10" in line and "k = 48 |" in line
    ]
    assert wide[:2] == ["1.80 (1.00..2.00) |", "1.50 (0.50..2.00) |"]


def test_every_claim_has_a_measurement_or_a_reason() -> None:
    names = [pictures.claim_name(claim) for claim in FOUND["claims"]]
    here = measurements.measured()
    assert here.keys() == measurements.CLAIMS.keys()
    assert "-" not in {measurements.text_of(name, here) for name in names}
    for pattern in measurements.REASONS:
        assert any(re.search(pattern, name) for name in names if name not in here), pattern
    assert measurements.text_of("figure 99: nothing", here) == "-"


def test_claims_fail_outside_of_their_tolerance() -> None:
    assert ratio("f", "t", 1.5, 2.0, 1.01).agrees and not ratio("f", "t", 1.5, 2.0, 0.99).agrees
    assert not ratio("f", "t", 1.5, 2.0, 3.01).agrees and not ratio("f", "t", 3.0, 3.0, 1.9).agrees
    assert excess("f", "t", 20, 30, 10).agrees and not excess("f", "t", 20, 30, 61).agrees
    assert len(reproduce.PARTS) == 17


def test_the_library_s_order_keeps_every_prefetcher_quiet() -> None:
    shares = {(o.walk, o.lines, o.name): sum(o.prefetches.values()) for o in quiet()}
    assert all(share == 0 for (_, _, name), share in shares.items() if name == "mirrored zigzag")
    assert all(share > 0 for (_, _, name), share in shares.items() if name in ("zigzag", "in order"))


def test_steps_are_those_of_the_library() -> None:
    source = "".join((ROOT / "runtime/core/src" / name).read_text() for name in ("apply.c", "path.h"))
    names = ("STEP_BUDGET", "STEP_MIN", "STEP_MAX", "FEW_SHARDS", "LONG_SHARD")
    for name in names:
        found = re.search(rf"#define {name} \(?(\d+)u(?: \* (\d+))?", source)
        assert found is not None, name
        assert int(found[1]) * int(found[2] or 1) == getattr(policies, name), name
    bulk = re.search(r"#define GFS_BULK_MIN \(\(size_t\)(\d+) << (\d+)\)", source)
    assert bulk is not None
    assert int(bulk[1]) << int(bulk[2]) == policies.GFS_BULK_MIN


def test_two_distances_gain_nothing_on_any_machine() -> None:
    """Nor do the stored figures contain a gain of the paper's size (18 %)."""
    stored = {(d["k"], d["machine"]): d for d in FOUND["distances"]}
    assert stored.keys() == set(product(KS, MACHINES))
    again = compare(8, "as calibrated")
    assert asdict(again) == {n: tuple(v) if isinstance(v, list) else v
                             for n, v in stored[8, "as calibrated"].items() if n != "gain"}  # fmt: skip
    assert all(1 <= d["gain"] < 1.05 for d in stored.values())
    late = stored[24, "as calibrated"]
    assert late["one"][1] > 1.18 * late["at_k"], "a better single distance gains as much as the paper states"


def test_whole_pages_need_no_policy_of_their_own() -> None:
    """docs/adaptive.md names this departure from the paper."""
    stored = FOUND["parts"]
    assert [(p["k"], p["length"], p["threads"]) for p in stored] == [
        (s.k, s.length, s.threads) for s in settings()
    ]
    again = parts(Setting(8, length=5120))
    assert {**asdict(again), "gain": round(again.gain, 3)} == stored[0]
    assert all(0.95 < p["gain"] < 1.03 for p in stored)


@pytest.mark.parametrize(("length", "least"), [(5120, 1.9), (7168, 1.25)])
def test_whole_pages_keep_the_hardware_prefetcher_under_contention(length: int, least: float) -> None:
    """docs/adaptive.md states the ratios: the coordinator's policy `pages` over the order that stops hardware
    prefetchers in the whole call."""
    s = Setting(24, length=length, threads=18)
    found = {str(p): p for p in candidates.candidates(s)}
    pages = next(p for p in found.values() if p.pages)
    assert (pages.walk, policies.Policy.read(str(pages))) == ("row", pages)
    speed = [
        run(s.machine, policies.call(ISA, s.m, s.k, length, p), s.work).gbps
        for p in (pages, replace(pages, walk="shuffled", pages=False))
    ]
    assert speed[0] > least * speed[1]


@pytest.mark.parametrize(("distance", "first"), [(9, 13), (24, 40), (40, 24)])
def test_rows_of_a_line_with_two_distances_prefetch_no_line_twice(distance: int, first: int) -> None:
    """Each has its own distance. The rest of the call, without prefetches, is a whole number of rows."""
    k, length = 9, 1024
    events = call(k, 4, length, Kernel(distance=distance, first=first), isal_cost(4))
    asked = events[events["kind"] == PREFETCH]
    lines = [(int(e["shard"]), int(e["offset"])) for e in asked]
    assert len(lines) == len(set(lines)) and max(offset for _, offset in lines) < length
    assert len(lines) % k == 0 and len(lines) > k * (length // 64 - 8)
    visit = {(int(e["shard"]), int(e["offset"])): n for n, e in enumerate(events[events["kind"] == LOAD])}
    ahead = {
        side: statistics.mean(visit[line] - n for n, line in enumerate(lines) if (line[1] % 256 == 0) is side)
        for side in (True, False)
    }
    assert ahead[True] == pytest.approx(first, abs=4) and ahead[False] == pytest.approx(distance, abs=4)


@pytest.mark.parametrize("distance", [0, 8])
def test_half_vectors_load_each_line_twice_and_write_it_once(distance: int) -> None:
    kernel = Kernel(distance=distance)
    whole, half = (call(8, 4, 512, kernel, isal_cost(4, vector)) for vector in (64, 32))
    loads = half[half["kind"] == LOAD]
    assert sorted(zip(loads["shard"], loads["offset"], strict=True)) == [
        (j, at) for j in range(8) for at in range(0, 512, 32)
    ]
    for kind in (STREAM, PREFETCH):
        assert np.array_equal(whole[whole["kind"] == kind], half[half["kind"] == kind])
    assert loads["instructions"].sum() == 2 * 8 * 8 * 32 and loads["cycles16"].sum() == 2 * 8 * 8 * 16 * 8


@pytest.mark.parametrize(("distance", "first"), [(5, 0), (24, 0), (70, 0), (24, 40), (60, 24)])
@pytest.mark.parametrize("walk", list(Walk))
def test_every_line_is_prefetched_once(walk: Walk, distance: int, first: int) -> None:
    """Lines are prefetched before the loop, at each visit, and after it; in the loop at the average
    distance."""
    k, length = 9, 4096
    asked = plan(k, length, Kernel(walk, 4, (2, 1, 3, 0), distance, first))
    source, offset = asked.pointers()
    turns = range(0, asked.piped, 256)
    every = [(int(j), int(at) + t) for t in turns for j, at in zip(source, offset, strict=True)]
    every += [(int(j), int(at)) for j, at in zip(asked.source[: asked.lead], asked.offset, strict=False)]
    done = asked.lead + asked.piped // 64 * k
    rest = zip(asked.source[done:], asked.offset[done:], strict=True)
    every += [(int(j), int(at)) for j, at in rest if at < length]
    assert sorted(every) == [(j, at) for j in range(k) for at in range(0, length, 64)]
    assert asked.lead == distance if not first else min(distance, first) <= asked.lead <= max(distance, first)


def test_climbing_finds_a_hill_and_stays_within_bounds() -> None:
    tried: list[int] = []

    def speed(distance: int) -> float:
        tried.append(distance)
        return -abs(distance - 40)

    assert climb(speed, 8, 100) == (40, 0)
    assert climb(speed, 8, 20)[0] == 20
    assert min(tried) >= 0 and max(tried) <= 100 and len(tried) < 40
