"""A build with few kernels in each form that users compile, and the change of one byte of a kernel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.configurations import fewest_kernels
from tests.support.paths import ROOT

Done = subprocess.CompletedProcess[str]

CHECKER = ROOT / "packaging" / "check_linked.py"
CONFIG = fewest_kernels(["avx2", "scalar"])
#: Four kernels of avx2 in machine code, and those of scalar in C.
RIGHT = "4 functions compared, 4 compiled from C"
SYMBOL = "gfs_xor_nx1__avx2_u4"
DIFFERS = f"{SYMBOL}: its machine code is not the proved one"


def tamper(source: Path, symbol: str = SYMBOL, macro: str = "GFSMITH") -> None:
    """Change one byte of a kernel in a .S file or an amalgamation: vpxor to vpor. macro: prefix of macros."""
    text = source.read_text()
    quote = '"' if f'{macro}_END("{symbol}")' in text else ""
    start = text.index(f"{macro}_FUNCTION({quote}{symbol}{quote})")
    place = text.index(",0xef,", start)
    assert place < text.index(f"{macro}_END({quote}{symbol}{quote})")
    source.write_text(text[:place] + ",0xeb," + text[place + 6 :])


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> Done:
    """Run a command outside of a make that may run the tests, without optimisations."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=kept | {"LC_ALL": "C", "CFLAGS": "-O0", "CMAKE_BUILD_TYPE": "Debug", **environment},
        capture_output=True,
        text=True,
    )


def call(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that must succeed and return its output."""
    done = run(*command, cwd=cwd, **environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def refused(done: Done, reason: str = DIFFERS) -> None:
    """Check that a build failed with one line of the script, which ends with the reason."""
    assert done.returncode != 0, done.stdout
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("check_linked.py: ")]
    assert len(said) == 1 and said[0].endswith(reason), done.stdout + done.stderr


def check(*arguments: str | Path) -> Done:
    """Run the script with the system's interpreter, without the packages of .venv."""
    return run("python3", "-I", CHECKER, *arguments)
