"""The progress bar: only on a terminal, and not with --quiet."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.system.apps.stripe.support import DEADLINE, DONE, Stripe, content, shard

BAR = re.compile(r"\r(split|verify|repair|join) +\[#*\.*\] +\d+% \d+\.\d of \d+\.\d MB \d+\.\d MB/s ETA \S+ ")


def on_terminal(stripe: Stripe, arguments: Sequence[str | Path]) -> tuple[int, str]:
    """Return the exit status and the bytes that arrive at a terminal used as stderr."""
    terminal, end = pty.openpty()
    with open(terminal, "rb", buffering=0) as reader:  # noqa: PTH123  # a descriptor, not a path
        process = subprocess.Popen(
            [stripe.program, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=end,
            env={**os.environ, **stripe.environment},
        )
        os.close(end)
        text = b""
        try:
            while chunk := reader.read(4096):
                text += chunk
        except OSError:  # Linux's end of file on a terminal: EIO
            pass
        return process.wait(timeout=DEADLINE), text.decode()


COMMANDS: dict[str, tuple[str, ...]] = {
    "split": ("split", "--force", "-k", "4", "-m", "2", "FILE", "SHARDS"),
    "verify": ("verify", "SHARDS"),
    "repair": ("repair", "SHARDS"),
    "join": ("join", "SHARDS", "-o", "JOINED"),
}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest, shards: Path, tmp_path: Path) -> list[str | Path]:
    places = {"FILE": tmp_path / "file", "SHARDS": shards, "JOINED": tmp_path / "joined"}
    if request.param == "repair":
        shard(shards, 0).unlink()
    return [places.get(word, word) for word in COMMANDS[request.param]]


def test_a_bar_on_a_terminal(stripe: Stripe, command: list[str | Path]) -> None:
    status, text = on_terminal(stripe, command)
    assert status == DONE
    *lines, rest = text.split("\r\n")
    assert rest == ""
    bars = [BAR.findall(line) for line in lines]
    assert all(BAR.sub("", line) == "" for line in lines), text
    assert bars[-1][-1] == command[0]
    assert all("100%" in line.split("\r")[-1] for line in lines)
    assert all("[" + "#" * 24 + "]" in line.split("\r")[-1] for line in lines)


def test_none_with_quiet(stripe: Stripe, command: list[str | Path]) -> None:
    assert on_terminal(stripe, [*command, "--quiet"]) == (DONE, "")


def test_none_in_a_pipe(stripe: Stripe, command: list[str | Path]) -> None:
    stripe.ok(*command)  # which checks that stderr is empty


def test_a_message_does_not_share_a_line_with_the_bar(
    faulty: Callable[[str], Stripe], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    (tmp_path / "out").mkdir()
    plan = faulty("fsync:1:ENOSPC")
    status, text = on_terminal(plan, ["split", file, tmp_path / "out"])
    assert status == 2
    assert text.split("\r\n")[-2].startswith("stripe: cannot write ")


def test_empty_file(stripe: Stripe, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "out").mkdir()
    status, text = on_terminal(stripe, ["split", tmp_path / "file", tmp_path / "out"])
    assert status == DONE
    assert "100%" in text
