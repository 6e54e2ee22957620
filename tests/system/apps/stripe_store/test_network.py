"""--netns: each chunk server in its own network namespace; cables that are unplugged and plugged in again."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheServerError

from tests.system.apps.stripe_store.support import DEADLINE, holder, wait_for
from tests.system.apps.stripe_store.test_run import children, kill_with_all, refusal, running
from tests.system.apps.stripe_store.wire import Memcached

RANKS = range(1, 6)
OTHERWISE = "without --netns the store runs over loopback"
NOT_PERMITTED = (
    "stripe-store: --netns: not permitted: CAP_SYS_ADMIN is needed (root, or `unshare -rn`); " + OTHERWISE
)
NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def permitted() -> bool:
    """Return True if this process may create a network namespace, and a bridge in it."""
    return not subprocess.run(
        ["unshare", "-n", "ip", "link", "add", "name", "switch", "type", "bridge"], capture_output=True
    ).returncode


def said(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout


def space_of(process: int | str) -> int:
    return Path(f"/proc/{process}/ns/net").stat().st_ino


def around() -> str:
    """Return the interfaces and namespaces that a store could have left in the namespace of the tests."""
    links = re.sub(r"^\d+: |state \w+|qlen \d+", "", said("ip", "-o", "link"), flags=re.MULTILINE)
    return links + said("ip", "netns", "list")


@dataclass(slots=True)
class Network:
    """A store with its acknowledged values; a test unplugs its cables."""

    run: subprocess.Popen[bytes]
    client: Client
    folder: Path
    values: dict[str, bytes]

    def processes(self) -> dict[str, int]:
        return children(self.run.pid)

    def at_the_switch(self, *command: str) -> None:
        said("nsenter", "--target", str(self.processes()["agent"]), "--net", *command)

    def cable(self, rank: int, state: str) -> None:
        self.at_the_switch("ip", "link", "set", f"node{rank}", state)

    @contextmanager
    def without(self, *ranks: int) -> Iterator[None]:
        for rank in ranks:
            self.cable(rank, "down")
        yield
        for rank in ranks:
            self.cable(rank, "up")
        wait_for("all processes to be up", lambda: self.stats()["state"] == "read-write")

    def stats(self) -> dict[str, str]:
        return {
            name.decode(): str(value, "ascii") if isinstance(value, bytes) else str(value)
            for name, value in self.client.stats().items()
        }

    def check(self) -> None:
        for key, value in self.values.items():
            assert self.client.get(key) == value, key

    def refused(self, act: Callable[[], object]) -> str:
        with pytest.raises(MemcacheServerError) as error:
            act()
        return (
            str(error.value.args[0], "ascii") if isinstance(error.value.args[0], bytes) else str(error.value)
        )

    def chunks(self, rank: int) -> int:
        with Memcached(self.folder / f"memcached-{rank}") as memcached:
            return sum(key.startswith("c") for key in memcached.all_keys())

    def settled(self) -> None:
        """Check that each chunk server has the chunk of each value, and no other."""
        wait_for("chunks", lambda: all(self.chunks(rank) == len(self.values) for rank in RANKS))


@pytest.fixture(scope="module")
def network(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    folder = tmp_path_factory.mktemp("n") / "store"
    if not permitted():
        line = refusal(programs, "stripe-store", "run", "--netns", folder)
        assert re.fullmatch(rf"stripe-store: --netns: .+; {OTHERWISE}", line)
        pytest.skip("network namespaces are not permitted here, as stripe-store reports")
    values = {f"key-{n}": random.Random(n).randbytes(n) for n in (0, 1, 100, 5000, 100_001)}
    with running(programs, folder, "--deadline", "1500", own=("--netns",)) as (run, client):
        for key, value in values.items():
            assert client.set(key, value)
        yield Network(run, client, folder, values)


def test_each_has_its_own(network: Network) -> None:
    """Six namespaces: the agent's, and one for each chunk server with its memcached."""
    spaces = {name: space_of(pid) for name, pid in network.processes().items()}
    assert len({*spaces.values(), space_of("self")}) == 7
    for rank in RANKS:
        assert spaces[f"chunk-{rank}"] == spaces[f"memcached-{rank}"]
    network.check()


