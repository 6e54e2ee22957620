"""Deferred work queues of libfabric's providers on loopback, as docs/compose/protocol.md states them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.system.compose.support import NATIVE, compile_c


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("deferred") / "deferred_work"
    compile_c(NATIVE / "deferred_work.c", "-lfabric", "-o", target)
    return target


@pytest.mark.parametrize(
    ("provider", "found"),
    [
        ("sockets", "runs it"),
        *((p, "FI_QUEUE_WORK: Function not implemented") for p in ("tcp", "udp", "net")),
    ],
)
def test_only_sockets_has_deferred_work(program: Path, provider: str, found: str) -> None:
    done = subprocess.run(
        [program, provider], capture_output=True, text=True, timeout=300, cwd=program.parent
    )
    assert (done.returncode, done.stdout.strip()) == (0, found)
