"""A disk that is really full: a small tmpfs without room, and a limit on how long a file may get.

What is stored is in memory; what the agent has on disk is `group`: which memories have everything.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from .support import DEADLINE, Store, environment, wait_for

PAGE = 4096


class Disk(Protocol):
    """Where a store has its folder."""

    error: str
    """What is said when it is full."""

    def folder(self) -> Path: ...
    def fill(self, store: Store) -> None: ...
    def make_room(self, store: Store) -> None: ...
    def limit(self) -> Callable[[], None] | None:
        """For a process that is started while it is full."""


@dataclass(slots=True)
class Tmpfs:
    """Mounted in a mount namespace of its own, so that nothing is left of it."""

    root: Path
    error: str = "No space left on device"

    def folder(self) -> Path:
        return self.root / "s"

    def fill(self, store: Store) -> None:
        with (self.root / "rest").open("wb") as rest, pytest.raises(OSError, match=self.error):
            while True:
                os.write(rest.fileno(), bytes(PAGE))

    def make_room(self, store: Store) -> None:
        (self.root / "rest").unlink()

    def limit(self) -> None:
        return None


@dataclass(slots=True)
class ShortFiles:
    """RLIMIT_FSIZE: no file of the agent may get as long as `group` is."""

    parent: Path
    error: str = "File too large"

    def folder(self) -> Path:
        return self.parent / "s"

    def fill(self, store: Store) -> None:
        resource.prlimit(store.running["agent"].pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    def make_room(self, store: Store) -> None:
        if "agent" in store.running:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(store.running["agent"].pid, resource.RLIMIT_FSIZE, unlimited)

    def limit(self) -> Callable[[], None]:
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))


MOUNT = ("sh", "-c", "mount -t tmpfs -o size=128k,mode=0700 none /tmp && echo mounted && exec cat")


@contextmanager
def mounted() -> Iterator[Path]:
    """A small tmpfs; as root, or as root of a user namespace."""
    for how in ("-m", "-rm"):
        command = ["unshare", how, *MOUNT]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as holder:
            assert holder.stdin is not None and holder.stdout is not None and holder.stderr is not None
            if holder.stdout.readline() == b"mounted\n":
                yield Path(f"/proc/{holder.pid}/root/tmp")
                return
            assert b"not permitted" in holder.stderr.read()
    pytest.skip("a tmpfs may not be mounted here; the other limit is tested")


@pytest.fixture(params=["tmpfs", "short files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "short files":
        yield ShortFiles(tmp_path)
        return
    with mounted() as root:
        yield Tmpfs(root)


@pytest.fixture
def store(disk: Disk, programs: Path, tmp_path: Path) -> Iterator[Store]:
    store = Store(disk.folder(), programs, agent_options=("--deadline", "1000"), logs=tmp_path)
    store.start()
    yield store
    store.kill_all()


def test_a_full_disk(disk: Disk, store: Store) -> None:
    """Where it must be written, nobody is taken in, and with that no value; nothing is lost."""
    group = store.folder / "group"
    before = group.read_bytes()
    values = {f"key-{n}": bytes([n]) * n for n in (1, 100, 200)}
    for key, value in values.items():
        store.set(key, value)
    disk.fill(store)
    values["key-1"] = b"other"
    store.set("key-1", b"other")  # it needs no disk
    store.kill("chunk-1", "memcached-1")
    store.launch("memcached-1", "chunk-1")

    why = f"read-only: chunk server 1 is being rebuilt; cannot write {group}: {disk.error}"
    wait_for(
        "a rebuilt one that cannot be taken in",
        lambda: store.refusal(lambda: store.set("key-100", b"no")) == why,
    )
    for key, value in values.items():
        assert store.get(key) == value
    assert group.read_bytes() == before
    assert sorted(path.name for path in store.folder.glob(".*")) == []  # no half of a file

    store.kill("agent")
    command = store.command("agent")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(store.programs),
        preexec_fn=disk.limit(),
    )
    assert (done.returncode, done.stderr) == (2, f"stripe-agent: cannot write {group}: {disk.error}\n")
    assert group.read_bytes() == before
    assert store.log_of("agent").read_text().count("cannot write") <= 1  # not again and again

    disk.make_room(store)
    store.mend()
    for key, value in values.items():
        assert store.get(key) == value
        values[key] = value + b" again"
        store.set(key, values[key])
    assert group.read_bytes() != before
    store.kill("chunk-2", "chunk-3")  # chunk server 1 is needed, and has everything
    for key, value in values.items():
        assert store.get(key) == value


def test_room_without_a_new_start(disk: Disk, store: Store) -> None:
    store.set("key", b"value")
    disk.fill(store)
    with store.client() as client:
        why = store.refusal(client.flush_all)
    assert why.startswith("not flushed: read-only: chunk server 1 is being rebuilt,")
    assert why.endswith(f"; cannot write {store.folder}/group: {disk.error}")
    disk.make_room(store)
    store.wait_writable()
    assert store.get("key") is None
    store.set("key", b"begun anew")
    assert store.get("key") == b"begun anew"


def test_no_room_to_begin(programs: Path) -> None:
    with mounted() as root:
        store = Store(root / "s", programs)
        Tmpfs(root).fill(store)
        command = [programs / "stripe-store", "run", root / "s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        line = f"stripe-store: cannot write {root}/s/store.lock: No space left on device\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
