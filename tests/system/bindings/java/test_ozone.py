"""The coders for Ozone: Ozone's tests, equal bytes and exceptions, its choice of coders, a mutant."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.mutation import plant
from tests.support.paths import ROOT
from tests.system.bindings.java.support import NATIVE, Judge, compile_native
from tests.system.bindings.java.test_coders import MUTANTS


def _tests_of_ozone(ozone: Judge, *options: str) -> tuple[int, str]:
    tests = sorted(path.stem for path in ozone.classes.glob("CoderTests$Test*.class"))
    assert len(tests) == 6
    selected = [f"--select-class={name}" for name in tests]
    launcher = "org.junit.platform.console.ConsoleLauncher"
    return ozone.call(launcher, "execute", "--details=summary", *selected, options=options)


def test_the_tests_of_ozone_pass(ozone: Judge) -> None:
    status, said = _tests_of_ozone(ozone)
    assert status == 0, said[-3000:]
    for state in ("found", "successful"):
        assert re.search(rf"^\[ +72 tests {state} ", said, re.MULTILINE)


def test_bytes_and_exceptions_equal_those_of_ozone(ozone: Judge) -> None:
    said = ozone.run("Differential", "1000", "1")
    assert re.search(r"^1000 rounds, \d{4} calls of gfsmith$", said, re.MULTILINE)


@pytest.mark.parametrize("archive_first", [True, False])
def test_ozone_chooses_the_coders(ozone: Judge, archive_first: bool) -> None:
    """At any place in the class path they are before Ozone's coders in Java."""
    swapped = replace(ozone, archive=Path(ozone.engine), engine=str(ozone.archive))
    said = (ozone if archive_first else swapped).run("Chosen")
    lines = [line.split() for line in said.splitlines() if line.startswith(("rs ", "xor "))]
    assert [codec for codec, *_ in lines] == ["rs", "xor"]
    for codec, known, *chosen in lines:
        names = known.split(",")
        assert names.index(f"{codec}_gfsmith") < names.index(f"{codec}_java")
        assert chosen == ["GfsmithRawEncoder", "GfsmithRawDecoder"]


def test_the_example(ozone: Judge) -> None:
    said = ozone.run(str(ROOT / "examples" / "java" / "Ozone.java"))
    assert "all units are back, 2 calls of gfsmith\n" in said


def test_without_its_library_ozone_takes_the_next_coder(ozone: Judge) -> None:
    said = ozone.run("Chosen", options=["-Dorg.gfsmith.library=/nowhere/library.so"])
    chosen = [line.split()[2:] for line in said.splitlines() if line.startswith(("rs ", "xor "))]
    assert chosen == [["RSRawEncoder", "RSRawDecoder"], ["XORRawEncoder", "XORRawDecoder"]]


def test_a_wrong_parity_is_found(ozone: Judge, tmp_path: Path) -> None:
    _, wrong = plant(MUTANTS["parity"], [NATIVE / "gfsmith_jni.c"], tmp_path)
    option = f"-Dorg.gfsmith.library={compile_native(wrong, tmp_path / 'wrong.so')}"
    status, said = ozone.call("Differential", "300", "1", options=[option])
    assert status != 0 and "differ" in said
    assert _tests_of_ozone(ozone, option)[0] != 0
