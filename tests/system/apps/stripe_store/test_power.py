"""Power cuts, as SIGKILL of all processes of a machine, and planned stops, which keep the values.

The memcacheds have a memory file (`-e`), which they use again only after SIGUSR1.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.system.apps.stripe_store.support import Store, wait_for
from tests.system.apps.stripe_store.wire import Memcached

VALUES = {f"key-{n}": b"%d" % n * 500 for n in range(20)}
SECOND = 1.1
"""memcached compares the time of the stop with that of the start, in whole seconds."""


class WarmStore(Store):
    def command(self, name: str) -> list[str]:
        command = super().command(name)
        return (
            [*command, "-e", str(self.folder / f"items.{name}")] if name.startswith("memcached") else command
        )

    def cut(self, *ranks: int) -> None:
        """Cut the power of the machines with these chunk servers, and of the agent's; put it back."""
        names = [f"{kind}-{rank}" for rank in ranks for kind in ("memcached", "chunk")]
        for name in ("agent", *names):
            self.signal(name, signal.SIGKILL)
        self.kill("agent", *names)
        self.launch(*names, "agent")

    def intact(self) -> bool:
        return all(self.get(key) == value for key, value in VALUES.items())


def stored_keys(store: Store) -> list[str]:
    try:
        with Memcached(store.folder / "memcached-1") as memcached:
            return memcached.all_keys()
    except ConnectionError:
        return []


@pytest.fixture
def store(programs: Path, tmp_path: Path) -> Iterator[WarmStore]:
    store = WarmStore(tmp_path / "s", programs)
    store.start()
    for key, value in VALUES.items():
        store.set(key, value)
    yield store
    store.kill_all()


def test_power_cuts_of_m_machines(store: WarmStore) -> None:
    """The second cut hits other machines, so that the values need the rebuilt chunks."""
    for ranks in ((1, 2), (3, 4)):
        store.cut(*ranks)
        store.wait_writable()
        assert store.stats()["chunks_rebuilt"] == str(2 * len(VALUES))
        assert store.intact()


def test_a_power_cut_of_all_machines_loses_the_values(store: WarmStore) -> None:
    """No value is wrong, and no key is a miss."""
    store.cut(*store.ranks)
    for rank in store.ranks:
        store.wait_state(f"chunk_server_{rank}", "listed")
    for key in ("key-1", "never-set"):
        why = store.refusal(partial(store.get, key))
        assert why.startswith(
            "unknown until 3 chunk servers have sent their lists, 0 have: 1 has lost its memory"
        )
    with store.client() as client:
        assert client.flush_all()
    assert store.get("key-1") is None


def test_a_planned_stop_keeps_the_values(store: WarmStore) -> None:
    chunks, memcacheds = ([f"{kind}-{rank}" for rank in store.ranks] for kind in ("chunk", "memcached"))
    store.kill("agent", *chunks, by=signal.SIGTERM)
    store.kill(*memcacheds, by=signal.SIGUSR1)
    time.sleep(SECOND)
    store.launch(*memcacheds, *chunks, "agent")
    store.wait_writable()
    assert store.intact()
    assert store.stats()["chunks_rebuilt"] == "0"
    store.set("key-1", b"written again")
    assert store.get("key-1") == b"written again"


def test_old_memory_does_not_come_back(store: WarmStore) -> None:
    """A memcached returns with its memory file from before a rebuild: it counts as one without memory."""
    store.kill("memcached-1", by=signal.SIGUSR1)
    old = {path: path.read_bytes() for path in store.folder.glob("items.memcached-1*")}
    for path in old:
        path.unlink()
    store.launch("memcached-1")
    store.wait_state("chunk_server_1", "up")
    store.set("key-1", b"written since")
    store.kill("memcached-1")
    time.sleep(SECOND)
    for path, content in old.items():
        path.write_bytes(content)
    store.kill("agent")
    store.launch("memcached-1")
    wait_for("memcached", lambda: (store.folder / "memcached-1").exists() and stored_keys(store) != [])
    store.launch("agent")
    store.wait_writable()
    assert store.get("key-1") == b"written since"
    assert int(store.stats()["chunks_rebuilt"]) > 0
