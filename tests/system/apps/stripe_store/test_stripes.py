"""--stripes: several memory stripes, arranged as in a circle over the same nodes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
from pathlib import Path

import pytest
from pymemcache.client.base import Client

from tests.system.apps.stripe_store.support import DEADLINE, wait_for
from tests.system.apps.stripe_store.test_run import refusal, running, status

STRIPES, RANKS = 3, 4  #: of 2+1 chunk servers and an agent


def _clients(folder: Path) -> list[Client]:
    """Return a client of each stripe."""
    words = folder.with_suffix(".out").read_text().split()
    assert words[0] == "ready" and len(words) == 1 + STRIPES
    addresses = [word.rpartition(":") for word in words[1:]]
    return [
        Client((host, int(port)), timeout=DEADLINE, connect_timeout=DEADLINE, default_noreply=False)
        for host, _, port in addresses
    ]


def _pids(run: subprocess.Popen[bytes], stripe: int) -> dict[str, int]:
    """Return the processes of a stripe by rank, chunk servers and the agent only."""
    found = {}
    for child in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split():
        words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        if any(word.endswith(f"/stripe-{stripe}") for word in words) and "memcached" not in words[0]:
            found["0" if words[0].endswith("stripe-agent") else words[1]] = int(child)
    return found


def test_each_stripe_keeps_its_own_values(programs: Path, tmp_path: Path) -> None:
    """A lost chunk server makes only its own stripe read-only."""
    folder = tmp_path / "store"
    options = ("-k", "2", "-m", "1", "--degraded", "weibull:0.75:1")
    with running(programs, folder, *options, own=("--stripes", str(STRIPES), "--no-restart")) as (run, _):
        clients = _clients(folder)
        for number, client in enumerate(clients):
            assert client.set("key", random.Random(number).randbytes(5000))
        for number, client in enumerate(clients):
            assert client.get("key") == random.Random(number).randbytes(5000)
            assert client.stats()[b"curr_items"] == 1
        code, text = status(programs, folder)
        assert code == 0 and re.findall(r"^stripe \d$", text, re.M) == ["stripe 0", "stripe 1", "stripe 2"]
        os.kill(_pids(run, 1)["2"], signal.SIGKILL)
        wait_for("the loss to be noticed", lambda: status(programs, folder)[0] == 1)
        states = re.findall(r"^state +(.+)$", status(programs, folder)[1], re.M)
        assert states == ["read-write", "read-only", "read-write"]
        assert clients[0].set("key", b"new") and clients[1].get("key") is not None
        for client in clients:
            client.close()
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert left == ["store.lock", *(f"stripe-{number}/key" for number in range(STRIPES))]


def test_another_number_of_stripes_is_refused(programs: Path, tmp_path: Path) -> None:
    """Clients would not find the values that are on disk. More stripes than before are allowed."""
    options, one, many = ("-k", "2", "-m", "1"), tmp_path / "one", tmp_path / "many"

    def run(folder: Path, *own: str) -> None:
        with running(programs, folder, *options, own=("--disk", "16", *own)):
            pass

    run(one)
    run(many, "--stripes", "2")
    for folder, own, why in (
        (one, ("--stripes", "2"), "in one stripe: leave out --stripes"),
        (many, ("--stripes", "1"), "in more stripes: use the --stripes of before"),
        (many, (), "in more stripes: use the --stripes of before"),
    ):
        said = refusal(programs, "stripe-store", "run", "--disk", "16", *own, folder, *options)
        assert said == f"stripe-store: {folder} has values on disk {why}"
    run(one, "--stripes", "1")
    run(many, "--stripes", "3")


def test_ranks_are_interleaved_over_the_nodes(programs: Path, tmp_path: Path) -> None:
    """Rank r of stripe s is at node (r + s) mod (k + m + 1); a node is a network namespace."""
    folder = tmp_path / "store"
    own = ("--stripes", str(STRIPES), "--netns")
    with running(programs, folder, "-k", "2", "-m", "1", own=own) as (run, _):
        nodes: list[list[str]] = []
        for stripe in range(STRIPES):
            pids = _pids(run, stripe)
            assert sorted(pids) == [str(rank) for rank in range(RANKS)]
            nodes.append([str(Path(f"/proc/{pids[str(rank)]}/ns/net").readlink()) for rank in range(RANKS)])
        assert len(set(nodes[0])) == RANKS
        for stripe, places in enumerate(nodes):
            assert places == [nodes[0][(rank + stripe) % RANKS] for rank in range(RANKS)]
        for number, client in enumerate(_clients(folder)):
            value = random.Random(number).randbytes(3000)
            assert client.set("key", value) and client.get("key") == value
            client.close()


@pytest.mark.parametrize(
    ("own", "options", "line"),
    [
        (("--stripes", "0"), (), "--stripes 0: must be a whole number from 1 to 16"),
        (("--stripes", "17"), (), "--stripes 17: must be a whole number from 1 to 16"),
        (
            ("--stripes", "2"),
            ("--listen", "127.0.0.1:4711"),
            "--stripes 2: --listen and --fabric need port 0, because every stripe has an agent",
        ),
        (("--stripes", "2"), ("--trace", "/tmp"), "--stripes 2: --trace allows one stripe"),
    ],
)
def test_stripes_that_are_refused(
    programs: Path, tmp_path: Path, own: tuple[str, ...], options: tuple[str, ...], line: str
) -> None:
    found = refusal(programs, "stripe-store", "run", *own, tmp_path / "store", *options)
    assert found == f"stripe-store: {line}" and not (tmp_path / "store").exists()
