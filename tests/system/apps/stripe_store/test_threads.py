"""The agent and the chunk servers under ThreadSanitizer. Each has two threads: the loop, and that of the
node's engine, which share letters (common/net.c), operations and traces.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from pymemcache.exceptions import MemcacheError

from tests.support.folders import built, once
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import call
from tests.system.apps.stripe_store.support import EXAMPLE, QUICK, Store
from tests.system.compose.conftest import THREADS, library

VALUES = {f"key-{n}": b"%d" % n * (20 << n % 12) for n in range(24)}
PROGRAMS = ("stripe-agent", "stripe-chunk")


def build(source: Path, folder: Path) -> None:
    """Build the programs of a copy of apps/stripe-store with the libraries in `folder`."""
    programs = [folder / "stripe-store" / name for name in PROGRAMS]
    settings = (f"ROOT={ROOT}", f"BUILD={folder}", f"LIBRARIES={folder}", f"CFLAGS=-g {' '.join(THREADS)}")
    call("make", "-j2", "-C", source, *settings, "CC=gcc", *programs)


@pytest.fixture(scope="module")
def threaded(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the build."""
    plain = built("lib")
    compose = library(tmp_path_factory, plain, "threaded", *THREADS)

    def fill(folder: Path) -> None:
        for path in (compose.folder / "libgfsmith-compose.a", plain / "libgfsmith.a"):
            (folder / path.name).symlink_to(path)
        build(EXAMPLE, folder)
        shutil.copy(programs / QUICK, folder / "stripe-store")

    return once(tmp_path_factory, "store-threaded", fill)


def use(store: Store) -> None:
    """Write and read values, also while a chunk server is away."""
    store.start()
    with ThreadPoolExecutor(4) as clients:
        list(clients.map(store.set, VALUES, VALUES.values()))
        store.kill("chunk-1", by=signal.SIGTERM)
        assert list(clients.map(store.get, VALUES)) == list(VALUES.values())
        store.launch("chunk-1")
        store.wait_writable()
        list(clients.map(store.set, VALUES, VALUES.values()))


def end(store: Store, allowed: frozenset[int] = frozenset()) -> str:
    """End the programs and return their logs. Status 66 means that ThreadSanitizer reports something; others
    than 0 must be allowed."""
    ours = [name for name in store.running if not name.startswith("memcached")]
    statuses = {store.running[name] for name in ours}
    store.kill(*ours, by=signal.SIGTERM)
    logs = "".join(store.log_of(name).read_text() for name in ours)
    assert {process.returncode for process in statuses} <= {0, 66} | allowed, logs[-4000:]
    reported = any(process.returncode in {66} | allowed for process in statuses)
    assert ("ThreadSanitizer" in logs) == reported
    return logs


@pytest.fixture
def make_threaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Store]]:
    monkeypatch.setenv("TSAN_OPTIONS", "exitcode=66")
    made: list[Store] = []

    def make(build: Path) -> Store:
        options = ("--trace", str(tmp_path))
        made.append(Store(tmp_path / "s", build / "stripe-store", agent_options=options))
        return made[0]

    yield make
    made[0].kill_all()


def test_threads_share_nothing_without_a_lock(threaded: Path, make_threaded: Callable[[Path], Store]) -> None:
    store = make_threaded(threaded)
    use(store)
    assert "ThreadSanitizer" not in end(store)


@pytest.mark.campaign
def test_a_missing_lock_is_detected(
    threaded: Path, make_threaded: Callable[[Path], Store], tmp_path: Path
) -> None:
    """Requests may also fail, because letters get lost, and the agent may end by a memory fault."""
    wrong, source = tmp_path / "build", tmp_path / "store"
    shutil.copytree(threaded, wrong, symlinks=True)
    shutil.copytree(EXAMPLE, source)
    missing = Mutant("pthread_mutex_lock(&n->lock);", ";", everywhere=True)
    plant(missing, [EXAMPLE / "common" / "net.c"], source / "common")
    build(source, wrong)
    store = make_threaded(wrong)
    with suppress(AssertionError, MemcacheError):
        use(store)
    assert "data race" in end(store, frozenset({-signal.SIGSEGV}))
