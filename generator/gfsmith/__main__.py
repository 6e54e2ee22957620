"""Entry point of the command `gfsmith`. It prints one line if a Python package of the generator is
missing."""

from __future__ import annotations

import sys


def _remedy(package: str) -> str:
    if package == "peachpy":
        return "install Debian's python3-peachpy, or build it as docs/python.md describes"
    return "pip install 'WHEEL[generator]', where WHEEL is gfsmith's wheel file (docs/python.md)"


def main() -> None:
    try:
        from gfsmith.cli.main import main as command

        command()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("gfsmith"):
            raise
        package = error.name.split(".")[0]
        print(f"gfsmith: the command needs the Python package {package}: {_remedy(package)}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
