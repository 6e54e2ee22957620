"""Output lines can be read in any order, and waiting has a time limit."""

from __future__ import annotations

import subprocess

import pytest

from tests.system.compose.output_lines import OutputLines


def said(script: str, patience: float = 60) -> OutputLines:
    process = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return OutputLines(process, "sh", patience)


def test_order_does_not_matter() -> None:
    """A link may be reported before its peer, if the reporting thread has to wait."""
    output = said("echo up 0; echo up 01; echo named 0; echo up 0 again")
    assert output.expect("named") == "0"
    assert output.lines == ["up 0", "up 01"]
    assert [output.expect("up 01"), output.expect("up 0"), output.expect("up 0")] == ["", "", "again"]
    assert output.lines == []


def test_silence_ends() -> None:
    with pytest.raises(AssertionError, match=r"sh: no 'up 1' within 0.2 s; lines: \['up 0'\]"):
        said("echo up 0; read never", 0.2).expect("up 1")


def test_the_end_of_a_program_is_reported() -> None:
    with pytest.raises(AssertionError, match=r"sh has ended without 'up 1'; lines: \['up 0'\]"):
        said("echo up 0").expect("up 1")
