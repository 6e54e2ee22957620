"""Fixtures: the program as `make shards` builds it, one with sanitizers, one with a planned fault."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.folders import once, product
from tests.system.apps.shards.support import FLAGS, NATIVE, Tool, build_tool, call, content, make_set

#: A file system in memory, where a flush takes no time.
MEMORY = Path("/dev/shm")
SANITIZE = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="session", autouse=True)
def heard_signals() -> None:
    """Let programs start with the default signal handling, as in a shell: the tests' parent may ignore some
    signals (nohup ignores SIGHUP).

    A program starts with the default handling of a signal for which its parent has a handler. Setting it in
    the new process would need a copy of this large one for each program.
    """
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is signal.SIG_IGN:
            signal.signal(each, lambda number, frame: None)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder in memory if there is one: most programs here flush a dozen files."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="gfsmith-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def tool() -> Tool:
    return Tool(product("gfsmith-shards", "shards"), {})


@pytest.fixture(scope="session")
def sanitized(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """Built with AddressSanitizer and UBSan: an error ends the program with status 99."""
    folder = once(
        tmp_path_factory, "sanitized-shards", lambda made: build_tool(made / "gfsmith-shards", *SANITIZE)
    )
    return Tool(folder / "gfsmith-shards", {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"})


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


@pytest.fixture(scope="session")
def plain_renames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of native/plain_renames.c."""
    library = tmp_path_factory.mktemp("plain") / "plain_renames.so"
    call("cc", *FLAGS, "-shared", "-fPIC", "-o", library, NATIVE / "plain_renames.c", "-ldl")
    return library


@pytest.fixture(scope="session")
def lost_name(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of native/lost_name.c."""
    library = tmp_path_factory.mktemp("lost") / "lost_name.so"
    call("cc", *FLAGS[:2], *FLAGS[3:], "-shared", "-fPIC", "-o", library, NATIVE / "lost_name.c", "-ldl")
    return library


@pytest.fixture(scope="session")
def caseless(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """The program with the library of native/caseless.c."""
    library = tmp_path_factory.mktemp("caseless") / "caseless.so"
    call("cc", *FLAGS[:2], *FLAGS[3:], "-shared", "-fPIC", "-o", library, NATIVE / "caseless.c", "-ldl")
    return Tool(tool.program, {"LD_PRELOAD": str(library)})


@pytest.fixture
def shards(tool: Tool, tmp_path: Path) -> Path:
    """A folder with the 4 + 2 shards of a file of 999 bytes, which is next to it as `file`."""
    return make_set(tool, tmp_path, content(999))
