"""What a library shows to programs, what the public headers declare, and how both differ."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "runtime" / "include"


def call(*command: str | Path) -> str:
    """What a command prints; it must succeed."""
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
    """The functions of the default build that the headers of a folder declare, as clang reads them; not those
    of the C library, nor those of builds with a coordinator."""
    paths = sorted(path for path in include.glob("*.h") if path.name != "gfsmith_adaptive.h")
    headers = [word for path in paths for word in ("-include", path)]
    tree = call(
        *("clang-19", "-x", "c", "-std=c11", f"-I{include}", *headers, "-fsyntax-only", "-Xclang"),
        *("-ast-dump=json", "/dev/null"),
    )
    return frozenset(name for name in _functions(json.loads(tree)) if name.startswith("gfsmith_"))


def exported(library: Path) -> frozenset[str]:
    """Everything that a shared library defines for others, functions and data."""
    lines = call("nm", "-D", "--defined-only", library).splitlines()
    return frozenset(line.split()[-1].split("@")[0] for line in lines)


def external(archive: Path) -> frozenset[str]:
    """Everything that the members of an archive define for other objects."""
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
    """The parts of what readelf prints about an archive, by member."""
    parts = re.split(r"^File: .*\((.+)\)$", text, flags=re.MULTILINE)
    assert len(parts) > 2, "readelf named no member"
    return dict(zip(parts[1::2], parts[2::2], strict=True))
