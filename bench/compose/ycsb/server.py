"""The servers that YCSB measures: the stripe store, and plain memcached."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.build import BuildError
from bench.run import RunError

STARTING = 60.0  #: seconds in which a server must start
STOPPING = 20.0


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _memcached_port(process: subprocess.Popen[str], file: Path) -> int:
    until = time.monotonic() + STARTING
    while time.monotonic() < until and process.poll() is None:
        if file.exists():
            lines = file.read_text().splitlines()
            found = [line.rpartition(":")[2] for line in lines if line.startswith("TCP INET:")]
            if found:
                return int(found[0])
        time.sleep(0.02)
    raise RunError("memcached does not start")


def counters(ports: Sequence[int]) -> Counter[str]:
    """Return the counters in the servers' `stats`, added up."""
    return sum((_counters(port) for port in ports), Counter())


def _counters(port: int) -> Counter[str]:
    with socket.create_connection(("127.0.0.1", port), STOPPING) as link, link.makefile("rwb") as file:
        file.write(b"stats\r\n")
        file.flush()
        found: Counter[str] = Counter()
        while (line := file.readline().split()) and line[0] == b"STAT":
            if line[2].isdigit():
                found[line[1].decode()] = int(line[2])
    return found


@contextmanager
def memcached(memory: int) -> Iterator[list[int]]:
    """Run plain memcached with `memory` MiB; return its port in a list. Raises RunError, BuildError."""
    if shutil.which("memcached") is None:
        raise BuildError("memcached is missing: apt-get install memcached")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ports"
        command = ["memcached", "-l", "127.0.0.1", "-p", "-1", "-U", "0", "-m", str(memory), "-t", "2"]
        if os.geteuid() == 0:
            command += ["-u", "root"]
        environment = os.environ | {"MEMCACHED_PORT_FILENAME": str(file)}
        process = subprocess.Popen(command, env=environment, text=True, start_new_session=True)
        try:
            yield [_memcached_port(process, file)]
        finally:
            _stop(process)


@contextmanager
def stripe_store(
    programs: Path, place: tuple[str, int], arguments: list[str], stripes: int = 1
) -> Iterator[list[int]]:
    """Run the stripe store, with the programs of a folder; return the ports of its agents, one for each.

    place: ("--keep", MiB of each memcached) or ("--disk", MiB of each chunk server).

    Raises RunError, BuildError."""
    command = programs / "stripe-store"
    if not command.exists():
        raise BuildError(f"{command.name} is missing: make -C apps/stripe-store")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        own = [place[0], str(place[1]), "--stripes", str(stripes)]
        words = [str(command), "run", *own, folder, *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdout=pipe, stderr=errors, text=True, start_new_session=True)
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            if len(words) != 1 + stripes or words[0] != "ready":
                errors.seek(0)
                raise RunError((errors.read().strip().splitlines() or ["the store ended"])[-1])
            yield [int(word.rpartition(":")[2]) for word in words[1:]]
        finally:
            _stop(process)
            if process.stdout is not None:
                process.stdout.close()
