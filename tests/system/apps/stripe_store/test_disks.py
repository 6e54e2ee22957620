"""Stores with their chunks on disk: cuts of the power of all machines at once, copies, damage, full disks.

The disks lose unflushed writes in any combination (power.py).
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pymemcache.client.base import Client as PymemcacheClient
from pymemcache.exceptions import MemcacheServerError

from tests.system.apps.stripe_store.history import (
    CHOICES,
    Client,
    Keys,
    Operation,
    end_calmly,
    verdict,
    work_during,
)
from tests.system.apps.stripe_store.power import Disk, Restorer, Type, entries
from tests.system.apps.stripe_store.support import (
    DEAD_DISK,
    DEADLINE,
    POWER,
    DiskStore,
    Store,
    environment,
    wait_for,
)
from tests.system.apps.stripe_store.test_disk import Mount, mounted
from tests.system.apps.stripe_store.test_linearizability import LONGER, ROUNDS, SEED
from tests.system.apps.stripe_store.test_run import children, refusal, running

CUTS, CLIENTS = 4, 4
KEY = "the-key"
FLUSH_US = 3000
"""Microseconds of a flush: more moments are within one."""

pytestmark = [pytest.mark.needs("store"), *LONGER]


@pytest.fixture
def memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gfs-", dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def store(programs: Path, memory: Path) -> Iterator[DiskStore]:
    store = DiskStore(memory / "s", programs, agent_options=("--deadline", "1000"))
    store.start()
    yield store
    store.kill_all()


# -- power -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stripes", [1, 2])
def test_names_of_new_folders_are_on_disk(
    programs: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, stripes: int
) -> None:
    """Otherwise, a power cut could remove the folder with all values."""
    folder, record = memory / "s", memory / "record"
    record.mkdir()
    monkeypatch.setenv("POWER_LOG", str(record))
    own = ("--disk", "8", "--stripes", str(stripes))
    with running(programs, folder, "-k", "1", "-m", "1", own=own, preload=(POWER,)) as (run, _):
        found = entries(record / str(run.pid))
    flushed = {entry.file for entry in found if entry.type is Type.FLUSHED}
    parents = [memory] if stripes == 1 else [memory, folder]
    assert flushed >= {path.stat().st_ino for path in parents}


@dataclass(slots=True)
class Machines(DiskStore):
    """All processes with their disks, which lose their power together."""

    record: Path = Path()
    draw: random.Random = field(default_factory=random.Random)
    disks: dict[str, Disk] = field(default_factory=dict)

    def place(self, name: str) -> Path:
        kind, _, rank = name.partition("-")
        return self.folder if kind == "agent" else self.disk(int(rank))

    def variables(self, name: str) -> dict[str, str]:
        both = environment(self.programs)["LD_PRELOAD"] + f":{self.programs / POWER}"
        own = {"LD_PRELOAD": both, "POWER_LOG": str(self.record), "POWER_FLUSH": str(FLUSH_US)}
        return environment(self.programs) | own

    def launch(self, *names: str) -> None:
        for name in names:
            self.place(name).mkdir(exist_ok=True)
            if name == "agent":
                (self.folder / "client").unlink(missing_ok=True)
            self.disks[name] = Disk(self.place(name))
        Store.launch(self, *names)

    def cut_power(self) -> None:
        pids = {name: process.pid for name, process in self.running.items()}
        self.kill_all()
        for name, pid in pids.items():
            disk = self.disks[name]
            for entry in entries(self.record / str(pid)):
                disk.replay(entry)
            kept = self.record / f"kept-{name}-{pid}"
            Restorer(disk.folder, kept).restore(disk.cut(self.draw))
            shutil.rmtree(kept)


def record_history(store: Machines, seed: int) -> list[Operation]:
    """Return the history of clients that work while the power is cut, and of a last part without faults."""
    keys = Keys()
    clients = [Client(number, seed, store.address, keys, CHOICES) for number in range(1, CLIENTS + 1)]

    def meanwhile() -> None:
        for _ in range(CUTS):
            time.sleep(store.draw.uniform(0.2, 0.6))
            store.cut_power()
            store.launch(*store.names("chunk"), "agent")
            store.wait_writable()

    work_during(clients, meanwhile)
    return end_calmly(clients, keys)


@pytest.mark.needs("go")
def test_power_cuts_of_all_machines(programs: Path, checker: Path, memory: Path) -> None:
    """Every acknowledged value is there afterwards, and the history is linearizable."""
    for seed in range(SEED, SEED + ROUNDS):
        folder = memory / str(seed)
        record = folder / "record"
        record.mkdir(parents=True)
        store = Machines(
            folder / "s",
            programs,
            agent_options=("--deadline", "1000"),
            logs=record,
            record=record,
            draw=random.Random(seed),
        )
        try:
            store.start()
            history = record_history(store, seed)
        finally:
            store.kill_all()
        assert sum(each.outcome == "ok" and each.verb == "set" for each in history) > 20
        assert sum(each.outcome == "unknown" for each in history) > 0
        print(f"seed {seed}:", len(history), "operations")
        assert verdict(checker, history) == "", f"GFSMITH_NEMESIS_SEED={seed}"
        shutil.rmtree(folder)


# -- damage, limits and copies ---------------------------------------------------------------------

VALUES = {f"key-{n}": bytes([n]) * 30_000 for n in range(8)}


def fill(store: Store) -> None:
    for key, value in VALUES.items():
        store.set(key, value)


def intact(store: Store) -> bool:
    return all(store.get(key) == value for key, value in VALUES.items())


def stop(store: Store, *names: str) -> None:
    """Stop chunk servers in order, which moves their logs into their databases."""
    store.kill(*names, by=signal.SIGTERM)
    wait_for("the agent to see it", lambda: store.stats()["state"] == "read-only")


def spoil(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([path.read_bytes()[at] ^ 1]))


def spoil_chunk(path: Path) -> None:
    """Change a chunk, and the copies of it that SQLite has left in unused bytes."""
    data = path.read_bytes()
    start = data.index(b"gfs-chnk")
    head = re.escape(data[start : start + 40])
    for found in re.finditer(head, data, re.DOTALL):
        spoil(path, found.start() + 100)


def test_damaged_chunks_are_rebuilt(store: DiskStore) -> None:
    """A damaged chunk, found at the start of its chunk server, and a database without its first page."""
    fill(store)
    stop(store, "chunk-1", "chunk-2")
    path = store.disk(1) / "chunks"
    spoil_chunk(path)
    spoil(store.disk(2) / "chunks", 3)
    store.launch("chunk-1", "chunk-2")
    store.wait_writable()
    assert int(store.stats()["chunks_rebuilt"]) == 1 + len(VALUES)
    assert f"{path}: 1 damaged items, which are missing now" in store.log_of("chunk-1").read_text()
    assert (store.disk(2) / "chunks.damaged").exists()
    store.kill("chunk-3", "chunk-4")
    assert intact(store)


@pytest.mark.parametrize("item", ["chunk", "record"])
def test_a_damaged_item_and_late_chunk_servers(store: DiskStore, item: str) -> None:
    """At the start a chunk or record is damaged, and m chunk servers are not there yet: the value remains."""
    store.set(KEY, value := b"the value" * 100)
    store.kill(*store.running, by=signal.SIGTERM)
    rank, late = store.holder(KEY, 0), [f"chunk-{store.holder(KEY, shard)}" for shard in (3, 4)]
    path = store.disk(rank) / "chunks"
    spoil(path, path.read_bytes().index(b"the value" if item == "chunk" else KEY.encode()))
    store.launch("agent", *(name for name in store.names("chunk") if name not in late))
    reason = "not available now" if item == "chunk" else "unknown until 5 chunk servers have sent"
    wait_for(reason, lambda: reason in store.refusal(lambda: store.get(KEY)))
    store.launch(*late)
    store.wait_writable()
    assert store.get(KEY) == value


def spoil_identity(path: Path, at: int, bit: int) -> None:
    """Change the item that has the group, the incarnation, the rank, the epoch and a checksum."""
    database = sqlite3.connect(path)
    (identity,) = database.execute("SELECT bytes FROM node").fetchone()
    changed = bytearray(identity)
    changed[at] ^= bit
    database.execute("UPDATE node SET bytes = ?", (bytes(changed),))
    database.commit()
    database.close()


PLACES = {
    "group": (0, 1),
    "space": (32, 1),
    "incarnation": (33, 1),
    "rank": (66, 4),
    "epoch": (68, 8),
    "digit": (69, 16),
}
"""Bytes of the identity, and a bit of each."""


@pytest.mark.parametrize("place", PLACES)
def test_a_damaged_identity(store: DiskStore, place: str) -> None:
    """The chunk server takes part again. Otherwise, the store would be read-only until somebody removes the
    database.
    """
    fill(store)
    stop(store, "chunk-1")
    spoil_identity(store.disk(1) / "chunks", *PLACES[place])
    store.launch("chunk-1")
    log = store.log_of("chunk-1")
    wait_for("the complaint", lambda: "is not a chunk server's: it gets a new one" in log.read_text())
    store.wait_writable()
    store.kill("chunk-2", "chunk-3")
    assert intact(store)


def test_a_full_disk_refuses_values(programs: Path, memory: Path) -> None:
    store = DiskStore(memory / "s", programs, room=1)
    store.start()
    try:
        value = bytes(600_000)
        stored: list[str] = []
        why = ""
        while why == "":
            key = f"key-{len(stored)}"
            try:
                store.set(key, value)
                stored.append(key)
            except MemcacheServerError as error:
                why = error.args[0].decode()
        assert why.startswith("out of memory storing object: chunk server") and "disk is full" in why
        assert 2 <= len(stored) < 6 and all(store.get(key) == value for key in stored)
        with store.client() as client:
            assert client.delete(stored[0])
        store.set("other", value)
        store.kill_all()
        store.launch(*store.names("chunk"), "agent")
        store.wait_writable()
        assert store.get(stored[0]) is None
        assert all(store.get(key) == value for key in (*stored[1:], "other"))
    finally:
        store.kill_all()


@dataclass(slots=True)
class SmallDisk(DiskStore):
    """Chunk server 1 has a file system of its own."""

    mount: Mount | None = None

    def command(self, name: str) -> list[str]:
        enter = self.mount.enter if name == "chunk-1" and self.mount is not None else ()
        return [*enter, *DiskStore.command(self, name)]

    def fill_up(self) -> None:
        """Leave not a single page."""
        assert self.mount is not None
        with (self.mount.path / "rest").open("ab", buffering=0) as rest:
            for size in (1 << 16, 1 << 12):
                with suppress(OSError):
                    while rest.write(bytes(size)) == size:
                        pass


@pytest.fixture
def small(programs: Path, memory: Path) -> Iterator[SmallDisk]:
    folder = memory / "s"
    (folder / "disk-1").mkdir(parents=True)
    with mounted("32m", folder / "disk-1") as mount:
        store = SmallDisk(folder, programs, mount=mount)
        store.start()
        yield store
        store.kill_all()


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_start_on_a_full_disk(small: SmallDisk, by: signal.Signals) -> None:
    """The log is moved into the database, and values can be read and deleted."""
    values = {f"key-{n}": bytes([n]) * 300_000 for n in range(40)}
    for key, value in values.items():
        small.set(key, value)
    small.kill("chunk-1", by=by)
    small.fill_up()
    small.launch("chunk-1")
    small.wait_writable()
    small.kill("chunk-2", "chunk-3")
    assert all(small.get(key) == value for key, value in values.items())
    small.launch("chunk-2", "chunk-3")
    small.wait_writable()
    with small.client() as client:
        assert all(client.delete(key) for key in values)
    small.set("other", b"a small value")
    small.kill_all()
    small.fill_up()
    small.launch(*small.names("chunk"), "agent")
    small.wait_writable()
    assert small.get("other") == b"a small value"
    assert all(small.get(key) is None for key in values)


def store_until_refused(store: Store, stored: list[str]) -> None:
    refusals = 0
    while refusals < 3:
        key = f"key-{len(stored)}"
        try:
            store.set(key, key.encode() * 50_000)
            stored.append(key)
        except MemcacheServerError as error:
            assert b"chunk server 1: its disk is full" in error.args[0]
            refusals += 1


def test_a_disk_that_becomes_full(small: SmallDisk) -> None:
    """Values are refused, and deletions make room, however often."""
    stored: list[str] = []
    for turn in range(3):
        store_until_refused(small, stored)
        assert len(stored) > 20
        assert all(small.get(key) == key.encode() * 50_000 for key in stored)
        if turn == 0:
            small.fill_up()
        with small.client() as client:
            while stored:
                assert client.delete(stored.pop())
    assert small.stats()["state"] == "read-write"


def test_one_chunk_server_in_a_folder(store: DiskStore, memory: Path) -> None:
    """A second one in the folder, or with a copy of it, does not come to the agent."""
    fill(store)
    shutil.copytree(store.disk(1), memory / "copy")
    chunk, rank, folder, option, disk, *rest = store.command("chunk-1")
    refusals = {
        disk: f"{disk}: another chunk server uses it",
        str(memory / "copy"): f"{memory}/copy was copied or moved: if its original will never be used again, "
        f"remove {memory}/copy/place",
    }
    log = memory / "log"
    for where, line in refusals.items():
        with log.open("wb") as to:
            second = subprocess.Popen(
                [chunk, rank, folder, option, where, *rest], stderr=to, env=store.variables("chunk-1")
            )
        try:
            wait_for("the refusal", lambda: "\n" in log.read_text())
            assert log.read_text() == f"stripe-chunk 1: {line}\n"
            store.set("key-0", b"written since")
            assert store.get("key-0") == b"written since"
        finally:
            second.kill()
            second.wait()


def test_an_old_copy_in_place_of_the_original(store: DiskStore, memory: Path) -> None:
    """The agent compares it with its index: stale chunks are deleted, missing ones rebuilt."""
    fill(store)
    stop(store, "chunk-1")
    shutil.copytree(store.disk(1), memory / "copy")
    store.launch("chunk-1")
    store.wait_writable()
    for key in VALUES:
        store.set(key, b"new")
    stop(store, "chunk-1")
    shutil.rmtree(store.disk(1))
    (memory / "copy" / "place").unlink()
    (memory / "copy").rename(store.disk(1))
    store.launch("chunk-1")
    store.wait_writable()
    assert int(store.stats()["chunks_rebuilt"]) == len(VALUES)
    store.kill("chunk-2", "chunk-3")
    assert all(store.get(key) == b"new" for key in VALUES)


def test_old_content_does_not_undo_a_deletion(store: DiskStore, memory: Path) -> None:
    """A deletion is acknowledged when all chunks are deleted, so those of m old copies do not suffice."""
    store.set(KEY, b"the value" * 100)
    old, slow = ([store.holder(KEY, shard) for shard in shards] for shards in ((0, 3), (1, 2)))
    for rank in old:
        shutil.copytree(store.disk(rank), memory / f"copy-{rank}")
        (memory / f"copy-{rank}" / "place").unlink()
    for rank in slow:
        store.signal(f"chunk-{rank}", signal.SIGSTOP)
    with store.client() as client:
        answer = store.refusal(lambda: client.delete(KEY))
    assert answer.startswith("deleted, but not on all chunk servers: no answer within the deadline")
    for rank in slow:
        store.signal(f"chunk-{rank}", signal.SIGCONT)
    store.wait_writable()
    store.kill_all()
    for rank in old:
        shutil.rmtree(store.disk(rank))
        (memory / f"copy-{rank}").rename(store.disk(rank))
    store.launch(*store.names("chunk"), "agent")
    store.wait_writable()
    assert store.get(KEY) is None


# -- stripe-store run ------------------------------------------------------------------------------


def test_a_run_finds_the_values_of_the_last(programs: Path, memory: Path) -> None:
    folder = memory / "store"
    with running(programs, folder, own=("--disk", "100")) as (run, client):
        assert set(children(run.pid)) == {"agent", *(f"chunk-{rank}" for rank in range(1, 6))}
        assert client.set("key", b"value")
    with running(programs, folder, own=("--disk", "100")) as (run, client):
        assert client.get("key") == b"value"
        assert client.set("key", b"other")
        for pid in (run.pid, *children(run.pid).values()):
            os.kill(pid, signal.SIGKILL)
        run.wait(DEADLINE)
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.get("key") == b"other"
    line = refusal(programs, "stripe-store", "run", folder)
    assert line == f"stripe-store: {folder} has values on disk: use --disk, or remove it"


@pytest.mark.parametrize("lost", [(1,), (1, 4), (2, 3)])
def test_a_run_without_some_disks(programs: Path, memory: Path, lost: tuple[int, ...]) -> None:
    folder = memory / "store"
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.set("key", b"value")
    for rank in lost:
        shutil.rmtree(folder / f"disk-{rank}")
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.get("key") == b"value"


def test_refused_options(programs: Path, memory: Path) -> None:
    line = refusal(programs, "stripe-store", "run", "--disk", "10", "--keep", "64", memory / "s")
    assert line == "stripe-store: --disk and --keep: only one of them is allowed"
    line = refusal(programs, "stripe-chunk", "--disk", "d", "--memcached", "m", "1", memory)
    assert line == "stripe-chunk: --disk and --memcached: only one of them is allowed"
    refusal(programs, "stripe-store", "run", "--disk", "10", memory / "s", "--degraded", "often")
    assert list(memory.iterdir()) == []


def test_a_run_without_its_disks_is_refused(programs: Path, memory: Path) -> None:
    """The list of memories that belong together stays, so the values are there when the disks are."""
    folder, away = memory / "store", memory / "away"
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.set("key", b"value")
    away.mkdir()
    disks = [f"disk-{rank}" for rank in range(1, 6)]
    for name in disks:
        (folder / name).rename(away / name)
    line = refusal(programs, "stripe-store", "run", "--disk", "100", folder)
    assert line.startswith(f"stripe-store: {folder} has a group, but no disk-1 to disk-5: bring them back, ")
    for name in disks:
        (away / name).rename(folder / name)
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.get("key") == b"value"


def test_a_run_whose_folder_was_renamed_removes_nothing(programs: Path, memory: Path) -> None:
    """Another store is started at its path. Its files stay when the first one stops."""
    folder = memory / "store"
    with running(programs, folder) as (first, _):
        folder.rename(memory / "renamed")
        folder.mkdir()
        with running(programs, folder, own=("--disk", "100")) as (_, client):
            assert client.set("key", b"value")
            before = sorted(path.name for path in folder.iterdir())
            first.terminate()
            first.wait(DEADLINE)
            assert sorted(path.name for path in folder.iterdir()) == before
            assert client.get("key") == b"value"
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.get("key") == b"value"


@pytest.fixture
def renamed(programs: Path, memory: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A path at which another store is started, and the run of the renamed one."""
    folder = memory / "store"
    with running(programs, folder) as (first, _):
        folder.rename(memory / "renamed")
        folder.mkdir()
        yield folder, first


