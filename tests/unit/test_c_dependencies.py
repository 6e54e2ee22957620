"""C modules: includes run in one direction between folders, and there are no cycles, neither of includes
between modules nor of used functions between sources.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.c_modules import Edges, Module, Sources, UnknownInclude, cycles
from tests.support.c_symbols import dependencies, symbols
from tests.support.page_tables import listed, section
from tests.support.paths import ROOT

#: Folder -> the folders whose headers its files may include, besides its own.
ALLOWED: dict[str, tuple[str, ...]] = {
    "runtime/core/include": (),
    "runtime/core/src": ("runtime/core/include",),
    "runtime/adaptive/include": ("runtime/core/include",),
    "runtime/adaptive/src": ("runtime/adaptive/include", "runtime/core/include", "runtime/core/src"),
    "runtime/isal/include": ("runtime/isal/include/isa-l",),
    "runtime/isal/include/isa-l": (),
    "runtime/isal/src": (
        *("runtime/isal/include", "runtime/isal/include/isa-l"),
        *("runtime/core/include", "runtime/core/src"),
    ),
    "runtime/jerasure/include": ("runtime/jerasure/include/jerasure",),
    "runtime/jerasure/include/jerasure": (),
    "runtime/jerasure/src": (
        *("runtime/jerasure/include", "runtime/jerasure/include/jerasure"),
        "runtime/core/src",
    ),
    "runtime/compose/include": ("runtime/core/include",),
    "runtime/compose/src": ("runtime/compose/include", "runtime/core/include"),
    "runtime/shards/include": ("runtime/core/include",),
    "runtime/shards/src": ("runtime/shards/include",),
    "apps/common": (),
    "apps/shards": ("apps/common", "runtime/shards/include", "runtime/core/include"),
    "apps/stripe-store/common": ("apps/common", "runtime/compose/include"),
    "apps/stripe-store/chunk": ("apps/common", "apps/stripe-store/common"),
    "apps/stripe-store/agent": ("apps/common", "apps/stripe-store/common"),
    "apps/stripe-store/run": ("apps/common", "apps/stripe-store/common", "apps/stripe-store/agent"),
    "bindings/java/native": ("runtime/core/include",),
    "bindings/python/native": (
        *("runtime/core/include", "runtime/compose/src", "runtime/adaptive/src"),
        "runtime/shards/include",
    ),
    "bench/checksums": ("runtime/core/include", "bench/driver"),
    "bench/copies": ("runtime/core/include",),
    "bench/isal": ("runtime/core/include",),
    "bench/jerasure": (),
    "bench/driver": ("runtime/core/include",),
    "bench/peers": ("bench/driver",),
    "bench/packets": ("bench/driver",),
    "bench/python": ("runtime/core/include",),
    "bench/threads": ("runtime/core/include",),
    "bench/raid": ("runtime/core/src",),
    "bench/slides": ("runtime/core/include",),
    "bench/wide": ("runtime/core/include",),
    "bench/adaptive/driver": ("bench/driver", "runtime/adaptive/include"),
    "bench/compose/driver": ("runtime/compose/include",),
    "bench/verdicts/reproductions": (),
    "bench/compose/ycsb": ("runtime/compose/include", "apps/stripe-store/common"),
    "research/memory": ("runtime/adaptive/src",),
    "research/memory/core": (),
    "research/tests": ("runtime/adaptive/src",),
}

#: Tests include each other's headers, and those of the code that they test.
TESTED = ("tests", "runtime", "apps")
#: Folders that are no part of the dependencies: expected outputs, generated wrappers, other programs' files.
APART = ("tests/unit/golden/expected", "bindings/go", "bindings/wasm", "examples", "generator")
#: Folders whose sources are linked into one library or program.
LINKED = ("runtime", "apps/shards", "apps/stripe-store")

#: Headers and lists that a build writes.
GENERATED = re.compile(r"gfsmith_kernels\.h|\w+\.inc")


def _table(root: Path) -> dict[str, tuple[str, ...]]:
    """Return ALLOWED and the folders of tests."""
    tests = {path.parent.relative_to(root).as_posix() for path in (root / "tests").rglob("*.[ch]")}
    return ALLOWED | {folder: TESTED for folder in sorted(tests) if not folder.startswith(APART)}


def _edges(root: Path = ROOT) -> Edges:
    table = _table(root)
    return Sources(root, table).edges(table, GENERATED)


def _forbidden(edges: Edges, root: Path = ROOT) -> list[str]:
    table = _table(root)
    return sorted(
        f"{module} must not include {other}"
        for module, others in edges.items()
        for other in others
        if other.folder != module.folder and not _below(other.folder, table[module.folder])
    )


def _below(folder: str, places: Sequence[str]) -> bool:
    """Return True if a folder is one of the places, or inside one of the top folders among them."""
    return folder in places or folder.split("/")[0] in places


def _cycles(root: Path = ROOT) -> list[set[str]]:
    return [{module.name for module in group} for group in cycles(_edges(root))]


def _cycles_of_functions(root: Path, folders: Sequence[str] = LINKED) -> list[list[str]]:
    """Return the groups of sources that use each other's functions."""
    found: list[list[str]] = []
    for folder in folders:
        sources = {
            path.relative_to(root): symbols(path.read_text(encoding="utf-8"))
            for path in sorted((root / folder).rglob("*.c"))
        }
        found += [[path.as_posix() for path in group] for group in cycles(dependencies(sources))]
    return found


