"""The progress bar: only on a terminal, and not with --quiet."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.system.apps.shards.support import DEADLINE, DONE, Tool, content, shard

BAR = re.compile(
    r"\r(protect|verify|repair|restore) +\[#*\.*\] +\d+% \d+\.\d of \d+\.\d MB \d+\.\d MB/s ETA \S+ "
)
LINE = re.compile(r"(protect|verify|repair|restore): +\d+% \d+\.\d of \d+\.\d MB \d+\.\d MB/s")


def on_terminal(tool: Tool, arguments: Sequence[str | Path]) -> tuple[int, str]:
    """Return the exit status and the bytes that arrive at a terminal used as stderr."""
    terminal, end = pty.openpty()
    with open(terminal, "rb", buffering=0) as reader:  # noqa: PTH123  # a descriptor, not a path
        process = subprocess.Popen(
            [tool.program, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=end,
            env={**os.environ, **tool.environment},
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
    "protect": ("protect", "--force", "-k", "4", "-m", "2", "FILE", "SHARDS"),
    "verify": ("verify", "SHARDS"),
    "repair": ("repair", "SHARDS"),
    "restore": ("restore", "SHARDS", "-o", "RESTORED"),
}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest, shards: Path, tmp_path: Path) -> list[str | Path]:
    places = {"FILE": tmp_path / "file", "SHARDS": shards, "RESTORED": tmp_path / "restored"}
    if request.param == "repair":
        shard(shards, 0).unlink()
    return [places.get(word, word) for word in COMMANDS[request.param]]


def test_a_bar_on_a_terminal(tool: Tool, command: list[str | Path]) -> None:
    status, text = on_terminal(tool, command)
    assert status == DONE
    *lines, rest = text.split("\r\n")
    assert rest == ""
    bars = [BAR.findall(line) for line in lines]
    assert all(BAR.sub("", line) == "" for line in lines), text
    assert bars[-1][-1] == command[0]
    assert all("100%" in line.split("\r")[-1] for line in lines)
    assert all("[" + "#" * 24 + "]" in line.split("\r")[-1] for line in lines)


def test_none_with_quiet(tool: Tool, command: list[str | Path]) -> None:
    assert on_terminal(tool, [*command, "--quiet"]) == (DONE, "")


def test_short_work_in_a_pipe_is_silent(tool: Tool, command: list[str | Path]) -> None:
    tool.ok(*command)  # which checks that stderr is empty


def test_a_line_every_15_seconds_in_a_pipe(tool: Tool, preload: Path, command: list[str | Path]) -> None:
    """Each look at the clock is `step` seconds after the last one."""

    def lines(step: int) -> list[str]:
        clock = Tool(tool.program, {"LD_PRELOAD": str(preload), "SHARDS_CLOCK": str(step)})
        return clock.run(*command).stderr.splitlines()

    assert lines(1) == []
    if command[0] == "restore":
        command.insert(1, "--force")
    if command[0] == "repair":
        shard(Path(command[1]), 0).unlink()
    found = lines(16)
    assert found and all(LINE.fullmatch(line) for line in found), found


def test_a_message_does_not_share_a_line_with_the_bar(faulty: Callable[[str], Tool], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    (tmp_path / "out").mkdir()
    plan = faulty("fsync:1:ENOSPC")
    status, text = on_terminal(plan, ["protect", file, tmp_path / "out"])
    assert status == 2
    assert text.split("\r\n")[-2].startswith("gfsmith-shards: cannot write ")


def test_empty_file(tool: Tool, tmp_path: Path) -> None:
    """The length 0 looks like an unknown one: the bar has no share."""
    (tmp_path / "file").touch()
    status, text = on_terminal(tool, ["protect", tmp_path / "file", tmp_path / "out"])
    assert status == DONE
    assert "0.0 MB" in text
