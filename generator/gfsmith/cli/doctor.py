"""`gfsmith doctor`: the requirements that this machine does not meet."""

from __future__ import annotations

import click

from gfsmith.build.requirements import Level, present, remedy, requirements
from gfsmith.cli.console import print_json
from gfsmith.kernel.isa import BY_NAME


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """List missing requirements of this machine and the command that installs each."""
    rows = [
        {
            "level": needed.level.value,
            "name": needed.name,
            "purpose": needed.purpose,
            "present": present(needed),
            "command": remedy(needed),
        }
        for needed in requirements(Level.TEST_ALL)
    ]
    lacking = [row for row in rows if not row["present"]]
    if as_json:
        print_json({"requirements": rows, "instruction_sets": list(BY_NAME)})
    for row in lacking if not as_json else []:
        print(f"missing for {row['level']}: {row['name']} ({row['purpose']}): {row['command']}")
    if not lacking and not as_json:
        print(f"all {len(rows)} requirements are met")
    if lacking:
        raise SystemExit(1)
