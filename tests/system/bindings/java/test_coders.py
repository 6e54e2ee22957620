"""The coders for Hadoop: Hadoop's tests, equal bytes and exceptions, mutants of the native library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.mutation import Mutant, plant
from tests.system.bindings.java.support import NATIVE, RELEASES, Judge, compile_native

#: Wrong native libraries: a byte of a parity, a byte of a rebuilt unit, a place in long arrays, a lost copy.
MUTANTS = {
    "parity": Mutant(
        "gfsmith_encode($codec, len, $data, $parity)",
        "(gfsmith_encode($codec, len, $data, $parity), len > 0 && (shards[c->inputs][len - 1] ^= 1), 0)",
    ),
    "repair": Mutant("number(c, ROLES, i) == WRITE", "number(c, ROLES, i) == WRITE && i != 1", "reconstruct"),
    "place": Mutant("$base + number(c, OFFSETS, i) + begin", "$base + number(c, OFFSETS, i)"),
    "copy": Mutant("c->written[i] ? 0 : JNI_ABORT", "JNI_ABORT"),
}
#: Wrong checksums: the place of a piece of a sketch, the place of a piece's sectors, the end of a check, the
#: comparison of a repair.
CHECKSUM_MUTANTS = {
    "sketch": Mutant("$sketch->offset + begin", "$sketch->offset"),
    "sectors": Mutant("$results + begin / c->sums->sector", "$results"),
    "difference": Mutant("$differs ? c->sums == NULL : $fails", "$differs || $fails"),
    "comparison": Mutant("sums->compared ? sums->expected : NULL", "NULL"),
    "stripes": Mutant("(size_t)stripes", "1"),
}
CHECKED = "-Xcheck:jni"  #: the virtual machine copies arrays, and refuses wrong calls of JNI


def _tests_of_hadoop(judge: Judge, *options: str) -> tuple[int, str]:
    tests = sorted(path.stem for path in judge.classes.glob("CoderTests$Test*.class"))
    assert len(tests) == 9
    return judge.call("org.junit.runner.JUnitCore", *tests, options=options)


@pytest.mark.parametrize("release", RELEASES)
def test_the_tests_of_hadoop_pass(judges: Callable[[str], Judge], release: str) -> None:
    status, said = _tests_of_hadoop(judges(release))
    assert status == 0, said[-3000:]
    found = re.search(r"^OK \((\d+) tests\)", said, re.MULTILINE)
    assert found is not None and int(found[1]) >= 120


@pytest.mark.parametrize("release", RELEASES)
def test_bytes_and_exceptions_equal_those_of_hadoop(judges: Callable[[str], Judge], release: str) -> None:
    said = judges(release).run("Differential", "1500", "1")
    assert re.fullmatch(r"1500 rounds, \d{4} calls of gfsmith\n", said)


@pytest.mark.parametrize("program", [("Differential", "300", "2"), ("Api",), ("Checksums",), ("Sketches",)])
def test_with_copied_arrays(judge: Judge, program: tuple[str, ...]) -> None:
    said = judge.run(*program, options=[CHECKED])
    assert "WARNING" not in said and "FATAL" not in said


@pytest.mark.parametrize("program", ["Api", "Checksums", "Sketches"])
def test_the_interface_for_java(judge: Judge, program: str) -> None:
    judge.run(program)


@pytest.mark.parametrize("program", ["Api", "Checksums", "Sketches"])
def test_in_portable_c(judge: Judge, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setenv("GFSMITH_ISA", "scalar")
    assert judge.run(program).endswith("scalar\n")


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_found(judge: Judge, tmp_path: Path, name: str) -> None:
    _, wrong = plant(MUTANTS[name], [NATIVE / "gfsmith_jni.c"], tmp_path)
    library = compile_native(wrong, tmp_path / "wrong.so")
    options = [f"-Dorg.gfsmith.library={library}", *([CHECKED] if name == "copy" else [])]
    status, said = judge.call("Differential", "300", "1", options=options)
    assert status != 0 and "differ" in said
    if name == "parity":
        assert _tests_of_hadoop(judge, *options)[0] != 0


@pytest.mark.parametrize("name", CHECKSUM_MUTANTS)
def test_mutants_of_checksums_are_found(judge: Judge, tmp_path: Path, name: str) -> None:
    _, wrong = plant(CHECKSUM_MUTANTS[name], [NATIVE / "gfsmith_jni.c"], tmp_path)
    library = compile_native(wrong, tmp_path / "wrong.so")
    program = "Sketches" if name == "sketch" else "Checksums"
    status, said = judge.call(program, options=[f"-Dorg.gfsmith.library={library}"])
    assert status != 0 and "AssertionError" in said