def test_a_cable_is_pulled(network: Network) -> None:
    """Stripes are degraded and read, writes are refused, and the chunk server catches up afterwards."""
    rank = holder("key-5000", 0, 5)
    before = int(network.stats()["reads_degraded"])
    with network.without(rank):
        why = network.refused(lambda: network.client.set("key-5000", b"other"))
        assert why == f"not stored: no answer within the deadline from chunk server {rank}"
        why = network.refused(lambda: network.client.set("key-5000", b"other"))
        assert why == f"read-only: chunk server {rank} does not answer"
        network.check()
        assert int(network.stats()["reads_degraded"]) > before
    network.settled()
    with network.without(*[other for other in RANKS if other != rank][:2]):
        network.check()  # with its chunks
    network.values["key-5000"] = b"other"
    assert network.client.set("key-5000", b"other")
    network.check()
    network.settled()


def test_a_read_finds_out(network: Network) -> None:
    """The agent does not know yet that the chunk server is unreachable."""
    rank = holder("key-100", 1, 5)
    with network.without(rank):
        assert network.client.get("key-100") == network.values["key-100"]
        assert network.stats()["state"] == "read-only"
        network.check()


def test_one_that_is_away_loses_its_memory(network: Network) -> None:
    """The chunk server returns empty and is rebuilt."""
    rank = holder("key-5000", 0, 5)
    rebuilt = int(network.stats()["chunks_rebuilt"])
    with network.without(rank):
        network.check()
        os.kill(network.processes()[f"memcached-{rank}"], signal.SIGKILL)
        wait_for("another memcached", lambda: f"memcached-{rank}" in network.processes())
        network.check()
    assert int(network.stats()["chunks_rebuilt"]) == rebuilt + len(network.values)
    network.settled()
    with network.without(*[other for other in RANKS if other != rank][:2]):
        network.check()


def test_more_cables_than_may_be_pulled(network: Network) -> None:
    ranks = [holder("key-5000", shard, 5) for shard in (0, 1, 4)]
    with network.without(*ranks):
        why = network.refused(lambda: network.client.get("key-5000"))
        assert why.startswith("not available now: 2 of 5 chunks are available, not enough:"), why
        assert all(f"chunk server {rank} does not answer" in why for rank in ranks)
    network.check()


def test_two_that_cannot_reach_each_other(network: Network) -> None:
    """The agent reaches both: values that can be read without one of them are read."""
    one, other, gone = (holder("key-5000", shard, 5) for shard in (1, 2, 0))
    for rank in (one, other):
        network.at_the_switch("bridge", "link", "set", "dev", f"node{rank}", "isolated", "on")
    with network.without(gone):
        network.check()
        for rank in (one, other):
            network.at_the_switch("bridge", "link", "set", "dev", f"node{rank}", "isolated", "off")
    network.check()
    network.settled()


def test_nothing_is_left(programs: Path, tmp_path: Path, network: Network) -> None:
    """Even if the process that would clean up is killed, the kernel does it. The folder can be used again."""
    before = around()
    with running(programs, tmp_path / "store", own=("--netns",)) as (run, client):
        assert client.set("key", b"value")
        assert around() == before
        kill_with_all(run)
    assert around() == before
    with running(programs, tmp_path / "store", own=("--netns",)) as (run, client):
        assert client.get("key") is None
        assert client.set("key", b"value")
    assert run.returncode == 0
    assert around() == before


def test_missing_permissions_and_files_are_reported(programs: Path, tmp_path: Path) -> None:
    command = [*NO_CAPABILITIES, programs / "stripe-store", "run", "--netns", tmp_path / "store"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", NOT_PERMITTED + "\n")
    line = refusal(programs, "stripe-store", "run", "--netns", tmp_path / "s", "--fabric", "10.0.0.1:0")
    assert line == "stripe-store: --netns: --fabric is 10.0.0.100 then, and clients are where this is started"
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("00" * 32)
    line = refusal(programs, "stripe-agent", "--listen-netns", tmp_path / "none", tmp_path)
    assert line == f"stripe-agent: --listen-netns {tmp_path}/none: No such file or directory"


def test_ip_is_missing(programs: Path, tmp_path: Path, network: Network) -> None:
    command = [programs / "stripe-store", "run", "--netns", tmp_path / "store"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "memcached").symlink_to(shutil.which("memcached") or "")
    for name, why in (
        (None, "the program ip (iproute2) is missing"),
        ("false", "ip: it failed"),
    ):
        if name is not None:
            (tmp_path / "bin" / "ip").symlink_to(shutil.which(name) or "")
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE, env={"PATH": str(tmp_path / "bin")}
        )
        line = f"stripe-store: --netns: {why}; without --netns the store runs over loopback\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
