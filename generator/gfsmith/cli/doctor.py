"""`gfsmith doctor`: the requirements that this machine does not meet."""

from __future__ import annotations

from importlib.util import find_spec

import click

from gfsmith.build.requirements import Level, Requirement, present, remedy, requirements
from gfsmith.cli.console import print_json
from gfsmith.cli.missing import install_hint
from gfsmith.emit.files import installed
from gfsmith.kernel.isa import BY_NAME

ENCODER = "peachpy"  #: the module that the Python of this command needs, too


def _importable(needed: Requirement) -> bool:
    """Return False for the encoder of x86 instructions if only the system's Python has it."""
    return needed.name != ENCODER or find_spec(ENCODER) is not None


def _command(needed: Requirement) -> str:
    return install_hint(ENCODER) if present(needed) and not _importable(needed) else remedy(needed)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """List missing requirements of this machine and the command that installs each.

    A checkout has those of its tests as well, an installation those of the commands."""
    rows = [
        {
            "level": needed.level.value,
            "name": needed.name,
            "purpose": needed.purpose,
            "present": present(needed) and _importable(needed),
            "command": _command(needed),
        }
        for needed in requirements(Level.PACKAGES if installed() else Level.TEST_ALL)
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
