"""`gfsmith codes`."""

from __future__ import annotations

import click
from rich.table import Table

from gfsmith.codes import FAMILIES
from gfsmith.codes.family import Family
from gfsmith.console import out, print_json


def _record(family: Family) -> dict[str, str]:
    """One code family in `gfsmith codes --json`."""
    return {
        "code": family.name,
        "parity": family.formula,
        "source": family.source,
        "mds": family.mds_when,
    }


@click.command("codes")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def codes_(as_json: bool) -> None:
    """List the code families."""
    if as_json:
        print_json({"codes": [_record(family) for family in FAMILIES.values()]})
        return
    table = Table("code", "parity matrix", "source", "MDS")
    for family in FAMILIES.values():
        table.add_row(family.name, family.formula, family.source, family.mds_when)
    out.print(table)
