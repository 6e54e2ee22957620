"""Too few chunk servers, full memory, too large, wrong or slow: an error is reported, never a wrong value
returned.
"""

from __future__ import annotations

import re
import resource
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheServerError, MemcacheUnexpectedCloseError

from tests.system.apps.stripe_store.support import DEADLINE, Store, wait_for
from tests.system.apps.stripe_store.wire import Memcached

Make = Callable[..., Store]
HANGS = 60  #: seconds; many times the deadline of `shared`


@pytest.fixture(scope="module")
def shared(make_store: Make) -> Store:
    """(3, 2), with a short deadline: a chunk server that does not answer costs a second."""
    store = make_store(agent_options=("--deadline", "1500", "--value-max", "3000000"), memory=8)
    store.set("a", b"a" * 999)
    return store


@pytest.fixture
def store(shared: Store) -> Iterator[Store]:
    """The store is complete before and after each test."""
    yield shared
    shared.mend()
    shared.set("a", b"a" * 999)


def test_more_than_m_are_away(store: Store) -> None:
    gone = [store.holder("a", shard) for shard in range(3)]
    store.kill(*(f"chunk-{rank}" for rank in gone))
    for rank in gone:
        store.wait_state(f"chunk_server_{rank}", "gone")
    why = store.refusal(lambda: store.get("a"))
    assert why.startswith("not available now: 2 of 5 chunks are available, not enough:")
    assert all(f"chunk server {rank} is gone" in why for rank in gone)
    why = store.refusal(lambda: store.get("never-set"))
    assert why == "not available now: 1 more chunk servers must confirm that there is no value"
    store.mend()
    assert store.get("a") == b"a" * 999


def test_read_only_while_one_is_away(store: Store) -> None:
    store.kill("chunk-2")
    store.wait_state("state", "read-only")
    with store.client() as client:
        for act in (lambda: client.set("a", b"other"), lambda: client.delete("a")):
            assert store.refusal(act) == "read-only: chunk server 2 is gone"
    assert store.get("a") == b"a" * 999


@pytest.mark.parametrize("restart", [False, True])
def test_more_than_m_have_lost_their_memory(fresh_store: Make, restart: bool) -> None:
    store = fresh_store()
    store.set("a", b"lost")
    with socket.create_connection(store.address(), timeout=30) as client:
        client.sendall(b"set \xc2\x9b31m 0 0 1\r\nx\r\n")  # in a terminal: red text from here on
        assert client.recv(100) == b"STORED\r\n"
    lost = [store.holder("a", shard) for shard in (1, 2, 4)]
    names = [f"{kind}-{rank}" for kind in ("chunk", "memcached") for rank in lost]
    store.kill(*names, *(["agent"] if restart else []))
    store.launch(*names, *(["agent"] if restart else []))
    if not restart:
        store.wait_state("values_lost", "2")
        assert "the value of ??31m is lost" in store.log_of("agent").read_text()
    store.wait_state("state", "waiting" if restart else "read-write")
    for rank in store.ranks:  # a new agent asks all chunk servers
        store.wait_state(f"chunk_server_{rank}", "listed" if restart else "up")
    why = store.refusal(lambda: store.get("a"))
    if restart:
        assert why.startswith("unknown until 3 chunk servers have sent their lists, 2 have:")
        assert all(f" {rank} has lost its memory" in why for rank in lost)
        assert store.refusal(lambda: store.get("never-set")) == why  # the agent cannot know
    else:
        assert why == "lost: too few of its chunks were left"
    with store.client() as client:
        assert client.flush_all()
    assert store.get("a") is None
    store.set("a", b"begun again")
    assert store.get("a") == b"begun again"


def test_a_chunk_server_that_does_not_delete_in_time(fresh_store: Make) -> None:
    """The answer to flush_all tells that the others have deleted their chunks."""
    store = fresh_store(agent_options=("--deadline", "1500"))
    store.set("a", b"value")
    store.signal("chunk-5", signal.SIGSTOP)
    with store.client() as client:
        why = store.refusal(client.flush_all)
    assert why.startswith("not flushed on all chunk servers, so values may be lost: no answer within the ")
    store.signal("chunk-5", signal.SIGCONT)
    store.wait_writable()
    with store.client() as client:
        assert client.flush_all()
    assert store.get("a") is None


