"""The prose linter finds each pattern that docs/style.md names, and nothing else."""

from __future__ import annotations

import pytest

from tools.prose import check


def rules(path: str, source: str) -> list[str]:
    return [finding.rule for finding in check(path, source)]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", '"""Which status a call returns."""\n', ["opening"]),
        ("a.py", '"""The status of a call."""\n', []),
        ("a.py", '"""What is a shard?"""\n', []),
        ("a.py", "x = 1  # whatever it takes\n", ["headless"]),
        ("a.py", 'x = "a list of what is missing"\n', ["headless"]),
        ("a.py", 'x = "what is"\n', []),
        ("a.py", "# the missing\n# shards are read anew\n", ["phrase"]),
        ("a.c", "/* How a call ends. */\n", ["opening"]),
        ("a.c", "/* How to end a call. */\n", []),
        ("a.c", "// It keeps\n// what was read.\n", ["headless"]),
        ("a.c", 'puts("this is what the caller gave");\n', ["headless"]),
        ("a.c", "int what_is_it;\n", []),
        ("a.md", "# Which code to take\n", ["opening"]),
        ("a.md", "# Which code?\n", []),
        ("a.md", "Text\n\n    what is code\n\n```\nwhat is code\n```\n", []),
        ("a.md", "Text with `what is` code.\n", []),
        ("a.md", "What the prover\ncannot show is refused.\n", ["headless"]),
        ("a.sh", "#!/bin/sh\n# Whoever calls\n", ["headless"]),
        ("a.j2", "{# What is kept #}\n/* Which lines. */\n", ["opening", "headless", "opening"]),
        ("a.png", "What is it\n", []),
    ],
)
def test_patterns(path: str, source: str, expected: list[str]) -> None:
    assert rules(path, source) == expected


def test_line_of_a_finding() -> None:
    (found,) = check("a.md", "# Title\n\nOne\ntwo\nread anew\n")
    assert (found.line, found.rule) == (5, "phrase")
