"""The replacement for reed-solomon-erasure: the original's tests, and every result next to the original's."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from gfsmith.build import config
from gfsmith.emit.rust import FORMATS
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.configurations import known_proofs
from tests.support.folders import once
from tests.support.paths import ROOT
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
from tests.system.bindings.rust.support import (
    BUILD,
    TOOLS,
    Project,
    append,
    environment,
    has,
    installed,
    sources,
)

OWN = Path(__file__).parent / "replacement"
NAME = "reed-solomon-erasure"
CONFIGURATION = ROOT / "bindings" / "rust" / NAME / "gfsmith.toml"
KERNELS = Path("src") / "kernels"
CALLS = 5000  #: for each instruction set

#: Modules of the original that end with tests, which are appended to the modules of the same names.
WITH_TESTS = ("errors", "galois_16", "galois_8", "matrix")
#: The original requires these crates for its tests.
FOR_TESTS = """
[dev-dependencies]
quickcheck = { version = "0.9", default-features = false }
rand = "0.7.2"

[profile.dev]
opt-level = 2
debug = false
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the crate, generated, as crate/, and a program that calls it and the original."""

    def make(folder: Path) -> None:
        for name, content in sources().items():
            if name.startswith(f"{NAME}/"):
                path = folder / "crate" / name.removeprefix(f"{NAME}/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        known_proofs(folder / "cache")
        command = (TOOLS / "gfsmith", "export", "--form", "rust", "-c", "gfsmith.toml", "-o", KERNELS)
        subprocess.run((*command, "--cache", "../cache"), cwd=folder / "crate", env=environment(), check=True)
        add_differential(folder, OWN / "differential")

    return once(tmp_path_factory, "rust-replacement", make)


@pytest.fixture(scope="session")
def differential(folder: Path) -> Project:
    return Project(folder / "differential")


@pytest.fixture(scope="session")
def original(differential: Project) -> Path:
    return sources_of(NAME, differential)


def with_the_tests(crate: Path, original: Path, copy: Path) -> Project:
    """Return a copy of the crate with the original's tests and the names that they need."""
    copy_crate(crate, copy)
    shutil.copytree(original / "src" / "tests", copy / "src" / "tests")
    for path in OWN.joinpath("internals").glob("*.rs"):
        append(copy / "src" / path.name, path.read_text())
    for name in WITH_TESTS:
        append_tests(copy, name, original_tests(original, name))
    append(copy / "Cargo.toml", FOR_TESTS)
    return Project(copy)


def test_the_tests_of_the_original_pass(folder: Path, original: Path, tmp_path: Path) -> None:
    said = with_the_tests(folder / "crate", original, tmp_path / "copy").cargo("test", "--lib", "--quiet")
    assert re.search(r"test result: ok\. 99 passed; 0 failed; 0 ignored", said), said


def test_far_calls_run_kernels_with_streaming_stores(folder: Path, tmp_path: Path) -> None:
    copy_crate(folder / "crate", tmp_path / "copy")
    append(tmp_path / "copy" / "src" / "map.rs", (OWN / "far.rs").read_text())
    said = Project(tmp_path / "copy").cargo("test", "--lib", "--quiet")
    assert re.search(r"test result: ok\. 2 passed", said), said


def compared(project: Project, calls: int, **variables: str) -> subprocess.CompletedProcess[str]:
    """Compile the program and run it."""
    return project.run("run", "--quiet", "--", str(calls), **variables)


def test_every_result_equals_that_of_the_original(differential: Project) -> None:
    done = compared(differential, CALLS)
    assert done.returncode == 0, done.stdout + done.stderr
    sets = re.findall(rf"(\w+): {CALLS} calls\n", done.stdout)
    assert {"avx2", "sse", "portable"} <= set(sets)
    assert done.stdout.endswith(f"{CALLS * len(sets)} calls are equal\n")


#: A fault -> the file, a text in it, and its replacement.
MUTANTS = {
    "a far call skips bytes before the first line": (
        "map.rs",
        "self.step(false, lead, sources, targets)",
        "self.step(false, if FAULT { lead / 2 } else { lead }, sources, targets)",
    ),
    "the last lost shard is not part of a key": (
        "decode.rs",
        "self.bits[shard / 64] |=",
        "self.bits[if FAULT { 0 } else { shard / 64 }] |=",
    ),
    "parities are rebuilt from data shards only": (
        "decode.rs",
        ".filter(|i| !lost.has(*i)).take(data)",
        ".filter(|i| FAULT || !lost.has(*i)).take(data)",
    ),
    "a known matrix is taken for any other": (
        "map.rs",
        ".all(|(row, known)| row == known)",
        ".all(|(row, known)| FAULT || row == known)",
    ),
    "verification ends before the last step": (
        "codec.rs",
        "for start in (0..len).step_by(step)",
        "for start in (0..if FAULT { len.max(step) - step + 1 } else { len }).step_by(step)",
    ),
}


