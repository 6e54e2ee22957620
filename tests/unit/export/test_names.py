"""The sources of the single source have no name in common that only a file may use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import tree_sitter_c
from tree_sitter import Language, Node, Parser

from gfsmith.export.parts import PARTS
from tests.support.paths import ROOT

_PARSER = Parser(Language(tree_sitter_c.language()))
_CONDITIONAL = ("translation_unit", "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif")
#: Defined in several files, with one value.
_SHARED = {"_GNU_SOURCE"}


def _top(node: Node) -> Iterator[Node]:
    """Yield the declarations of file scope, also those under conditions of the preprocessor."""
    if node.type in _CONDITIONAL:
        for child in node.children:
            yield from _top(child)
    else:
        yield node


def _text(node: Node | None) -> str:
    assert node is not None and node.text is not None
    return node.text.decode()


def _declared(node: Node) -> Iterator[str]:
    if node.type in ("identifier", "type_identifier"):
        yield _text(node)
    for child in node.children_by_field_name("declarator"):
        yield from _declared(child)


def _enumerators(node: Node) -> Iterator[str]:
    kind = node if node.type == "enum_specifier" else node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None and kind.type == "enum_specifier" else None
    for child in body.named_children if body is not None else ():
        if child.type == "enumerator":
            yield _text(child.child_by_field_name("name"))


def own_names(text: bytes) -> Iterator[str]:
    """Yield the names of static functions and variables, types, constants and macros of a source."""
    for node in _top(_PARSER.parse(text).root_node):
        yield from _enumerators(node)
        static = any(_text(child) == "static" for child in node.children if child.type.startswith("storage"))
        if node.type == "type_definition" or (static and node.type in ("function_definition", "declaration")):
            yield from _declared(node)
        if node.type in ("preproc_def", "preproc_function_def"):
            yield _text(node.child_by_field_name("name"))


def test_each_kind_of_name_is_found() -> None:
    text = b"""
#define MACRO 1
#define FUNCTION(x) x
enum { CONSTANT };
typedef enum { KIND } kind;
typedef struct { int member; } record;
#if MACRO
static const int variable[2] = {0};
#else
static inline int *function(int argument);
#endif
void gfs_external(void) { int local; }
"""
    found = {"MACRO", "FUNCTION", "CONSTANT", "KIND", "kind", "record", "variable", "function"}
    assert set(own_names(text)) == found


def test_no_name_is_in_two_files() -> None:
    files: dict[str, set[str]] = defaultdict(set)
    for part in PARTS:
        for path in sorted((ROOT / "runtime" / part / "src").glob("*.c")):
            for name in own_names(path.read_bytes()):
                files[name].add(f"{part}/{path.name}")
    assert len(files) > 500
    assert {name: found for name, found in files.items() if len(found) > 1 and name not in _SHARED} == {}
