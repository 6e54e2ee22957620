"""A replacement for a crate next to the original: the steps that the tests of all replacements share.

A folder has the replacement as crate/, and as differential/ a program that calls it and the original.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.system.bindings.rust.support import CHECKSUMS, RANDOM, Project, append, sources

PROGRAM = """
[package]
name = "program"
version = "0.0.0"
edition = "2021"

[dependencies]
{name} = "={version}"
"""
PATCH = """
[patch.crates-io]
{name} = {{ path = "../crate" }}
"""


def add_differential(folder: Path, program: Path) -> None:
    """Add the program that compares both crates, and the rules of layout, to a folder."""
    shutil.copytree(program, folder / "differential")
    shutil.copy(RANDOM, folder / "differential" / "src")
    (folder / "rustfmt.toml").write_bytes(sources()["rustfmt.toml"])


def sources_of(name: str, differential: Project) -> Path:
    """Return the folder of the original's sources, which cargo has compared with the registry's digest."""
    found = differential.sources_of(name)
    assert differential.checksums()[name] == CHECKSUMS[name]
    return found


def original_tests(original: Path, module: str) -> str:
    """Return the tests at the end of a module of the original."""
    text = (original / "src" / f"{module}.rs").read_text()
    _, begin, tests = text.partition("#[cfg(test)]\nmod tests {")
    assert begin, module
    return begin + tests


def copy_crate(crate: Path, copy: Path) -> None:
    shutil.copytree(crate, copy, ignore=shutil.ignore_patterns("examples"))


def append_tests(copy: Path, module: str, tests: str) -> None:
    append(copy / "src" / f"{module}.rs", tests)


#: The function that FAULT in a replacement calls.
SWITCH = """
fn fault(name: &str) -> bool {
    extern crate std;
    std::env::var("GFSMITH_FAULT").as_deref() == Ok(name)
}
"""


def with_faults(folder: Path, faults: Mapping[str, tuple[str, str, str]], copy: Path) -> Project:
    """Return the program of a copy whose crate has faults: name -> a file, a text in it, and its replacement
    with the condition FAULT. One build serves all: the environment variable GFSMITH_FAULT names the one that
    the program has.
    """
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("cache"))
    append(copy / "crate" / "src" / "lib.rs", SWITCH)
    for name, (file, text, other) in faults.items():
        source = copy / "crate" / "src" / file
        before = source.read_text()
        assert before.count(text) == 1 and "FAULT" in other, name
        source.write_text(before.replace(text, other.replace("FAULT", f'crate::fault("{name}")')))
    return Project(copy / "differential")


def said_with_both(folder: Path, name: str, version: str, example: str) -> str:
    """Run an example with the original and with [patch.crates-io], and return the output of both."""
    said, locks = [], []
    program = PROGRAM.format(name=name, version=version)
    for kind, manifest in ("stock", program), ("patched", program + PATCH.format(name=name)):
        (folder / kind / "src").mkdir(parents=True)
        (folder / kind / "Cargo.toml").write_text(manifest)
        shutil.copy(folder / "crate" / "examples" / example, folder / kind / "src" / "main.rs")
        said.append(Project(folder / kind).cargo("run", "--quiet"))
        locks.append((folder / kind / "Cargo.lock").read_text())
    assert said[0] == said[1]
    from_registry = f'name = "{name}"\nversion = "{version}"\nsource = '
    assert [from_registry in lock for lock in locks] == [True, False]
    return said[0]


def check_builds(crate: Project, features: tuple[str, ...], examples: int) -> None:
    """Require builds without warnings, also with these features, and so many examples in the documentation
    that pass.
    """
    for chosen in (), features:
        done = crate.run("build", "--quiet", *chosen)
        assert done.returncode == 0 and done.stderr == "", done.stderr
    assert f"test result: ok. {examples} passed" in crate.cargo("test", "--doc", "--quiet")
