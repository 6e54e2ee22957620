"""Many values: expired ones make room, and a start does only as much as they need."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import (
    DEADLINE,
    EXAMPLE,
    HEADERS,
    LANGUAGE,
    DiskStore,
    Store,
    process_state,
    wait_for,
    xxh3_64,
)

Make = Callable[..., Store]

pytestmark = pytest.mark.needs("store")


def fill(store: Store, count: int) -> None:
    """Store this many small values."""
    with socket.create_connection(store.address(), DEADLINE) as link:
        link.sendall(b"".join(b"set small-%d 0 0 5\r\nvalue\r\n" % i for i in range(count)))
        answers = b""
        while answers.count(b"\r\n") < count:
            answers += link.recv(65536)
        assert answers == b"STORED\r\n" * count


def numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)


def empty_value(store: Store, version: int, key: bytes) -> dict[int, list[tuple[str, bytes]]]:
    """Return the items of an empty value by chunk server: its chunks, and on m + 1 of these its record."""
    head = numbers(version, 0, xxh3_64(b"", version), 0, len(key) << 32)
    record = head + numbers(xxh3_64(key, xxh3_64(head))) + key
    items = {}
    for shard in range(store.k + store.m):
        head = b"gfs-chnk" + numbers(version, 1, shard)
        chunk = head + numbers(xxh3_64(b"\0", xxh3_64(head))) + bytes(24) + b"\0"
        with_record = shard == 0 or shard >= store.k
        items[store.holder(key.decode(), shard)] = [
            (f"c{version:016x}", chunk),
            *([(f"r{version:016x}", record)] if with_record else []),
        ]
    return items


def put_empty_values(store: Store, count: int) -> None:
    """Put values into the memcacheds, as if they had been written in the first epoch."""
    orders = dict.fromkeys(store.ranks, b"")
    for i in range(count):
        for rank, items in empty_value(store, (1 << 32) + 1_000_000 + i, b"key-%08d" % i).items():
            for name, item in items:
                orders[rank] += f"set {name} 0 0 {len(item)} noreply\r\n".encode() + item + b"\r\n"
    for rank, text in orders.items():
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(store.folder / f"memcached-{rank}"))
            link.sendall(text + b"mn\r\n")
            assert link.recv(100) == b"MN\r\n"


def most_memory(store: Store) -> int:
    """Return the most memory that the agent has used, in bytes."""
    text = Path(f"/proc/{store.running['agent'].pid}/status").read_text()
    return 1024 * int(text.partition("VmHWM:")[2].split()[0])


def test_a_start_needs_little_memory(fresh_store: Make) -> None:
    """An agent whose memory is limited starts again with the values that it had."""
    store, count = fresh_store(), 4000
    without = most_memory(store)
    put_empty_values(store, count)
    store.kill("agent")
    store.launch("agent")
    store.wait_writable()
    assert store.stats()["curr_items"] == str(count)
    assert most_memory(store) - without < 1800 * count  # 600 for each, and 3 MB for messages
    assert store.get("key-00000000") == b""


def test_expired_values_make_room(fresh_store: Make) -> None:
    """Twice as many as there is room for, each written once; other values stay."""
    store = fresh_store(memory=8)
    store.set("lasting", b"value")
    with store.client() as client:
        for turn in range(6):
            for i in range(40):
                client.set(f"{turn}-{i}", bytes(200_000), expire=-1)
            wait_for("room", lambda: store.stats()["curr_items"] == "1")
    assert store.get("lasting") == b"value"


def test_a_start_with_many_values(fresh_store: Make) -> None:
    """The keys in memcached are listed in steps."""
    store = fresh_store()
    fill(store, 700)
    store.kill("agent")
    store.launch("agent")
    store.wait_writable()
    assert store.stats()["curr_items"] == "700"
    with store.client() as client:
        assert len(client.get_many([f"small-{i}" for i in range(700)])) == 700


def test_a_list_reads_no_values(programs: Path, tmp_path: Path) -> None:
    """A chunk server with much on its disk would not answer in time."""
    store = DiskStore(tmp_path / "s", programs)
    try:
        store.start()
        for i in range(20):
            store.set(f"large-{i}", os.urandom(1_000_000))
        store.kill("agent")

        def read() -> int:
            text = Path(f"/proc/{store.running['chunk-1'].pid}/io").read_text()
            return int(dict(line.split(": ") for line in text.splitlines())["rchar"])

        before = read()
        store.launch("agent")
        store.wait_writable()
        assert store.stats()["curr_items"] == "20"
        assert read() - before < 20 * 1_000_000 // 3 // 4
    finally:
        store.kill_all()


def test_chunk_servers_with_copies_wait(fresh_store: Make) -> None:
    """Without one chunk server, the others copy records at a start. Those that have them do not look through
    all values again and again while another one copies.
    """
    store = fresh_store()
    fill(store, 20)
    store.kill("agent", "chunk-5", "memcached-5")
    store.plan("chunk-1", "meta.command")
    store.launch("agent")
    store.wait_stopped("chunk-1")
    store.wait_state("state", "waiting")
    time.sleep(0.5)  # the others have their copies
    store.plan("agent", "sync.look")
    time.sleep(1)  # ten ticks
    assert process_state(store.running["agent"].pid) != "T"
    (store.folder / "fault.agent").unlink()
    store.mend()
    assert store.stats()["curr_items"] == "20"


PARTS = ("agent", "group", "index", "node", "records", "versions")  #: of the agent, for native/recover.c
LIBRARIES = ("-levent", "-lsodium", "-lcrypto", "-lxxhash", "-lfabric", "-lpthread", "-lm")


@pytest.fixture(scope="module")
def recovery(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program native/recover.c, which counts the steps of a recovery."""
    folder = tmp_path_factory.mktemp("recovery")
    flags = (*LANGUAGE, *HEADERS, *(f"-I{ROOT}/runtime/{part}/include" for part in ("core", "compose")))
    traced, objects = folder / "recover.o", programs / "obj"
    counted = ("-fsanitize-coverage=trace-pc", "-DSTORE_FAULTS", "-O1")
    call("cc", *flags, *counted, "-c", "-o", traced, EXAMPLE / "agent" / "recover.c")
    others = (*(objects / "agent" / f"{part}.o" for part in PARTS), *(objects / "common").glob("*.o"))
    archives = (ROOT / "build" / f"{name}.a" for name in ("libgfsmith-compose", "libgfsmith"))
    program = folder / "recover"
    call("cc", *flags, "-o", program, HERE / "native/recover.c", traced, *others, *archives, *LIBRARIES)
    return program


def recovered(program: Path, keys: int, versions: int) -> tuple[int, list[list[str]]]:
    """Return the steps, and the version of each key."""
    done = subprocess.run(
        (program, program.parent, str(keys), str(versions), "0"), capture_output=True, text=True, check=True
    )
    steps, *lines = done.stdout.splitlines()
    return int(steps), [line.split() for line in lines]


@pytest.mark.parametrize("versions", [1, 3])
def test_the_steps_of_a_recovery_grow_with_the_values(recovery: Path, versions: int) -> None:
    """A disk with older content lacks all values, or each key has two versions that cannot be read."""
    steps, chosen = recovered(recovery, 500, versions)
    assert chosen == [[f"{key:08}", str(100 + key)] for key in range(500)]
    assert recovered(recovery, 2000, versions)[0] < 8 * steps
