"""Entry point of the command `gfsmith`. It prints one line if a Python package of the generator is
missing."""

from __future__ import annotations

import gc
import sys

from gfsmith.cli.missing import install_hint

#: Numbers of new objects between two collections of garbage, by generation. A proof makes many objects and
#: few cycles; Python's own numbers, 700 and 10, cost a fifth of its time.
COLLECT_AFTER = (50_000, 20, 20)


def main() -> None:
    gc.set_threshold(*COLLECT_AFTER)
    try:
        from gfsmith.cli.main import main as command

        command()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("gfsmith"):
            raise
        package = error.name.split(".")[0]
        print(
            f"gfsmith: the command needs the Python package {package}: {install_hint(package)}",
            file=sys.stderr,
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
