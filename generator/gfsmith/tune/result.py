"""What a study found, as data: the one schema of `gfsmith tune --json`, of docs/studies/ and of the report.

A study holds cells. A cell is one SPEC on one instruction set at one block length in one regime, and in it
every variant was timed against the same reference, the kernel that gfsmith makes without tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gfsmith.stats import Estimate

Interval = Estimate  #: a median and its confidence interval

FORMAT = 1


class StudyError(ValueError):
    """A file that is not a study: one line."""


class Regime(Enum):
    """Where the shards are before each call: all in the core's own caches, or none in any cache."""

    CACHED = "cached"
    MEMORY = "memory"


class Basis(Enum):
    """What variants were ranked by."""

    MEASURED = "measured"
    MODEL = "model"


class Phase(Enum):
    """SEARCH samples choose who enters the final; what is claimed rests on fresh FINAL samples alone."""

    SEARCH = "search"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Cell:
    """target: SPEC with its instruction set, `cauchy:10x4@gfni_avx512`. length: bytes of a shard.

    path: the runtime's name of what serves such calls, `cached`, `nearby`, `distant` or `bulk`
    (dispatch.h).
    """

    target: str
    shape: str
    isa: str
    regime: Regime
    path: str
    length: int
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One variant in one cell.

    symbols: its kernels, one a pass. parameters: technique, unroll, order, tables, prefetch, hint, store,
    outputs (per pass). speed: time of the reference / time of this, paired: > 1 is faster. rate: GB of
    source data a second. trials: pairs timed.
    """

    cell: Cell
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    reference: bool
    phase: Phase
    trials: int
    speed: Interval
    rate: Interval

    @property
    def symbol(self) -> str:
        return "+".join(self.symbols)


@dataclass(frozen=True, slots=True)
class Winner:
    """The outcome of a cell's final: the simplest of those whose intervals overlap the fastest one's.

    tied: symbols of all of these, the winner first. changed: whether it is not the reference.
    """

    cell: Cell
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    tied: tuple[str, ...]
    speed: Interval
    rate: Interval
    changed: bool

    @property
    def symbol(self) -> str:
        return "+".join(self.symbols)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the tuned file gets for one path of one target: a kernel that is nowhere slower than the
    reference. gains: block length -> speed in the final; empty if a model chose."""

    target: str
    path: str
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    gains: dict[int, Interval]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Cycles per 64 bytes of every shard that a model of a CPU (LLVM's name) gives for a kernel."""

    cpu: str
    target: str
    symbols: tuple[str, ...]
    parameters: dict[str, int | str]
    reference: bool
    cycles: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rank correlation between a model's cycles and the measured time of a cell's variants."""

    cpu: str
    cell: Cell
    variants: int
    rho: float


@dataclass(frozen=True, slots=True)
class Bound:
    """What the machine allows in a cell, in GB of source data a second; None where it is not known.

    memory: the fastest kernel that reads and writes the same bytes and only adds them up. ports: what the
    busiest execution port lets the reference's main loop do, as a model has it, at the clock measured.
    """

    cell: Cell
    memory: float | None
    ports: float | None


@dataclass(frozen=True, slots=True)
class Study:
    """microarchitecture: LLVM's -mcpu name of the machine that was measured, or of the one modelled.

    complete: false if it was interrupted; what is there is right. seconds: wall time it took to measure,
    generation and proofs included.
    """

    microarchitecture: str
    basis: Basis
    complete: bool
    confidence: float
    seconds: float
    measurements: tuple[Measurement, ...] = ()
    winners: tuple[Winner, ...] = ()
    choices: tuple[Choice, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    bounds: tuple[Bound, ...] = ()


class _File(BaseModel):
    """A study with its format, as JSON."""

    model_config = ConfigDict(extra="forbid")

    format: int
    study: Study


def to_json(study: Study) -> dict[str, Any]:
    """Plain data, the numbers with five digits."""
    data: dict[str, Any] = _rounded(_File(format=FORMAT, study=study).model_dump(mode="json"))
    return data


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.5g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list():
            return [_rounded(item) for item in value]
    return value


def read(path: Path) -> Study:
    """A study from a JSON file. Raises StudyError."""
    try:
        found = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(top level)"
        raise StudyError(f"{path}: not a study: {where}: {first['msg']}") from None
    if found.format != FORMAT:
        raise StudyError(f"{path}: format = {found.format}; allowed: {FORMAT}")
    return found.study
