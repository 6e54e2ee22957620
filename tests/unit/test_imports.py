"""Imports run one way: the table in docs/architecture.md states the allowed imports of each package, TOPS
those of the top folders, and there are no cycles.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.page_tables import listed
from tests.support.paths import ROOT

#: The folders that contain parts of the package gfsmith.
SOURCES = (ROOT / "generator", ROOT / "bindings" / "python")
TABLE = ROOT / "docs" / "architecture.md"

#: Top folder -> the top folders whose modules its modules may import, besides gfsmith's and its own.
TOPS: dict[str, tuple[str, ...]] = {
    "generator": (),
    "bindings": (),
    "judge": (),
    "examples": (),
    "packaging": ("bench",),  # the tests of a release fetch a source package of Debian
    "bench": (),
    "tools": ("bench",),
    "tests": ("bench", "judge", "tools"),
    "research": ("bench", "tests", "tools"),
}

#: A row of the table: package, contents, allowed imports.
ROW = re.compile(r"^\| `gfsmith/([a-z_/]+)/` \|.*\| ([a-z_., ]+|-|all) \|$", re.MULTILINE)
LONGEST = 40  #: lines of a function

#: The top of the package: the version, and the command's entry.
ABOVE = {"gfsmith": {"codec"}, "gfsmith.__main__": {"cli"}}


def _name(path: Path, source: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _modules(*sources: Path) -> dict[str, Path]:
    """Return all modules, including those in C, whose types are in a .pyi."""
    found = [(path, source) for source in sources for path in sorted(source.rglob("*.py*"))]
    return {_name(path, source): path for path, source in found if path.suffix in (".py", ".pyi")}


def _imports(path: Path, modules: Set[str], tops: Set[str] = frozenset({"gfsmith"})) -> Iterator[str]:
    """Yield the modules of some top packages that a file imports at any place: `from package import module`
    means the module.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in tops:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] in tops)


def _graph(*sources: Path) -> dict[str, set[str]]:
    """Return module -> the modules that it imports."""
    modules = _modules(*sources)
    return {name: set(_imports(path, modules.keys())) for name, path in modules.items()}


@cache
def _here() -> dict[str, set[str]]:
    return _graph(*SOURCES)


@cache
def _allowed() -> dict[str, set[str]]:
    """Return package -> the packages and modules that it may import besides itself; "all" for every one."""
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    table = {
        f"gfsmith.{folder.replace('/', '.')}": set() if names == "-" else set(names.split(", "))
        for folder, names in rows
    }
    assert len(table) == len(rows), "a package has two rows"
    return table | ABOVE


def _package(module: str, table: Mapping[str, Set[str]]) -> str:
    """Return the innermost package of the table that contains a module."""
    parts = module.split(".")
    return next(name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in table)


def _wrong(graph: Mapping[str, Set[str]], table: Mapping[str, Set[str]]) -> list[str]:
    """Return the imports that the table does not allow."""
    found = []
    for module, imported in graph.items():
        package = _package(module, table)
        for other in sorted(imported):
            inner = other.removeprefix("gfsmith").lstrip(".")
            fits = any(inner == name or inner.startswith(f"{name}.") for name in table[package])
            if not (
                fits or other == "gfsmith" or _package(other, table) == package or "all" in table[package]
            ):
                found.append(f"{module} imports {other}")
    return found