@pytest.fixture(scope="session")
def faulty(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The program with all faults; without one it passes."""

    def make(made: Path) -> None:
        done = compared(with_faults(folder, MUTANTS, made / "faulty"), CALLS // 5)
        assert done.returncode == 0, done.stdout + done.stderr

    return Project(once(tmp_path_factory, "rust-replacement-faults", make) / "faulty" / "differential")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_changes_a_result(name: str, faulty: Project) -> None:
    done = compared(faulty, CALLS // 5, GFSMITH_FAULT=name)
    assert "error" not in done.stderr, done.stderr
    assert done.returncode != 0


def test_one_line_switches_a_program(folder: Path) -> None:
    """Solana's shreds with the original and with [patch.crates-io]: equal bytes."""
    said = said_with_both(folder, NAME, "6.0.0", "shreds.rs")
    assert said.endswith("32 lost shreds reconstructed\n")


def test_no_warnings_without_std_and_documentation(folder: Path) -> None:
    features = ("--no-default-features", "--features", "simd-accel")
    check_builds(Project(folder / "crate"), features, examples=5)


@pytest.mark.skipif(not has("fmt"), reason="Debian's cargo-web has no rustfmt")
def test_layout(folder: Path) -> None:
    Project(folder / "crate").cargo("fmt", "--check")


def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_linked", ROOT / "packaging" / "check_linked.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(kernels: Path, file: Path, arch: str) -> list[str]:
    """Return the kernels of the manifest for an architecture whose code in a file is not the proved code."""
    module = checker()
    convention = module.SYSV if arch == "x86_64" else module.ARM64
    proved = module.proved(json.loads((kernels / "MANIFEST.json").read_text()), convention, ())
    found = {
        function.name: module.difference(function, proved[function.name])
        for image in module.images(file, memoryview(file.read_bytes()))
        for function in image.functions
        if function.name in proved
    }
    return [name for name in proved if found.get(name, "missing")]


def flip(text: str) -> str:
    """Change one bit of the first word of the code that is not its first instruction."""
    first = re.search(r"\.(?:quad|inst) 0x\w+, 0x(\w+)", text)
    assert first is not None
    return text[: first.start(1)] + f"{int(first[1], 16) ^ 1:x}" + text[first.end(1) :]


SYSTEMS = {"elf": "linux-gnu", "macho": "apple-macos11", "coff": "windows-msvc"}


@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
@pytest.mark.parametrize("form", FORMATS)
def test_the_assembled_bytes_are_the_proved_ones(form: str, arch: str, folder: Path, tmp_path: Path) -> None:
    """The text that `global_asm!` gets, assembled for each format; a changed bit is found."""
    kernels = folder / "crate" / KERNELS
    names = re.findall(r'include_str!\("(\w+\.s)"\),\n', (kernels / f"{arch}.rs").read_text())
    texts = [(kernels / name).read_text() for name in (f"begin_{form}.s", *names)]
    for changed in False, True:
        texts[1] = flip(texts[1]) if changed else texts[1]
        (tmp_path / "k.s").write_text("".join(texts))
        command = (
            "clang-19",
            f"--target={arch}-{SYSTEMS[form]}",
            "-c",
            tmp_path / "k.s",
            "-o",
            tmp_path / "k.o",
        )
        subprocess.run(command, check=True)
        wrong = differences(kernels, tmp_path / "k.o", arch)
        assert len(wrong) == changed, wrong
    if (form, arch) == ("elf", "aarch64"):
        _prove_again(kernels, tmp_path / "k.o", wrong[0])


def _prove_again(kernels: Path, file: Path, wrong: str) -> None:
    """Prove three kernels of an object, one with constants; the changed one is not proved."""
    specs = {spec.symbol: spec for spec in config.specs(config.load(CONFIGURATION), CONFIGURATION.name)}
    image = load(file)
    shapes = ("_12x4_backblaze_", "_4x2__", "mad_1x1")
    some = [name for name in image.functions if any(shape in name for shape in shapes)]
    assert len(some) == len(shapes)
    for name in (*some, wrong):
        report = prove_code(contract_of(specs[name], "aapcs64-x18"), image, name, exhaustive=False)
        assert (report.status is Status.PROVED) is (name != wrong), report.reason


def test_the_linked_bytes_are_the_proved_ones(folder: Path, differential: Project) -> None:
    """In a program for this system, by the script that users run."""
    program = differential.program()
    kernels = folder / "crate" / KERNELS
    script = ROOT / "packaging" / "check_linked.py"
    command = ("python3", script, kernels / "MANIFEST.json", program)
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r": 7\d functions compared, 0 compiled from C\n", said), said


ARM64 = "aarch64-unknown-linux-gnu"
#: A cross build and its execution.
CROSS = {
    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc",
    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER": "qemu-aarch64-static -L /usr/aarch64-linux-gnu",
}


@pytest.mark.skipif(not installed(ARM64), reason="Rust's standard library for AArch64 is not installed")
def test_on_arm64(folder: Path, differential: Project) -> None:
    """Under qemu: results equal those of the original, and the linked bytes are the proved ones."""
    done = differential.run("run", "--quiet", "--target", ARM64, "--", "100", **CROSS)
    assert done.stdout == "neon: 100 calls\nportable: 100 calls\n200 calls are equal\n", done.stderr
    program = BUILD / "target" / ARM64 / "debug" / "differential"
    assert not differences(folder / "crate" / KERNELS, program, "aarch64")