def test_a_run_whose_folder_was_renamed_starts_nothing(
    programs: Path, renamed: tuple[Path, subprocess.Popen[bytes]]
) -> None:
    """Its processes would be those of the other store: with the same ranks, and empty memories."""
    folder, first = renamed
    log = folder.with_suffix(".log").open()  # that of the first run
    folder.with_suffix(".log").rename(folder.with_suffix(".first"))
    with running(programs, folder) as (_, client):
        assert client.set("key", b"value")
        for pid in children(first.pid).values():
            os.kill(pid, signal.SIGKILL)
        text = ""

        def said() -> bool:
            nonlocal text
            text += log.read()
            return "no process is started in it" in text and text.count("was ended by signal") == 11

        wait_for("the first run to miss its folder", said)
        time.sleep(2)  # it would have started them again after a second
        assert children(first.pid) == {}
        assert client.get("key") == b"value"
        assert client.set("other", b"value")
        folder.rename(folder.with_name("second"))
        folder.with_name("renamed").rename(folder)
        wait_for("the first run to have its folder again", lambda: len(children(first.pid)) == 11)
    log.close()


def test_processes_stay_in_a_renamed_folder(
    programs: Path, renamed: tuple[Path, subprocess.Popen[bytes]]
) -> None:
    """Without it, they would take the key of the other store at SIGHUP, and the place of its processes."""
    folder, first = renamed
    old = children(first.pid)
    folder.with_suffix(".log").rename(folder.with_suffix(".first"))
    with running(programs, folder) as (_, client):
        assert client.set("key", b"value")
        chunks = [name for name in old if name.startswith("chunk")]
        for name in chunks:
            os.kill(old[name], signal.SIGHUP)
        log = folder.with_suffix(".first")
        wait_for("the key", lambda: log.read_text().count("has read the key") == len(chunks))
        first.send_signal(signal.SIGSTOP)  # it starts no agent
        os.kill(old["agent"], signal.SIGKILL)
        time.sleep(2)
        assert client.get("key") == b"value"
        assert client.stats()[b"state"] == b"read-write"
        first.send_signal(signal.SIGCONT)


