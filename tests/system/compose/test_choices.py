"""Hybrid runs: the library reads choices, and runs each length in the chosen way. The choices are given, so
no test depends on a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.compose.build import HERE
from bench.compose.choices import Choice
from bench.compose.fleet import Fleet
from bench.compose.plan import ENCODE, REPAIR, Cell
from bench.run import RunError
from tests.support.mutation import Mutant
from tests.system.compose.support import Library, with_error

DRIVER = sorted((HERE / "driver").glob("*.c"))
RANKS = 6
#: PPR is composed from 100 to 1000 bytes, and the encoding of RS never.
CHOICES = (
    *(Choice("ppr", REPAIR, 4, 2, 1, 0), Choice("ppr", REPAIR, 3, 1, 1, 0)),
    *(Choice("ppr", REPAIR, 3, 2, 100, 1000), Choice("rs", ENCODE, 3, 2, 1, 0)),
)


@pytest.fixture(scope="module")
def fleet(plain: Library) -> Iterator[Fleet]:
    with Fleet(plain.program("driver", *DRIVER), RANKS, "tcp") as found:
        yield found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("choices") / "choices"
    found.write_text("# words\n\n" + "".join(one.line + "\n" for one in CHOICES))
    return found


def _incoherent(fleet: Fleet, cell: Cell, file: Path | None) -> bool:
    """Return whether all ranks ran a hybrid operation incoherently; the ranks compare the bytes."""
    fleet.open(cell)
    fleet.choices(file)
    fleet.run("hybrid", 2)
    found = {one["incoherent"] for one in fleet.counts().values()}
    fleet.close()
    assert len(found) == 1
    return bool(found.pop())


@pytest.mark.parametrize(("length", "incoherent"), [(99, True), (100, False), (1000, False), (1001, True)])
def test_the_limits_of_a_choice(fleet: Fleet, file: Path, length: int, incoherent: bool) -> None:
    assert _incoherent(fleet, Cell("ppr", REPAIR, 3, 2, length), file) == incoherent
    assert not _incoherent(fleet, Cell("ppr", REPAIR, 3, 2, length), None)


@pytest.mark.parametrize(
    ("scheme", "task", "incoherent"),
    [("rs", ENCODE, True), ("rs", REPAIR, False), ("triec", ENCODE, False), ("ecpipe", REPAIR, False)],
)
def test_other_graphs_have_their_own_choice(
    fleet: Fleet, file: Path, scheme: str, task: str, incoherent: bool
) -> None:
    assert _incoherent(fleet, Cell(scheme, task, 3, 2, 5000), file) == incoherent


def test_a_choice_that_is_ignored_is_noticed(plain: Library, tmp_path: Path, file: Path) -> None:
    mutant = Mutant("length >= one->least && length <= one->most", "true")
    driver = with_error(plain, mutant, tmp_path, "driver", *DRIVER)
    with Fleet(driver, RANKS, "tcp") as wrong:
        assert not _incoherent(wrong, Cell("ppr", REPAIR, 3, 2, 99), file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory"),
        ("FOLDER", "Is a directory"),
        ("ppr repair 3 2 0\n", "line 1: must be SCHEME encode|repair K M LEAST MOST"),
        ("# words\nppr mend 3 2 0 9\n", "line 2: must be SCHEME"),
        ("ppr repair 3 2 0 9 9\n", "line 1: must be SCHEME"),
        (f"#{'-' * 254}ppr repair 3 2 0 9\nppr mend 3 2 0 9\n", "line 2: must be SCHEME"),
        ("ppr repair 3 2 0 9\nppr repair 3 2 5 9\n", "line 2: the second line of this graph"),
    ],
)
def test_invalid_files(plain: Library, tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "choices"
    if text == "FOLDER":
        file.mkdir()
    elif text is not None:
        file.write_text(text)
    with Fleet(plain.program("driver", *DRIVER), RANKS, "tcp") as some:
        some.open(Cell("ppr", REPAIR, 3, 2, 10))
        with pytest.raises(RunError) as error:
            some.choices(file)
    assert message in str(error.value)
