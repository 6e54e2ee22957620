"""Check that the compiled Python library exists, for commands that compute with it."""

from __future__ import annotations

from importlib import import_module

from gfsmith.cli.console import fail
from gfsmith.emit.files import installed

_CHECKOUT = "which is not built: run `make python` in the checkout"
_WHEEL = "which this installation lacks: install a wheel that has it (docs/python.md)"


def need(command: str) -> None:
    """Exits with a one-line message if `gfsmith.codec` has no compiled module. command: the command that
    needs it, such as "gfsmith plan"."""
    try:
        import_module("gfsmith.codec")
    except ImportError as error:
        if error.name != "gfsmith.codec._native":
            raise
        fail(f"{command} needs the library for Python, {_WHEEL if installed() else _CHECKOUT}")
