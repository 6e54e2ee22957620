"""The drivers of the analysis: for each one its sources, and the bounds of its result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

HERE = Path(__file__).resolve().parent
CORE = ROOT / "runtime/core/src"
COMPOSE = ROOT / "runtime/compose/src"

_CODEC = (
    *(
        "codec",
        "codes",
        "lrc",
        "syndrome",
        "map",
        "baked",
        "pipelined",
        "dispatch",
        "tuned",
        "tables",
        "field",
        "adders",
    ),
    *(
        "apply",
        "encode",
        "update",
        "repairs",
        "reconstruct",
        "plan",
        "planner",
        "recode",
        "grs",
        "checks",
        "search",
        "packets",
    ),
)


@dataclass(frozen=True, slots=True)
class Driver:
    """A program whose paths Eva follows.

    sources: the analysed files. models: files that stand for the rest. isa: the instruction set of the build,
    "" if the sources contain no kernels. bounds: the inputs for which the driver shows its result. fails: can
    malloc fail? strings: analyse the code of memcmp and strcmp; otherwise they return any number.
    """

    name: str
    sources: tuple[Path, ...]
    bounds: str
    models: tuple[str, ...] = ()
    isa: str = ""
    fails: bool = True
    strings: bool = False

    @property
    def program(self) -> Path:
        """Return the driver's own source; instruction sets share one."""
        part = "core" if self.sources[0].is_relative_to(CORE) else "compose"
        return HERE / "drivers" / part / f"{self.name.partition('-')[0]}.c"


def _core(*names: str) -> tuple[Path, ...]:
    return tuple(CORE / f"{name}.c" for name in names)


def _compose(*names: str) -> tuple[Path, ...]:
    return tuple(COMPOSE / f"{name}.c" for name in names)


def _codec(name: str, isa: str, bounds: str, *, exact: bool = False) -> Driver:
    return Driver(f"{name}-{isa}", _core(*_CODEC), bounds, ("kernels.c",), isa, not exact, exact)


_ENCODE = (
    "any matrix and data; 1+1, 4+3 and 3+9 shards; 0, 1, 100, 1024, 1025, 4096 and 16385 bytes; each hint; "
    "malloc may fail"
)

DRIVERS = (
    Driver("frame", _compose("frame", "seal"), "any bytes; frames of 0 to 80 and 4128 bytes", ("compose.c",)),
    Driver(
        "wire",
        _compose("wire"),
        "any bytes; control messages of 0 to 69, 100 and 278 to 281 bytes, slices of 0 to 64 bytes",
        ("compose.c",),
    ),
    Driver(
        "handshake",
        _compose("handshake"),
        "any bytes, 0 to 56 of them; any state of both sides",
        ("compose.c",),
    ),
    Driver(
        "tables",
        _core("field", "tables"),
        "4 fields (0x11b, 0x11d, 0x187, 0x1f5); any elements and coefficients; each format",
    ),
    _codec("encode", "scalar", _ENCODE),
    _codec(
        "arguments",
        "scalar",
        "2+3 shards of 0 and 65 bytes; any pointer NULL; any index, number of shards and hint; "
        "malloc may fail",
    ),
    _codec(
        "repair",
        "scalar",
        "3 matrices with 2+2 and 2+3 shards; every loss; any data of 100 bytes",
        exact=True,
    ),
)
BY_NAME = {driver.name: driver for driver in DRIVERS}
