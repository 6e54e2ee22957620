"""A really full disk: a small tmpfs without space, and a limit on the length of files.

Values are in memory; the agent stores only `group` on disk, which lists the memories that have all values.
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

from tests.system.apps.stripe_store.support import DEADLINE, Store, environment, wait_for

PAGE = 4096


class Disk(Protocol):
    """The place of a store's folder."""

    error: str
    """The error message of a full disk."""

    def folder(self) -> Path: ...
    def fill(self, store: Store) -> None: ...
    def make_room(self, store: Store) -> None: ...
    def limit(self) -> Callable[[], None] | None:
        """Return the limit for a process that starts while the disk is full."""


@dataclass(slots=True)
class Tmpfs:
    """Mounted in its own mount namespace, so that nothing remains of it."""

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
    """RLIMIT_FSIZE: no file of the agent may reach the length of `group`."""

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


@dataclass(frozen=True, slots=True)
class Mount:
    """A tmpfs at `at` in a mount namespace: its path from outside, and the words to run a program inside."""

    pid: int
    at: Path
    user: bool

    @property
    def path(self) -> Path:
        return Path(f"/proc/{self.pid}/root{self.at}")

    @property
    def enter(self) -> tuple[str, ...]:
        own = ("--user", "--preserve-credentials") if self.user else ()
        return ("nsenter", "--target", str(self.pid), "--mount", *own)


@contextmanager
def mounted(size: str, at: Path = Path("/tmp")) -> Iterator[Mount]:
    """A small tmpfs, mounted as root or as root of a user namespace."""
    mount = f"mount -t tmpfs -o size={size},mode=0700 none {at} && echo mounted && exec cat"
    for how in ("-m", "-rm"):
        command = ["unshare", how, "sh", "-c", mount]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as holder:
            assert holder.stdin is not None and holder.stdout is not None and holder.stderr is not None
            if holder.stdout.readline() == b"mounted\n":
                yield Mount(holder.pid, at, "r" in how)
                return
            assert b"not permitted" in holder.stderr.read()
    pytest.skip("a tmpfs may not be mounted here")


@pytest.fixture(params=["tmpfs", "short files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "short files":
        yield ShortFiles(tmp_path)
        return
    with mounted("128k") as mount:
        yield Tmpfs(mount.path)


@pytest.fixture
def store(disk: Disk, programs: Path, tmp_path: Path) -> Iterator[Store]:
    store = Store(disk.folder(), programs, agent_options=("--deadline", "1000"), logs=tmp_path)
    store.start()
    yield store
    store.kill_all()


def test_a_full_disk(disk: Disk, store: Store) -> None:
    """If `group` must be written, no chunk server is admitted and no value is stored; nothing is lost."""
    group = store.folder / "group"
    before = group.read_bytes()
    values = {f"key-{n}": bytes([n]) * n for n in (1, 100, 200)}
    for key, value in values.items():
        store.set(key, value)
    disk.fill(store)
    values["key-1"] = b"other"
    store.set("key-1", b"other")  # this needs no disk
    store.kill("chunk-1", "memcached-1")
    store.launch("memcached-1", "chunk-1")

    why = f"read-only: chunk server 1 is being rebuilt; cannot write {group}: {disk.error}"
    wait_for(
        "a rebuilt chunk server that cannot be admitted",
        lambda: store.refusal(lambda: store.set("key-100", b"no")) == why,
    )
    for key, value in values.items():
        assert store.get(key) == value
    assert group.read_bytes() == before
    assert sorted(path.name for path in store.folder.glob(".*")) == []  # no partial file

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
    assert store.log_of("agent").read_text().count("cannot write") <= 1  # not repeated

    disk.make_room(store)
    store.mend()
    for key, value in values.items():
        assert store.get(key) == value
        values[key] = value + b" again"
        store.set(key, values[key])
    assert group.read_bytes() != before
    store.kill("chunk-2", "chunk-3")  # chunk server 1 is needed, and has all values
    for key, value in values.items():
        assert store.get(key) == value


def test_room_without_a_new_start(disk: Disk, store: Store) -> None:
    store.set("key", b"value")
    disk.fill(store)
    why = f"cannot write {store.folder}/group: {disk.error}"
    with store.client() as client:
        assert store.refusal(client.flush_all) == f"not flushed: {why}"
    assert store.get("key") == b"value"
    store.kill("chunk-1", "memcached-1")
    store.launch("memcached-1", "chunk-1")
    line = f"read-only: chunk server 1 is being rebuilt; {why}"
    wait_for("a refusal", lambda: store.refusal(lambda: store.set("key", b"other")) == line)
    disk.make_room(store)
    store.wait_writable()
    with store.client() as client:
        assert client.flush_all()
    assert store.get("key") is None


def test_no_room_to_begin(programs: Path) -> None:
    with mounted("128k") as mount:
        store = Store(mount.path / "s", programs)
        Tmpfs(mount.path).fill(store)
        command = [programs / "stripe-store", "run", mount.path / "s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        line = f"stripe-store: cannot write {mount.path}/s/store.lock: No space left on device\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
