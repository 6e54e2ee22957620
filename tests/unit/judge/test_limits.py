"""The judge is small and independent of the generator and the prover."""

from __future__ import annotations

import ast
import sys

from tests.support.paths import ROOT
from tools.trusted_base import code_lines

FILES = sorted((ROOT / "judge").glob("*.py"))
LINES = 1560  #: of code, as SOUNDNESS.md counts them
LONGEST = 40  #: lines of a function


def test_the_judge_is_small() -> None:
    assert sum(code_lines(path.read_text(encoding="utf-8")) for path in FILES) <= LINES


def test_the_judge_imports_only_capstone_and_the_standard_library() -> None:
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
    assert found - set(sys.stdlib_module_names) == {"capstone", "judge"}


def test_functions_stay_short() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < LONGEST, f"{path.name}: {node.name}"
