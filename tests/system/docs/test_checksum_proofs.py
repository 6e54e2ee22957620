"""The table of docs/checksums.md of proved routines: the functions that the provers know, and the compilers
of the tests that prove their code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from gfsmith.ir.folding import WORDS
from gfsmith.prove.checksum.machine import functions
from tests.support import checksum_routines
from tests.support.paths import ROOT
from tests.system.runtime import (
    test_checksum_code,
    test_checksum_code_aarch64,
    test_checksum_code_power,
    test_checksum_code_riscv,
)

_ROW = re.compile(r"^\| [^|]+ \| (`[^|]+) \| (proved: |not proved)([^|]+) \|$", re.MULTILINE)
_SET = re.compile(r"`(\w+)` (\d+)")
#: The compilers by the set of a routine that they compile.
COMPILERS: dict[str, Iterable[str]] = {
    **dict.fromkeys(test_checksum_code.X86, ("gcc", *test_checksum_code.OTHERS)),
    **dict.fromkeys(("pmull", "crc"), test_checksum_code_aarch64.COMPILERS),
    "vpmsumd": test_checksum_code_power.COMPILERS,
    "zbc": test_checksum_code_riscv.COMPILERS,
}


def rows() -> dict[str, tuple[int, bool, str]]:
    """Return the functions of each set, whether their machine code is proved, and the compilers."""
    text = (ROOT / "docs" / "checksums.md").read_text()
    return {
        name: (int(count), proved == "proved: ", rest)
        for sets, proved, rest in _ROW.findall(text)
        for name, count in _SET.findall(sets)
    }


def test_the_table_has_every_function_and_compiler() -> None:
    found = Counter(parts[0].set for parts in functions(checksum_routines.ROUTINES).values())
    known = {name: row for name, row in rows().items() if row[1]}
    assert {name: count for name, (count, _, _) in known.items()} == found
    for name, (_, _, rest) in known.items():
        named = rest.replace("clang ", "clang-").replace("gcc 12", "gcc").split(", ")
        assert sorted(named) == sorted(COMPILERS[name])


def test_the_functions_of_words_are_not_proved() -> None:
    """A function for each order of bits has their routines."""
    orders = {routine.order for routine in checksum_routines.ROUTINES if routine.set == WORDS}
    assert [name for name, (_, proved, _) in rows().items() if not proved] == [WORDS]
    assert rows()[WORDS][0] == len(orders)
