"""Eva raises an alarm for each deliberate error in the C code, and the list of reviewed properties is exact.

make analyze runs all drivers; the tests run those that find the errors.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.mutation import Mutant, plant
from tests.system.analysis.drivers import BY_NAME
from tests.system.analysis.frama_c import Alarm, run
from tests.system.analysis.review import Entry, entries, objections
from tests.system.analysis.run import RESULTS

ALARM = Alarm("gfs_frame", "mem_access", "\\valid(buffer + n)")
ENTRY = Entry(("frame",), "gfs_frame", "mem_access", "\\valid(buffer", "known")

#: Driver, error, and the function in which Eva must miss a property.
FAULTS = (
    ("frame", Mutant("bytes < sizeof read", "bytes < 1"), "gfc_frame_read"),
    ("frame", Mutant("sizeof written + frame->bytes", "sizeof written + frame->bytes + 1"), "seal_bytes"),
    ("wire", Mutant("bytes != GFC_GRANT_BYTES", "bytes < GFC_RECEIPT_BYTES"), "get"),
    ("wire", Mutant("words >= GFSMITH_REASON_MAX || $rest", "$rest"), "get_reason"),
    ("wire", Mutant("words != bytes - FIXED", "words > bytes"), "get_reason"),
    ("tables", Mutant("entry + 16", "entry + 17"), "fill_half"),
    ("encode-scalar", Mutant("dst[i] + start", "dst[i] + start + 1", within="apply_cut"), "call_kernel"),
    ("arguments-scalar", Mutant("header + GFS_CACHE_LINE + $size", "header + $size"), "fill_bitplane"),
    ("tables", Mutant("n < 32", "n <= 32"), "fill_permxor"),
)


def name(fault: tuple[str, Mutant, str]) -> str:
    return f"{fault[0]}: {fault[1]}"


def functions(driver: str, sources: tuple[Path, ...]) -> set[str]:
    """Return the functions with a property that is neither shown nor reviewed."""
    own = [entry for entry in entries() if driver in entry.drivers]
    alarms = run(BY_NAME[driver], sources).alarms
    return {alarm.function for alarm in alarms if not any(entry.covers(alarm) for entry in own)}


#: One error of each function of the parsers, and one access beyond an array; the drivers of the others that
#: access one take half a minute each.
KEPT = [FAULTS[number] for number in (0, 2, 3, 5)]


@pytest.mark.parametrize("fault", sample(FAULTS, *KEPT), ids=name)
def test_eva_finds_the_error(fault: tuple[str, Mutant, str], tmp_path: Path) -> None:
    driver, mutant, place = fault
    sources = BY_NAME[driver].sources
    wrong, copy = plant(mutant, sources, tmp_path)
    assert place in functions(driver, tuple(copy if each == wrong else each for each in sources))


@pytest.mark.parametrize("driver", ["frame", "wire"])
def test_the_parsers_are_shown(driver: str) -> None:
    outcome = run(BY_NAME[driver])
    assert objections({driver: outcome.alarms}, entries()) == []
    recorded = json.loads(RESULTS.read_text())["drivers"][driver]
    assert sorted(outcome.functions) == recorded["reached"]
    assert outcome.shown == recorded["properties shown"]


def test_an_alarm_without_an_entry_is_an_objection() -> None:
    assert objections({"frame": [ALARM]}, []) == [
        "frame: not shown: gfs_frame: mem_access: \\valid(buffer + n)"
    ]
    assert objections({"frame": [ALARM]}, [ENTRY]) == []


def test_an_entry_without_its_alarm_is_an_objection() -> None:
    (found,) = objections({"frame": []}, [ENTRY])
    assert "shown or absent: gfs_frame" in found


def test_an_entry_for_another_driver_does_not_count() -> None:
    assert objections({"wire": [ALARM]}, [ENTRY])
