"""Fixtures: the program as `make shards` builds it, one with sanitizers, one with a planned fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.folders import built
from tests.system.apps.shards.support import FLAGS, NATIVE, Tool, build_tool, call, content, make_set

SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="session")
def tool() -> Tool:
    return Tool(built("shards") / "gfsmith-shards", {})


@pytest.fixture(scope="session")
def sanitized(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """Built with AddressSanitizer and UBSan: an error ends the program with status 99."""
    program = tmp_path_factory.mktemp("sanitized") / "gfsmith-shards"
    build_tool(program, *SANITIZE)
    return Tool(program, {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"})


@pytest.fixture(scope="session")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of native/fault.c."""
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    call("cc", *FLAGS[:2], *FLAGS[3:], "-shared", "-fPIC", "-o", library, NATIVE / "fault.c", "-ldl")
    return library


@pytest.fixture(scope="session")
def faulty(tool: Tool, preload: Path) -> Callable[[str], Tool]:
    """faulty("pwrite:3:ENOSPC"): the program whose third pwrite fails. See native/fault.c."""
    return lambda plan: Tool(tool.program, {"LD_PRELOAD": str(preload), "SHARDS_FAULT": plan})


@pytest.fixture
def shards(tool: Tool, tmp_path: Path) -> Path:
    """A folder with the 4 + 2 shards of a file of 999 bytes, which is next to it as `file`."""
    return make_set(tool, tmp_path, content(999))
