"""Coders of other projects, as programs that answer requests: klauspost/reedsolomon (Go), the crate
reed-solomon-erasure (Rust), HDFS's RSRawEncoder and RSRawDecoder (Java). Each is fetched with its
language's own client, pinned by checksum, and built once into build/compat; nothing of them is kept in
the repository.

A request on standard input is four little-endian words of 32 bits: 0 (encode) or 1 (repair), k, m, length.
To encode, k data shards follow, and the answer is m parities; to repair, k + m bytes that say which shards
are there, and k + m shards; the answer is all of them.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..shared import locked

Bytes = NDArray[np.uint8]

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "compat"

CRATE = "reed-solomon-erasure"
CRATE_SHA256 = "7263373d500d4d4f505d43a2a662d475a894aa94503a1ee28e9188b5f3960d4f"
HADOOP = "hadoop-common-3.3.6.jar"
HADOOP_SHA256 = "10b8edb304bccc10a939d29edde128d0f6d95129427ec69f5cc7003ba8c6b737"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


class Unavailable(Exception):
    """A peer cannot be had on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """data: k x len, to encode; or shards: (k + m) x len, of which `missing` count as lost, to repair."""

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
    """A program, started anew for each list of requests."""

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


def _run(command: Sequence[str | Path], cwd: Path) -> None:
    name = str(command[0])
    if shutil.which(name) is None:
        raise Unavailable(f"{name} is missing; `gfsmith doctor` says how to get it")
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{name} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def _klauspost() -> Peer:
    """Version 1.11.8, of August 2023, is the last that Debian 12's Go 1.19 builds. go.sum pins it."""
    program = BUILD / "klauspost"
    _run(["go", "build", "-trimpath", "-o", program, "."], HERE / "compat" / "klauspost")
    return Peer([program])


def _rust() -> Peer:
    """Built from a copy: the lock that cargo writes names its registry and stays out of the sources."""
    project = BUILD / "rust"
    shutil.copytree(HERE / "compat" / "rust", project, dirs_exist_ok=True)
    _run(["cargo", "build", "--release", "--quiet"], project)
    entry = re.search(rf'name = "{CRATE}"[^\[]*checksum = "(\w+)"', (project / "Cargo.lock").read_text())
    if entry is None or entry[1] != CRATE_SHA256:
        raise Unavailable(f"the crate {CRATE} is another one than expected")
    return Peer([project / "target" / "release" / "compat"])


def _hdfs() -> Peer:
    """Its coders need nothing beside Hadoop's own archive of classes."""
    archive = BUILD / HADOOP
    if not archive.exists():
        version = HADOOP.removeprefix("hadoop-common-").removesuffix(".jar")
        artifact = f"-Dartifact=org.apache.hadoop:hadoop-common:{version}"
        _run(["mvn", "-q", "-B", "-ntp", MAVEN_COPY, artifact, f"-DoutputDirectory={BUILD}"], BUILD)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != HADOOP_SHA256:
        archive.unlink()
        raise Unavailable(f"{HADOOP} is another one than expected")
    classes = BUILD / "hdfs"
    _run(["javac", "-cp", archive, "-d", classes, HERE / "compat" / "hdfs" / "Peer.java"], BUILD)
    return Peer(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{archive}:{classes}", "Peer"])


PEERS: dict[str, Callable[[], Peer]] = {"klauspost": _klauspost, CRATE: _rust, "hdfs": _hdfs}


def peer(name: str) -> Peer:
    """Raises Unavailable."""
    with locked(BUILD / "lock"):
        return PEERS[name]()