def test_every_c_file_is_in_the_table() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.c", "*.h"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folders = {Path(name).parent.as_posix() for name in tracked.stdout.splitlines()}
    assert {folder for folder in folders if not folder.startswith(APART)} == set(_table(ROOT))


def test_includes_run_one_way() -> None:
    assert _forbidden(_edges()) == []


def test_the_table_allows_nothing_unused() -> None:
    used = {(module.folder, other.folder) for module, others in _edges().items() for other in others}
    assert {(folder, other) for folder, others in ALLOWED.items() for other in others} - used == set()


def test_there_are_no_cycles() -> None:
    assert _cycles() == []


def test_no_sources_use_each_others_functions() -> None:
    assert _cycles_of_functions(ROOT) == []


def _early(order: list[str], edges: Edges) -> list[str]:
    """Return the includes of a module that stands later in `order`."""
    place = {Module("runtime/adaptive/src", name): n for n, name in enumerate(order)}
    return [
        f"{module} includes {other}"
        for module in place
        for other in edges[module]
        if place.get(other, -1) > place[module]
    ]


def test_the_modules_of_the_coordinator_stand_in_the_order_of_includes() -> None:
    order = [name.removesuffix(".c") for name in listed("Coordinator")]
    edges = _edges()
    assert sorted(order) == sorted(m.name for m in edges if m.folder == "runtime/adaptive/src")
    assert _early(order, edges) == []
    assert _early(order[::-1], edges) != []


@pytest.mark.parametrize(("heading", "part"), [("Core", "core"), ("ISA-L", "isal"), ("Jerasure", "jerasure")])
def test_the_page_lists_every_module(heading: str, part: str) -> None:
    folder = ROOT / "runtime" / part / "src"
    named = [path for name in listed(heading) for path in folder.glob(name)]
    assert len(named) >= len(listed(heading)) and len(set(named)) == len(named)
    assert {path.stem for path in named} == {path.stem for path in folder.glob("*.[ch]")}


def test_the_page_names_every_source_of_compose() -> None:
    named = set(re.findall(r"`(\w+\.c)`", section("Coding over nodes")))
    assert named == {path.name for path in (ROOT / "runtime" / "compose" / "src").glob("*.c")}


def test_no_two_headers_of_the_runtime_have_the_same_guard() -> None:
    """With equal guards an amalgamation would omit one of the headers."""
    texts = [path.read_text() for path in ROOT.glob("runtime/*/*/*.h")]
    guards = [re.findall(r"^#ifndef (\w+)", text, re.MULTILINE)[0] for text in texts]
    assert len(set(guards)) == len(guards) > 50


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


