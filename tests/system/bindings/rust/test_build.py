"""The crate of bindings/rust, built and used: by the generator, from vendored sources, twice in a program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.folders import locked
from tests.support.paths import ROOT
from tests.system.bindings.rust.support import (
    ALL,
    BUILD,
    TOOLS,
    Project,
    environment,
    has,
    lay,
    sources,
    symbols,
)
from tests.system.linked.support import tamper

PREFIX = "gfrust"
#: CODE, SHAPE and SETS of build.rs; the sets for x86-64 have kernels in the program.
BAKED = "dot_10x4_backblaze"
SETS = {"gfni_avx512", "avx2", "scalar"}

KERNEL = re.compile(r"(\w+?)_((?:dot|mad|mul|xor)_\w+?)__([a-z0-9_]+)_u\d+\w*")


def test_a_clean_copy_builds_and_passes(project: Project) -> None:
    """All tests of the crate: behaviour, properties, shards of reed-solomon-erasure, documentation."""
    told = project.cargo("test", *ALL, "--quiet")
    results = re.findall(r"test result: ok\. (\d+) passed; 0 failed; 0 ignored", told)
    assert len(results) == 13 and sum(map(int, results)) >= 57, told


def test_the_program_has_only_the_selected_kernels(project: Project) -> None:
    program = project.program(*ALL, "--example", "repair")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.endswith("repaired\n")

    found = [match for name in symbols(program) if (match := KERNEL.fullmatch(name))]
    assert {match[1] for match in found} == {PREFIX}
    assert {match[3] for match in found} == SETS
    baked = {match[2] for match in found if not re.fullmatch(r"[a-z]+_\w+x\d+", match[2])}
    assert baked == {BAKED}


def test_everything_has_the_prefix(project: Project) -> None:
    _, out = project.build_script("gfsmith")
    names = symbols(out / f"lib{PREFIX}.a")
    assert f"{PREFIX}_encode" in names
    assert not {
        name for name in names if name.startswith(("gfsmith_", "gfs_")) and not name.startswith(PREFIX)
    }


def test_a_changed_kernel_fails_the_tests(project: Project) -> None:
    """One byte of a kernel in vendored sources: `cargo test` names the function."""
    _, out = project.build_script("gfsmith")
    vendored = {f"gfsmith/vendor/{path.name}": path.read_bytes() for path in (out / "kernels").iterdir()}
    changed = Project(BUILD / "changed")
    with locked(BUILD / "changed.lock"):
        # Another version, since cargo regards the same crate in two folders as one in a shared target/.
        manifest = sources()["gfsmith/Cargo.toml"].replace(b'version = "0.1.0"', b'version = "0.1.1"', 1)
        lay(changed.folder, sources() | vendored | {"gfsmith/Cargo.toml": manifest})
        shutil.copy(project.folder / "Cargo.lock", changed.folder)
        test = ("test", "--package", "gfsmith", "--test", "kernels", "--", "--nocapture")
        told = changed.cargo(*test)
        assert re.search(r"\d functions compared, \d+ compiled from C", told)
        symbol = f"{PREFIX}_xor_nx1__avx2_u4"
        tamper(changed.folder / "gfsmith" / "vendor" / f"{PREFIX}.c", symbol, PREFIX.upper())
        done = changed.run(*test)
    assert done.returncode != 0
    assert f"{symbol}: its machine code is not the proved one" in done.stdout + done.stderr


def test_a_changed_generator_is_run_again(project: Project) -> None:
    """cargo gets the list of every file on which the kernels depend."""
    _, out = project.build_script("gfsmith")
    told = (out.parent / "output").read_text().splitlines()
    inputs = {
        ROOT / "generator/gfsmith/kernel/spec.py",
        ROOT / "runtime/core/src/encode.c",
        TOOLS / "gfsmith",
    }
    assert {f"cargo:rerun-if-changed={path}" for path in inputs} <= set(told)
    named = [line.partition("=")[2] for line in told if line.startswith("cargo:rerun-if-changed=/")]
    assert [name for name in named if not Path(name).exists()] == []


def test_two_prefixes_in_one_program(pair: Project) -> None:
    """The second crate ships its sources, and uses them although the generator is on PATH."""
    program = pair.program(*ALL)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said == "true scalar sse\n"
    names = symbols(program)
    assert {f"{PREFIX}_encode", "zeta_encode"} <= names
    sets = {(match[1], match[3]) for name in names if (match := KERNEL.fullmatch(name))}
    assert sets == {(PREFIX, name) for name in SETS} | {("zeta", "sse")}
    _, out = pair.build_script("zeta")
    assert not (out / "kernels").exists()


def test_one_prefix_twice_is_refused(pair: Project, tmp_path: Path) -> None:
    shutil.copytree(pair.folder, tmp_path / "same")
    manifest = tmp_path / "same" / "zeta" / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace('links = "zeta"', f'links = "{PREFIX}"'))
    done = Project(tmp_path / "same").run("metadata", "--format-version=1", "--quiet")
    assert done.returncode != 0 and f"links={PREFIX}" in done.stderr, done.stderr


class Script:
    """The example's compiled build.rs, run without cargo on a crate with only vendor/."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._program, _ = project.build_script("gfsmith")
        self.crate, self._out = folder / "crate", folder / "out"
        self.crate.mkdir()
        self._out.mkdir()

    def refuse(self, **more: str) -> str:
        """Return the single line of its message."""
        asked = {
            "CARGO_MANIFEST_LINKS": PREFIX,
            "CARGO_MANIFEST_DIR": str(self.crate),
            "OUT_DIR": str(self._out),
        }
        env = environment(generator=False) | asked | more
        done = subprocess.run([self._program], env=env, cwd=self.crate, capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert "cargo:rustc-" not in done.stdout and not list(self._out.iterdir())
        return done.stderr


@pytest.fixture
def script(project: Project, tmp_path: Path) -> Script:
    return Script(project, tmp_path)


def test_no_generator_and_no_sources(script: Script) -> None:
    line = script.refuse()
    sets = "--isa gfni_avx512 --isa avx2 --isa neon --isa scalar"
    command = f"gfsmith export --code backblaze --k 10 --m 4 --prefix {PREFIX} {sets} -o vendor"
    assert line == (
        "gfsmith: no kernels: set GFSMITH to the generator, install gfsmith on PATH, or put into "
        f"{script.crate}/vendor the output of `{command}`\n"
    )


def test_a_missing_generator(script: Script) -> None:
    """Nothing replaces a missing generator."""
    (script.crate / "vendor").mkdir()
    line = script.refuse(GFSMITH="/nowhere/gfsmith")
    assert line.startswith("gfsmith: the generator /nowhere/gfsmith: No such file")


def test_a_generator_that_refuses(script: Script, tmp_path: Path) -> None:
    generator = tmp_path / "gfsmith"
    generator.write_text("#!/bin/sh\necho 'gfsmith: --k: no' >&2\nexit 2\n")
    generator.chmod(0o755)
    assert script.refuse(GFSMITH=str(generator)) == f"gfsmith: {generator}: gfsmith: --k: no\n"


def test_vendored_sources_of_another_prefix(script: Script) -> None:
    (script.crate / "vendor").mkdir()
    (script.crate / "vendor" / "other.c").touch()
    missing = os.fspath(script.crate / "vendor" / f"{PREFIX}.c")
    assert script.refuse() == f"gfsmith: {missing} is missing: export with --prefix {PREFIX}\n"


@pytest.mark.skipif(not has("fmt"), reason="Debian's cargo-web has no rustfmt")
def test_layout(project: Project) -> None:
    project.cargo("fmt", "--all", "--check")


def test_no_warnings(project: Project) -> None:
    """Neither the compiler nor clippy, if installed, which checks rust-version, warns; cargo repeats old
    warnings.
    """
    done = project.run("build", *ALL, "--all-targets", "--quiet")
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_bench_runs(project: Project) -> None:
    """One round; its figures do not matter here."""
    program = project.program(*ALL, "--bin", "bench")
    said = subprocess.run([program, "1"], capture_output=True, text=True, check=True).stdout
    assert said.count("reed-solomon-erasure") == said.count("reed-solomon-simd") == 16
    wrong = subprocess.run([program, "0"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr) == (2, "bench: the argument is the number of rounds, 1 or more\n")