def test_a_disk_is_opened_again_in_a_renamed_folder(store: DiskStore) -> None:
    """Not at the path of its folder, where another store may be."""
    store.kill("chunk-2", by=signal.SIGTERM)
    place, text = store.disk(2) / "place", (store.disk(2) / "place").read_text()
    place.write_text("elsewhere")
    store.launch("chunk-2")
    wait_for("it to be refused", lambda: "was copied or moved" in store.log_of("chunk-2").read_text())
    old, store.folder = store.folder, store.folder.with_name("moved")
    old.rename(store.folder)
    old.mkdir()
    (store.disk(2) / "place").write_text(text)
    store.wait_writable()
    assert list(old.iterdir()) == []
    store.set(KEY, b"value")


@pytest.mark.parametrize("lost", [False, True])
def test_a_chunk_server_that_is_started_again_without_its_disk(
    programs: Path, memory: Path, lost: bool
) -> None:
    """It waits for its database, until that is there again, or its user states that it is lost."""
    folder = memory / "store"
    disk, away, log = folder / "disk-2", folder / "away", folder.with_suffix(".log")
    with running(programs, folder, own=("--disk", "50")) as (run, client):
        assert client.set(KEY, b"value")
        disk.rename(away)
        disk.mkdir()
        os.kill(children(run.pid)["chunk-2"], signal.SIGKILL)
        wait_for("it to wait", lambda: f"{disk}: its database is not there" in log.read_text())
        assert list(disk.iterdir()) == []
        if lost:
            (disk / "chunks").touch()
        else:
            disk.rmdir()
            away.rename(disk)
        wait_for("it to be back", lambda: client.stats()[b"state"] == b"read-write")
        assert client.get(KEY) == b"value"
        assert client.stats()[b"chunks_rebuilt"] == int(lost)


