"""Constants and enumerators of the runtime's C files, as numbers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CAST = re.compile(r"\((?:size_t|unsigned|uint\d+_t)\)")
_SUFFIX = re.compile(r"\b(0x[0-9a-f]+|\d+)[ul]+\b", re.IGNORECASE)


def _source(path: str) -> str:
    return _COMMENT.sub("", (ROOT / path).read_text(encoding="utf-8"))


def _number(node: ast.expr) -> int:
    match node:
        case ast.Constant(int(value)):
            return value
        case ast.UnaryOp(ast.USub(), operand):
            return -_number(operand)
        case ast.BinOp(left, ast.Mult(), right):
            return _number(left) * _number(right)
        case ast.BinOp(left, ast.LShift(), right):
            return _number(left) << _number(right)
    raise ValueError(f"{ast.unparse(node)} is no number; allowed: integers, *, <<")


def number(text: str) -> int:
    """Return the value of a C expression such as `((size_t)512 << 10)`."""
    return _number(ast.parse(_SUFFIX.sub(r"\1", _CAST.sub("", text)).strip(), mode="eval").body)


def constant(path: str, name: str) -> int:
    """Return the value of a macro, or of an enumerator with a stated value."""
    found = re.findall(rf"^\s*#\s*define {name} (.+)$|\b{name} = ([^,}}]+)", _source(path), re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"{path} defines {name} {len(found)} times; allowed: once")
    return number("".join(found[0]))


def enumerators(path: str, kind: str) -> dict[str, int]:
    """Return the enumerators of an enumeration that all have a stated value."""
    (body,) = re.findall(rf"\benum {kind} \{{(.*?)\}}", _source(path), re.DOTALL)
    return {name: number(value) for name, value in re.findall(r"(\w+) = ([^,]+)", body)}