def test_chunk_servers_without_room_to_delete_their_values(fresh_store: Make) -> None:
    """They keep their values and the incarnations that the group has, so the next agent finds them."""
    store = fresh_store()
    store.set("a", b"value")
    for rank in store.ranks:
        store.plan(f"chunk-{rank}", "wipe.full", "fail")
    with store.client() as client:
        assert store.refusal(client.flush_all).startswith(
            "not flushed on all chunk servers, so values may be lost: "
        )
    store.wait_writable()
    store.kill("agent")
    store.launch("agent")
    store.wait_writable()
    assert store.get("a") == b"value"
    with store.client() as client:
        assert client.flush_all()
    assert store.get("a") is None


def test_an_agent_that_is_killed_while_it_deletes_all_values(fresh_store: Make) -> None:
    """No memory of the group has its values any more. The next agent has no values, and goes on, also after
    it has been killed, too, before all memories are in the group; then flush_all is over.
    """
    store = fresh_store()
    store.set("a", b"value")
    with store.client() as client:
        for begin in (lambda: client.flush_all(), lambda: store.launch("agent")):
            store.plan("agent", "sync.look", "kill")
            with suppress(MemcacheUnexpectedCloseError):
                begin()
            assert store.running.pop("agent").wait(DEADLINE) == -signal.SIGKILL
    store.launch("agent")
    store.wait_writable()
    assert store.get("a") is None
    store.set("a", b"begun again")
    store.kill("agent")
    store.launch("agent")
    store.wait_writable()
    assert store.get("a") == b"begun again"


