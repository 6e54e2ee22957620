"""sys.rs compared with bindgen's output for the exported header: both in one crate, where rustc compares
them.

rustc's lint on clashing declarations compares declarations of one symbol by structure. It treats all
opaque types as equal, so this test gives each its own size.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.system.bindings.rust.support import Project

PREFIX = "gfrust"
SYS = "gfsmith/src/sys.rs"
OPAQUE = {"codec": "Codec", "plan": "Plan", "sketch": "Sketch", "wide": "Wide"}

ROOT = """
#![deny(clashing_extern_declarations)]
#![allow(dead_code, non_camel_case_types, non_upper_case_globals)]
mod header { include!("header.rs"); }
mod sys;
"""


@pytest.fixture(scope="session")
def header(project: Project) -> str:
    """Return the exported header in Rust."""
    _, out = project.build_script("gfsmith")
    command = ("bindgen", "--no-layout-tests", "--size_t-is-usize", "--no-rustfmt-bindings")
    file = out / "kernels" / f"{PREFIX}.h"
    return subprocess.run((*command, file), capture_output=True, text=True, check=True).stdout


def compare(header: str, bindings: str, folder: Path) -> str:
    """Return rustc's messages about both together."""
    for size, (theirs, ours) in enumerate(OPAQUE.items(), start=1):
        opaque = rf"(struct {PREFIX}_{theirs} {{ _unused : \[u8 ; )0"
        header, there = re.subn(opaque, rf"\g<1>{size}", header)
        bindings, here = re.subn(rf"(struct {ours} {{\s+_private: \[u8; )0", rf"\g<1>{size}", bindings)
        assert there == here == 1
    text = ROOT
    for name in re.findall(r"pub const (\w+)", bindings):
        known = re.search(rf"pub const ((?:{PREFIX}_\w+_)?{PREFIX.upper()}_{name}) :", header)
        assert known, name
        text += f"const _: () = assert!(header::{known[1]} as i64 == sys::{name} as i64);\n"
    (folder / "header.rs").write_text(header)
    (folder / "sys.rs").write_text(bindings)
    (folder / "both.rs").write_text(text)
    command = ("rustc", "--edition=2021", "--crate-type=lib", "--emit=metadata", "--out-dir", folder)
    env = os.environ | {"GFSMITH_PREFIX": PREFIX}
    done = subprocess.run((*command, folder / "both.rs"), env=env, capture_output=True, text=True)
    return done.stderr


def test_bindings_agree_with_the_header(project: Project, header: str, tmp_path: Path) -> None:
    bindings = (project.folder / SYS).read_text()
    assert compare(header, bindings, tmp_path) == ""
    declared = re.findall(r"^    fn (\w+)", bindings, flags=re.MULTILINE)
    assert len(declared) > 20
    assert [name for name in declared if f"pub fn {PREFIX}_{name} (" not in header] == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("codec: *const Codec, len: usize, data:", "codec: *const Codec, len: u32, data:"),
        ("first: bool", "first: u8"),
        ("codec: *mut Codec, hint: Hint", "codec: *mut Plan, hint: Hint"),
        ("fn plan_is_least(plan: *const Plan) -> bool", "fn plan_is_least(plan: *const Plan) -> Status"),
        ("data: *const *const u8, parity: *const *mut u8)", "data: *const *const u8)"),
        ("pub const ENOTMDS: Status = -3", "pub const ENOTMDS: Status = -4"),
        ("pub const CRC64_ISO: Checksum = 4", "pub const CRC64_ISO: Checksum = 3"),
        ("states: *mut u64, ok: *mut bool", "states: *mut u32, ok: *mut bool"),
        ("fn wide_granule(code: *const c_char) -> usize", "fn wide_granule(code: *const c_char) -> u32"),
        (
            "wide: *const Wide, executor: *const Executor, len: usize, data:",
            "wide: *const Codec, executor: *const Executor, len: usize, data:",
        ),
    ],
)
def test_a_wrong_binding_is_found(
    project: Project, header: str, tmp_path: Path, right: str, wrong: str
) -> None:
    bindings = (project.folder / SYS).read_text()
    assert right in bindings
    assert "error" in compare(header, bindings.replace(right, wrong, 1), tmp_path)
