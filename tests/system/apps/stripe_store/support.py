"""A stripe store whose processes a test starts, stops, kills and restarts one by one."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError

from tests.support.paths import ROOT

EXAMPLE = ROOT / "apps" / "stripe-store"
HEADERS = (f"-I{EXAMPLE}", f"-I{ROOT / 'apps' / 'common'}")  #: for compilers
#: For compilers: the language of the store's sources, which its Makefile states.
LANGUAGE = tuple(
    word
    for line in (EXAMPLE / "Makefile").read_text().splitlines()
    if line.startswith("FLAGS := ")
    for word in line.split()
    if word.startswith(("-std=", "-D"))
)

DEADLINE = 300.0
"""Seconds; only so that a hanging process fails the test."""
PATIENT = "20000"
"""Milliseconds that no answer takes, even if the machine stands still for seconds. Tests with processes that
do not answer state a shorter --deadline, which these cost a command.
"""


def certify(folder: Path, name: str = "tls", *, other_type: bool = False) -> None:
    """Make a key, and a certificate for 127.0.0.1 that is signed with it."""
    kind = ("ed25519",) if other_type else ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    words = ("openssl", "req", "-x509", "-newkey", *kind, "-nodes")
    subject = ("-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "30")
    files = ("-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")
    subprocess.run([*words, *subject, *files], check=True, capture_output=True)


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"timed out waiting for {what}"
        time.sleep(0.01)


def process_state(pid: int) -> str:
    """Return the state letter of /proc/PID/stat: T for stopped, Z for dead and not yet waited for."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


QUICK, CLOCK, POWER, NO_FORK = "kallsyms.so", "clock.so", "power.so", "no_fork.so"
DEAD_DISK, SLOW_EXEC, COUNT_SLEEPS = "dead_disk.so", "slow_exec.so", "count_sleeps.so"
OTHER_STREAM = "other_stream.so"
"""Preloaded libraries, native/*.c."""


def environment(programs: Path, *preload: str) -> dict[str, str]:
    """Return an environment in which the programs start fast (native/kallsyms.c), with further libraries."""
    return {**os.environ, "LD_PRELOAD": ":".join(str(programs / name) for name in (QUICK, *preload))}


def xxh3_64(data: bytes, seed: int = 0) -> int:
    function = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
    function.restype = ctypes.c_uint64
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
    return int(function(data, len(data), seed))


def holder(key: str, shard: int, shards: int) -> int:
    """Return the rank of the chunk server that has this shard of a key's value (README: where chunks are)."""
    return 1 + (shard + xxh3_64(key.encode()) % shards) % shards


