"""Coders of other projects, as programs that answer requests: klauspost/reedsolomon (Go), the crates
reed-solomon-erasure and reed-solomon-simd (Rust), HDFS's RSRawEncoder and RSRawDecoder (Java). Each is
fetched with its language's own client, pinned by checksum, and built once into build/compat; the repository
holds no copy.

A request on standard input is four little-endian words of 32 bits: 0 (encode) or 1 (repair), k, m, length.
To encode, k data shards follow, and the answer is m parities. To repair, k + m bytes follow that mark the
present shards, then k + m shards, and the answer is all shards.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.build_lock import locked
from bench.peers.clients import Unavailable, run_client

Bytes = NDArray[np.uint8]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "compat"

#: SHA-256 of the crates, as recorded by cargo.
CRATES = {
    "reed-solomon-erasure": "7263373d500d4d4f505d43a2a662d475a894aa94503a1ee28e9188b5f3960d4f",
    "reed-solomon-simd": "cffef0520d30fbd4151fb20e262947ae47fb0ab276a744a19b6398438105a072",
}


@dataclass(frozen=True, slots=True)
class Request:
    """data: k x len, to encode; or shards: (k + m) x len, of which `missing` are lost, to repair."""

    k: int
    m: int
    shards: Bytes
    missing: Sequence[int] | None = None

    @property
    def text(self) -> bytes:
        repair = self.missing is not None
        head = struct.pack("<4I", repair, self.k, self.m, self.shards.shape[1])
        if self.missing is None:
            return head + self.shards.tobytes()
        present = np.ones(self.k + self.m, dtype=np.uint8)
        present[list(self.missing)] = 0
        garbled = self.shards.copy()
        garbled[list(self.missing)] ^= 0x5A
        return head + present.tobytes() + garbled.tobytes()

    @property
    def answer_shape(self) -> tuple[int, int]:
        rows = self.m if self.missing is None else self.k + self.m
        return rows, self.shards.shape[1]


class Peer:
    """A program; each list of requests starts a new process."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._command = [str(part) for part in command]

    def answer(self, requests: Iterable[Request]) -> list[Bytes]:
        asked = list(requests)
        text = b"".join(request.text for request in asked)
        done = subprocess.run(self._command, input=text, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        rest, answers = np.frombuffer(done.stdout, dtype=np.uint8), []
        for request in asked:
            rows, length = request.answer_shape
            answers.append(rest[: rows * length].reshape(rows, length))
            rest = rest[rows * length :]
        assert rest.size == 0
        return answers


def _klauspost(*code: str) -> Peer:
    """Version 1.11.8, of August 2023, is the last that Debian 12's Go 1.19 builds. go.sum pins it. code: one
    of its Leopard codes."""
    program = BUILD / "klauspost"
    run_client(["go", "build", "-trimpath", "-o", program, "."], HERE / "compat" / "klauspost")
    return Peer([program, *code])


def _rust(crate: str) -> Peer:
    """Built from a copy, because cargo writes a lock file that names its registry, and the sources must not
    hold it.
    """
    project = BUILD / "rust"
    shutil.copytree(HERE / "compat" / "rust", project, dirs_exist_ok=True)
    run_client(["cargo", "build", "--release", "--quiet"], project)
    entry = re.search(rf'name = "{crate}"[^\[]*checksum = "(\w+)"', (project / "Cargo.lock").read_text())
    if entry is None or entry[1] != CRATES[crate]:
        raise Unavailable(f"the crate {crate} has an unexpected checksum")
    return Peer([project / "target" / "release" / "compat", crate])


def _hdfs() -> Peer:
    """The coders need only Hadoop's own archive of classes."""
    run_client(["make", "--no-print-directory", "hadoop-common"], ROOT)
    archive = ROOT / "build" / "maven" / "hadoop-common.jar"
    classes = BUILD / "hdfs"
    run_client(["javac", "-cp", archive, "-d", classes, HERE / "compat" / "hdfs" / "Peer.java"], BUILD)
    return Peer(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{archive}:{classes}", "Peer"])


PEERS: dict[str, Callable[[], Peer]] = {
    "klauspost": _klauspost,
    "reed-solomon-erasure": partial(_rust, "reed-solomon-erasure"),
    "hdfs": _hdfs,
}
#: The codes of gfsmith_wide.h: klauspost's Leopard codes, and that of reed-solomon-simd.
WIDE: dict[str, Callable[[], Peer]] = {
    "leopard8": partial(_klauspost, "leopard8"),
    "leopard16": partial(_klauspost, "leopard16"),
    "reed_solomon_simd": partial(_rust, "reed-solomon-simd"),
}


def peer(name: str) -> Peer:
    """Return the program of a name. Raises Unavailable."""
    with locked(BUILD / "lock"):
        return (PEERS | WIDE)[name]()
