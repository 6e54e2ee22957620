"""The coordinator for tests: pipelined kernels are in plain C (native/stand_in), for the set `scalar`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..runtime.machines import STRICT, runtime_sources

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path(__file__).resolve().parent / "native"
SOURCES = sorted((ROOT / "runtime/adaptive").glob("*.c"))
INCLUDES = ("-Iruntime/include", "-Iruntime/src", "-Iruntime/adaptive", "-Igen_out")
#: Sources that need no kernels.
PURE = ("policy", "batch", "situation", "device", "options", "trial", "hunt", "watch")

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
    """The runtime but for algebra, the coordinator and the stand-ins, compiled with these flags."""
    stand_in = NATIVE / "stand_in"
    runtime = [source for source in runtime_sources() if not source.name.startswith("algebra")]
    sources = [*runtime, *SOURCES, stand_in / "kernels.c"]
    includes = [f"-I{ROOT / word.removeprefix('-I')}" for word in INCLUDES]
    command = [
        *("gcc", *STRICT, "-D_GNU_SOURCE", "-g", "-DGFSMITH_WITH_ADAPTIVE", *flags, "-c"),
        *("-iquote", stand_in, f"-I{NATIVE}", "-include", "stand_in/kernels.h", *includes, *sources),
    ]
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    library = folder / "libstandin.a"
    subprocess.run(["ar", "rcs", library, *sorted(folder.glob("*.o"))], check=True)
    return library


def program(name: str, folder: Path, library: Path, build: Path, *flags: str) -> Path:
    """native/<name>.c with it; all other kernels come from the static library of the build."""
    return compile_c(
        folder / name,
        *(*flags, *INCLUDES, f"-I{NATIVE}", NATIVE / f"{name}.c", library, build / "libgfsmith.a"),
        *("-lm", "-pthread"),
    )


def run(*command: str | Path, status: int = 0, **environment: str) -> tuple[str, str]:
    """What a program writes, with the set `scalar`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GFSMITH_")}
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**kept, "GFSMITH_ISA": "scalar", **environment},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr
