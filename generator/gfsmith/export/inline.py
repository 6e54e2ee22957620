"""Inlining of local headers and lists into one C source, each header once per condition.

A header that was inlined under `#if A` is missing under `#if B`. So each header is recorded with its stack of
conditions, and it is omitted later only if one of its recorded stacks is a prefix of the current one. A
header's own guard is not a condition, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_INCLUDE = re.compile(r"""\s*#\s*include\s+("([^"]+)"|<([^>]+)>)""")
_CONDITIONAL = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")

Stack = tuple[str, ...]


class InlineError(Exception):
    """An include of a missing file."""


class Inliner:
    """Inlining for one output. files: texts by file name. known: headers that the output includes in another
    way."""

    def __init__(self, files: Mapping[str, str], known: frozenset[str]) -> None:
        self._files = files
        self._known = known
        self._taken: dict[str, list[Stack]] = {}

    def text(self, text: str) -> str:
        """Return a source with its includes inlined."""
        return "".join(self._lines(_joined(text), (), guard=None))

    def _lines(self, lines: list[str], stack: Stack, guard: str | None) -> list[str]:
        """Return the lines with includes inlined. guard: the header's include guard."""
        written: list[str] = []
        depth = len(stack)
        for line in lines:
            include = _INCLUDE.match(line)
            if include:
                written += self._include(line, include[2] or include[3], stack)
                continue
            conditional = _CONDITIONAL.match(line)
            if conditional:
                stack = _follow(stack, conditional[1], conditional[2].strip(), guard)
            written.append(line)
        assert len(stack) == depth, "conditions end in the file where they begin"
        return written

    def _include(self, line: str, name: str, stack: Stack) -> list[str]:
        if name in self._known:
            return []
        if name not in self._files:
            if '"' in line:
                raise InlineError(f"{line.strip()}: no such file")
            return [line]
        once = name.endswith(".h")
        under = tuple(condition for condition in stack if condition)
        if once and any(under[: len(before)] == before for before in self._taken.get(name, ())):
            return []
        if once:
            self._taken.setdefault(name, []).append(under)
        lines = _joined(self._files[name])
        return self._lines(lines, stack, _guard(lines) if once else None)


def _joined(text: str) -> list[str]:
    """Return the lines with their line ends; lines joined by a backslash are one."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if lines and lines[-1].endswith("\\\n"):
            lines[-1] += line
        else:
            lines.append(line)
    return lines


def _guard(lines: list[str]) -> str | None:
    """Return the include guard of a header, or None."""
    for line in lines:
        conditional = _CONDITIONAL.match(line)
        if conditional:
            return conditional[2].strip() if conditional[1] == "ifndef" else None
    return None


def _follow(stack: Stack, word: str, rest: str, guard: str | None) -> Stack:
    """Return the stack of conditions after a directive. A guard is recorded as an empty condition."""
    match word:
        case "ifndef" if rest == guard:
            return (*stack, "")
        case "if" | "ifdef" | "ifndef":
            return (*stack, f"{word} {rest}")
        case "endif":
            return stack[:-1]
        case _:
            return (*stack[:-1], f"{stack[-1]}; {word} {rest}")
