"""bench/compose/primitives: rules of Table I, traces, and the page, without processes and clock."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bench.compose import plan
from bench.compose.primitives import counts, figures, page, tables, traces
from bench.compose.primitives.__main__ import FILE, main
from bench.compose.ycsb.client import Figures
from bench.run import RunError
from tests.support.bench_graphs import record

CELLS = {cell.id: cell for cell in counts.CELLS}


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    """The published results."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


# ---- Table I ----


def test_rules_for_the_cells_that_the_paper_spells_out() -> None:
    """Section III-B: RS(k, m) encoding has O(k m c) operations; TriEC's encoding receives one chunk and sends
    m; PPR's recv-ec-send has a state for each received chunk and one for the send; one output saves DMA."""
    c, k, m = counts.CHUNK, 6, 3
    by_scheme = {cell.scheme + cell.task: record(cell) for cell in counts.CELLS if not cell.slice}
    source = by_scheme["rsencode"]["vertices"][-1]
    assert counts.expected(source, c).operations == k * m * c
    middle = [
        counts.expected(v, c) for v in by_scheme["triecencode"]["vertices"] if v["receives"] and v["sends"]
    ]
    assert {(one.receives, one.sends, one.operations, one.dma) for one in middle} == {(1, m, m * c, 0)}
    tree = [counts.expected(v, c) for v in by_scheme["pprrepair"]["vertices"] if v["receives"] and v["sends"]]
    assert {one.receives for one in tree} == {1, 2}
    assert all(one.states == one.receives + 1 and one.dma == c for one in tree)


def test_published_counts_are_those_of_these_graphs(kept: dict[str, Any]) -> None:
    assert set(kept["counts"]) == set(CELLS)
    for name, one in kept["counts"].items():
        vertices = {str(v["rank"]): v for v in record(CELLS[name])["vertices"]}
        assert set(one["ranks"]) == set(vertices)
        for rank, found in one["ranks"].items():
            assert found["paper"] == json.loads(json.dumps(_asdict(vertices[rank]))), (name, rank)


def _asdict(vertex: dict[str, Any]) -> dict[str, Any]:
    found = counts.expected(vertex, counts.CHUNK)
    return {name: getattr(found, name) for name in found.__slots__}


def test_only_zeros_of_a_local_code_differ_from_the_rules(kept: dict[str, Any]) -> None:
    found = counts.differences(kept["counts"].values())
    assert len(found) == 2 and all(one.startswith("lrc encode") and "operations" in one for one in found)


@pytest.mark.parametrize("name", ["products", "bytes_received", "bytes_sent", "activations"])
def test_a_wrong_count_is_reported(kept: dict[str, Any], name: str) -> None:
    cells = copy.deepcopy(kept["counts"])
    cells["latency/ppr/repair/6+3/4096"]["ranks"]["4"]["composed"][name] += 1
    assert len(counts.differences(cells.values())) == 3


def test_ranks_with_equal_counts_share_a_row(kept: dict[str, Any]) -> None:
    ranks = kept["counts"]["latency/triec/encode/6+3/4096"]["ranks"]
    assert [names for names, _ in counts.alike(ranks)] == [list("012345"), list("678"), ["9"]]
    assert [counts.name(one["composed"]) for _, one in counts.alike(ranks)] == [
        *("recv-ec-send", "recv-xor", "send")
    ]


# ---- traces ----

AGENT = """\
100 graph 7 repair
120 operation 7 2 2 4096 30000 0
130 read 2 40000
140 graph 8 fetch
150 operation 8 2 0 4096 50000 0
160 read 0 60000
190 write 90000
250 operation 8 2 0 4096 70000 0
"""
CHUNK = "110 operation 7 0 0 4096 20000 0\n300 operation 7 0 0 4096 99000 0\n"


def _folder(at: Path, agent: str = AGENT, chunk: str = CHUNK) -> Path:
    for name, text in (("0", agent), ("3", chunk)):
        (at / name).write_text(text)
    return at


