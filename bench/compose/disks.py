"""python -m bench.compose.disks: the stripe store with its chunks on disk and in memory, in paired rounds.

Both stores run at the same time and are used in turn. Clients write or read random keys, each with its own
connection. Prints a table. Needs make lib compose, and make -C apps/stripe-store.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from bench.compose.ycsb.programs import STORE
from bench.compose.ycsb.server import stripe_store
from bench.machine import describe
from bench.options import OneLineParser, start

KIB = 1024
VALUES = (4 * KIB, 64 * KIB, KIB * KIB)
CLIENTS = (1, 16)
RECORDS = 64  #: in each store
ROUNDS = 5
SECONDS = 1.5
MEMORY, DISK = "memory", "disk"
PLACES = {MEMORY: ("--keep", 512), DISK: ("--disk", 4096)}


class Link:
    """A client's connection, with memcached's text protocol."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def set(self, key: int, value: bytes) -> None:
        self._socket.sendall(b"set %d 0 0 %d\r\n%b\r\n" % (key, len(value), value))
        answer = self._file.readline()
        assert answer == b"STORED\r\n", answer

    def get(self, key: int) -> None:
        self._socket.sendall(b"get %d\r\n" % key)
        header = self._file.readline().split()
        assert header[:1] == [b"VALUE"], header
        self._file.read(int(header[3]) + 2)
        assert self._file.readline() == b"END\r\n"


@contextmanager
def links(port: int, count: int) -> Iterator[list[Link]]:
    made = [Link(port) for _ in range(count)]
    try:
        yield made
    finally:
        for link in made:
            link.close()


def rate(port: int, value: bytes, clients: int, *, writes: bool) -> float:
    """Return the operations in a second."""
    counts = [0] * clients
    until = time.perf_counter() + SECONDS

    def work(number: int, link: Link) -> None:
        draw = random.Random(number)
        while time.perf_counter() < until:
            key = draw.randrange(RECORDS)
            if writes:
                link.set(key, value)
            else:
                link.get(key)
            counts[number] += 1

    with links(port, clients) as each:
        began = time.perf_counter()
        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(each)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sum(counts) / (time.perf_counter() - began)


def row(ports: dict[str, int], size: int, clients: int, *, writes: bool) -> str:
    value, chance = random.Random(size).randbytes(size), random.Random(clients)
    found: dict[str, list[float]] = {place: [] for place in PLACES}
    for _ in range(ROUNDS):
        for place in chance.sample(tuple(PLACES), len(PLACES)):
            found[place].append(rate(ports[place], value, clients, writes=writes))
    ratios = sorted(disk / memory for disk, memory in zip(found[DISK], found[MEMORY], strict=True))
    what = "write" if writes else "read"
    spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return (
        f"| {what} | {size // KIB} KiB | {clients} "
        f"| {median(found[DISK]):.0f} | {median(found[MEMORY]):.0f} | {spread} |"
    )


def main() -> None:
    OneLineParser(prog="bench.compose.disks", description=(__doc__ or "").splitlines()[0]).parse_args()
    print(f"RS 3+2, {RECORDS} records, {ROUNDS} rounds of {SECONDS} s each; {describe()}\n")
    print("| operation | value | clients | on disk, operations/s | in memory | disk / memory (range) |")
    print("|---|---:|---:|---:|---:|---:|")
    with (
        stripe_store(STORE, PLACES[MEMORY], []) as memory,
        stripe_store(STORE, PLACES[DISK], []) as disk,
    ):
        ports = {MEMORY: memory[0], DISK: disk[0]}
        for size in VALUES:
            for port in ports.values():
                with links(port, 1) as (link,):
                    for key in range(RECORDS):
                        link.set(key, bytes(size))
            for writes in (True, False):
                for clients in CLIENTS:
                    print(row(ports, size, clients, writes=writes), flush=True)


if __name__ == "__main__":
    start(main)
