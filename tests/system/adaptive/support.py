"""The coordinator for tests, with pipelined kernels in plain C (native/fake_set) for the set `scalar`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.machines import STRICT, runtime_sources
from tests.support.paths import ROOT

NATIVE = Path(__file__).resolve().parent / "native"
SOURCES = sorted((ROOT / "runtime/adaptive/src").glob("*.c"))
PARTS = [f"runtime/{part}/{kind}" for part in ("core", "adaptive") for kind in ("include", "src")]
INCLUDES = tuple(f"-I{folder}" for folder in (*PARTS, "gen_out"))
#: Sources that do not need kernels.
PURE = tuple(
    ROOT / f"runtime/adaptive/src/{name}.c"
    for name in ("policy", "candidates", "device", "options", "trial", "policy_search", "drift")
)

DEADLINE = 300  # seconds; only so that a hanging program fails the test

OPTANE = """
[device]
name = "optane-100"
line = 256
buffer = 98304   # six channels of 16 KiB
latency = 305
streams = 32
channels = 6
"""


def compile_c(output: Path, *words: str | Path) -> Path:
    command = [str(word) for word in ("gcc", *STRICT, "-D_GNU_SOURCE", "-g", *words, "-o", output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", " ".join(command) + "\n" + done.stderr
    return output


def archive(folder: Path, *flags: str) -> Path:
    """Compile the runtime without algebra, the coordinator and the fake kernels with these flags, and return
    the archive.
    """
    fake_set = NATIVE / "fake_set"
    runtime = [source for source in runtime_sources() if not source.name.startswith("algebra")]
    sources = [*runtime, *SOURCES, fake_set / "kernels.c"]
    includes = [f"-I{ROOT / word.removeprefix('-I')}" for word in INCLUDES]
    command = [
        *("gcc", *STRICT, "-D_GNU_SOURCE", "-g", "-DGFSMITH_WITH_ADAPTIVE", *flags, "-c"),
        *("-iquote", fake_set, f"-I{NATIVE}", "-include", "fake_set/kernels.h", *includes, *sources),
    ]
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    library = folder / "libfake.a"
    subprocess.run(["ar", "rcs", library, *sorted(folder.glob("*.o"))], check=True)
    return library


def program(name: str, folder: Path, library: Path, build: Path, *flags: str) -> Path:
    """Link native/<name>.c with the archive; all other kernels come from the static library of the build."""
    return compile_c(
        folder / name,
        *(*flags, *INCLUDES, f"-I{NATIVE}", NATIVE / f"{name}.c", library, build / "libgfsmith.a"),
        *("-lm", "-pthread"),
    )


def run(*command: str | Path, status: int = 0, **environment: str) -> tuple[str, str]:
    """Run a program with the set `scalar` and return its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GFSMITH_")}
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**kept, "GFSMITH_ISA": "scalar", **environment},
        timeout=DEADLINE,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr
