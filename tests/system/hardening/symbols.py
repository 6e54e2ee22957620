"""The symbols that a library exports, the declarations of the public headers, and their differences."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

INCLUDE = ROOT / "runtime/core/include"


def call(*command: str | Path) -> str:
    """Run a command that must succeed and return its output."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, " ".join(map(str, command)) + "\n" + done.stderr
    return done.stdout


def _functions(node: dict[str, Any]) -> Iterator[str]:
    if node.get("kind") == "FunctionDecl":
        yield str(node["name"])
    for child in node.get("inner", ()):
        if child.get("kind") in ("FunctionDecl", "LinkageSpecDecl"):
            yield from _functions(child)


def declared(include: Path = INCLUDE) -> frozenset[str]:
    """Return the functions that the headers of a folder declare, as clang parses them, without those of the C
    library.
    """
    headers = [word for path in sorted(include.glob("*.h")) for word in ("-include", path)]
    tree = call(
        *("clang-19", "-x", "c", "-std=c11", f"-I{include}", *headers, "-fsyntax-only", "-Xclang"),
        *("-ast-dump=json", "/dev/null"),
    )
    return frozenset(name for name in _functions(json.loads(tree)) if name.startswith("gfsmith_"))


def exported(library: Path) -> frozenset[str]:
    """Return all functions and data that a shared library defines for other objects."""
    lines = call("nm", "-D", "--defined-only", library).splitlines()
    return frozenset(line.split()[-1].split("@")[0] for line in lines)


def external(archive: Path) -> frozenset[str]:
    """Return all symbols that the members of an archive define for other objects."""
    lines = call("nm", "-A", "--defined-only", "--extern-only", archive).splitlines()
    return frozenset(line.split()[-1] for line in lines)


@dataclass(frozen=True, slots=True)
class Differences:
    """missing: declared and not exported; extra: exported and not declared."""

    missing: frozenset[str]
    extra: frozenset[str]

    @staticmethod
    def between(declared: frozenset[str], exported: frozenset[str]) -> Differences:
        return Differences(declared - exported, exported - declared)


def sections(text: str) -> dict[str, str]:
    """Return the parts of readelf's output about an archive, by member."""
    parts = re.split(r"^File: .*\((.+)\)$", text, flags=re.MULTILINE)
    assert len(parts) > 2, "readelf named no member"
    return dict(zip(parts[1::2], parts[2::2], strict=True))
