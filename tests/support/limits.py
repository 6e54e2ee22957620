"""Time limits of tests that an environment variable makes longer (docs/tests.md)."""

from __future__ import annotations

import os

import pytest


def without_limit(*variables: str) -> list[pytest.MarkDecorator]:
    """Return the mark that removes pytest's time limit, if one of these variables is set."""
    return [pytest.mark.timeout(0)] if any(name in os.environ for name in variables) else []
