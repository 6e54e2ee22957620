"""Modules of the C folders, and their dependencies by includes.

A module is a header with the sources that implement it: foo.h with foo.c, and with every source that
defines a function which foo.h declares. A source that implements no header of its folder (public
functions, main) is a module by itself, and so is a header without sources. A source that implements
several headers joins them into one module.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import TypeVar

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<(gfsmith\w*\.h)>)', re.MULTILINE)
#: The head of a function that begins a line, and its ";" or the beginning of its body.
_FUNCTION = re.compile(
    r"^(?!static\b|typedef\b)[A-Za-z_][^;{}()=]*?\b(\w+)\([^;{}]*\)\s*([;{])", re.MULTILINE
)


class UnknownInclude(Exception):
    """An include of a file that is neither in the folders nor generated."""


@dataclass(frozen=True, slots=True, order=True)
class Module:
    """One module: its folder, relative to the root, and the names of its headers (or of its only source)."""

    folder: str
    name: str

    def __str__(self) -> str:
        return f"{self.folder}/{self.name}"


Edges = dict[Module, set[Module]]
Node = TypeVar("Node", Module, Path)


def _functions(text: str, mark: str) -> set[str]:
    """The functions that a file declares (mark ";") or defines ("{"), without static ones."""
    return {name for name, found in _FUNCTION.findall(text) if found == mark}


class Sources:
    """The C files of some folders below `root`."""

    def __init__(self, root: Path, folders: Collection[str]) -> None:
        paths = (path for folder in folders for path in (root / folder).glob("*.[ch]"))
        self.texts = {
            path.relative_to(root): _COMMENT.sub(" ", path.read_text(encoding="utf-8"))
            for path in sorted(paths)
        }
        self.module = dict(self._modules())

    def _modules(self) -> list[tuple[Path, Module]]:
        found = []
        for folder in {path.parent for path in self.texts}:
            files = [path for path in self.texts if path.parent == folder]
            for group in _groups({path: self.texts[path] for path in files}):
                headers = sorted(path.stem for path in group if path.suffix == ".h")
                module = Module(folder.as_posix(), "+".join(headers or [path.stem for path in group]))
                found += [(path, module) for path in group]
        return found

    def edges(self, allowed: Mapping[str, Sequence[str]], generated: re.Pattern[str]) -> Edges:
        """Return, for each module, the other modules whose headers it includes.

        allowed: folder -> the folders that are searched for a name after the folder itself; an include
        from any other folder is found as well. generated: names of files that a build writes. Raises
        UnknownInclude.
        """
        edges: Edges = {module: set() for module in self.module.values()}
        for path, text in self.texts.items():
            for quoted, angled in _INCLUDE.findall(text):
                name = quoted or angled
                target = self._resolve(path.parent, name, allowed)
                if target is not None:
                    edges[self.module[path]] |= {self.module[target]} - {self.module[path]}
                elif not generated.fullmatch(name):
                    raise UnknownInclude(f"{path}: {name}")
        return edges

    def _resolve(self, folder: Path, name: str, allowed: Mapping[str, Sequence[str]]) -> Path | None:
        beside = Path(normpath(folder / name))
        if beside in self.texts:
            return beside
        same = [path for path in self.texts if path.as_posix().endswith(f"/{name}")]
        for place in allowed.get(folder.as_posix(), ()):
            for path in same:
                if path.as_posix().startswith(f"{place}/"):
                    return path
        return same[0] if same else None


def _groups(texts: Mapping[Path, str]) -> list[list[Path]]:
    """Return the files of one folder, grouped by module."""
    declared = {path: _functions(text, ";") for path, text in texts.items() if path.suffix == ".h"}
    groups = [{path} for path in texts]
    for path, text in texts.items():
        if path.suffix == ".h":
            continue
        defined = _functions(text, "{")
        mine = {path} | {header for header, names in declared.items() if names & defined}
        mine |= {path.with_suffix(".h")} & set(declared)
        joined = [group for group in groups if group & mine]
        groups = [group for group in groups if not group & mine] + [set().union(*joined)]
    return [sorted(group) for group in groups]


def cycles(edges: Mapping[Node, Set[Node]]) -> list[list[Node]]:
    """Return the groups of nodes (modules or sources) in which each node reaches all others."""
    reach = {module: _reachable(module, edges) for module in edges}
    groups: dict[frozenset[Node], list[Node]] = defaultdict(list)
    for module in sorted(edges):
        mutual = frozenset(other for other in reach[module] if module in reach[other])
        if mutual:
            groups[mutual].append(module)
    return list(groups.values())


def _reachable(module: Node, edges: Mapping[Node, Set[Node]]) -> set[Node]:
    seen: set[Node] = set()
    left = list(edges[module])
    while left:
        if (other := left.pop()) not in seen:
            seen.add(other)
            left += edges[other]
    return seen
