"""Runs of gfsmith-shards, and sets of shards to run it on."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.shard_format import xxh3_128
from tests.support.paths import ROOT

NATIVE = Path(__file__).resolve().parent / "native"

DONE, WRONG, REFUSED = 0, 1, 2
HEADER, RECORD, TRAILER = 512, 32, 56
DEADLINE = 600  # seconds; only so that a hanging program fails the test, on a busy machine too


def call(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Wall", "-Wextra", "-Werror")


def tool_sources() -> list[Path]:
    """Return the C of the program but the kernels."""
    folders = ("apps/shards", "runtime/shards/src", "runtime/core/src")
    return [path for folder in folders for path in sorted((ROOT / folder).glob("*.c"))]


INCLUDES = tuple(
    f"-I{ROOT / name}"
    for name in ("runtime/core/include", "runtime/shards/include", "gen_out", "apps/shards")
)


#: MD5 for the commands of par2, as the Makefile finds it.
NETTLE = ("-DGFSMITH_NETTLE", "-lnettle") if Path("/usr/include/nettle/md5.h").exists() else ()


def build_tool(program: Path, *flags: str, sources: Sequence[Path] = ()) -> None:
    """Compile the program and all of its C but the kernels with other flags, for example a sanitizer's.

    ThreadSanitizer needs the core as well: it does not find the atomic operations of other code."""
    library = ROOT / "build" / "libgfsmith.a"
    call(
        "cc",
        *FLAGS,
        *flags,
        *INCLUDES,
        "-o",
        program,
        *(sources or tool_sources()),
        library,
        *NETTLE,
        "-lpthread",
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """raw: stdout as bytes."""

    status: int
    stdout: str
    stderr: str
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Tool:
    """The program, and its environment variables in addition to those of the tests."""

    program: Path
    environment: Mapping[str, str]

    def run(
        self,
        *arguments: str | Path,
        before: Callable[[], None] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
    ) -> Outcome:
        done = subprocess.run(
            [self.program, *arguments],
            capture_output=True,
            input=stdin,
            env={**os.environ, **self.environment},
            preexec_fn=before,
            cwd=cwd,
            timeout=DEADLINE,
        )
        return Outcome(
            done.returncode,
            done.stdout.decode(errors="backslashreplace"),
            done.stderr.decode(errors="backslashreplace"),
            done.stdout,
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
        assert outcome.stderr.startswith("gfsmith-shards: "), outcome
        assert outcome.stderr.count("\n") == 1, outcome
        assert outcome.stderr.endswith("\n"), outcome
        return outcome.stderr.removeprefix("gfsmith-shards: ").removesuffix("\n")


class Stopped:
    """The program, stopped right before a call; `resume` continues it until its end."""

    def __init__(self, tool: Tool, *arguments: str | Path, stdin: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [tool.program, *arguments],
            stdin=stdin.open("rb") if stdin is not None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **tool.environment},
        )
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def __del__(self) -> None:
        self.process.kill()  # after a failed test

    def resume(self, *signals: signal.Signals) -> Outcome:
        for each in (*signals, signal.SIGCONT):
            self.process.send_signal(each)
        out, err = self.process.communicate(timeout=DEADLINE)
        return Outcome(self.process.returncode, out.decode(), err.decode())


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
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(".gfsmith-shards.tmp."))


def shard(folder: Path, index: int, name: str = "file", generation: int = 1) -> Path:
    return folder / f"{name}.g{generation}.{index:03d}.gfs"


def make_set(
    tool: Tool,
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
    tool.ok("protect", "-k", str(k), "-m", str(m), "-b", str(block), folder / name, shards)
    return shards


def flip(path: Path, offset: int) -> None:
    """Invert one byte; a negative offset counts from the end."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)


def sign(raw: bytearray) -> None:
    """Correct the checksum of a changed header."""
    raw[496:512] = xxh3_128(bytes(raw[:496]))
