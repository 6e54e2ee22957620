"""Exports that several tests compile."""

from __future__ import annotations

import pytest

from tests.system.export.support import Export, amalgamation


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """gfsmith.c"""
    return amalgamation("gfs", tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """acme.c"""
    return amalgamation("acme", tmp_path_factory.mktemp("acme"))
