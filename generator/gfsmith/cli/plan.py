"""`gfsmith plan`: the shards that a repair reads and the matrix that it applies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gfsmith.build.places import CONFIGURATION
from gfsmith.cli import library
from gfsmith.cli.completion import fixed
from gfsmith.cli.console import InputPath, fail, print_json
from gfsmith.cli.lists import list_option
from gfsmith.codes import names, shape
from gfsmith.codes.lrc import Lrc
from gfsmith.kernel.isa import BY_NAME
from gfsmith.repair import planner
from gfsmith.repair.planner import PlanError
from gfsmith.words import counted

if TYPE_CHECKING:
    from gfsmith.codec import Plan
    from gfsmith.repair.kernels import Pass


@dataclass(frozen=True, slots=True)
class _Code:
    """The requested code and shape. local: groups of lrc, otherwise None."""

    family: str
    k: int
    m: int
    local: int | None

    @property
    def name(self) -> str:
        return shape.title(self.family, self.k, self.m, self.local)

    @property
    def limit(self) -> str:
        """The losses that the code repairs, in words."""
        if self.local is None:
            return f"any {self.m} losses can be repaired"
        return Lrc(self.k, self.local, self.m - self.local).guarantee

    @property
    def shards(self) -> int:
        return self.k + self.m


def _code(name: str, k: int, m: int | None, local: int | None, r: int | None) -> _Code:
    """Return the requested code. Raises CodeError for an unknown code or an invalid shape."""
    k, m, local = shape.complete(name, k, m, local, r)
    shape.matrix_of(name, k, m, local)
    return _Code(name, k, m, local)


def _shards(option: str, text: str, code: _Code) -> tuple[int, ...]:
    """Return the sorted indices in a text such as "1,7". Exits with a one-line message if one is invalid."""
    found = []
    for part in text.split(","):
        if not part.strip().isdecimal() or int(part) >= code.shards:
            last = code.shards - 1
            fail(
                f"{option}: '{part.strip()}' is not a shard of {code.name}; allowed: 0..{code.k - 1} (data), "
                f"{code.k}..{last} (parities)"
            )
        found.append(int(part))
    return tuple(sorted(set(found)))


def _kernels(
    found: Plan, isas: tuple[str, ...], path: Path, explicit: bool
) -> dict[str, tuple[Pass, ...] | None]:
    """Return the kernels that run the plan, for every instruction set requested or configured.

    The result is empty if no configuration was named and the default file does not exist."""
    for isa in isas:
        if isa not in BY_NAME:
            fail(f"--isa: '{isa}' is not an instruction set; allowed: {', '.join(BY_NAME)}")
    if isas and not explicit and not path.exists():
        fail(
            f"--isa lists kernels of a configuration, and {path} does not exist; name one with -c, "
            "or omit --isa"
        )
    if not found.targets or not found.reads or not (explicit or path.exists()):
        return {}
    from gfsmith import codes
    from gfsmith.build import config
    from gfsmith.repair.kernels import Choice

    specs = config.specs(config.load(path), str(path))
    configured = list(dict.fromkeys(spec.isa.name for spec in specs))
    for isa in isas:
        if isa not in configured:
            fail(f"--isa: {path} has no kernels for {isa}; allowed: {', '.join(configured)}")
    return {
        isa: Choice(specs, isa).passes(codes.POLYNOMIAL, found.matrix) for isa in isas or tuple(configured)
    }


def _record(
    code: _Code, lost: tuple[int, ...], found: Plan, kernels: dict[str, tuple[Pass, ...] | None]
) -> dict[str, Any]:
    return {
        "code": code.name,
        "shards": code.shards,
        "lost": lost,
        "rebuilds": found.targets,
        "reads": found.reads,
        "least": found.is_least,
        "matrix": [list(row) for row in found.matrix],
        "kernels": {
            isa: None if passes is None else [{"first": p.first, "symbol": p.symbol} for p in passes]
            for isa, passes in kernels.items()
        },
    }


def _listed(shards: Iterable[int]) -> str:
    return ", ".join(map(str, shards)) or "nothing"


def _show(
    code: _Code, lost: tuple[int, ...], found: Plan, kernels: dict[str, tuple[Pass, ...] | None]
) -> None:
    least = "no repair reads fewer" if found.is_least else "the search was cut short: fewer may suffice"
    print(f"{code.name}: data 0..{code.k - 1}, parities {code.k}..{code.shards - 1}; lost {_listed(lost)}")
    print(f"reads    {_listed(found.reads)} ({counted(len(found.reads), 'shard')}; {least})")
    print(f"rebuilds {_listed(found.targets)}")
    if found.targets and found.reads:
        print("matrix   " + " ".join(f"{n:>3}" for n in found.reads))
    for target, row in zip(found.targets, found.matrix, strict=True):
        print(f"{target:>8} " + " ".join(f" {e:02x}" for e in row))
    for isa, passes in kernels.items():
        symbols = "no kernels" if passes is None else ", ".join(p.symbol for p in passes)
        print(f"kernels  {isa}: {symbols}")


@click.command("plan")
@click.option(
    "--code", required=True, help="A code of `gfsmith codes`, or lrc.", shell_complete=fixed(names.NAMES)
)
@click.option("--k", required=True, type=int, help="Data shards.")
@click.option("--m", type=int, help="Parity shards.")
@click.option("--l", "local", type=int, help="lrc: groups, each with a local parity.")
@click.option("--r", type=int, help="lrc: global parities.")
@list_option(
    "--lost",
    required=True,
    help="Lost shards, such as 1,7; data shards have the numbers 0..k-1, parities follow.",
)
@list_option("--wanted", help="Lost shards to rebuild; default: all.")
@click.option(
    "-c",
    "--config",
    "path",
    type=InputPath(path_type=Path),
    help="Configuration file whose kernels are listed.",
)
@click.option(
    "--isa",
    "isas",
    multiple=True,
    help="List kernels only for this instruction set; repeatable.",
    shell_complete=fixed(BY_NAME),
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(
    code: str,
    k: int,
    m: int | None,
    local: int | None,
    r: int | None,
    lost: str,
    wanted: str | None,
    path: Path | None,
    isas: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show how lost shards are rebuilt: the shards to read (as few as possible), the matrix, and the kernels.

    gfsmith_reconstruct uses the same plan. The kernels are those for shards in cache on a CPU for which the
    build has no tuned kernels."""
    chosen = _code(code, k, m, local, r)
    missing = _shards("--lost", lost, chosen)
    targets = None if wanted is None else _shards("--wanted", wanted, chosen)
    for shard in targets or ():
        if shard not in missing:
            fail(f"--wanted: shard {shard} is not lost; allowed: {_listed(missing)}")
    library.need("gfsmith plan")
    codec = planner.codec(chosen.family, chosen.k, chosen.m, chosen.local)
    try:
        found = planner.plan(codec, missing, targets)
    except PlanError as error:
        fail(f"{error}; {chosen.limit}")
    kernels = _kernels(found, isas, path or CONFIGURATION, path is not None)
    if as_json:
        print_json(_record(chosen, missing, found, kernels))
    else:
        _show(chosen, missing, found, kernels)
