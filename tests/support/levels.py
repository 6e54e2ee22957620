"""`pytest --level`: the tests of `make test`, `make test-all` and `make test-long`, and why others are left
out.

Without the option all tests run whose needs are met; the others are skipped, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support import needs, order

LEVELS = {
    "test": "tests that need this CPU, a C compiler and Python",
    "rest": "all others without repetitions",
    "long": "the same checks with further parameters",
}
#: Level -> the command that runs it, which the summary names; for the other level it names the needs.
_COMMANDS = {"test": "make test", "long": "make test-long"}
_PARAM = type(pytest.param())
_LEFT = pytest.StashKey[Counter[str]]()


def first(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Parameters of which `make test` runs the first `count`; the others are a campaign. Values may be
    parameters with marks, as from `needs.params`.
    """
    params = list(values)
    return params[:count] + [marked(value, pytest.mark.campaign) for value in params[count:]]


def sample(values: Iterable[Any], *kept: Any) -> list[Any]:
    """Parameters of which `make test` and `make test-all` run those in `kept`, `make test-long` the others.
    A parameter of several values is kept if its first value is in `kept`.
    """
    params = list(values)
    firsts = [value.values[0] if isinstance(value, _PARAM) else value for value in params]
    assert all(value in firsts for value in kept), f"{kept}: no parameters; there are {firsts}"
    return [
        value if name in kept else marked(value, pytest.mark.long)
        for value, name in zip(params, firsts, strict=True)
    ]


def share(values: Iterable[Any], count: int) -> list[Any]:
    """Parameters of which `make test` and `make test-all` run each `count`th, `make test-long` the others."""
    return [
        value if number % count == 0 else marked(value, pytest.mark.long)
        for number, value in enumerate(values)
    ]


def marked(value: Any, mark: pytest.MarkDecorator) -> Any:
    """Return a parameter with one more mark."""
    param = value if isinstance(value, _PARAM) else pytest.param(value)
    return pytest.param(*param.values, marks=[*param.marks, mark], id=param.id)


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "; ".join(f"{name}: {meaning}" for name, meaning in LEVELS.items())
    parser.addoption("--level", choices=tuple(LEVELS), help=f"run a part of the tests. {what}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*names): run by make test-all; tests/support/needs.py")
    config.addinivalue_line("markers", "campaign: takes long; run by make test-all")
    config.addinivalue_line("markers", "long: repeats a check with other parameters; run by make test-long")
    config.stash[_LEFT] = Counter()
    if config.getoption("level") in ("rest", "long") and (lacking := needs.missing(needs.NEEDS)):
        raise pytest.UsageError(f"missing: {', '.join(lacking)}; tools/setup.sh test-all installs them")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip folders and modules that cannot be imported because a package is missing."""
    lacking = needs.missing(needs.PATHS.get(_below(collection_path), ()))
    if lacking:
        config.stash[_LEFT][f"{_below(collection_path)} ({', '.join(lacking)} not installed)"] += 1
    return True if lacking else None


def _below(path: Path) -> str:
    below = needs.below_tests(path)
    return "" if below is None else below.as_posix()


def _level(item: pytest.Item, reasons: list[str]) -> str:
    return "long" if item.get_closest_marker("long") else "rest" if reasons else "test"


def _reasons(item: pytest.Item) -> list[str]:
    """Return the reasons why a test is not part of `make test`: its needs, or "campaign"."""
    marked = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    unknown = [name for name in marked if name not in needs.NEEDS]
    assert not unknown, f"{item.nodeid}: needs {unknown}; allowed: {', '.join(needs.NEEDS)}"
    campaign = ["campaign"] if item.get_closest_marker("campaign") else []
    return sorted({*needs.of_path(item.path), *marked}) + campaign


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    level, left = config.getoption("level"), config.stash[_LEFT]
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        reasons = _reasons(item)
        if level not in (None, own := _level(item, reasons)):
            left[_COMMANDS.get(own) or ", ".join(reasons)] += 1
            others.append(item)
            continue
        if lacking := needs.missing(name for name in reasons if name in needs.NEEDS):
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(lacking)}: tools/setup.sh test-all"))
        chosen.append(item)
    if others:
        config.hook.pytest_deselected(items=others)
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = order.longest_first(chosen, processes) if processes > 1 else chosen


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the list of tests that a worker of pytest-xdist left out to the main session."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = dict(session.config.stash[_LEFT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """All workers collect the same tests, so the report of the last one is complete."""
    node.config.stash[_LEFT] = Counter(getattr(node, "workeroutput", {}).get("left", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left = config.stash[_LEFT]
    if left:
        terminalreporter.section("left out")
    for reason, count in left.most_common():
        terminalreporter.write_line(f"{count:6} {reason}")
