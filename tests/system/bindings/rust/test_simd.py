"""The replacement for reed-solomon-simd: the original's tests, and every result next to the original's."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.folders import once
from tests.system.bindings.rust.replaced import (
    add_differential,
    append_tests,
    check_builds,
    copy_crate,
    original_tests,
    said_with_both,
    sources_of,
    with_faults,
)
from tests.system.bindings.rust.support import Project, append, has

OWN = Path(__file__).parent / "simd"
NAME = "reed-solomon-simd"
ROUNDS = 300

#: Modules of the original that end with tests, which are appended to the modules of the same names. Those of
#: other modules test engines, high and low rates, which the replacement does not have.
WITH_TESTS = ("decoder_result", "encoder_result", "lib", "rate/rate_default", "reed_solomon")
#: A test of a private function, which chooses one of two ways to compute the same code.
PRIVATE = re.compile(r"    #\[test\]\n    fn use_high_rate\(\) \{\n.*?\n    \}\n", re.DOTALL)
#: A test of shapes with 65,536 shards; gfsmith's code has at most 65,535.
MOST_SHARDS = "reed_solomon::tests::supports"
#: Crates that the original's tests need, and the module with their helpers.
FOR_TESTS = """
[dev-dependencies]
fixedbitset = { version = "0.5.7", default-features = false }
hex = "0.4.3"
rand = "0.9.2"
rand_chacha = "0.9.0"
sha2 = "0.10.9"
"""
HELPERS = "#[cfg(test)]\n#[macro_use]\nmod test_util;\n"
#: The original's macros with tests of errors, which it applies to the encoders and decoders of both rates.
ERRORS = """
#[cfg(test)]
mod encoder_errors {
    use crate::{engine::NoSimd, rate::{DefaultRateEncoder, RateEncoder}, Error};
    test_rate_encoder_errors! { DefaultRateEncoder }
}

#[cfg(test)]
mod decoder_errors {
    use crate::{engine::NoSimd, rate::{DefaultRateDecoder, RateDecoder}, Error};
    test_rate_decoder_errors! { DefaultRateDecoder }
}
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, project: Project) -> Path:
    """A folder with the crate as crate/, over the compiled crate gfsmith of `project`, and a program that
    calls it and the original.
    """

    def make(folder: Path) -> None:
        shutil.copytree(project.folder / NAME, folder / "crate")
        manifest = folder / "crate" / "Cargo.toml"
        text = manifest.read_text()
        assert text.count('"../gfsmith"') == 1
        manifest.write_text(text.replace('"../gfsmith"', f'"{project.folder / "gfsmith"}"'))
        add_differential(folder, OWN / "differential")

    return once(tmp_path_factory, "rust-simd", make)


@pytest.fixture(scope="session")
def differential(folder: Path) -> Project:
    return Project(folder / "differential")


@pytest.fixture(scope="session")
def original(differential: Project) -> Path:
    return sources_of(NAME, differential)


def with_the_tests(crate: Path, original: Path, copy: Path) -> Project:
    """Return a copy of the crate with the original's tests."""
    copy_crate(crate, copy)
    shutil.copy(original / "src" / "test_util.rs", copy / "src")
    library = copy / "src" / "lib.rs"
    library.write_text(library.read_text().replace("mod code;", f"{HELPERS}mod code;", 1))
    for name in WITH_TESTS:
        tests, removed = PRIVATE.subn("", original_tests(original, name))
        assert removed == (name == "rate/rate_default")
        append_tests(copy, name, tests)
    append_tests(copy, "rate/rate_default", ERRORS)
    append(copy / "Cargo.toml", FOR_TESTS)
    return Project(copy)


def test_the_tests_of_the_original_pass(folder: Path, original: Path, tmp_path: Path) -> None:
    copy = with_the_tests(folder / "crate", original, tmp_path / "copy")
    said = copy.cargo("test", "--lib", "--quiet", "--", "--skip", MOST_SHARDS)
    assert re.search(r"test result: ok\. 52 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out", said), (
        said
    )


def test_every_result_equals_that_of_the_original(differential: Project) -> None:
    said = differential.cargo("run", "--quiet", "--", str(ROUNDS))
    found = re.fullmatch(r"(\d+) calls are equal\n", said)
    assert found is not None and int(found[1]) > 100 * ROUNDS, said


#: A fault -> the file, a text in it, and its replacement.
MUTANTS = {
    "a shard overwrites the one before": (
        "work.rs",
        "self.bytes[index * shard_bytes..]",
        "self.bytes[(if FAULT { index / 2 } else { index }) * shard_bytes..]",
    ),
    "a recovery shard is taken for an original one": (
        "work.rs",
        "self.received[original_count + index] = true;",
        "self.received[if FAULT { index } else { original_count + index }] = true;",
    ),
    "another shape keeps the code": (
        "work.rs",
        "if before != counts {",
        "if if FAULT { before == (0, 0) } else { before != counts } {",
    ),
    "shards remain after a round": (
        "encoder_result.rs",
        "self.work.forget_shards();",
        "if !FAULT { self.work.forget_shards(); }",
    ),
    "another code is taken for a recent one": (
        "code.rs",
        "(code.data_shard_count(), code.parity_shard_count()) == shape",
        "code.data_shard_count() == shape.0 && (FAULT || code.parity_shard_count() == shape.1)",
    ),
}


@pytest.fixture(scope="session")
def faulty(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The program with all faults; without one it passes."""

    def make(made: Path) -> None:
        with_faults(folder, MUTANTS, made / "faulty").cargo("run", "--quiet", "--", str(ROUNDS // 5))

    return Project(once(tmp_path_factory, "rust-simd-faults", make) / "faulty" / "differential")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_changes_a_result(name: str, faulty: Project) -> None:
    done = faulty.run("run", "--quiet", "--", str(ROUNDS // 5), GFSMITH_FAULT=name)
    assert "error" not in done.stderr, done.stderr
    assert done.returncode != 0


def test_one_line_switches_a_program(folder: Path) -> None:
    """The example with the original and with [patch.crates-io]: equal bytes."""
    said = said_with_both(folder, NAME, "3.1.0", "chunks.rs")
    assert said.endswith("342 lost shards restored\n")


def test_no_warnings_without_std_and_documentation(folder: Path) -> None:
    check_builds(Project(folder / "crate"), ("--no-default-features",), examples=2)


@pytest.mark.skipif(not has("fmt"), reason="Debian's cargo-web has no rustfmt")
def test_layout(folder: Path) -> None:
    Project(folder / "crate").cargo("fmt", "--check")