@pytest.mark.parametrize("away", [(2,), range(1, 6)], ids=["one", "all"])
def test_a_run_before_its_disks_are_mounted(programs: Path, memory: Path, away: Iterable[int]) -> None:
    """Chunk servers wait for their databases, and begin no others in the mount points."""
    folder, own = memory / "store", ("--disk", "50")
    with running(programs, folder, own=own) as (_, client):
        assert client.set(KEY, b"value")
    for rank in away:
        (folder / f"disk-{rank}").rename(folder / f"away-{rank}")
        (folder / f"disk-{rank}").mkdir()
    command = [programs / "stripe-store", "run", *own, folder]
    log = folder.with_suffix(".late")
    with log.open("w") as output:
        run = subprocess.Popen(command, stdout=output, stderr=output, env=environment(programs))
    try:
        for rank in away:
            disk = folder / f"disk-{rank}"
            wait_for("it to wait", lambda disk=disk: f"{disk}: its database is not there" in log.read_text())
            disk.rmdir()
            (folder / f"away-{rank}").rename(disk)
        wait_for("the store", lambda: "ready" in log.read_text())
        host, _, port = (folder / "client").read_text().rpartition(":")
        client = PymemcacheClient((host, int(port)), timeout=DEADLINE)
        assert client.get(KEY) == b"value" and client.stats()[b"chunks_rebuilt"] == 0
    finally:
        run.terminate()
        run.wait(DEADLINE)


