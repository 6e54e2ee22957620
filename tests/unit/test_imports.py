"""Imports run one way: the table of docs/architecture.md, held here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "generator" / "gfsmith"

#: room -> what it may import of gfsmith, besides itself.
ALLOWED: dict[str, set[str]] = {
    "ir": set(),
    "isa": {"ir"},
    "field": set(),
    "schedule": {"ir", "isa"},
    "operation": set(),
    "technique": {"ir"},
    "spec": {"isa", "field", "ir", "operation", "schedule", "technique"},
    "matrix": {"field"},
    "codes": {"field", "matrix", "spec", "circuits", "complete", "console"},
    "tables": {"field", "matrix", "spec"},
    "liveness": {"ir"},
    "circuits": {"field", "matrix"},
    "lower": {"spec", "isa", "ir", "tables", "circuits"},
    "spill": {"ir", "spec", "liveness"},
    "ahead": {"ir", "schedule", "spec"},
    "passes": {"ir", "isa", "spec", "ahead", "liveness", "spill"},
    "emit": {"files", "ir", "isa", "spec", "technique", "liveness", "microarch"},
    "prove": {"ir", "isa", "spec", "field"},
    "defaults": {"ir", "isa", "schedule"},
    "variants": {"spec", "isa", "field", "ir", "schedule", "defaults"},
    "settings": {"isa", "codes"},
    "config": {"spec", "isa", "field", "codes", "matrix", "defaults", "settings", "variants"},
    "microarch": set(),
    "files": set(),
    "stats": set(),
    "complete": set(),
    "console": set(),
    "doctor": set(),
    "parallel": set(),
    "cache": set(),
    "generate": {
        "spec",
        "ir",
        "liveness",
        "circuits",
        "lower",
        "passes",
        "emit",
        "prove",
        "parallel",
        "cache",
    },
    "certify": {"spec", "generate", "prove", "parallel", "cache"},
    "algebra": {"field", "ir", "lower", "prove", "emit", "generate", "parallel", "cache"},
    "model": {"spec", "emit", "generate", "parallel", "cache", "doctor", "ir", "isa"},
    "foreign": {"isa", "prove"},
    "compiled": {"spec", "isa", "prove", "parallel"},
    "output": {"generate", "certify", "__init__"},
    "report": {"spec", "isa", "prove", "certify", "compiled"},
    "plan": {"codes", "complete", "config", "console", "field", "isa", "matrix", "spec", "technique"},
    "graph": {"codes", "complete", "console", "field", "matrix", "plan"},
    "explain": {"spec", "ir", "liveness", "emit", "generate", "model", "report"},
    "tune": {
        *("spec", "isa", "codes", "config", "microarch", "tables", "emit", "generate", "certify", "parallel"),
        *("cache", "files", "stats", "complete", "console", "model", "defaults"),
    },
    "adapt": {"complete", "console", "files"},
    "request": {"codes", "complete", "config", "console", "emit", "isa", "output", "spec", "tune"},
    "build": {"cache", "request", "generate", "certify", "algebra", "emit", "output", "console", "variants"},
    "export": {"build", "request", "output", "emit", "files", "generate", "isa", "console", "__init__"},
    "where": {"files"},
    "cli": {"*"},
    "codec": set(),
    "__init__": {"codec"},
    "__main__": {"cli"},
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _imports(path: Path) -> set[str]:
    """The rooms of gfsmith that a file imports."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gfsmith"):
            if node.module == "gfsmith":
                rooms |= {"__init__" if a.name == "__version__" else a.name for a in node.names}
            else:
                rooms.add(_room(node.module))
        elif isinstance(node, ast.Import):
            rooms |= {_room(a.name) for a in node.names if a.name.startswith("gfsmith")}
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = ALLOWED[room]
    unexpected = _imports(path) - {room} - allowed
    assert "*" in allowed or not unexpected, f"{room} must not import {sorted(unexpected)}"


def test_the_rule_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("from gfsmith.lower import lower\nfrom gfsmith import passes\n")
    assert _imports(bad) == {"lower", "passes"}
    assert _imports(bad) - ALLOWED["prove"]


def test_the_table_is_the_one_of_the_docs() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room, allowed in ALLOWED.items():
        if room in ("__init__", "__main__"):
            continue
        rows = [line for line in text.splitlines() if line.startswith(f"| `{room}")]
        assert len(rows) == 1, f"docs/architecture.md has {len(rows)} rows for {room}"
        last = rows[0].rstrip(" |").split("|")[-1].strip()
        named = set() if last == "-" else {part.strip(" `") for part in last.split(",")}
        expected = {"all"} if "*" in allowed else allowed - {"__init__"}
        assert named == expected, f"docs/architecture.md on {room}"


def test_files_and_functions_stay_short() -> None:
    """About 300 lines a file and 40 a function."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 330, f"{path} is too long"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                assert length <= 45, f"{path}: {node.name} has {length} lines"
