"""Runs of the stripe program, and a second implementation of its header, written after its README."""

from __future__ import annotations

import ctypes
import hashlib
import os
import random
import signal
import struct
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

EXAMPLE = ROOT / "apps" / "stripe"
NATIVE = Path(__file__).resolve().parent / "native"

DONE, WRONG, REFUSED = 0, 1, 2
HEADER = 8192
DEADLINE = 300  # seconds; only so that a hanging program fails the test


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    stdout: str
    stderr: str


def default_signals() -> None:
    """Restore the default signal handling, as in a shell: the tests' parent may ignore some signals (nohup
    ignores SIGHUP).
    """
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


@dataclass(frozen=True, slots=True)
class Stripe:
    """The program, and its environment variables in addition to those of the tests."""

    program: Path
    environment: Mapping[str, str]

    def run(
        self,
        *arguments: str | Path,
        before: Callable[[], None] | None = None,
        cwd: Path | None = None,
    ) -> Outcome:
        def prepare() -> None:
            default_signals()
            if before is not None:
                before()

        done = subprocess.run(
            [self.program, *arguments],
            capture_output=True,
            env={**os.environ, **self.environment},
            preexec_fn=prepare,
            cwd=cwd,
            timeout=DEADLINE,
        )
        return Outcome(
            done.returncode,
            done.stdout.decode(errors="backslashreplace"),
            done.stderr.decode(errors="backslashreplace"),
        )

    def ok(self, *arguments: str | Path) -> str:
        """Return the stdout of a run that must succeed with an empty stderr."""
        outcome = self.run(*arguments)
        assert (outcome.status, outcome.stderr) == (DONE, ""), outcome
        return outcome.stdout

    def refusal(self, *arguments: str | Path, before: Callable[[], None] | None = None) -> str:
        """Return the single line of a run that must be refused, without its prefix."""
        outcome = self.run(*arguments, before=before)
        assert outcome.status == REFUSED, outcome
        assert outcome.stderr.startswith("stripe: "), outcome
        assert outcome.stderr.count("\n") == 1, outcome
        assert outcome.stderr.endswith("\n"), outcome
        return outcome.stderr.removeprefix("stripe: ").removesuffix("\n")


def content(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def snapshot(folder: Path) -> dict[str, str]:
    """Return every path below the folder, including hidden ones, with the sha256 of its contents."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


def temporaries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(".stripe.tmp."))


def shard(folder: Path, index: int, name: str = "file") -> Path:
    return folder / f"{name}.{index:03d}.gfs"


def make_set(
    stripe: Stripe,
    folder: Path,
    data: bytes,
    k: int = 4,
    m: int = 2,
    block: int = 64,
    name: str = "file",
) -> Path:
    """Split a file `name` below the folder and return the folder of the shards."""
    shards = folder / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    stripe.ok("split", "-k", str(k), "-m", str(m), "-b", str(block), folder / name, shards)
    return shards


def flip(path: Path, offset: int) -> None:
    """Invert one byte; a negative offset counts from the end."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)


class _Hash(ctypes.Structure):
    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64))


def xxh3_128(data: bytes) -> bytes:
    """Return XXH3-128 in canonical form: big-endian."""
    function = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
    function.restype = _Hash
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    value = function(data, len(data))
    return struct.pack(">QQ", value.high, value.low)


FIELDS = struct.Struct("<8sII16sI28xIIIIQ16s32s256s")
"""Magic to the name of the original; the zeros at 36 are the 28x."""


@dataclass(frozen=True, slots=True)
class Header:
    magic: bytes
    version: int
    header_bytes: int
    set_id: bytes
    index: int
    polynomial: int
    k: int
    m: int
    block: int
    length: int
    original: bytes
    code: bytes
    name: bytes


def parse(raw: bytes) -> Header:
    return Header(*FIELDS.unpack_from(raw))


def sign(raw: bytearray, set_id: bool = True) -> None:
    """Correct the set id and the checksum of a changed header."""
    if set_id:
        raw[16:32] = xxh3_128(bytes(raw[64:8176]))
    raw[8176:8192] = xxh3_128(bytes(raw[:8176]))


def payload_sum(raw: bytes, index: int) -> bytes:
    return raw[4096 + 16 * index : 4112 + 16 * index]
