"""bench/compose/ycsb: YCSB's figures are parsed correctly; a store that loses
or garbles values is refused.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bench.build_lock import locked
from bench.compose.ycsb import client, study
from bench.compose.ycsb.results import study_json
from bench.compose.ycsb.server import memcached
from bench.run import RunError
from tests.support.paths import ROOT

LOAD = client.Load(records=120, value=700, threads=2, seconds=1)


def _row(metric: str, measurement: str, value: float) -> dict[str, object]:
    return {"metric": metric, "measurement": measurement, "value": value}


MEASURED = [
    _row("OVERALL", "RunTime(ms)", 2000),
    _row("OVERALL", "Throughput(ops/sec)", 1234.5),
    *(_row("READ", f"{p}thPercentileLatency(us)", 10 * p) for p in (50, 95, 99)),
    *(_row("UPDATE", f"{p}thPercentileLatency(us)", 20 * p) for p in (50, 95, 99)),
    _row("READ", "Return=OK", 90),
    _row("UPDATE", "Return=OK", 10),
]


def test_figures() -> None:
    found = client.figures(json.dumps(MEASURED))
    assert found.throughput == 1234.5 and (found.failed, found.operations) == (0, 100)
    assert found.read == {"p50": 500, "p95": 950, "p99": 990} and found.update["p99"] == 1980


@pytest.mark.parametrize(
    "row",
    [
        _row("READ", "Return=ERROR", 3),
        _row("READ", "Return=NOT_FOUND", 3),
        _row("UPDATE", "Return=ERROR", 3),
        _row("VERIFY", "Return=UNEXPECTED_STATE", 3),
    ],
)
def test_failures_are_counted(row: dict[str, object]) -> None:
    assert client.figures(json.dumps([*MEASURED, row])).failed == 3


@pytest.mark.parametrize("text", ["", "[]", "{}", "[3]", json.dumps(MEASURED[:1])])
def test_invalid_measurements(text: str) -> None:
    with pytest.raises(RunError, match="cannot be read"):
        client.figures(text)


def test_studies_are_those_of_the_paper() -> None:
    by_id = {one.id: one for one in study.STUDIES}
    assert len(by_id) == len(study.STUDIES)
    everything = {"rs", "lrc", "ppr", "ecpipe", "triec"}
    for degraded in (study.SOME, study.ALL):
        assert {one.scheme for one in study.STUDIES if one.degraded == degraded} == everything
    assert all(one.workloads == ("A", "B", "C") for one in study.STUDIES if one.degraded != study.SOME)
    assert " ".join(by_id["ecpipe/6+3/1%/16384"].arguments()) == (
        "--scheme ecpipe -k 6 -m 3 --degraded weibull:0.75:0.01 --slice 1024"
    )
    assert " ".join(by_id["lrc/6+2+2/none/8192"].arguments()) == "--scheme lrc -k 6 --groups 2 --global 2"
    assert " ".join(by_id["triec/3+2/1%:2/8192"].arguments()).endswith("--degraded weibull:0.75:0.01:2")
    assert by_id["ecpipe/6+3/1%/16384"].slice == 1024 and by_id["rs/6+3/all/8192/3-stripes"].stripes == 3
    assert by_id["memcached/none/8192"].contenders == (study.MEMCACHED,)


def test_gains_are_taken_round_by_round() -> None:
    one = study.Study("rs", (6, 3), study.NONE, 8192, ("C",))
    rounds = {
        "composed": [client.Figures(speed, {"p50": 5.0}, {}, 0, 9) for speed in (120, 60, 240)],
        "incoherent": [client.Figures(speed, {"p50": 5.0}, {}, 1, 9) for speed in (100, 100, 100)],
    }
    kept = study_json(one, study.Found({"C": rounds}, {}))["workloads"]["C"]
    assert kept["gain"] == [1.2, 0.6, 2.4]
    assert (kept["composed"]["throughput"], kept["incoherent"]["failed"]) == ([120, 60, 240], 3)


# ---- YCSB itself ----


@pytest.fixture(scope="module")
def ycsb() -> None:
    (ROOT / "build").mkdir(exist_ok=True)
    with locked(ROOT / "build" / "ycsb.lock"):
        client.build()


@pytest.mark.needs("java")
def test_a_run_against_memcached(ycsb: None) -> None:
    with memcached(64) as ports:
        client.fill(ports, LOAD)
        found = client.run(ports, LOAD, "A")
    assert found.failed == 0 and found.operations > 0 and found.throughput > 0
    assert found.read["p50"] <= found.read["p99"] and found.update


def _answering(spoil: Callable[[bytes, int], bytes | None]) -> type[socketserver.StreamRequestHandler]:
    """Return a server with the part of memcached's protocol that the client uses,
    which spoils its answers.
    """
    kept: dict[bytes, bytes] = {}

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                words = line.split()
                if words[0] == b"set":
                    kept[words[1]] = self.rfile.read(int(words[4]) + 2)[:-2]
                    self.wfile.write(b"STORED\r\n")
                elif words[0] in (b"get", b"gets"):
                    value = spoil(kept[words[1]], len(kept))
                    if value is not None:
                        self.wfile.write(b"VALUE %s 0 %d\r\n%s\r\n" % (words[1], len(value), value))
                    self.wfile.write(b"END\r\n")
                else:
                    self.wfile.write(b"VERSION 1.6.0\r\n")

    return Handler


@contextmanager
def _server(spoil: Callable[[bytes, int], bytes | None]) -> Iterator[list[int]]:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), _answering(spoil)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield [int(server.server_address[1])]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.needs("java")
def test_an_honest_server_is_believed(ycsb: None) -> None:
    with _server(lambda value, _: value) as ports:
        client.fill(ports, LOAD)


@pytest.mark.needs("java")
@pytest.mark.parametrize(
    ("what", "spoil"),
    [
        ("garbled", lambda value, _: bytes([value[0] ^ 1]) + value[1:]),
        ("cut", lambda value, _: value[:-1]),
        ("lost", lambda value, _: None),
    ],
)
def test_a_server_with_wrong_answers_is_refused(
    what: str, spoil: Callable[[bytes, int], bytes | None], ycsb: None
) -> None:
    with _server(spoil) as ports, pytest.raises(RunError, match="were wrong or missing"):
        client.fill(ports, LOAD)
