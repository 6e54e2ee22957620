"""`gfsmith plan`: what a loss costs to repair, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gfsmith import codes, config
from gfsmith.codes import shape
from gfsmith.codes.lrc import Lrc
from gfsmith.complete import fixed
from gfsmith.console import fail, print_json
from gfsmith.field import Field
from gfsmith.isa import BY_NAME
from gfsmith.matrix import Matrix
from gfsmith.plan.kernels import Choice, Pass
from gfsmith.plan.planner import Plan, PlanError, plan

CONFIGURATION = Path("gfsmith.toml")


@dataclass(frozen=True, slots=True)
class _Code:
    """A code and shape as asked for. limit: what it repairs, in words."""

    name: str
    k: int
    parity: Matrix
    mds: bool
    limit: str

    @property
    def shards(self) -> int:
        return self.k + len(self.parity)


def _code(name: str, k: int, m: int | None, local: int | None, r: int | None) -> _Code:
    """Raises CodeError for what is not a code."""
    k, m, local = shape.complete(name, k, m, local, r)
    parity = shape.matrix_of(name, k, m, local)
    if local is None:
        return _Code(f"{name}({k}+{m})", k, parity, True, f"any {m} losses can be repaired")
    lrc = Lrc(k, local, m - local)
    return _Code(f"{lrc}", k, parity, False, lrc.guarantee)


def _shards(option: str, text: str, code: _Code) -> tuple[int, ...]:
    """Indices out of "1,7". Ends with one line for what is not a list of shards."""
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
    """For every instruction set asked for, or configured, the kernels that run the plan; none of them if no
    configuration was named and there is none here."""
    for isa in isas:
        if isa not in BY_NAME:
            fail(f"--isa: '{isa}' is not an instruction set; allowed: {', '.join(BY_NAME)}")
    if not found.targets or not found.reads or not (explicit or isas or path.exists()):
        return {}
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
        "least": found.least,
        "matrix": found.matrix,
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
    least = "no repair reads fewer" if found.least else "fewer may do: the search was cut short"
    print(f"{code.name}: data 0..{code.k - 1}, parities {code.k}..{code.shards - 1}; lost {_listed(lost)}")
    print(f"reads    {_listed(found.reads)} ({len(found.reads)} shards; {least})")
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
    "--code", required=True, help="A code of `gfsmith codes`, or lrc.", shell_complete=fixed(shape.NAMES)
)
@click.option("--k", required=True, type=int, help="Data shards.")
@click.option("--m", type=int, help="Parities.")
@click.option("--l", "local", type=int, help="lrc: groups, each with a local parity.")
@click.option("--r", type=int, help="lrc: global parities.")
@click.option("--lost", required=True, help="Lost shards, such as 1,7; data come first, then parities.")
@click.option("--wanted", help="Those of them to rebuild; default: all.")
@click.option(
    "-c", "--config", "path", type=click.Path(path_type=Path), help="Kernels: this configuration file."
)
@click.option(
    "--isa",
    "isas",
    multiple=True,
    help="Kernels: only for these instruction sets.",
    shell_complete=fixed(BY_NAME),
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def plan_(
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
    """Show how lost shards are rebuilt: which shards are read, fewest first, the matrix, and the kernels.

    It is what gfsmith_reconstruct does; the kernels are those for shards in cache, on CPUs that the build has
    no tuned ones for."""
    chosen = _code(code, k, m, local, r)
    missing = _shards("--lost", lost, chosen)
    targets = None if wanted is None else _shards("--wanted", wanted, chosen)
    for shard in targets or ():
        if shard not in missing:
            fail(f"--wanted: shard {shard} is not lost; allowed: {_listed(missing)}")
    try:
        found = plan(Field(codes.POLYNOMIAL), chosen.parity, missing, targets, mds=chosen.mds)
    except PlanError as error:
        fail(f"{error}; {chosen.limit}")
    kernels = _kernels(found, isas, path or CONFIGURATION, path is not None)
    if as_json:
        print_json(_record(chosen, missing, found, kernels))
    else:
        _show(chosen, missing, found, kernels)
