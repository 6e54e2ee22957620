"""Entry point of the command `gfsmith`. It prints one line if a Python package of the generator is
missing."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from gfsmith.cli.main import main as command

        command()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("gfsmith"):
            raise
        remedy = (
            "pip install 'gfsmith[generator]', and Debian's python3-peachpy (the one on PyPI does not work)"
        )
        print(f"gfsmith: the generator needs the Python package {error.name}: {remedy}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