def test_disks_that_are_mounted_while_chunk_servers_start(store: DiskStore) -> None:
    """A chunk server that has created a database in the mount point does not read from that of the disk: it
    would answer for it, and write to the other.
    """
    store.set(KEY, b"value")
    store.kill_all()
    for rank in store.ranks:
        store.disk(rank).rename(store.folder / f"away-{rank}")
        store.disk(rank).mkdir()
        store.plan(f"chunk-{rank}", "disk.opened")
    store.launch(*store.names("chunk"))
    for rank in store.ranks:
        store.wait_stopped(f"chunk-{rank}")
        store.disk(rank).rename(store.folder / f"hidden-{rank}")
        (store.folder / f"away-{rank}").rename(store.disk(rank))
        store.signal(f"chunk-{rank}", signal.SIGCONT)
    store.launch("agent")
    store.wait_writable()
    store.set("later", b"other")
    store.kill_all()
    store.start()
    assert store.get(KEY) == b"value" and store.get("later") == b"other"


def test_a_limit_of_the_size_of_files(store: DiskStore) -> None:
    """Values that it does not allow are refused, no chunk server ends, and small values can be stored."""
    limits = (3 << 20, resource.RLIM_INFINITY)
    for name in store.names("chunk"):
        resource.prlimit(store.running[name].pid, resource.RLIMIT_FSIZE, limits)
    outcomes = set()
    for n in range(12):
        try:
            store.set(f"large-{n}", bytes([n]) * 1_000_000)
            outcomes.add("stored")
        except MemcacheServerError as error:
            outcomes.add(re.sub(r"\d", "N", str(error)))
    assert len(outcomes) == 2 and "chunk server N: its disk is full" in max(outcomes - {"stored"})
    assert store.stats()["state"] == "read-write"
    assert all(process.poll() is None for process in store.running.values())
    assert store.get("large-0") == bytes(1_000_000)


