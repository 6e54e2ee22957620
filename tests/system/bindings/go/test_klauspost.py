"""The drop-in for klauspost/reedsolomon: the original's own tests, and every result next to the original's.

Both judges are fetched from the Go proxy; klauspost/differential/go.sum has their digests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gfsmith.build import config
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.prove import contract_of, prove_bytes
from gfsmith.prove.verdict import Status
from tests.support.folders import once
from tests.support.paths import ROOT
from tests.system.bindings.go.support import EXAMPLE, Project, fresh
from tests.system.docs.pages import fences
from tests.system.linked.support import check, refused

OWN = Path(__file__).parent / "klauspost"
MODULE = "github.com/klauspost/reedsolomon"
DROPIN = "reedsolomon"

#: Test files of the original that are left out, and why.
LEFT_OUT = {
    "galois_amd64_test.go": "calls the original's kernels for amd64 by name",
    "galois_arm64_test.go": "calls the original's kernels for arm64 by name",
    "inversion_tree_test.go": "tests the original's cache of inverse matrices, which has no counterpart",
    "leopard8_test.go": "reads the original's tables for GFNI and AVX2",
    "matrix_test.go": "tests functions of the original's matrix type that have no counterpart",
    "options_test.go": "reads a field of the original's options, the length of vectors of SVE",
}
#: Tests in the other files that are left out, and why.
SKIPPED = {
    "TestAddMod": "calls an internal function that has no counterpart",
    "TestWorkAllocatorContract": "requires that Leopard codes over GF(2^8) use work buffers; these use none",
}


@pytest.fixture(scope="session")
def dropin(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The drop-in, generated; tests must not change it."""

    def generate(folder: Path) -> None:
        fresh(folder)
        shutil.copytree(folder / ".gfsmith-cache", folder / DROPIN / ".gfsmith-cache")
        Project(folder / DROPIN).go("generate", ".")

    return Project(once(tmp_path_factory, "golang-dropin", generate) / DROPIN)


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A program that calls the original."""
    return Project(
        Path(shutil.copytree(OWN / "differential", tmp_path_factory.mktemp("original") / "program"))
    )


def switch(program: Project, dropin: Project, folder: Path) -> Project:
    """Return a copy of a module that uses the drop-in: one line more in its go.mod."""
    copy = program.copy(folder)
    copy.go("mod", "edit", "-replace", f"{MODULE}={dropin.folder}")
    return copy


def _tests(original: Project) -> Path:
    """Return the folder with the original's sources."""
    said = json.loads(original.go("mod", "download", "-json", MODULE))
    return Path(said["Dir"])


def _with_the_tests(dropin: Project, original: Project, folder: Path) -> Project:
    """Return a copy of the drop-in with the original's test files and the names that they need."""
    copy = dropin.copy(folder)
    for path in sorted(_tests(original).glob("*_test.go")):
        if path.name not in LEFT_OUT:
            shutil.copyfile(path, copy.folder / path.name)
    shutil.copy(OWN / "internals_test.go", copy.folder)
    copy.go("mod", "edit", "-go", "1.24")
    return copy


def test_the_tests_of_the_original_pass(dropin: Project, original: Project, tmp_path: Path) -> None:
    names = {path.name for path in _tests(original).glob("*_test.go")}
    assert set(LEFT_OUT) < names
    copy = _with_the_tests(dropin, original, tmp_path / "copy")
    left_out = "|".join(f"^{name}$" for name in SKIPPED)
    said = copy.go("test", "-short", "-v", "-skip", left_out, ".", CGO_ENABLED="0")
    assert said.count("\n--- PASS: ") >= 60
    assert "--- FAIL" not in said


def _results(program: Project, shapes: str, **variables: str) -> str:
    return program.go("run", ".", shapes, **variables)


@pytest.fixture(scope="session")
def few(original: Project) -> str:
    """The original's results for small shapes."""
    return _results(original, "few")


def test_every_result_equals_that_of_the_original(dropin: Project, original: Project, tmp_path: Path) -> None:
    wanted = _results(original, "all")
    assert wanted.count("\n") > 60_000
    assert _results(switch(original, dropin, tmp_path / "copy"), "all", CGO_ENABLED="0") == wanted


