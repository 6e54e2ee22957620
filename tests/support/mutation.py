"""Deliberate errors in C sources, made by replacing code found in the syntax tree.

A mutant names the code by its structure, not by its text: layout, comments and the file do not matter, and
the pattern may have holes. The hole `$name` matches one expression, statement or argument, `$$name` any
number of arguments. The replacement may use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_HOLE = re.compile(r"\${1,2}\w+")
_VALUE = "int x = "

#: The code that each hole matches.
Holes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One error: the pattern `before` becomes `after`.

    The pattern must match in one place, in the function `within` if it is named, or it may match in
    several places and the error is made `everywhere`. A pattern with a semicolon is a statement, any other
    an expression or an initializer list. Bodies of macros are searched as well.
    """

    before: str
    after: str
    within: str = ""
    everywhere: bool = False

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


def plant(mutant: Mutant, sources: Sequence[Path], folder: Path) -> tuple[Path, Path]:
    """Return the only source that has the code, and its copy with the error in `folder`."""
    found = {source: places for source in sources if (places := list(_places(mutant, source.read_bytes())))}
    assert len(found) == 1, f"{mutant.before!r} is in {[path.name for path in found] or 'no source'}"
    ((source, places),) = found.items()
    assert len(places) == 1 or mutant.everywhere, (
        f"{mutant.before!r} is in {len(places)} places of {source.name}"
    )
    text = source.read_bytes()
    for start, end, holes in reversed(places):
        after = _HOLE.sub(lambda hole, holes=holes: holes[hole[0]], mutant.after)  # type: ignore[misc]
        text = text[:start] + after.encode() + text[end:]
    copy = folder / source.name
    copy.write_bytes(text)
    return source, copy


def _places(mutant: Mutant, text: bytes) -> Iterator[tuple[int, int, Holes]]:
    """Yield the beginning and end of each match, and the code that its holes match."""
    pattern = _pattern(mutant.before)
    for root, offset in _roots(text):
        for node in _nodes(root):
            holes = _match(pattern, node, {})
            if holes is not None and mutant.within in ("", _function(node)):
                assert not node.has_error, f"{_text(node)!r} is not C that the parser supports"
                yield node.start_byte + offset, node.end_byte + offset, holes


@cache
def _roots(text: bytes) -> list[tuple[Node, int]]:
    """Return the syntax tree of a source and those of its macros' bodies, each with
    its offset in the source.
    """
    root = _parse(text)
    return [(root, 0), *(_macro(node) for node in _nodes(root) if node.type == "preproc_arg")]


def _macro(body: Node) -> tuple[Node, int]:
    """Return the tree of a macro's body as an expression, or if that fails as any other code."""
    text = _text(body).replace("\\\n", "  ").replace("##", "__")
    expression = _parse(f"{_VALUE}{text};".encode())
    if not expression.has_error:
        return expression, body.start_byte - len(_VALUE)
    return _parse(text.encode()), body.start_byte


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_c.language()))


@cache
def _parse(text: bytes) -> Node:
    return _parser().parse(text).root_node


@cache
def _pattern(text: str) -> Node:
    """Return the node of a statement, or of an expression as the value of a declaration."""
    if ";" in text:
        (definition,) = _parse(f"void f(void) {{ {text} }}".encode()).named_children
        body = definition.child_by_field_name("body")
        assert body is not None
        (found,) = body.named_children
    else:
        (declaration,) = _parse(f"{_VALUE}{text};".encode()).named_children
        declarator = declaration.child_by_field_name("declarator")
        assert declarator is not None
        value = declarator.child_by_field_name("value")
        assert value is not None
        found = value
    assert not found.has_error, f"{text!r} is neither one statement nor one expression"
    return found


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from _nodes(child)


def _text(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()


def _parts(node: Node) -> list[Node]:
    return [child for child in node.children if child.type != "comment"]


def _match(pattern: Node, node: Node, holes: Holes) -> Holes | None:
    """Return the holes filled so that the pattern matches `node`, or None if it does not match."""
    name = _text(pattern).removesuffix(";")
    if _HOLE.fullmatch(name):
        return _filled(holes, name, _text(node))
    if pattern.type != node.type:
        return None
    parts = _parts(pattern)
    if not parts:
        return holes if _text(pattern) == _text(node) else None
    return _match_all(parts, _parts(node), holes)


def _match_all(patterns: Sequence[Node], nodes: Sequence[Node], holes: Holes) -> Holes | None:
    if not patterns:
        return holes if not nodes else None
    if (name := _text(patterns[0])).startswith("$$"):
        runs = (_match_run(name, patterns[1:], nodes, taken, holes) for taken in range(len(nodes) + 1))
        return next((filled for filled in runs if filled is not None), None)
    if not nodes:
        return None
    first = _match(patterns[0], nodes[0], holes)
    return None if first is None else _match_all(patterns[1:], nodes[1:], first)


def _match_run(
    name: str, rest: Sequence[Node], nodes: Sequence[Node], taken: int, holes: Holes
) -> Holes | None:
    """Like _match_all, with `taken` nodes for the hole `name` and the others for `rest`."""
    filled = _filled(holes, name, " ".join(map(_text, nodes[:taken])))
    return None if filled is None else _match_all(rest, nodes[taken:], filled)


def _filled(holes: Holes, name: str, text: str) -> Holes | None:
    """Return the holes with `text` for `name`, or None if `name` already has another text."""
    return {**holes, name: text} if holes.get(name, text) == text else None


def _function(node: Node) -> str:
    """Return the name of the function that contains a node, "" outside of functions."""
    above: Node | None = node
    while above is not None and above.type != "function_definition":
        above = above.parent
    while above is not None and above.type != "identifier":
        above = above.child_by_field_name("declarator")
    return _text(above) if above is not None else ""