@dataclass(slots=True)
class Store:
    """Processes are named `agent`, `chunk-RANK` and `memcached-RANK`."""

    folder: Path
    programs: Path
    k: int = 3
    m: int = 2
    agent_options: tuple[str, ...] = ()
    memory: int = 64
    item: str = "1m"
    logs: Path | None = None
    """Where processes log; None: the folder."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def ranks(self) -> range:
        return range(1, self.k + self.m + 1)

    def holder(self, key: str, shard: int) -> int:
        return holder(key, shard, self.k + self.m)

    @property
    def patient(self) -> bool:
        """Do the processes wait for each other for longer than any answer takes?"""
        return "--deadline" not in self.agent_options

    def command(self, name: str) -> list[str]:
        kind, _, rank = name.partition("-")
        if kind == "memcached":
            path = str(self.folder / name)
            housekeeping = ["-o", "no_lru_maintainer,lru_crawler"]
            user = ["-u", "root"] if os.geteuid() == 0 else []
            size = ["-m", str(self.memory), "-I", self.item]
            return ["memcached", "-s", path, "-a", "0700", "-M", "-t", "1", *size, *housekeeping, *user]
        if kind == "chunk":
            timeout = ["--timeout", PATIENT] if self.patient else []
            return [str(self.programs / "stripe-chunk"), *timeout, rank, str(self.folder)]
        shape = ["-k", str(self.k), "-m", str(self.m)]
        deadline = ["--deadline", PATIENT] if self.patient else []
        return [str(self.programs / "stripe-agent"), *shape, *deadline, *self.agent_options, str(self.folder)]

    def launch(self, *names: str) -> None:
        for name in names:
            assert name not in self.running
            if name == "agent":
                (self.folder / "client").unlink(missing_ok=True)
            with self.log_of(name).open("ab") as log:
                command = self.command(name)
                # libfabric's psm provider writes a file into the working directory when a program aborts.
                self.running[name] = subprocess.Popen(
                    command, stdout=log, stderr=log, cwd=self.folder, env=self.variables(name)
                )

    def variables(self, name: str) -> dict[str, str]:
        """Return the environment of a process."""
        return environment(self.programs)

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        key = self.folder / "key"
        if not key.exists():
            key.touch(0o600)
            key.write_text(secrets.token_hex(32))
        self.launch(*self.names("memcached"))
        self.launch(*self.names("chunk"), "agent")
        self.wait_writable()

    def names(self, kind: str) -> list[str]:
        return [f"{kind}-{rank}" for rank in self.ranks]

    def kill(self, *names: str, by: int = signal.SIGKILL) -> None:
        for name in names:
            process = self.running.pop(name)
            process.send_signal(by)
            process.wait(DEADLINE)

    def kill_all(self) -> None:
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait(DEADLINE)
        self.running.clear()

    def signal(self, name: str, number: int) -> None:
        self.running[name].send_signal(number)

    def dead(self) -> list[str]:
        """Return the names of the store's processes that do not run."""
        names = ("agent", *self.names("memcached"), *self.names("chunk"))
        return [name for name in names if name not in self.running]

    def mend(self) -> None:
        """Start the processes that do not run, and wait until all are up."""
        for name in self.running:
            (self.folder / f"fault.{name}").unlink(missing_ok=True)
            self.signal(name, signal.SIGCONT)
        self.launch(*sorted(self.dead(), reverse=True))
        self.wait_writable()

    def log_of(self, name: str) -> Path:
        return (self.logs or self.folder) / f"{name}.log"

    # -- points at which a process stops ---------------------------------------------------------

    def plan(self, name: str, point: str, action: str = "stop") -> None:
        """At the next time that `name` reaches `point`, stop it, kill it, or make it fail."""
        temporary = self.folder / f"plan.{name}"
        temporary.write_text(f"{action} {point}\n")
        temporary.rename(self.folder / f"fault.{name}")

    def wait_stopped(self, name: str) -> None:
        pid = self.running[name].pid
        wait_for(f"{name} to stop", lambda: process_state(pid) == "T")

    # -- clients -------------------------------------------------------------------------------------

    def address(self) -> tuple[str, int]:
        path = self.folder / "client"
        wait_for("the agent to listen", path.exists)
        host, _, port = path.read_text().strip().rpartition(":")
        return host, int(port)

    @contextmanager
    def client(self) -> Iterator[Client]:
        client = Client(self.address(), connect_timeout=DEADLINE, timeout=DEADLINE, default_noreply=False)
        try:
            yield client
        finally:
            with suppress(OSError):
                client.close()

    def set(self, key: str, value: bytes) -> None:
        """Store a value; returns if it is acknowledged, else raises an exception."""
        with self.client() as client:
            assert client.set(key, value) is True

    def get(self, key: str) -> bytes | None:
        with self.client() as client:
            value = client.get(key)
            assert value is None or isinstance(value, bytes)
            return value

    def refusal(self, act: Callable[[], object]) -> str:
        """Return the agent's answer to a refused request."""
        try:
            result = act()
        except MemcacheError as error:
            return str(error.args[0].decode() if isinstance(error.args[0], bytes) else error)
        raise AssertionError(f"not refused: {result!r}")

    def stats(self) -> dict[str, str]:
        with self.client() as client:
            return {
                name.decode(): value.decode() if isinstance(value, bytes) else str(value)
                for name, value in client.stats().items()
            }

    def wait_state(self, name: str, value: str) -> None:
        wait_for(f"{name} {value}", lambda: self.stats().get(name) == value)

    def wait_writable(self) -> None:
        self.wait_state("state", "read-write")


@dataclass(slots=True)
class DiskStore(Store):
    """A store without memcacheds, with its chunks in disk-RANK."""

    room: int = 100

    def disk(self, rank: int) -> Path:
        return self.folder / f"disk-{rank}"

    def names(self, kind: str) -> list[str]:
        return [] if kind == "memcached" else [f"{kind}-{rank}" for rank in self.ranks]

    def command(self, name: str) -> list[str]:
        kind, _, rank = name.partition("-")
        own = Store.command(self, name)
        return (
            [*own, "--disk", str(self.disk(int(rank))), "--disk-max", str(self.room)]
            if kind == "chunk"
            else own
        )
