"""Functions that C sources define and use, the dependencies between sources that follow from them, and the
names that only one source may use.

A source depends on another if it names a function that the other defines: it calls the function, or it
passes or stores its address. Names of parameters and variables hide functions of the same name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_c.language()))
#: Nodes whose field "declarator" introduces a name.
_DECLARATIONS = ("declaration", "parameter_declaration", "function_definition", "init_declarator")
_NAMES = ("identifier", "type_identifier")
_CONDITIONAL = ("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif")
_WRAPPERS = (
    *("pointer_declarator", "function_declarator", "array_declarator", "init_declarator"),
    *("parenthesized_declarator", "attributed_declarator"),
)


@dataclass(frozen=True, slots=True)
class Symbols:
    """The functions that a source defines for others (exported), its own (static), and the names it uses."""

    exported: frozenset[str]
    static: frozenset[str]
    used: frozenset[str]


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def _declared(declarator: Node | None) -> Node | None:
    """Return the identifier that a declarator introduces."""
    while declarator is not None and declarator.type in _WRAPPERS:
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((n for n in declarator.named_children if n.type != "comment"), None)
    return declarator if declarator is not None and declarator.type in _NAMES else None


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _is_static(definition: Node) -> bool:
    return any(n.type == "storage_class_specifier" and _text(n) == "static" for n in definition.children)


def symbols(text: str) -> Symbols:
    """Return the symbols of a source."""
    exported, static, hidden, used = set(), set(), set(), set()
    introduced: set[int] = set()
    for node in _walk(_PARSER.parse(text.encode()).root_node):
        if node.type in _DECLARATIONS:
            for declarator in node.children_by_field_name("declarator"):
                name = _declared(declarator)
                if name is None:
                    continue
                introduced.add(name.id)
                if node.type == "function_definition":
                    (static if _is_static(node) else exported).add(_text(name))
                elif "function_declarator" not in {n.type for n in _chain(declarator)}:
                    hidden.add(_text(name))
        elif node.type == "identifier" and node.id not in introduced:
            used.add(_text(node))
    return Symbols(frozenset(exported), frozenset(static), frozenset(used - hidden - static))


def _chain(declarator: Node) -> Iterator[Node]:
    """Yield a declarator and those inside it."""
    inner: Node | None = declarator
    while inner is not None:
        yield inner
        inner = inner.child_by_field_name("declarator")


def _top(node: Node) -> Iterator[Node]:
    """Yield the declarations of file scope, also those under conditions of the preprocessor."""
    if node.type in _CONDITIONAL:
        for child in node.children:
            yield from _top(child)
    else:
        yield node


def _enumerators(node: Node) -> Iterator[Node]:
    kind = node if node.type == "enum_specifier" else node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None and kind.type == "enum_specifier" else None
    for child in body.named_children if body is not None else ():
        if child.type == "enumerator":
            yield from child.children_by_field_name("name")


def own_names(text: str) -> Iterator[str]:
    """Yield the names of static functions and variables, types, constants and macros of a source."""
    for node in _top(_PARSER.parse(text.encode()).root_node):
        names = list(_enumerators(node))
        own = node.type in ("function_definition", "declaration") and _is_static(node)
        if own or node.type == "type_definition":
            names += filter(None, map(_declared, node.children_by_field_name("declarator")))
        if node.type in ("preproc_def", "preproc_function_def"):
            names += node.children_by_field_name("name")
        yield from map(_text, names)


def dependencies(sources: Mapping[Path, Symbols]) -> dict[Path, set[Path]]:
    """Return, for each source, the other sources that define a function which it uses.

    A function with several definitions (one file per processor) makes no dependency between these files.
    """
    definers: dict[str, set[Path]] = defaultdict(set)
    for path, found in sources.items():
        for name in found.exported:
            definers[name].add(path)
    return {
        path: {other for name in found.used - found.exported for other in definers[name]} - {path}
        if found.used
        else set()
        for path, found in sources.items()
    }
