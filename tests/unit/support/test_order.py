"""The order of tests: stretches of the same tests, each of which begins with long ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import order
from tests.support.paths import ROOT

TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Item:
    """The parts of a test that the order reads."""

    path: Path
    name: str


def items(*names: str) -> list[Item]:
    return [Item(TESTS / path, name) for path, name in (each.split("::") for each in names)]


def ordered(found: list[Item], processes: int) -> list[str]:
    return [each.name for each in order.longest_first(found, processes)]  # type: ignore[type-var, arg-type]


def test_each_stretch_begins_with_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "LONG", ("b.py::longest", "c.py", "a.py::x[1"))
    names = ("a.py::x[0]", "a.py::x[1]", "a.py::y", "b.py::longest", "b.py::z", "c.py::u", "c.py::v")
    assert ordered(items(*names), 2) == ["longest", "v", "x[0]", "u", "x[1]", "y", "z"]
    assert ordered(items(*names), 3) == ["longest", "x[1]", "u", "x[0]", "v", "y", "z"]


@pytest.mark.parametrize("processes", [1, 2, 3, 7, 40])
def test_every_test_is_run_once(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "LONG", ("a.py",))
    names = [*(f"a.py::a{n}" for n in range(9)), *(f"b.py::b{n}" for n in range(20))]
    assert sorted(ordered(items(*names), processes)) == sorted(each.split("::")[1] for each in names)


@pytest.mark.parametrize("long", order.LONG)
def test_the_long_tests_exist(long: str) -> None:
    path, _, name = long.partition("::")
    text = (TESTS / path).read_text()
    assert not name or re.search(rf"^def {re.escape(name.partition('[')[0])}", text, re.MULTILINE)
