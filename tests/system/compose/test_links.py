"""Links between nodes of one process: native/links; the layer above them logs its events."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.system.compose.support import CLOCK, CLOCK_OPTIONS, NATIVE, Library

LINKS = NATIVE / "links"
SOURCES = [*sorted(LINKS.glob("[!s]*.c")), CLOCK]
SCENARIOS = re.findall(r"^void (\w+)\(void\);", (LINKS / "scenarios.h").read_text(), re.MULTILINE)

#: Scenarios that differ from others only in a message's contents, or have one node: one run, with
#: AddressSanitizer, is enough.
ALIKE = {
    "options",
    "a_message_that_is_cut",
    "a_message_that_is_left_out",
    "a_message_with_an_old_number",
    "credits_that_nobody_gave",
    "answers_that_are_not_taken",
    "answers_that_are_taken",
    "a_write_that_is_too_long",
    "timers",
    "thread_in_a_program_with_small_stacks",
    "sockets_that_no_program_inherits",
    "a_write_that_takes_long",
}


def links(library: Library) -> Path:
    return library.program("links", *SOURCES, options=CLOCK_OPTIONS)


def run(program: Path, provider: str, scenario: str) -> None:
    done = subprocess.run(
        [program, provider, scenario],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=program.parent,
        env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_scenario_is_run(plain: Library) -> None:
    listed = subprocess.run([links(plain), "--list"], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == SCENARIOS


@pytest.mark.parametrize("scenario", first(SCENARIOS, 8))
def test_tcp(sanitized: Library, scenario: str) -> None:
    run(links(sanitized), "tcp", scenario)


@pytest.mark.campaign
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in ALIKE])
def test_tcp_threads(threaded: Library, scenario: str) -> None:
    run(links(threaded), "tcp", scenario)


@pytest.mark.campaign
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in ALIKE])
def test_sockets(plain: Library, scenario: str) -> None:
    run(links(plain), "sockets", scenario)