def test_traces_by_round_and_part(tmp_path: Path) -> None:
    found = traces.read(_folder(tmp_path), [(100, 155), (160, 200), (240, 260)])
    assert found.parts == {
        traces.Part("repair", "recv-ec", True): [[30.0], [], []],
        traces.Part("fetch", "recv", True): [[50.0], [], [70.0]],
        traces.Part("repair", "send", False): [[20.0], [], []],
    }
    assert found.whole == {
        traces.DEGRADED: [[40.0], [], []],
        traces.HEALTHY: [[], [60.0], []],
        traces.WRITE: [[], [90.0], []],
    }


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (AGENT + "200 read 2\n", "cannot be read: 200 read 2"),
        (AGENT + "200 wrote 2\n", "cannot be read"),
        (AGENT + "x write 2\n", "cannot be read"),
        (AGENT.replace("30000 0", "30000 -33"), "operation 7 of rank 0 failed"),
        (AGENT.replace("graph 8", "graph 9"), "operation 8 of rank 0 failed, or belongs to no graph"),
    ],
)
def test_traces_that_are_refused(tmp_path: Path, agent: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        traces.read(_folder(tmp_path, agent), [(100, 400)])


def _measured(figure: figures.Figure, factor: float) -> figures.Measured:
    """Return latencies with composed taking `factor` times as long as incoherent."""
    latencies = {}
    for who, times in ((plan.COMPOSED, factor), (plan.INCOHERENT, 1.0)):
        rounds = [[times * (100.0 + n) for n in range(400)] for _ in range(3)]
        latencies[who] = traces.Latencies(
            {node.part: rounds for node in figure.nodes}, {traces.HEALTHY: rounds, traces.DEGRADED: rounds}
        )
    runs = [Figures(500.0, {}, {}, 0, 800)] * 3
    return figures.Measured(dict.fromkeys(plan.CONTENDERS, runs), latencies, [1.0, 2.5])


@pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: str(figure.number))
def test_ratios_are_those_of_the_latencies(figure: figures.Figure) -> None:
    found = figures.figure_json(figure, _measured(figure, 0.5))
    assert set(found["nodes"]) == {node.letter for node in figure.nodes}
    for one in (*found["nodes"].values(), *found["whole"].values()):
        assert [ratio[0] for ratio in one["ratio"].values()] == [0.5] * 3
        assert one["composed"]["operations"] == 1200
    assert found["load"] == [1.0, 2.5] and found["operations"] == 4800


def test_a_node_without_operations_is_refused() -> None:
    figure = figures.FIGURES[0]
    measured = _measured(figure, 0.5)
    del measured.latencies[plan.INCOHERENT].parts[figure.nodes[1].part]
    with pytest.raises(
        RunError, match="no repair: recv-ec at the agent in the trace of the incoherent store"
    ):
        figures.figure_json(figure, measured)


def test_few_operations_state_no_high_percentile() -> None:
    figure = figures.FIGURES[0]
    measured = _measured(figure, 0.5)
    for one in measured.latencies.values():
        one.whole[traces.DEGRADED] = [[1.0] * 20] * 3
    found = figures.figure_json(figure, measured)["whole"]
    assert list(found[traces.DEGRADED]["ratio"]) == ["p50", "p95"]
    assert list(found[traces.HEALTHY]["ratio"]) == ["p50", "p95", "p99"]


# ---- the paper, the page and the command ----


def test_figures_are_those_of_the_paper() -> None:
    """Section IV-B: shape, value, workload, slice and lost chunks of figures 9 to 13."""
    found = {
        f.number: (f.study.scheme, f.study.shape, f.study.value // 1024, f.study.workloads)
        for f in figures.FIGURES
    }
    assert found == {
        9: ("rs", (3, 2), 4, ("A",)),
        10: ("lrc", (12, 2, 2), 32, ("A",)),
        11: ("ppr", (12, 4), 64, ("C",)),
        12: ("ecpipe", (6, 3), 16, ("B",)),
        13: ("triec", (3, 2), 8, ("A",)),
    }
    assert [figure.study.lost for figure in figures.FIGURES] == [1, 1, 1, 1, 2]
    assert " ".join(figures.FIGURES[3].study.arguments()).endswith("weibull:0.75:0.1 --slice 1024")
    assert " ".join(figures.FIGURES[4].study.arguments()).endswith("--degraded weibull:0.75:0.1:2")


def test_the_page_is_that_of_the_results(kept: dict[str, Any]) -> None:
    text = page.PAGE.read_text()
    assert text.split(page.BEGIN + "\n")[1].split(page.END)[0] == page.section(kept)
    assert set(kept["figures"]) == {str(figure.number) for figure in figures.FIGURES}
    assert all(one["failed"] == 0 for one in kept["figures"].values())


def test_the_page_states_the_conditions(kept: dict[str, Any]) -> None:
    rows = "\n".join(tables.conditions(kept))
    effort = kept["method"]["figures"]
    assert (
        f"| {effort['records']} | {effort['clients']} | {effort['rounds']} of {effort['seconds']} s |" in rows
    )
    assert "10%, 2 lost" in rows and rows.count("1 lost") == 4


@pytest.mark.parametrize(
    "words", [("--clients", "0"), ("--figures", "8"), ("--rounds", "x")], ids=lambda words: words[0]
)
def test_bad_arguments_are_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2 and len(capsys.readouterr().err.splitlines()) == 1
