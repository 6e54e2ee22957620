"""The sources of the single source have no name in common that only a file may use."""

from __future__ import annotations

from collections import defaultdict

from gfsmith.export.parts import PARTS
from tests.support.c_symbols import own_names
from tests.support.paths import ROOT

#: Defined in several files, with one value.
_SHARED = {"_GNU_SOURCE"}


def test_each_kind_of_name_is_found() -> None:
    text = """
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
            for name in own_names(path.read_text()):
                files[name].add(f"{part}/{path.name}")
    assert len(files) > 500
    assert {name: found for name, found in files.items() if len(found) > 1 and name not in _SHARED} == {}
