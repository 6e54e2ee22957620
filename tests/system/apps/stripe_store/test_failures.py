"""Killed before, during and after each phase of a write, a degraded read and a rebuild: scheme rs."""

from __future__ import annotations

import select
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.apps.stripe_store.bench import (
    WRITE_POINTS,
    Bench,
    acknowledged,
    begin_rebuild,
    content,
    filled,
    strike,
)
from tests.system.apps.stripe_store.conftest import call
from tests.system.apps.stripe_store.support import DEADLINE, EXAMPLE, QUICK, Store, wait_for

LENGTHS = (0, 1, 2, 3, 100, 4096, 100_001)
KEY = "value-4096"


@pytest.fixture(scope="module")
def bench(make_store: Callable[..., Store]) -> Iterator[Bench]:
    with filled(make_store(), LENGTHS, bearable=2) as bench:
        yield bench


VICTIMS = pytest.mark.parametrize("victim", ["chunk", "memcached", "both"])


# -- writes ----------------------------------------------------------------------------------------


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "received", "stored", "meta.command", "meta.stored"])
def test_a_chunk_server_dies_in_a_write(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    new = content(5000, phase, victim)
    rank = store.holder(KEY, store.k)  # the holder of a parity: it gets the record, too
    store.plan(f"chunk-{rank}", phase if "." in phase else f"write.{phase}")
    writing = bench.begin(lambda: store.set(KEY, new))
    store.wait_stopped(f"chunk-{rank}")
    strike(store, rank, victim)
    if acknowledged(writing):
        assert (phase, victim) == ("meta.stored", "memcached")  # all chunks had been stored before
        bench.values[KEY] = new
    bench.check()
    store.mend()
    bench.check_after(victim, rank)
    store.set(KEY, new)
    bench.values[KEY] = new


@pytest.mark.parametrize(("point", "survives"), WRITE_POINTS)
@pytest.mark.parametrize("gone", [0, 2])
def test_the_agent_dies_in_a_write(bench: Bench, point: str, survives: bool, gone: int) -> None:
    store = bench.store
    new = content(6000, point, gone)
    store.plan("agent", point)
    writing = bench.begin(lambda: store.set(KEY, new))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(writing)
    if survives:
        bench.values[KEY] = new
    without = [store.holder(KEY, store.k), store.holder(KEY, 0)][:gone]
    for rank in without:
        store.kill(f"chunk-{rank}", f"memcached-{rank}")
    store.launch("agent")
    bench.wait_readable()
    bench.check()
    store.mend()
    bench.check_without(*bench.others(*without))


def delete(store: Store) -> None:
    with store.client() as client:
        client.delete("doomed")


@pytest.mark.parametrize("point", ["delete.asked", "delete.removed"])
def test_the_agent_dies_in_a_removal(bench: Bench, point: str) -> None:
    store = bench.store
    store.set("doomed", b"doomed")
    store.plan("agent", point)
    removal = bench.begin(lambda: delete(store))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(removal)
    store.mend()
    assert store.get("doomed") in ((b"doomed", None) if point == "delete.asked" else (None,))
    bench.check()


def test_a_value_is_not_told_gone_before_it_is(bench: Bench) -> None:
    """A get waits while a chunk server has not yet deleted the value: it could still bring it back."""
    store = bench.store
    store.set("doomed", b"doomed")
    store.plan("agent", "delete.removed")
    removal = bench.begin(lambda: delete(store))
    store.wait_stopped("agent")
    slow = f"chunk-{store.holder('doomed', 0)}"
    store.signal(slow, signal.SIGSTOP)
    store.wait_stopped(slow)
    with socket.create_connection(store.address(), DEADLINE) as reader:
        reader.sendall(b"get doomed\r\n")
        store.signal("agent", signal.SIGCONT)
        store.stats()  # the agent has taken the request before this one
        assert select.select([reader], [], [], 0.2)[0] == []
        store.signal(slow, signal.SIGCONT)
        assert reader.recv(100) == b"END\r\n"
    acknowledged(removal)
    store.mend()
    bench.check()


# -- degraded reads -------------------------------------------------------------------------------------


@VICTIMS
@pytest.mark.parametrize("point", ["repair.command", "repair.loaded", "repair.over"])
def test_a_chunk_server_dies_in_a_degraded_read(bench: Bench, point: str, victim: str) -> None:
    store = bench.store
    gone, rank = store.holder(KEY, 0), store.holder(KEY, 1)
    store.kill(f"chunk-{gone}")
    store.plan(f"chunk-{rank}", point)
    reading = bench.begin(lambda: store.get(KEY))
    store.wait_stopped(f"chunk-{rank}")
    strike(store, rank, victim)
    assert reading.result(DEADLINE) == bench.values[KEY]
    bench.check()
    store.mend()
    bench.check_after(victim, rank, gone)


@pytest.mark.parametrize("point", ["get.begin", "get.arrived"])
def test_the_agent_dies_in_a_degraded_read(bench: Bench, point: str) -> None:
    store = bench.store
    gone = store.holder(KEY, 0)
    store.kill(f"chunk-{gone}")
    store.plan("agent", point)
    reading = bench.begin(lambda: store.get(KEY))
    store.wait_stopped("agent")
    store.kill("agent")
    assert not acknowledged(reading)
    store.launch("agent")
    bench.wait_readable()
    bench.check()
    store.mend()


# -- rebuilds ----------------------------------------------------------------------------------------------


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "received", "stored"])
def test_it_dies_while_it_is_rebuilt(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    rank = store.holder(KEY, 0)
    begin_rebuild(bench, rank, f"chunk-{rank}", f"rebuild.{phase}")
    strike(store, rank, victim)
    bench.check()
    store.mend()
    bench.check_after(victim, rank)


@VICTIMS
@pytest.mark.parametrize("phase", ["command", "loaded", "over"])
def test_a_helper_dies_in_a_rebuild(bench: Bench, phase: str, victim: str) -> None:
    store = bench.store
    gone, rank = store.holder(KEY, 0), store.holder(KEY, 1)
    begin_rebuild(bench, gone, f"chunk-{rank}", f"repair.{phase}")
    strike(store, rank, victim)
    bench.check()
    store.mend()
    bench.check_after(victim, rank, gone)


def test_the_agent_dies_in_a_rebuild(bench: Bench) -> None:
    store = bench.store
    gone = store.holder(KEY, 0)
    begin_rebuild(bench, gone, "agent", "rebuild.begin")
    store.kill("agent")
    store.launch("agent")
    bench.wait_readable()
    bench.check()
    store.mend()
    bench.check_without(*bench.others(gone))


# -- programs of another version -------------------------------------------------------------------


def test_a_chunk_server_of_another_version(
    programs: Path, tmp_path: Path, fresh_store: Callable[..., Store]
) -> None:
    """The agent ignores it: the two could take one message for another, for example a ping for a list."""
    source = tmp_path / "stripe-store"
    shutil.copytree(EXAMPLE, source)
    header = source / "common/message.h"
    planted = header.read_text().replace("{ MESSAGE_VERSION = 1 }", "{ MESSAGE_VERSION = 2 }")
    assert planted != header.read_text()
    header.write_text(planted)
    paths = (f"BUILD={tmp_path}/other", f"ROOT={ROOT}", f"LIBRARIES={ROOT / 'build'}", "FAULTS=1")
    call("make", "-j2", "-C", source, *paths, "CFLAGS=-O0", f"{tmp_path}/other/stripe-store/stripe-chunk")
    shutil.copy(programs / QUICK, tmp_path / "other/stripe-store")
    store = fresh_store()
    store.set("key", b"value")
    store.kill("chunk-1")
    store.programs = tmp_path / "other/stripe-store"
    store.launch("chunk-1")
    line = "rank 1 runs another version of the store: its messages are ignored"
    wait_for(line, lambda: line in store.log_of("agent").read_text())
    assert store.refusal(lambda: store.set("key", b"new")).startswith("read-only: chunk server 1 ")
    assert store.get("key") == b"value"
    store.kill("chunk-1")
    store.programs = programs
    store.launch("chunk-1")
    store.wait_writable()
    assert store.get("key") == b"value"