def _cycle(graph: Mapping[str, Set[str]]) -> list[str]:
    """Return the modules of a cycle of imports; [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_are_those_of_the_table() -> None:
    assert not _wrong(_here(), _allowed())


def test_every_package_has_a_row() -> None:
    packages = {name.split(".")[1] for name in _here() if name.count(".") > 1}
    assert packages == {name.split(".")[1] for name in _allowed() if name not in ABOVE}


def test_the_table_has_no_permission_that_nothing_uses() -> None:
    for package, names in _allowed().items():
        used = {
            other
            for module, found in _here().items()
            if _package(module, _allowed()) == package
            for other in found
        }
        for name in names - {"all"}:
            whole = f"gfsmith.{name}"
            assert any(u == whole or u.startswith(f"{whole}.") for u in used), (
                f"{package} does not import {name}"
            )


def test_the_prover_does_not_see_the_generator() -> None:
    for package, names in _allowed().items():
        if package.startswith("gfsmith.prove"):
            assert not {n.split(".")[0] for n in names} & {"lower", "passes", "emit", "build"}, package
            assert not names & {"kernel", "kernel.tables"}, package


def test_no_module_imports_itself_through_others() -> None:
    assert not _cycle(_here())


def test_no_package_imports_itself_through_others() -> None:
    """The test covers the top packages, so that they can be read in one order."""
    tops: dict[str, set[str]] = {}
    for module, found in _here().items():
        top = ".".join(module.split(".")[:2])
        others = {".".join(other.split(".")[:2]) for other in found} - {top, "gfsmith"}
        tops.setdefault(top, set()).update(others)
    assert not _cycle(tops)


MACHINE = "gfsmith.prove.machine."


def _places(modules: Set[str]) -> dict[str, int]:
    """Return module of prove/machine -> its place in the page's table, which lists processors as folders.

    Raises KeyError for a module that is not listed. Packages themselves (`__init__`) have no place.
    """
    names = [
        name.removesuffix(".py").strip("/").replace("/", ".") for name in listed("The machine-code proof")
    ]
    order = {name: place for place, name in enumerate(names)}
    assert len(order) == len(names)
    inner = {module.removeprefix(MACHINE) for module in modules if module.startswith(MACHINE)}
    files = {
        name for name in inner if name in order or not any(each.startswith(f"{name}.") for each in inner)
    }
    assert order.keys() <= files, "the table lists a module that does not exist"
    return {MACHINE + name: order[name if name in order else name.split(".")[0]] for name in files}


def _early(graph: Mapping[str, Set[str]], places: Mapping[str, int]) -> list[str]:
    """Return the imports of a module that the table lists after the importing one."""
    return [
        f"{module} imports {other}"
        for module, place in places.items()
        for other in graph[module]
        if places.get(other, place) > place
    ]


def test_the_modules_of_the_prover_stand_in_the_order_of_imports() -> None:
    places = _places(_here().keys())
    assert _early(_here(), places) == []
    (lower, upper) = (MACHINE + name for name in ("linear", "prove"))
    assert _early({lower: {upper}, upper: set()}, {name: places[name] for name in (lower, upper)})


def test_the_rules_can_fail(tmp_path: Path) -> None:
    folder = tmp_path / "gfsmith" / "prove"
    folder.mkdir(parents=True)
    for path in (tmp_path / "gfsmith", folder):
        (path / "__init__.py").touch()
    (folder / "one.py").write_text("from gfsmith.prove import two\n")
    (folder / "two.py").write_text("def late():\n    from gfsmith.prove.three import x\n    return x\n")
    (folder / "three.py").write_text("from gfsmith.lower import lower\n")
    graph = _graph(tmp_path)
    assert graph["gfsmith.prove.two"] == {"gfsmith.prove.three"}
    assert _wrong(graph, _allowed()) == ["gfsmith.prove.three imports gfsmith.lower"]
    assert not _cycle(graph)
    (folder / "three.py").write_text("import gfsmith.prove.one\n")
    assert set(_cycle(_graph(tmp_path))) == {f"gfsmith.prove.{name}" for name in ("one", "two", "three")}


def _tracked() -> list[Path]:
    """Return the Python files that git tracks, relative to the root."""
    command = ["git", "ls-files", "*.py", "*.pyi"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(name) for name in done.stdout.splitlines()]


def _top_imports(paths: Iterable[Path], root: Path = ROOT) -> dict[str, set[str]]:
    """Return top folder -> the other top folders whose modules its modules import."""
    found: dict[str, set[str]] = {}
    for path in paths:
        if len(path.parts) > 1:
            others = {name.split(".")[0] for name in _imports(root / path, set(), TOPS.keys())}
            found.setdefault(path.parts[0], set()).update(others - {path.parts[0]})
    return found


def test_imports_of_top_folders_are_those_of_the_table() -> None:
    assert _top_imports(_tracked()) == {top: set(others) for top, others in TOPS.items()}
    assert not _cycle({top: set(others) for top, others in TOPS.items()})


def test_modules_outside_the_package_import_no_cycle() -> None:
    modules = {_name(path, Path()): path for path in _tracked() if path.parts[0] in TOPS}
    graph = {
        name: set(_imports(ROOT / path, modules.keys(), TOPS.keys())) - {name}
        for name, path in modules.items()
    }
    assert not _cycle(graph)


def test_an_import_of_another_top_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "run.py").write_text("def late():\n    from tests.support import paths\n")
    assert _top_imports([Path("bench/run.py")], tmp_path) == {"bench": {"tests"}}


@pytest.mark.parametrize("path", _modules(*SOURCES).values(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_functions_stay_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= LONGEST, f"{node.name} has {length} lines"
