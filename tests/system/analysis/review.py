"""The reviewed properties: those that the analysis does not show, with a reason for each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.system.analysis.drivers import BY_NAME, HERE
from tests.system.analysis.frama_c import Alarm

REVIEWED = HERE / "reviewed.toml"


@dataclass(frozen=True, slots=True)
class Entry:
    """A reviewed property. text: the beginning of the property's text."""

    drivers: tuple[str, ...]
    function: str
    kind: str
    text: str
    reason: str

    def covers(self, alarm: Alarm) -> bool:
        same = (alarm.function, alarm.kind) == (self.function, self.kind)
        return same and alarm.text.startswith(self.text)


def entries(path: Path = REVIEWED) -> tuple[Entry, ...]:
    found = tuple(
        Entry(tuple(each["drivers"]), each["function"], each["kind"], each["text"], each["reason"].strip())
        for each in tomllib.loads(path.read_text()).get("property", [])
    )
    for entry in found:
        unknown = [name for name in entry.drivers if name not in BY_NAME]
        if unknown:
            raise ValueError(f"{path.name}: driver {unknown[0]}; allowed: {', '.join(BY_NAME)}")
        if not entry.reason:
            raise ValueError(f"{path.name}: {entry.function}: the reason is missing")
    return found


def objections(alarms: Mapping[str, Sequence[Alarm]], reviewed: Sequence[Entry]) -> list[str]:
    """Return a line for each alarm without an entry, and for each entry without its alarm.

    alarms: of each driver that has run.
    """
    found = []
    for name, raised in alarms.items():
        own = [entry for entry in reviewed if name in entry.drivers]
        found += [f"{name}: not shown: {a}" for a in raised if not any(e.covers(a) for e in own)]
        found += [
            f"{name}: reviewed, but shown or absent: {e.function}: {e.kind}: {e.text}"
            for e in own
            if not any(e.covers(a) for a in raised)
        ]
    return found
