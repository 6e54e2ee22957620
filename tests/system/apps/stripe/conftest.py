"""Fixtures: the program as `make` builds it, one with sanitizers, one with a planned fault.

GFSMITH_LIB in the environment names another libgfsmith.a to link (the example's Makefile uses it).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.build_lock import locked
from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.apps.stripe.support import EXAMPLE, NATIVE, Stripe, content, make_set

SANITIZE = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"


def call(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def library() -> None:
    if "GFSMITH_LIB" not in os.environ:
        built("lib")


@pytest.fixture(scope="session")
def stripe(library: None, tmp_path_factory: pytest.TempPathFactory) -> Stripe:
    build = ROOT / "build"
    if "GFSMITH_LIB" in os.environ:
        build = tmp_path_factory.mktemp("build")
    with locked(EXAMPLE / "Makefile"):
        call("make", "-C", EXAMPLE, f"BUILD={build}")
    return Stripe(build / "stripe", {})


@pytest.fixture(scope="session")
def sanitized(library: None, tmp_path_factory: pytest.TempPathFactory) -> Stripe:
    """Built with AddressSanitizer and UBSan: an error ends the program with status 99."""
    build = tmp_path_factory.mktemp("sanitized")
    call("make", "-C", EXAMPLE, f"BUILD={build}", f"CFLAGS={SANITIZE}")
    options = {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"}
    return Stripe(build / "stripe", options)


@pytest.fixture(scope="session")
def faulty(stripe: Stripe, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stripe]:
    """faulty("pwrite:3:ENOSPC"): the program whose third pwrite fails. See native/fault.c."""
    preload = tmp_path_factory.mktemp("fault") / "fault.so"
    flags = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
    call("cc", *flags, "-o", preload, NATIVE / "fault.c", "-ldl")
    return lambda plan: Stripe(stripe.program, {"LD_PRELOAD": str(preload), "STRIPE_FAULT": plan})


@pytest.fixture
def shards(stripe: Stripe, tmp_path: Path) -> Path:
    """A folder with the 4 + 2 shards of a file of 999 bytes, which is next to it as `file`."""
    return make_set(stripe, tmp_path, content(999))
