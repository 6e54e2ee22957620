"""Paths for the tests of the drop-in for Jerasure."""

from __future__ import annotations

from pathlib import Path

from tests.support.paths import ROOT

CLIENTS = Path(__file__).resolve().parent / "clients"
PART = ROOT / "runtime" / "jerasure"
SOURCES = PART / "src"
HEADERS = PART / "include"
REAL = Path("/usr/lib/x86_64-linux-gnu/libJerasure.so.2")
REAL_HEADERS = Path("/usr/include")
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
