"""tuned/<microarchitecture>.toml: the kernels that a study chose, for review and commit.

format = 1
microarchitecture = "znver4"     # LLVM's name; dispatch identifies it by CPUID
basis = "measured"               # or "model"

[[kernel]]
spec = "dot:10x4@gfni_avx512"    # as on the command line
path = "cached"                  # of the runtime: cached, second, nearby, distant, bulk
unroll = 2                       # the keys of a [[kernels]] table of gfsmith.toml
gains = [{ length = 1024, speed = 1.16, low = 1.14, high = 1.19 }]

gfsmith comes with files for some CPUs, which `tuned` in gfsmith.toml names without a folder: "znver4".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gfsmith.build import config
from gfsmith.build import target as targets
from gfsmith.build.config import ConfigError
from gfsmith.build.target import TargetError
from gfsmith.emit.files import share
from gfsmith.emit.lists import TunedKernel
from gfsmith.kernel import microarch
from gfsmith.kernel.isa import BY_NAME, ISAS
from gfsmith.kernel.microarch import Microarch, UnknownMicroarchitecture
from gfsmith.kernel.spec import KernelSpec, SpecError

FORMAT = 1

#: Keys of a [[kernels]] table that a study may choose, in their order in the file.
KEYS = ("technique", "circuit", "width", "unroll", "order", "placement", "prefetch", "hint", "store")


class TunedError(ConfigError):
    """An unusable tuned file. The message is one line with file and key."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Gain(_Strict):
    """The gain at one length. speed: time of the kernel without tuning / time of this one, with its
    interval."""

    length: Annotated[int, Field(ge=1)]
    speed: float
    low: float
    high: float


class Entry(_Strict):
    """One [[kernel]] table. The keys of KEYS are checked when kernels are generated."""

    spec: str
    path: Literal["cached", "second", "nearby", "distant", "bulk"]
    technique: str = "auto"
    circuit: str = "auto"
    width: int | Literal["auto"] = "auto"
    unroll: int | Literal["auto"] = "auto"
    order: str = "auto"
    placement: str = "registers"
    prefetch: int = 0
    hint: str = "t0"
    store: str = "temporal"
    gains: list[Gain] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that the file sets; the others have the defaults of a [[kernels]] table."""
        return self.model_dump(include=set(KEYS), exclude_unset=True)


class Tuned(_Strict):
    """The whole file."""

    format: int
    microarchitecture: str
    basis: Literal["measured", "model"]
    kernel: list[Entry] = []


@dataclass(frozen=True, slots=True)
class Additions:
    """The additions of tuned files to a build: missing kernels, and the kernel for each CPU and path."""

    specs: tuple[KernelSpec, ...] = ()
    rows: tuple[TunedKernel, ...] = ()


def read(path: Path) -> Tuned:
    """Return the content of a tuned file. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TunedError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TunedError(f"{path}: not UTF-8 text") from None
    data = config.read_toml(text, str(path))
    if data.get("format") != FORMAT:
        found = data.get("format", "missing")
        raise TunedError(
            f"{path}: format = {found}; allowed: {FORMAT}; create the file again with `gfsmith tune`"
        )
    try:
        return Tuned.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = "no such key" if first["type"] == "extra_forbidden" else first["msg"]
        raise TunedError(f"{path}: {where}: {message}") from None


def _kernels(entry: Entry, prefix: str) -> tuple[KernelSpec, ...]:
    target = targets.parse(entry.spec, ISAS[0], targets.UNSEARCHED)
    return targets.kernels(target, prefix, entry.parameters)


def shipped(name: str) -> bool:
    """Return True if an element of `tuned` in gfsmith.toml names a file that gfsmith comes with."""
    return not name.endswith(".toml")


def place(name: str, folder: Path) -> Path:
    """Return the path of a tuned file: that of a CPU, or a path relative to `folder`. Raises TunedError."""
    if not shipped(name):
        return folder / name
    path = share("tuned") / f"{name}.toml"
    if not path.is_file():
        have = ", ".join(sorted(file.stem for file in path.parent.glob("*.toml")))
        raise TunedError(f"generator.tuned: '{name}'; allowed: {have}, or the path of a .toml file")
    return path


def _rows(
    path: Path, specs: Sequence[KernelSpec], prefix: str, whole: bool
) -> Iterator[tuple[Microarch, str, KernelSpec]]:
    """Yield CPU, path and kernel of the entries of one file for the instruction sets of the build. An entry
    for a shape that the build lacks is an error if `whole`, else left out. Raises TunedError."""
    file = read(path)
    try:
        cpu = microarch.find(file.microarchitecture)
    except UnknownMicroarchitecture as error:
        raise TunedError(f"{path}: microarchitecture: {error}") from None
    built = {spec.isa.name for spec in specs}
    for number, entry in enumerate(file.kernel):
        where = f"{path}: kernel[{number}] ({entry.spec})"
        try:
            kernels = _kernels(entry, prefix)
        except (TargetError, SpecError) as error:
            raise TunedError(f"{where}: {error}") from None
        if kernels[0].isa.name not in built:
            continue
        lacking = [spec for spec in kernels if targets.best(spec, "cached", specs) is None]
        if lacking and whole:
            raise TunedError(
                f"{where}: the build has no kernel for this shape on {lacking[0].isa.name}, which other "
                "CPUs and paths need; add it to [[kernels]] of gfsmith.toml"
            )
        yield from ((cpu, entry.path, spec) for spec in kernels if not lacking)


def load(files: Sequence[str], folder: Path, specs: Sequence[KernelSpec], prefix: str) -> Additions:
    """Return the additions of files (`place`) to a build of `specs`. A build without some shapes does without
    the entries of gfsmith's own files for them. Raises TunedError."""
    present = {spec.symbol for spec in specs}
    rows: dict[tuple[Microarch, str, str], TunedKernel] = {}
    for name in files:
        for cpu, path, spec in _rows(place(name, folder), specs, prefix, not shipped(name)):
            row = TunedKernel(cpu, path, spec, spec.symbol not in present)
            rows.setdefault((cpu, path, spec.symbol), row)
    added = {row.spec.symbol: row.spec for row in rows.values() if row.added}
    rank = list(BY_NAME)
    ordered = sorted(added.values(), key=lambda s: rank.index(s.isa.name))
    return Additions(tuple(ordered), tuple(rows.values()))
