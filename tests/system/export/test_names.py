"""Another prefix: renamed identifiers, unchanged ones, and refused prefixes."""

from __future__ import annotations

import re

import pytest

from gfsmith.emit.files import share
from gfsmith.export.names import HEADERS, PARTS, Names, PrefixError

RENAMED = {
    "gfsmith_encode(codec)": "acme_encode(codec)",
    "gfs_table_bytes": "acme_gfs_table_bytes",
    "GFSMITH_OK, GFS_PATH_cached": "ACME_OK, ACME_GFS_PATH_cached",
    'getenv("GFSMITH_ISA")': 'getenv("ACME_ISA")',
    '#include "gfsmith.h"': '#include "acme.h"',
    "#include <gfsmith_plan.h>": "#include <acme_plan.h>",
    "*gfsmith_isa, (gfs_x)": "*acme_isa, (acme_gfs_x)",
    "-DGFSMITH_SINGLE_ISA=avx2": "-DACME_SINGLE_ISA=avx2",
    "gen_out/gfsmith_kernels.h": "gen_out/acme_kernels.h",
    "acme_dot_nx4__avx2_u2_steps": "acme_dot_nx4__avx2_u2_steps",
    "gfsmith 1.2.3, made by `gfsmith export`": "gfsmith 1.2.3, made by `gfsmith export`",
    "my_gfsmith_x xgfs_x _GFSMITH_X": "my_gfsmith_x xgfs_x _GFSMITH_X",
    "gfsmith.toml gfsmith.cpp": "gfsmith.toml gfsmith.cpp",
}


@pytest.mark.parametrize("text", RENAMED)
def test_renamed(text: str) -> None:
    assert Names("acme").text(text) == RENAMED[text]


def test_the_default_changes_nothing() -> None:
    for text in RENAMED:
        assert Names("gfs").text(text) == Names("gfs").build_text(text) == text
    assert Names("gfs").library == "gfsmith"


def test_build_files_name_targets() -> None:
    names = Names("acme")
    assert names.build_text("add_library(gfsmith a.c)\ninclude(gfsmith-x.cmake)") == (
        "add_library(acme a.c)\ninclude(acme-x.cmake)"
    )


@pytest.mark.parametrize("prefix", ["acme", "ACME", "int", "_x", "a", "a1_b2", "gfx", "mygfslib", "smith"])
def test_prefixes_that_work(prefix: str) -> None:
    """C keywords are allowed, since declarations are named prefix_name."""
    assert Names(prefix).text("gfsmith_x GFSMITH_X") == f"{prefix}_x {prefix.upper()}_X"


@pytest.mark.parametrize("prefix", ["gfsmith", "GFSMITH", "gfs_", "my_gfs", "gfs_two", "x_gfsmith_y", "GFS"])
def test_prefixes_that_would_be_renamed_again(prefix: str) -> None:
    """my_gfs_dot is a kernel of my_gfs, and an internal name of my."""
    with pytest.raises(PrefixError, match=f"^prefix '{prefix}': .*; allowed: gfs, or any without gfs$"):
        Names(prefix)


@pytest.mark.parametrize("prefix", ["string", "windows", "test", "all"])
def test_prefixes_that_are_taken(prefix: str) -> None:
    with pytest.raises(PrefixError, match=f"^prefix '{prefix}': .* (header|of this name)$"):
        Names(prefix)


@pytest.mark.parametrize("prefix", ["acme_wide", "acme_plan", "a_b_xor"])
def test_prefixes_whose_names_another_library_has(prefix: str) -> None:
    """acme_wide_encode is a function of acme, and acme_plan.h one of its headers."""
    other = prefix.rpartition("_")[0]
    with pytest.raises(PrefixError, match=f"^prefix '{prefix}': .* of a library {other}; allowed: another"):
        Names(prefix)
    Names(f"{prefix}s")
    Names(prefix.rpartition("_")[2])


def test_no_other_prefix_has_names_of_another_library() -> None:
    headers = [path for part in ("core", "adaptive") for path in share(f"runtime/{part}/include").iterdir()]
    names = {path.stem.removeprefix("gfsmith_") for path in headers} - {"gfsmith"}
    found = {name for path in headers for name in re.findall(r"\bgfsmith_(\w+)\(", path.read_text())}
    pairs = ((name, name[: at.start()]) for name in found for at in re.finditer("_", name))
    ambiguous = {part for name, part in pairs if name.removeprefix(f"{part}_") in found}
    assert "wide" in ambiguous and names | ambiguous == PARTS


def test_every_header_that_the_sources_include_is_known() -> None:
    included = set()
    for name in ("runtime", "templates"):
        for path in share(name).rglob("*.*"):
            if {"compose", "shards"} & set(path.relative_to(share(name)).parts):  # separate, not exported
                continue
            included |= set(re.findall(r"#\s*include\s*<(\w+)\.h>", path.read_text()))
    assert "string" in included
    assert included - HEADERS <= {"gfsmith", "vecintrin"}


def test_names_are_unique_after_renaming() -> None:
    """No two identifiers of the sources become equal."""
    words = set()
    for path in share("runtime").rglob("*.[hc]"):
        words |= set(re.findall(r"\b(?:gfs|gfsmith|GFS|GFSMITH)_\w+", path.read_text()))
    assert len(words) > 200
    for prefix in ("acme", "ACME", "smith"):
        assert len({Names(prefix).text(word) for word in words}) == len(words)
