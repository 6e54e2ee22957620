"""Contracts in a TOML file: one function for each combination of values, one clear line for each error."""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.contracts import Answer, Entry, Task, entries, parse, prove, read
from gfsmith.verify.functions import ForeignError
from gfsmith.verify.report import described, line, unexpected
from tests.unit.prove.objects import xor_kernels

FILE = """
[defaults]
operation = "xor"
inputs = 2
isa = "sse"
granule = 16

[[functions]]
symbol = "xor_{inputs}"
contract = "whole vectors"

[[functions]]
symbol = "wrong_{inputs}"
expect = "refuted"
"""


def _read(folder: Path, text: str) -> list[Entry]:
    path = folder / "functions.toml"
    path.write_text(text)
    return read(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object file of a right and of a wrong kernel."""
    return xor_kernels(tmp_path_factory.mktemp("contracts"))


def test_every_function_of_a_file_is_proved_or_refuted(path: Path, tmp_path: Path) -> None:
    found = _read(tmp_path, FILE)
    steps: list[int] = []
    answers = prove([Task(path, entry) for entry in found], 1, steps.append)
    assert [answer.report.status for answer in answers] == [Status.PROVED, Status.REFUTED]
    assert len(steps) == 2
    assert "must be src[0]" in answers[1].report.reason
    assert line(found[0], answers[0]).startswith("proved [whole vectors]: xor_2: value, every length")
    assert line(found[1], answers[1]).startswith("refuted: wrong_2: byte ")
    assert described(found[1], answers[1])["expected"] == "refuted"
    assert {unexpected(*each) for each in zip(found, answers, strict=True)} == {Status.PROVED}


@pytest.mark.parametrize(
    ("status", "expect", "exit_as"),
    [
        (Status.PROVED, "refuted", Status.REFUTED),
        (Status.REFUTED, "proved", Status.REFUTED),
        (Status.UNSUPPORTED, "proved", Status.UNSUPPORTED),
    ],
)
def test_another_verdict_than_the_expected_one(
    status: Status, expect: str, exit_as: Status, tmp_path: Path
) -> None:
    defaults = FILE.split("[[functions]]")[0]
    (entry,) = _read(tmp_path, f'{defaults}[[functions]]\nsymbol = "f"\nexpect = "{expect}"')
    answer = Answer(Report(status, "f: why"), 0.0)
    assert unexpected(entry, answer) is exit_as
    assert f"{status.value} (expected: {expect})" in line(entry, answer)


def test_lists_are_alternatives_and_the_symbol_names_them(tmp_path: Path) -> None:
    text = """
[[functions]]
symbol = "f{inputs}x{outputs}_{isa}"
operation = "dot"
inputs = [2, 3]
outputs = [1, 4]
isa = "avx2"
feature = ["GFNI", "BMI2"]
tables = "isal-nibble"
"""
    found = _read(tmp_path, text)
    assert [entry.words.symbol for entry in found] == ["f2x1_avx2", "f2x4_avx2", "f3x1_avx2", "f3x4_avx2"]
    assert [entry.words.inputs for entry in found] == [2, 2, 3, 3]
    assert {entry.words.features for entry in found} == {("GFNI", "BMI2")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "unknown table 'x'; allowed: defaults, functions"),
        ("", "no [[functions]]"),
        ("=", "Invalid statement"),
        ("[[functions]]\nsymbols = 1", "function 1: unknown key 'symbols'; allowed: symbol, operation"),
        ("[[functions]]\noutputs = []", "function 1: outputs = []; allowed: one value or more"),
        ("[[functions]]\noutputs = true", "function 1: outputs = True; allowed: a value of type int"),
        ("[[functions]]\nsymbol = 1", "function 1: symbol = 1; allowed: a value of type str"),
        ('[[functions]]\nin-place = "yes"', "in-place = 'yes'; allowed: a value of type bool"),
        ("[[functions]]\nsymbol = 'f{x}'", "symbol = 'f{x}': no option 'x'"),
        ("[[functions]]\nsymbol = 'f'", ": an object file needs --operation, --inputs and --isa"),
        (FILE.replace('"refuted"', '"wrong"'), "function 2: expect = 'wrong'; allowed: proved, refuted"),
        (FILE.replace('"xor"', '"sum"'), "function 1: operation 'sum' is unknown"),
    ],
)
def test_an_invalid_file_gets_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ForeignError) as error:
        _read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'functions.toml'}: ")
    assert words in str(error.value) and "\n" not in str(error.value)


def test_a_missing_file_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(ForeignError, match="No such file"):
        read(tmp_path / "gone.toml")


def test_a_caller_may_permit_further_keys(tmp_path: Path) -> None:
    path = tmp_path / "functions.toml"
    path.write_text(FILE + 'object = "a.o"\n')
    assert entries(path, parse(path), ("object",))[1].more == {"object": "a.o"}
