"""Fixtures: the library as tests/runtime builds it."""

from __future__ import annotations

from ..runtime.conftest import build, compiler

__all__ = ["build", "compiler"]
