"""A digest of all code on which a result depends, for the keys of caches (cache.py).

The module follows every import statement from an entry module within the package, including imports inside
functions and those of the enclosing packages, which Python runs first. Imports for type checkers only do not
count. Each module contributes its syntax tree without docstrings, so comments and formatting have no effect.
Template names in these modules (*.j2) add the text of the templates. Python and every imported distribution
contribute their versions.

Modules imported by a computed name are not followed. The prover and the generator have none; a test compares
the result with the modules that are loaded when they run.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from gfsmith.emit.files import share

PACKAGE = Path(__file__).resolve().parents[1]

#: Distributions whose name differs from their module's.
_DISTRIBUTIONS = {"elftools": "pyelftools", "iced_x86": "iced-x86"}
_INCLUDE = re.compile(r"""{%-?\s*(?:include|import|extends|from)\s+["']([^"']+)["']""")


class Sources(NamedTuple):
    """The dependencies of code: modules of the package, templates, and modules of other packages."""

    modules: frozenset[str]
    templates: frozenset[str]
    foreign: frozenset[str]


class Module(NamedTuple):
    """The content of one module. names: the modules that it may import, or attributes of modules."""

    digest: str
    names: frozenset[str]
    templates: frozenset[str]


#: Reads a module: its content, the name of its file, and the package against which it imports.
Reader = Callable[[bytes, str, str], Module]


def read(content: bytes, file: str, package: str) -> Module:
    """Return the digest of a module's code, and its imports and templates."""
    tree = ast.parse(content, file)
    names = frozenset(_imported(tree, package))
    strings = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    templates = frozenset(text for text in strings if text.endswith(".j2") and len(text.split()) == 1)
    text = ast.dump(_Bare().visit(tree))
    return Module(hashlib.sha256(text.encode()).hexdigest(), names, templates)


@lru_cache(maxsize=16)
def digest(entries: tuple[str, ...], package: Path = PACKAGE, reader: Reader = read) -> str:
    """Return the SHA-256 of the sources of some modules, of all their imports, and of versions."""
    found = sources(entries, package, reader)
    lines = [version()]
    lines += [
        f"{name} {_module(_file(name, package), name, reader).digest}" for name in sorted(found.modules)
    ]
    for name in sorted(found.templates):
        lines.append(f"{name} {hashlib.sha256((_templates(package) / name).read_bytes()).hexdigest()}")
    lines += [f"{name} {_version(name)}" for name in sorted(found.foreign)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@lru_cache(maxsize=64)
def sources(entries: tuple[str, ...], package: Path = PACKAGE, reader: Reader = read) -> Sources:
    """Return the dependencies of the modules `entries`."""
    modules: set[str] = set()
    foreign: set[str] = set()
    templates: set[str] = set()
    queue = list(entries)
    while queue:
        name = queue.pop()
        if name.partition(".")[0] != package.name:
            if name.partition(".")[0] not in sys.stdlib_module_names:
                foreign.add(name.partition(".")[0])
            continue
        path = _file(name, package)
        if path is None or name in modules:
            continue
        modules.add(name)
        module = _module(path, name, reader)
        queue += [name.rpartition(".")[0] or package.name, *module.names]
        templates |= module.templates
    return Sources(frozenset(modules), _included(templates, package), frozenset(foreign))


def _file(name: str, package: Path) -> Path | None:
    """Return the file of a module; None for an attribute of a module."""
    path = package.parent.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file if file.is_file() else None


@lru_cache(maxsize=512)
def _module(path: Path | None, name: str, reader: Reader) -> Module:
    assert path is not None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return reader(path.read_bytes(), path.name, package)


class _Bare(ast.NodeTransformer):
    """Removes the docstrings."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str())), *rest]:
                    node.body = rest
        return node


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield the full names in import statements below a node, except imports for type checkers."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(ast.Name("TYPE_CHECKING"), _, orelse):
                yield from _imported(ast.Module(orelse, []), package)
            case ast.Import(aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module, aliases, level):
                base = package.split(".")[: len(package.split(".")) - (level or 1) + 1] if level else []
                start = ".".join([*base, *([module] if module else [])])
                yield start
                yield from (f"{start}.{alias.name}" for alias in aliases)
            case _:
                yield from _imported(node, package)


def _templates(package: Path) -> Path:
    return share("templates", package)


def _included(names: set[str], package: Path) -> frozenset[str]:
    """Return the templates with those that they include."""
    found: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        path = _templates(package) / name
        if name not in found and path.is_file():
            found.add(name)
            queue += _INCLUDE.findall(path.read_text(encoding="utf-8"))
    return frozenset(found)


def version() -> str:
    """Return the name and version of Python, since its versions read modules differently."""
    return f"Python {platform.python_implementation()} {platform.python_version()}"


def _version(module: str) -> str:
    """Return the version of the distribution that contains a module."""
    try:
        return metadata.version(_DISTRIBUTIONS.get(module, module))
    except metadata.PackageNotFoundError:
        return "none"
