"""Options whose value is a list with commas, such as --lost 1,7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _join(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    return ",".join(values) if values else None


def list_option(*names: str, default: str | None = None, **settings: Any) -> Callable[[_Command], _Command]:
    """Return a decorator that adds the option. If it is given several times, its value is all lists together:
    `--lost 1 --lost 7` means `--lost 1,7`."""
    defaults = None if default is None else [default]
    return click.option(*names, multiple=True, default=defaults, callback=_join, **settings)