def test_a_chunk_server_deletes_later_than_the_others(fresh_store: Make) -> None:
    """During flush_all, empty chunk servers are not compared with the old values."""
    store = fresh_store()
    store.set("a", b"value")
    store.signal("chunk-5", signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool, store.client() as client:
        flushed = pool.submit(client.flush_all)
        for rank in store.ranks[:-1]:
            store.wait_state(f"chunk_server_{rank}", "listed")
        time.sleep(0.3)
        store.signal("chunk-5", signal.SIGCONT)
        assert flushed.result()
    store.kill("agent")
    store.launch("agent")
    store.wait_writable()
    assert "is lost" not in store.log_of("agent").read_text()
    assert store.get("a") is None


def test_a_value_unknown_for_now_is_not_lost(fresh_store: Make) -> None:
    """With lrc, k chunk servers can suffice to know of a value but not to read it: the agent waits for as
    many as are there when R + 1 are lost.
    """
    store = fresh_store(k=4, m=4, agent_options=("--scheme", "lrc", "--groups", "2", "--global", "2"))
    store.set("a", b"value")
    away = [f"chunk-{store.holder('a', shard)}" for shard in (0, 1, 4, 7)]
    store.kill("agent", *away)
    store.launch("agent")
    expected = "unknown until 5 chunk servers have sent their lists, 4 have:"
    wait_for("four lists", lambda: store.refusal(lambda: store.get("a")).startswith(expected))
    store.launch(away.pop())
    store.wait_state("state", "read-only")
    assert store.get("a") == b"value"
    store.mend()
    assert store.get("a") == b"value"


def test_a_full_memcached(store: Store) -> None:
    values = {"a": b"a" * 999}
    why = ""
    for number in range(100):
        key, value = f"fill-{number}", secrets.token_bytes(900_000)
        with store.client() as client:
            try:
                client.set(key, value)
            except Exception as error:
                why = str(error)
                break
        values[key] = value
    assert re.search(r"out of memory storing object: chunk server \d: memcached is full", why)
    assert store.stats()["state"] == "read-write"
    assert store.get(key) is None  # not acknowledged, so not present
    why = store.refusal(lambda: store.set("fill-0", secrets.token_bytes(900_001)))
    assert "memcached is full" in why
    for key, value in values.items():
        assert store.get(key) == value, key
    with store.client() as client:
        for key in values:
            assert client.delete(key)
    store.set("a", b"a" * 999)


def fill(store: Store, size: int) -> dict[str, bytes]:
    """Store values of this size until a memcached is full, and return them."""
    values: dict[str, bytes] = {}
    with store.client() as client:
        while True:
            key, value = f"{size}-{len(values)}", secrets.token_bytes(size)
            try:
                client.set(key, value)
            except MemcacheServerError as error:
                assert b"memcached is full" in error.args[0]
                return values
            values[key] = value


def test_room_for_values_of_other_sizes(fresh_store: Make) -> None:
    """memcached keeps pages for one size, so values that were deleted or flushed made no room for others."""
    store = fresh_store(memory=8)
    values = fill(store, 60_000)
    with store.client() as client:
        for key in list(values)[::2]:
            assert client.delete(key)
            del values[key]
    larger = fill(store, 150_000)
    assert len(larger) > 2 * 19  # one page has 19 of these chunks
    values |= larger
    assert all(store.get(key) == value for key, value in values.items())
    assert store.stats()["reads_degraded"] == "0"
    with store.client() as client:
        assert client.flush_all()
    assert len(fill(store, 900_000)) > 2 * 3


def test_rebuilding_a_full_memory(fresh_store: Make) -> None:
    """memcached gives each size a first page, also beyond its limit. A memory that is rebuilt, in another
    order than it was written, needs as many pages as the lost one had: otherwise the store would remain
    read-only, with deletions refused, too."""
    store = fresh_store(k=2, m=1, memory=8)
    values = fill(store, 60_000)
    with store.client() as client:
        for key, length in {f"of-{100 * 1.3**n:.0f}": int(100 * 1.3**n) for n in range(20)}.items():
            assert client.set(key, bytes(length))  # up to 14,619 bytes
            values[key] = bytes(length)
        first = next(iter(values))
        assert client.delete(first)
        del values[first]
        for key, value in values.items():
            if not key.startswith("of"):
                assert client.set(key, value)
    store.kill("memcached-1")
    store.wait_state("state", "read-only")
    store.launch("memcached-1")
    store.wait_writable()
    assert store.stats()["chunks_rebuilt"] == str(len(values))
    assert all(store.get(key) == value for key, value in values.items())
    assert store.stats()["reads_degraded"] == "0"


def test_a_value_that_is_too_large(store: Store) -> None:
    assert store.refusal(lambda: store.set("a", bytes(3_000_001))) == "object too large for cache"
    assert store.get("a") == b"a" * 999


def test_items_larger_than_memcached_takes(fresh_store: Make) -> None:
    store = fresh_store(agent_options=("--value-max", "8000000"))
    store.set("a", b"old")
    why = store.refusal(lambda: store.set("a", bytes(4_000_000)))
    assert re.fullmatch(
        r"object too large for cache: chunk server \d: larger than memcached's largest item", why
    )
    assert store.get("a") == b"old"
    assert store.stats()["state"] == "read-write"


@pytest.mark.parametrize("phase", ["write.command", "write.received", "meta.command"])
def test_a_slow_chunk_server_in_a_write(store: Store, phase: str) -> None:
    rank = store.holder("a", store.k)
    store.plan(f"chunk-{rank}", phase)
    began = time.monotonic()
    why = store.refusal(lambda: store.set("a", b"new"))
    assert time.monotonic() - began < HANGS
    # Others, too, do not answer in time if the machine stands still.
    late = re.fullmatch(r"not stored: no answer within the deadline from chunk server ([\d ]+)", why)
    assert late is not None and str(rank) in late[1].split(), why
    store.wait_state("state", "read-only")
    assert store.get("a") == b"a" * 999
    why = store.refusal(lambda: store.set("a", b"new"))
    assert re.match("read-only: ", why) and re.search(f"chunk server {rank} (does not answer|is gone)", why)
    store.mend()
    assert store.get("a") == b"a" * 999
    store.set("a", b"a" * 999)


@pytest.mark.parametrize("stopped", [1, 2, 3])
def test_slow_chunk_servers_in_a_read(store: Store, stopped: int) -> None:
    """Up to m chunk servers that do not answer are bypassed; more are named."""
    ranks = [store.holder("a", shard) for shard in range(stopped)]
    for rank in ranks:
        store.signal(f"chunk-{rank}", signal.SIGSTOP)
        store.wait_stopped(f"chunk-{rank}")
    began = time.monotonic()
    if stopped <= store.m:
        assert store.get("a") == b"a" * 999
    else:
        why = store.refusal(lambda: store.get("a"))
        for rank in ranks:  # the network may have closed its link by then
            assert re.search(rf"chunk server {rank} (does not answer|is gone)", why), why
    assert time.monotonic() - began < HANGS
    store.mend()
    assert store.get("a") == b"a" * 999


@pytest.mark.parametrize("point", ["list.begin", "list.part"])
def test_a_slow_chunk_server_comes_back(store: Store, point: str) -> None:
    """The chunk server stops while it sends its list; the agent asks again until the list is complete."""
    rank = store.holder("a", 0)  # it has chunks and records
    store.kill(f"chunk-{rank}")
    store.plan(f"chunk-{rank}", point)
    store.launch(f"chunk-{rank}")
    store.wait_stopped(f"chunk-{rank}")
    store.wait_state(f"chunk_server_{rank}", "silent")
    assert store.get("a") == b"a" * 999
    store.signal(f"chunk-{rank}", signal.SIGCONT)
    store.wait_writable()


def test_a_slow_memcached(store: Store) -> None:
    rank = store.holder("a", 0)
    store.signal(f"memcached-{rank}", signal.SIGSTOP)
    store.wait_stopped(f"memcached-{rank}")
    assert store.get("a") == b"a" * 999


def test_a_wrong_key(fresh_store: Make) -> None:
    """A chunk server without the key is treated as missing."""
    store = fresh_store()
    store.set("a", b"value")
    store.kill("chunk-1")
    key = store.folder / "key"
    right = key.read_text()
    key.write_text(secrets.token_hex(32))
    store.launch("chunk-1")
    time.sleep(1)  # it retries; there is no event to wait for
    assert store.stats()["chunk_server_1"] == "gone"
    assert store.get("a") == b"value"
    store.kill("chunk-1")
    key.write_text(right)
    store.mend()


def test_a_wrong_matrix(fresh_store: Make) -> None:
    store = fresh_store()
    store.set("a", b"value")
    store.kill("chunk-3")
    store.wait_state("chunk_server_3", "gone")
    store.plan("chunk-3", "welcome.matrix", action="fail")
    store.launch("chunk-3")
    store.wait_writable()
    why = store.refusal(lambda: store.set("a", b"new"))
    assert why == "not stored: chunk server 3: it has another matrix or graph: the hashes differ"
    assert store.get("a") == b"value"


def use_nearly_all_versions(store: Store) -> None:
    """Let the agent go on as after nearly 2^32 numbers: those of versions and requests."""
    store.plan("agent", "number.late", action="fail")
    wait_for("the fault to be taken", lambda: not (store.folder / "fault.agent").exists())


def versions_of(store: Store, values: dict[str, bytes]) -> list[int]:
    """Compare all values, and return their versions."""
    with store.client() as client:
        found = [client.gets(key) for key in values]
    assert [value for value, _ in found] == list(values.values())
    return [int(version) for _, version in found]


def epoch_of(store: Store) -> int:
    return int(store.stats()["epoch"])


def test_an_epoch_begins_before_all_versions_are_used(fresh_store: Make) -> None:
    """Values of both epochs stay; an agent with `group` from before the new epoch is refused."""
    store = fresh_store()
    values = {f"old-{i}": b"old %d" % i for i in range(20)}
    for key, value in values.items():
        store.set(key, value)
    before, group = epoch_of(store), store.folder / "group"
    earlier = group.read_text()
    use_nearly_all_versions(store)
    wait_for("the next epoch", lambda: epoch_of(store) == before + 1)
    store.wait_writable()
    for i in range(20):
        values[f"new-{i}"] = b"new %d" % i
        store.set(f"new-{i}", values[f"new-{i}"])
    versions = versions_of(store, values)
    assert versions == sorted(set(versions)) and versions[-1] >> 32 == before + 1
    store.kill("agent")
    latest = group.read_text()
    group.write_text(earlier)
    store.launch("agent")
    line = "another agent serves, started later or from a copy of the folder"
    wait_for("the refusal", lambda: line in store.log_of("agent").read_text())
    assert store.stats()["state"] != "read-write"
    store.kill("agent")
    group.write_text(latest)
    store.launch("agent")
    store.wait_writable()
    assert versions_of(store, values) == versions
    store.set("last", b"last")
    assert versions_of(store, {"last": b"last"})[0] >> 32 == before + 2


def test_no_version_is_used_twice(fresh_store: Make) -> None:
    """The agent ends if it cannot write `group` for the next epoch until all numbers are used."""
    store = fresh_store()
    group = store.folder / "group"
    group.rename(store.folder / "saved")
    group.mkdir()  # no file can be renamed to it
    use_nearly_all_versions(store)
    kept = {}
    with pytest.raises((OSError, MemcacheUnexpectedCloseError)):
        for i in range(1000):
            store.set(f"key-{i}", b"%d" % i)
            kept[f"key-{i}"] = b"%d" % i
    assert kept and store.running.pop("agent").wait(DEADLINE) == 1
    *_, line = store.log_of("agent").read_text().splitlines()
    assert line == f"stripe-agent: all versions of this epoch are used; cannot write {group}: Is a directory"
    group.rmdir()
    (store.folder / "saved").rename(group)
    store.launch("agent")
    store.wait_writable()
    versions_of(store, kept)


def test_a_damaged_chunk_is_rebuilt(store: Store) -> None:
    """With flipped bytes in a memcached the value is still right, and the chunk is soon rebuilt."""
    rank = store.holder("a", 0)
    with Memcached(store.folder / f"memcached-{rank}") as memcached:
        chunk = next(
            key for key in memcached.all_keys() if key.startswith("c") and len(memcached.get(key)) == 64 + 333
        )
        item = bytearray(memcached.get(chunk))
        item[100] ^= 1
        memcached.set(chunk, bytes(item))
        assert store.get("a") == b"a" * 999
        store.wait_writable()
        item[100] ^= 1
        assert memcached.get(chunk) == item


def read_at_once(store: Store, keys: list[str]) -> list[bytes]:
    """Return the values without line ends, each read by a client of its own."""
    with ExitStack() as stack:
        links = [stack.enter_context(socket.create_connection(store.address(), DEADLINE)) for _ in keys]
        store.signal("agent", signal.SIGSTOP)
        for link, key in zip(links, keys, strict=True):
            link.sendall(f"get {key}\r\n".encode())
        store.signal("agent", signal.SIGCONT)
        answers = [link.makefile("rb") for link in links]
        return [[answer.readline() for _ in range(3)][1].rstrip() for answer in answers]


def test_damaged_chunks_that_are_found_during_a_rebuild(store: Store) -> None:
    """A chunk that is found damaged while others are rebuilt is rebuilt, too, before its server is up."""
    keys = [f"damaged-{i}" for i in range(40)]
    for key in keys:
        store.set(key, key.encode() * 50)
    found = [key for key in keys if 2 in {store.holder(key, shard) for shard in range(store.k)}]
    with Memcached(store.folder / "memcached-2") as memcached:
        before = {key: memcached.get(key) for key in memcached.all_keys() if key.startswith("c")}
        for name, item in before.items():
            memcached.set(name, item[:70] + bytes([item[70] ^ 1]) + item[71:])
        assert read_at_once(store, found) == [key.encode() * 50 for key in found]
        store.wait_writable()
        intact = sum(memcached.get(name) == item for name, item in before.items())
        assert intact >= len(found)
        for name, item in before.items():
            memcached.set(name, item)


def damage(store: Store, length: int, count: int) -> None:
    """Flip a byte of the chunks with this length in the first `count` memcacheds."""
    for rank in range(1, count + 1):
        with Memcached(store.folder / f"memcached-{rank}") as memcached:
            for key in memcached.all_keys():
                item = bytearray(memcached.get(key))
                if key.startswith("c") and len(item) == 64 + length:
                    item[70] ^= 1
                    memcached.set(key, bytes(item))


def test_a_lost_value_does_not_stop_the_store(store: Store) -> None:
    """With m + 1 damaged chunks a value is lost: reads say so, until it is written again."""
    store.set("lost", b"b" * 600)
    damage(store, 200, 3)
    why = store.refusal(lambda: store.get("lost"))
    assert why.startswith("lost: "), why
    store.wait_writable()
    assert store.stats()["values_lost"] == "1"
    log = store.log_of("agent").read_text()
    assert log.count("the value of lost is lost: too few of its chunks are left") == 1
    assert store.get("a") == b"a" * 999
    store.set("other", b"value")
    assert store.refusal(lambda: store.get("lost")).startswith("lost:")
    store.set("lost", b"new")
    assert store.get("lost") == b"new"
    assert store.stats()["values_lost"] == "0"


def test_a_chunk_server_without_memory_refuses(fresh_store: Make) -> None:
    """It refuses the chunk, keeps running, and takes the next one when it has memory again."""
    size = 48 << 20
    store = fresh_store(memory=256, item="64m", agent_options=("--value-max", str(size)))
    store.set("first", b"small")
    process = store.running["chunk-2"].pid
    before = resource.prlimit(process, resource.RLIMIT_AS)
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[0])
    resource.prlimit(process, resource.RLIMIT_AS, (pages * resource.getpagesize() + (4 << 20), before[1]))
    with (
        store.client() as client,
        pytest.raises(MemcacheServerError, match="it has no memory"),
    ):
        client.set("large", bytes(size))
    resource.prlimit(process, resource.RLIMIT_AS, before)
    store.set("large", bytes(size))
    assert store.running["chunk-2"].poll() is None
    assert store.get("first") == b"small"
