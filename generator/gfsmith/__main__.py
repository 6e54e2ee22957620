"""The command `gfsmith`: the generator, or one line that says what it lacks."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from gfsmith.cli import main as command
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("gfsmith"):
            raise
        remedy = (
            "pip install 'gfsmith[generator]', and Debian's python3-peachpy (the one on PyPI does not work)"
        )
        print(f"gfsmith: the generator needs the Python package {error.name}: {remedy}", file=sys.stderr)
        sys.exit(2)
    command()


if __name__ == "__main__":
    main()