def test_in_pure_go(dropin: Project, original: Project, few: str, tmp_path: Path) -> None:
    copy = switch(original, dropin, tmp_path / "copy")
    assert _results(copy, "few", GOFLAGS="-tags=purego", CGO_ENABLED="0") == few


def test_own_tests_pass_under_the_race_detector(dropin: Project) -> None:
    dropin.go("test", "-race", ".")


def test_own_tests_pass(dropin: Project) -> None:
    dropin.go("vet", "./...")
    dropin.go("test", "./...", CGO_ENABLED="0")


#: A fault -> the file, a text in it, and its replacement.
MUTANTS = {
    "the columns of Jerasure's matrix are not divided": (
        "matrix.go",
        "row[j] = codec.Multiply(row[j], codec.Inverse(c))",
        "row[j] = codec.Multiply(row[j], 1)",
    ),
    "two data shards of a Leopard code have one point": ("leopard.go", "own := n + j", "own := n + j/2*2"),
    "two blocks of points share the constants of their butterflies": (
        "leopard16.go",
        "uint16(first / d)",
        "uint16(first / d / 4 * 4)",
    ),
    "an update ignores the old contents": (
        "encoder.go",
        "[2][]byte{shards[j], changed}",
        "[2][]byte{changed, changed}",
    ),
    "empty shards are lost in every call": ("encoder.go", "!(missing && len(shard) == 0)", "len(shard) != 0"),
    "a shard is rebuilt beside its memory": ("reconstruct.go", "shards[i] = shards[i][:size]", "_ = i"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_changes_a_result(
    name: str, dropin: Project, original: Project, few: str, tmp_path: Path
) -> None:
    file, text, other = MUTANTS[name]
    wrong = dropin.copy(tmp_path / "wrong")
    source = wrong.folder / file
    before = source.read_text(encoding="utf-8")
    assert before.count(text) == 1
    source.write_text(before.replace(text, other), encoding="utf-8")
    done = switch(original, wrong, tmp_path / "copy").run("run", ".", "few", CGO_ENABLED="0")
    assert "build failed" not in done.stderr and not re.search(r"\.go:\d+:\d+: ", done.stderr)
    assert done.returncode != 0 or done.stdout != few


def test_the_drop_in_contains_only_copies(dropin: Project) -> None:
    """The copied packages differ from their sources in the paths of imports only."""
    for path in (dropin.folder / "internal" / "linear").glob("*.go"):
        source = ROOT / "bindings" / "go" / "gfsmith" / "internal" / "linear" / path.name
        copied = path.read_text().split("\n\n", 1)[1]
        assert (
            copied.replace(
                f'"{MODULE}/internal/kernels"', '"gfsmith.example/go/gfsmith/internal/kernels"'
            ).replace(f'"{MODULE}/internal/codec"', '"gfsmith.example/go/codec"')
            == source.read_text()
        )


#: Go's commands for arm64; its programs run under qemu.
ARM64 = {"GOARCH": "arm64", "CGO_ENABLED": "0"}
EMULATOR = ("-exec", "qemu-aarch64-static")
#: Tests of the original that take long under qemu; amd64 runs them.
LONG = ("TestEncoding", "TestRSReconstructSome", "TestUpdate", "TestEncoderReconstructLeo", "TestReentrant")
KERNELS = Path("internal") / "kernels"
CALL = b"\x02\x00\x00\x94"  #: the call of a kernel by the function that contains it; a jump follows


def test_the_tests_of_the_original_pass_on_arm64(dropin: Project, original: Project, tmp_path: Path) -> None:
    copy = _with_the_tests(dropin, original, tmp_path / "copy")
    left_out = "|".join(f"^{name}$" for name in (*SKIPPED, *LONG))
    said = copy.go("test", *EMULATOR, "-short", "-v", "-skip", left_out, ".", **ARM64)
    assert said.count("\n--- PASS: ") >= 70
    assert "--- FAIL" not in said


def test_results_on_arm64(dropin: Project, original: Project, few: str, tmp_path: Path) -> None:
    """With neon the same results as the original on amd64."""
    copy = switch(original, dropin, tmp_path / "copy")
    assert copy.go("run", *EMULATOR, ".", "few", **ARM64) == few


def _found(program: Path, specs: Mapping[str, KernelSpec], manifest: Path) -> dict[str, Status]:
    """Return kernel -> the verdict on its bytes in a program for arm64: behind the call and the jump."""
    recorded = {
        k["symbol"]: k["code"] for k in json.loads(manifest.read_text())["kernels"] if k["isa"] == "neon"
    }
    with program.open("rb") as file:
        elf = ELFFile(file)
        text = elf.get_section_by_name(".text")
        code, base = text.data(), text["sh_addr"]
        places = {s.name: s["st_value"] for s in elf.get_section_by_name(".symtab").iter_symbols()}
    found = {}
    for name in sorted(specs):
        ((abi, entry),) = recorded[name].items()
        start = code.index(CALL, places[f"{MODULE}/internal/kernels.{name}.abi0"] - base) + 2 * len(CALL)
        proof = prove_bytes(contract_of(specs[name], abi), code[start:][: entry["bytes"]], name, False)
        found[name] = proof.status
    return found


def test_the_linked_bytes_on_arm64(dropin: Project, tmp_path: Path) -> None:
    """They are the proved ones, by digests and by another proof. A changed bit is found three times, and an
    object then differs: the kernels run."""
    configuration = EXAMPLE / DROPIN / "gfsmith.toml"
    shapes = ("dot_12x4_backblaze__neon", "dot_4x2__neon", "mad_1x1__neon")
    every = config.specs(config.load(configuration), configuration.name)
    specs = {s.symbol: s for s in every if any(shape in s.symbol for shape in shapes)}
    assert len(specs) == len(shapes)
    program = tmp_path / "right"
    dropin.go("test", "-c", "-o", program, f"./{KERNELS}", **ARM64)
    manifest = dropin.folder / KERNELS / "MANIFEST.json"
    assert "28 functions found" in check(manifest, program).stdout
    assert set(_found(program, specs, manifest).values()) == {Status.PROVED}

    wrong = dropin.copy(tmp_path / "copy")
    source = wrong.folder / KERNELS / "neon_arm64.s"
    (symbol,) = (name for name in specs if "12x4" in name)
    before, kernel = source.read_text().split(f"TEXT ·{symbol}(SB)", 1)
    last = kernel[: kernel.index("done:")].rindex("WORD $0x") + len("WORD $0x")  # a constant
    kernel = f"{kernel[:last]}{int(kernel[last : last + 8], 16) ^ 1:08x}{kernel[last + 8 :]}"
    source.write_text(f"{before}TEXT ·{symbol}(SB){kernel}")
    said = wrong.run("test", *EMULATOR, f"./{KERNELS}", **ARM64).stdout
    assert f"{symbol}: its machine code is not the proved one" in said
    wrong.go("test", "-c", "-o", tmp_path / "wrong", f"./{KERNELS}", **ARM64)
    refused(check(manifest, tmp_path / "wrong"), f"{symbol}: its proved machine code is not in the file")
    copy = switch(Project(ROOT / "examples" / "go-replace"), wrong, tmp_path / "program")
    assert "the object is restored: false" in copy.go("run", *EMULATOR, ".", **ARM64)
    found = _found(tmp_path / "wrong", specs, manifest)
    assert [name for name, status in found.items() if status is not Status.PROVED] == [symbol]


def test_the_example(dropin: Project, tmp_path: Path) -> None:
    """The commands of examples/go-replace/README.md from an empty folder, then the program for arm64."""
    checkout = tmp_path / "checkout"
    (checkout / "bindings").mkdir(parents=True)
    (checkout / "bindings" / "go").symlink_to(dropin.folder.parent)
    (checkout / "examples").symlink_to(ROOT / "examples")
    shell, output = fences((ROOT / "examples" / "go-replace" / "README.md").read_text())
    folder = tmp_path / "empty"
    folder.mkdir()
    known = {**os.environ, "CHECKOUT": str(checkout), "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    command = ["sh", "-e", "-c", shell.text]
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert done.stdout == output.text, done.stderr
    program = Project(folder / "program")
    assert "reedsolomon => " in (program.folder / "go.mod").read_text()
    assert program.go("run", *EMULATOR, ".", **ARM64) == output.text
