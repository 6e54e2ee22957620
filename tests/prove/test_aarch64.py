"""Every NEON kernel, as clang-19 compiles it, is proved from its object; and `gfsmith verify --objects`."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from aarch64.compile import GEN_OUT, ROOT, assemble, kernels

from gfsmith import config
from gfsmith.prove.machine.kernel import contract_of, prove_code
from gfsmith.prove.machine.load import LoadError, load
from gfsmith.prove.verdict import Status
from gfsmith.spec import KernelSpec

ISAS = ("neon", "neon_sha3")
TOML = ROOT / "gfsmith.toml"
TEXT = (Path(__file__).parent / "aarch64" / "dot_2x1.s").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name in ISAS)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    found = kernels([(s.isa.name, s.symbol) for s in specs()], tmp_path_factory.mktemp("objects"))
    assert len(specs()) > 90
    return found


def test_every_kernel_is_proved(objects: list[Path]) -> None:
    """What a compiler leaves that no length reaches is a handful of instructions, no paths."""
    images = [load(path) for path in objects]
    unreached = 0
    for spec in specs():
        image = next(image for image in images if spec.symbol in image.functions)
        report = prove_code(contract_of(spec, "aapcs64"), image, spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        unreached += report.instructions - report.covered
    assert unreached < 20


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(objects: list[Path], name: str, other: str) -> None:
    """No proof is vacuous: a kernel is not another one."""
    symbol, claimed = (f"gfs_{each}__neon_u4" for each in (name, other))
    image = next(image for image in map(load, objects) if symbol in image.functions)
    spec = next(s for s in specs() if s.symbol == claimed)
    report = prove_code(contract_of(spec, "aapcs64"), image, symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def _verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gfsmith.cli", "verify", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_verify_reads_an_archive(objects: list[Path], tmp_path: Path) -> None:
    small = min(objects, key=lambda path: path.stat().st_size)
    archive = tmp_path / "lib.a"
    subprocess.run(["llvm-ar-19", "rc", str(archive), str(small)], check=True)
    done = _verify("--objects", archive, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout)["kernels"]
    known = {spec.symbol: spec.isa.name for spec in specs()}
    assert {row["symbol"] for row in rows} == set(load(small).functions)
    for row in rows:
        assert row["isa"] == known[row["symbol"]]
        assert (row["abi"], row["status"], row["method"]) == ("aapcs64", "proved", ["machine"])
        assert "clang version 19" in row["compiler"]


def test_verify_tells_what_is_wrong(tmp_path: Path) -> None:
    """A wrong kernel under the name of a right one: exit status 1 and the reason; one line for no kernel."""
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
    for target, name in (("riscv64-linux-gnu", "RISC-V"), ("s390x-linux-gnu", "IBM S/390")):
        source = tmp_path / "f.c"
        source.write_text("void gfs_dot_4x2__neon_u4(void) {}\n")
        found = tmp_path / "f.o"
        subprocess.run(["clang-19", f"--target={target}", "-c", "-o", str(found), str(source)], check=True)
        with pytest.raises(LoadError, match=f"for {name}, not for"):
            load(found)
        done = _verify("--objects", found)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert name in done.stderr
