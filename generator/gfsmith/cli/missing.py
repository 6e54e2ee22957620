"""Hints for Python packages that the generator needs. Imports no such package."""

from __future__ import annotations


def install_hint(module: str) -> str:
    """Return how to get a module for the Python that runs the generator."""
    if module == "peachpy":
        return "install Debian's python3-peachpy, or build it as docs/python.md describes"
    return "pip install 'WHEEL[generator]', where WHEEL is gfsmith's wheel file (docs/python.md)"