def test_disks_that_fail_without_requests(
    programs: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunk servers notice that within some seconds, although no command needs the disks, and come back."""
    dead, folder = memory / "dead", memory / "store"
    monkeypatch.setenv("DEAD_DISK", str(dead))
    with running(programs, folder, own=("--disk", "100"), preload=(DEAD_DISK,)) as (_, client):
        assert client.set(KEY, b"value")
        dead.touch()
        for rank in range(1, 6):
            name = f"chunk_server_{rank}".encode()
            wait_for("the loss", lambda name=name: client.stats()[name] == b"gone")
        dead.unlink()
        wait_for("them to be back", lambda: client.stats()[b"state"] == b"read-write")
        assert client.get(KEY) == b"value"
        assert client.stats()[b"chunks_rebuilt"] == 0


def test_a_run_whose_disks_are_not_mounted(programs: Path, memory: Path) -> None:
    """Links into a missing file system are disks, too: the run waits for them, and removes nothing."""
    folder, mount, away = memory / "store", memory / "mount", memory / "away"
    folder.mkdir(mode=0o700)
    for name in (f"disk-{rank}" for rank in range(1, 6)):
        (mount / name).mkdir(parents=True)
        (folder / name).symlink_to(mount / name)
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.set("key", b"value")
    mount.rename(away)
    assert "has values on disk" in refusal(programs, "stripe-store", "run", folder)
    command = [programs / "stripe-store", "run", "--disk", "100", folder]
    with folder.with_suffix(".err").open("w+") as log:
        waiting = subprocess.Popen(command, stdout=log, stderr=log, env=environment(programs))
        wait_for("chunk servers to miss their disks", lambda: Path(log.name).stat().st_size > 0)
        waiting.terminate()
        waiting.wait(DEADLINE)
    away.rename(mount)
    with running(programs, folder, own=("--disk", "100")) as (_, client):
        assert client.get("key") == b"value"
