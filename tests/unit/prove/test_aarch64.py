"""Every NEON kernel is proved from its object, also as other compilers compile it; and `gfsmith verify`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from gfsmith.build import config
from gfsmith.kernel.spec import KernelSpec, Operation
from gfsmith.prove.machine.formats.load import LoadError, load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.levels import sample
from tests.support.paths import ROOT
from tests.unit.prove import compiled, proved_objects
from tests.unit.prove.aarch64.compile import GEN_OUT, assemble, kernels

ISAS = ("neon", "neon_sha3")
PARTS = 8  #: parts of the test of all kernels
TOML = ROOT / "gfsmith.toml"
TEXT = (Path(__file__).parent / "aarch64" / "dot_2x1.s").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name in ISAS)


def _objects(chosen: Sequence[KernelSpec], folder: Path) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    return kernels([(spec.isa.name, spec.symbol) for spec in chosen], folder)


@proved_objects.LEVELS
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The compiler leaves a handful of instructions that no length reaches."""
    update = request.config.getoption("--update-golden")
    assert len(specs()) > 90
    files = _objects(specs()[part::PARTS], tmp_path)
    images = [load(path) for path in files]
    unreached = 0
    chosen = proved_objects.part(f"neon {part}", specs()[part::PARTS], files, "aapcs64")
    for spec in chosen.to_prove(proved_objects.of_each_kind(specs()), every or update):
        image = next(image for image in images if spec.symbol in image.functions)
        report = prove_code(contract_of(spec, "aapcs64"), image, spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        unreached += report.instructions - report.covered
    assert unreached < 20
    chosen.confirm("clang-19 -O2", update)


OTHERS = {
    "gcc-12 -O2": ("aarch64-linux-gnu-gcc", "-O2"),
    "gcc-12 -O3": ("aarch64-linux-gnu-gcc", "-O3"),
    "clang-14 -O2": ("clang-14", "--target=aarch64-linux-gnu", "-O2"),
    "clang-14 -O3": ("clang-14", "--target=aarch64-linux-gnu", "-O3"),
    "clang-19 -O3": ("clang-19", "--target=aarch64-linux-gnu", "-O3"),
}
FLAGS = ("-std=c11", "-fPIC", "-Wall", "-Werror")
#: One level of each compiler; `make test-long` proves other kernels as the others compile them.
ONCE = ("gcc-12 -O2", "clang-14 -O2", "clang-19 -O3")
#: With -O3 clang calls memset for the sum of no sources, of kernels with one output.
CALLS_MEMSET = ("dot_nx1__", "xor_nx1__")


@pytest.mark.needs("qemu")
@pytest.mark.parametrize("compiler", sample(OTHERS, *ONCE))
def test_kernels_of_other_compilers(compiler: str, tmp_path: Path) -> None:
    """clang-14 does not accept the target attribute of neon_sha3."""
    chosen = list(compiled.share(compiled.specs("neon"), OTHERS, compiler))
    if compiler in (newer := [name for name in OTHERS if "clang-14" not in name]):
        chosen += compiled.share(compiled.specs("neon_sha3"), newer, compiler)
    paths = kernels([(spec.isa.name, spec.symbol) for spec in chosen], tmp_path, (*OTHERS[compiler], *FLAGS))
    images = {symbol: image for image in map(load, paths) for symbol in image.functions}
    calls = []
    for spec in chosen:
        report = prove_code(contract_of(spec, "aapcs64"), images[spec.symbol], spec.symbol, exhaustive=False)
        if report.reason.endswith("depends on memset"):
            calls.append(spec.symbol)
        else:
            assert report.status is Status.PROVED, report.reason
    assert all(any(name in symbol for name in CALLS_MEMSET) for symbol in calls)
    assert not calls or compiler in ("clang-14 -O3", "clang-19 -O3")


#: Kernel, a pattern in gcc's assembly, its replacement.
GCC_MUTANTS = (
    ("dot_nx1", r"(and\tx\d+, x\d+, -)64", r"\g<1>32"),
    ("dot_nx1", r"(and\tx\d+, x\d+, -)64", r"\g<1>128"),
    ("dot_nx1", r"tst\tx0, 48", "tst\tx0, 32"),
    ("dot_nx1", r"tst\tx0, 48", "tst\tx0, 16"),
    ("dot_nx1", r"(and\tx\d+, x\d+, )15", r"\g<1>7"),
    ("dot_nx1", r"sub\tx(\d+), x0, #64", r"sub\tx\1, x0, #48"),
    ("mad_2x4", r"tbz\t([xw]\d+), 4", r"tbz\t\1, 3"),
    ("mad_2x4", r"tbz\t([xw]\d+), 4", r"tbnz\t\1, 4"),
    ("dot_4x2", r"sub\tx(\d+), x0, #64", r"sub\tx\1, x0, #48"),
)


@pytest.mark.needs("qemu")
@pytest.mark.parametrize(("name", "pattern", "instead"), GCC_MUTANTS)
def test_wrong_masks_are_not_proved(name: str, pattern: str, instead: str, tmp_path: Path) -> None:
    """gcc computes lengths with masks, where clang subtracts."""
    gcc = (*OTHERS["gcc-12 -O2"], *FLAGS)
    listing = compiled.proved_listing("neon", name, "aapcs64", gcc)
    wrong, changes = re.subn(pattern, instead, listing, count=1)
    assert changes == 1
    image = compiled.assembled(wrong, tmp_path, gcc[:1])
    report = compiled.prove("aapcs64")(image, compiled.named("neon", name))
    assert report.status is not Status.PROVED, report


@pytest.mark.parametrize("isa", ISAS)
def test_the_record_has_every_kernel(isa: str) -> None:
    assert PROVED_OBJECTS.symbols(isa) == {spec.symbol for spec in specs() if spec.isa.name == isa}


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    spec, claimed = (next(s for s in specs() if f"_{each}__neon_u" in s.symbol) for each in (name, other))
    image = load(_objects([spec], tmp_path)[0])
    report = prove_code(contract_of(claimed, "aapcs64"), image, spec.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def _verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gfsmith", "verify", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_verify_reads_an_archive(tmp_path: Path) -> None:
    chosen = [spec for spec in specs() if spec.operation is Operation.MUL]
    small = _objects(chosen, tmp_path)[0]
    archive = tmp_path / "lib.a"
    subprocess.run(["llvm-ar-19", "rc", str(archive), str(small)], check=True)
    done = _verify("--objects", archive, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["kernels"]
    known = {spec.symbol: spec.isa.name for spec in specs()}
    assert {row["symbol"] for row in rows} == set(load(small).functions) == {spec.symbol for spec in chosen}
    for row in rows:
        assert row["isa"] == known[row["symbol"]]
        assert (row["abi"], row["status"], row["method"]) == ("aapcs64", "proved", ["machine"])
        assert "clang version 19" in row["compiler"]


def test_verify_reports_the_reason(tmp_path: Path) -> None:
    """A wrong kernel under the name of a right one gives exit status 1 and the reason; a file without kernels
    one line.
    """
    name = "gfs_dot_4x2__neon_u4"
    assemble(TEXT.replace("kernel", name), tmp_path)
    done = _verify("--objects", tmp_path / "kernel.o")
    assert done.returncode == 1
    assert f"refuted: kernel.o: {name}" in done.stdout
    assemble(TEXT, tmp_path)
    done = _verify("--objects", tmp_path / "kernel.o")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "none of the" in done.stderr


def test_objects_of_unknown_machines_are_one_line(tmp_path: Path) -> None:
    for target, name in (("loongarch64-linux-gnu", "LoongArch"), ("mips64el-linux-gnuabi64", "MIPS")):
        source = tmp_path / "f.c"
        source.write_text("void gfs_dot_4x2__neon_u4(void) {}\n")
        found = tmp_path / "f.o"
        subprocess.run(["clang-19", f"--target={target}", "-c", "-o", str(found), str(source)], check=True)
        with pytest.raises(LoadError, match=f"for {name}, not for"):
            load(found)
        done = _verify("--objects", found)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert name in done.stderr
