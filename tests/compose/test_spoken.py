"""What programs say is heard in any order, and waiting has an end."""

from __future__ import annotations

import subprocess

import pytest

from .spoken import Spoken


def said(script: str, patience: float = 60) -> Spoken:
    process = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return Spoken(process, "sh", patience)


def test_order_does_not_matter() -> None:
    """A link that is up before its peer is said to be named, as when the thread that says so has to wait."""
    spoken = said("echo up 0; echo up 01; echo named 0; echo up 0 again")
    assert spoken.hear("named") == "0"
    assert spoken.lines == ["up 0", "up 01"]
    assert [spoken.hear("up 01"), spoken.hear("up 0"), spoken.hear("up 0")] == ["", "", "again"]
    assert spoken.lines == []


def test_silence_ends() -> None:
    with pytest.raises(AssertionError, match=r"sh: no 'up 1' within 0.2 s, but \['up 0'\]"):
        said("echo up 0; read never", 0.2).hear("up 1")


def test_an_end_is_said() -> None:
    with pytest.raises(AssertionError, match=r"sh has ended, and not said 'up 1', but \['up 0'\]"):
        said("echo up 0").hear("up 1")