CORE = "runtime/core/src"


def test_a_cycle_of_three_headers_is_found(tmp_path: Path) -> None:
    names = ("red", "green", "blue")
    headers = {
        f"{CORE}/{a}.h": f'#include "{b}.h"\n' for a, b in zip(names, names[1:] + names[:1], strict=True)
    }
    _write(tmp_path, headers | {f"{CORE}/user.c": '#include "red.h"\n'})
    assert _cycles(tmp_path) == [set(names)]


def test_a_cycle_through_sources_is_found(tmp_path: Path) -> None:
    """plan.c includes codec.h, and finish.c, which has no header, implements codec.h."""
    files = {
        "codec.h": "bool gfs_codec_ready(const codec *c);\n",
        "finish.c": '#include "codec.h"\n#include "plan.h"\nbool gfs_codec_ready(const codec *c) {\n}\n',
        "plan.h": "int gfs_plan(void);\n",
        "plan.c": '#include "plan.h"\n#include "codec.h"\nint gfs_plan(void) { return 1; }\n',
    }
    _write(tmp_path, {f"{CORE}/{name}": text for name, text in files.items()})
    assert _cycles(tmp_path) == [{"codec", "plan"}]
    (tmp_path / CORE / "plan.c").write_text('#include "plan.h"\n/* #include "codec.h" */\n')
    assert _cycles(tmp_path) == []


def test_a_wrong_direction_is_found(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            f"{CORE}/map.c": '#include "tuner.h"\n',
            "runtime/adaptive/src/tuner.h": '#include "map.h"\n',
            f"{CORE}/map.h": "",
            "runtime/compose/src/graph.c": '#include "map.h"\n#include <gfsmith.h>\n',
            "runtime/core/include/gfsmith.h": "",
        },
    )
    assert _forbidden(_edges(tmp_path), tmp_path) == [
        "runtime/compose/src/graph must not include runtime/core/src/map",
        "runtime/core/src/map must not include runtime/adaptive/src/tuner",
    ]


def test_an_include_of_no_file_is_found(tmp_path: Path) -> None:
    _write(tmp_path, {f"{CORE}/map.c": '#include "kernels.inc"\n#include "gone.h"\n'})
    with pytest.raises(UnknownInclude, match=r"map\.c: gone\.h"):
        _edges(tmp_path)


def test_a_source_of_two_headers_makes_one_module_of_them(tmp_path: Path) -> None:
    files = {"a.h": "void a(int x,\n       int y);\n", "b.h": "void b(void);\n"}
    files["both.c"] = "static void c(void) {}\nvoid a(int x,\n       int y) {\n}\nvoid b(void) {}\n"
    _write(tmp_path, {f"{CORE}/{name}": text for name, text in files.items()})
    assert set(_edges(tmp_path)) == {Module(CORE, "a+b")}


def test_a_cycle_of_functions_within_one_header_is_found(tmp_path: Path) -> None:
    files = {
        "agent.h": "void call(void);\nvoid node(int node);\nvoid sync(void (*done)(void));\n",
        "call.c": "static void own(void) {}\nvoid call(void) { own(); node(1); }\n",
        "node.c": "static void own(void);\nvoid node(int call) { own(); sync(NULL); (void)call; }\n",
        "sync.c": "void call(void);\nvoid sync(void (*done)(void)) { (void)done; }\n",
    }
    _write(tmp_path, {f"{CORE}/{name}": text for name, text in files.items()})
    assert _cycles_of_functions(tmp_path, ["runtime"]) == []
    (tmp_path / CORE / "sync.c").write_text("void sync(void (*done)(void)) { start(&call); }\n")
    assert _cycles_of_functions(tmp_path, ["runtime"]) == [
        [f"{CORE}/{name}.c" for name in ("call", "node", "sync")]
    ]
