"""Constants of the C library, and their copies in files that cannot include its headers.

A copy is in another language, in a program with a file format of its own, or in a driver that does not
include gfsmith.h. Python code of the generator imports the constant instead.
"""

from __future__ import annotations

import re

import pytest

from gfsmith import field
from gfsmith.build import target
from gfsmith.cli import adapt
from gfsmith.graph import types
from gfsmith.ir import folding
from gfsmith.kernel import defaults, limits, operation
from tests.support.paths import ROOT
from tools import c_values

HEADER = "runtime/core/include/gfsmith.h"
COMPOSE = "runtime/compose/include/gfsmith_compose.h"
PATH = "runtime/core/src/path.h"
CRC = "runtime/core/src/crc.h"

#: A constant of the generator, and the C file and name of the original.
PYTHON = [
    (operation.MAX_SHARDS, HEADER, "GFSMITH_MAX_SHARDS"),
    (field.POLYNOMIAL, HEADER, "GFSMITH_POLYNOMIAL"),
    (types.MAX_RANKS, COMPOSE, "GFSMITH_RANKS_MAX"),
    (types.MAX_EDGES, COMPOSE, "GFSMITH_EDGES_MAX"),
    (min(found.first_cache for found in limits.table().values()), PATH, "GFS_FIRST_CACHE_LEAST"),
    (min(found.own_cache for found in limits.table().values()), PATH, "GFS_OWN_CACHE_LEAST"),
    (max(found.own_cache for found in limits.table().values()), PATH, "GFS_OWN_CACHE_MOST"),
    (defaults.PASS_MAX, "runtime/core/src/map.h", "GFS_PASS_MAX"),
    (target.BULK_MIN, PATH, "GFS_BULK_MIN"),
    (folding.ENCODED_GROUP, CRC, "GFS_CRC_ENCODED_GROUP"),
    (len(folding.ENCODES), CRC, "GFS_CRC_ENCODED_MAX"),
]

#: A copy in another file: a pattern whose group is the number.
COPIES = [
    ("bindings/python/gfsmith/codec/construction.py", r"^MAX_SHARDS = (\w+)$", "GFSMITH_MAX_SHARDS"),
    ("bindings/python/gfsmith/codec/construction.py", r"^POLYNOMIAL = (\w+) ", "GFSMITH_POLYNOMIAL"),
    ("bindings/go/codec/codec.go", r"^const MaxShards = (\w+)$", "GFSMITH_MAX_SHARDS"),
    ("bindings/go/codec/field.go", r"^const Polynomial = (\w+)$", "GFSMITH_POLYNOMIAL"),
    ("bindings/rust/gfsmith/src/sys.rs", r"^pub const MAX_SHARDS: usize = (\w+);$", "GFSMITH_MAX_SHARDS"),
    (
        "bindings/rust/gfsmith/src/streams/header.rs",
        r"^const POLYNOMIAL: u32 = (\w+);$",
        "GFSMITH_POLYNOMIAL",
    ),
    ("bindings/wasm/src/codec.js", r"^const MAX_SHARDS = (\w+);$", "GFSMITH_MAX_SHARDS"),
    ("bindings/wasm/src/shardfile.js", r"^const POLYNOMIAL = (\w+);$", "GFSMITH_POLYNOMIAL"),
    ("bench/driver/peer.h", r"\bBENCH_MAX_SHARDS = (\w+) ", "GFSMITH_MAX_SHARDS"),
    ("bench/matrices.py", r"^POLYNOMIAL = (\w+)$", "GFSMITH_POLYNOMIAL"),
]


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(("value", "path", "name"), PYTHON, ids=[name for _, _, name in PYTHON])
def test_the_generator_has_the_library_s_constant(value: int, path: str, name: str) -> None:
    assert value == c_values.constant(path, name)


@pytest.mark.parametrize(("path", "pattern", "name"), COPIES, ids=[f"{p}-{n}" for p, _, n in COPIES])
def test_a_copy_equals_the_header(path: str, pattern: str, name: str) -> None:
    (found,) = re.findall(pattern, _text(path), re.MULTILINE)
    assert int(found, 0) == c_values.constant(HEADER, name)


def test_the_generator_defines_no_constant_twice() -> None:
    pattern = re.compile(
        r"^_?(?:\w+_)?(MAX_SHARDS|POLYNOMIAL|PASS_MAX|MAX_RANKS|MAX_EDGES) = (?!0x11B)", re.M
    )
    names = [
        found[1]
        for path in sorted((ROOT / "generator").rglob("*.py"))
        for found in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
    assert sorted(names) == ["MAX_EDGES", "MAX_RANKS", "MAX_SHARDS", "PASS_MAX", "POLYNOMIAL"]


def test_schemes_are_those_of_the_library() -> None:
    table = _text("runtime/compose/src/graph_layouts.c").partition("layouts[] = {")[2].partition("};")[0]
    assert tuple(re.findall(r'\{"(\w+)",', table)) == types.SCHEMES
    (stored,) = re.findall(r"schemes\[\] = \{(.*?)\};", _text("apps/stripe-store/common/layout_options.c"))
    assert tuple(re.findall(r'"(\w+)"', stored)) == types.SCHEMES


def test_policies_are_those_of_the_library() -> None:
    table = _text("runtime/adaptive/src/policy.c").partition("names[GFS_WALKS] = {")[2].partition("};")[0]
    assert tuple(re.findall(r'= "([\w-]+)"', table)) == ("default", "plain", *adapt.WALKS)


@pytest.mark.parametrize(
    ("text", "value"),
    [("255", 255), ("0x11du", 0x11D), ("((size_t)512 << 10)", 512 << 10), ("(8u * 1024)", 8192), ("-3", -3)],
)
def test_a_number_in_c(text: str, value: int) -> None:
    assert c_values.number(text) == value


def test_an_expression_that_is_no_number() -> None:
    with pytest.raises(ValueError, match="sizeof"):
        c_values.number("sizeof")
    with pytest.raises(ValueError, match="defines GFS_NONE 0 times; allowed: once"):
        c_values.constant(PATH, "GFS_NONE")
