"""Every RVV kernel, as clang compiles it, is proved from its object at every vector length; relocations,
disassembly, and `gfsmith verify`.
"""

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
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Image, LoadError
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.machine.riscv import disassembler
from gfsmith.prove.machine.riscv.disassembler import disassemble
from gfsmith.prove.machine.riscv.registers import VECTOR_BYTES
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.paths import ROOT
from tests.unit.prove import proved_objects
from tests.unit.prove.aarch64.compile import GEN_OUT, kernels
from tests.unit.prove.riscv.targets import ASSEMBLER, CLANG

TOML = ROOT / "gfsmith.toml"
PARTS = 4
#: Kernels of other levels that each run proves: every so many.
_SAMPLE = 6


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name == "rvv")


def _objects(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> list[Path]:
    assert GEN_OUT.is_dir(), "run `gfsmith gen`"
    return kernels([("rvv", spec.symbol) for spec in chosen], folder, compiler)


def _loaded(files: Sequence[Path]) -> dict[str, Image]:
    return {symbol: image for image in map(load, files) for symbol in image.functions}


def _images(chosen: Sequence[KernelSpec], folder: Path, compiler: Sequence[str] = CLANG) -> dict[str, Image]:
    return _loaded(_objects(chosen, folder, compiler))


def _named(name: str) -> KernelSpec:
    return next(spec for spec in specs() if f"_{name}__" in spec.symbol)


def _lengths(spec: KernelSpec) -> tuple[int, ...]:
    """Return the shortest length, the longest and one of the others, which the kernels take in turn."""
    shortest, *others, longest = VECTOR_BYTES
    return shortest, longest, others[specs().index(spec) % len(others)]


def _again() -> tuple[KernelSpec, ...]:
    """Return the kernels that each run proves: of each kind, and for each length."""
    return proved_objects.of_each_kind(specs(), _lengths)


@proved_objects.LEVELS
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every instruction is reached. `make test-long` proves every kernel for every length of vectors."""
    update = request.config.getoption("--update-golden")
    assert len(specs()) > 50
    files = _objects(specs()[part::PARTS], tmp_path)
    images = _loaded(files)
    chosen = proved_objects.part(f"rvv {part}", specs()[part::PARTS], files, "lp64d")
    for spec in chosen.to_prove(_again(), every or update):
        contract, lengths = contract_of(spec, "lp64d"), VECTOR_BYTES if every or update else _lengths(spec)
        image = images[spec.symbol]
        report = prove_code(contract, image, spec.symbol, exhaustive=False, vector_bytes=lengths)
        assert report.status is Status.PROVED, report.reason
        assert report.vector_bytes == tuple(sorted(lengths)), spec.symbol
        assert report.instructions == report.covered, spec.symbol
    chosen.confirm("clang-19 -O2", update)


def test_the_record_has_every_kernel() -> None:
    assert PROVED_OBJECTS.symbols("rvv") == {spec.symbol for spec in specs()}


@pytest.mark.long
def test_kernels_of_another_level_are_proved(tmp_path: Path) -> None:
    chosen = specs()[::_SAMPLE]
    images = _images(chosen, tmp_path, [word.replace("-O2", "-O3") for word in CLANG])
    for spec in chosen:
        report = prove_code(contract_of(spec, "lp64d"), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason


def test_every_length_is_legal() -> None:
    """Powers of two from 128 to 65,536 bits; three lengths of each kernel are all lengths."""
    assert {size for spec in _again() for size in _lengths(spec)} == set(VECTOR_BYTES)
    assert [8 * size for size in VECTOR_BYTES] == [128 << n for n in range(10)]


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_not_proved(name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract. A wrong value of the last bytes is
    unsupported."""
    spec = _named(name)
    image = _images([spec], tmp_path)[spec.symbol]
    report = prove_code(contract_of(_named(other), "lp64d"), image, spec.symbol, exhaustive=False)
    assert report.status is not Status.PROVED


def test_linked_kernels_are_proved(tmp_path: Path) -> None:
    """The linker changes the addresses of constants and shortens code."""
    spec = _named("dot_6x3_cauchy")
    (found,) = _objects([spec], tmp_path)
    library = tmp_path / "lib.so"
    link = [*ASSEMBLER, "-shared", "-nostdlib", "-fuse-ld=lld-19", "-o", str(library), str(found)]
    done = subprocess.run(link, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = prove_code(contract_of(spec, "lp64d"), load(library), spec.symbol, exhaustive=False)
    assert report.status is Status.PROVED, report.reason


#: Assembly -> the reason why it cannot be loaded, or proved.
_LOADED = {
    "    lui a0, %hi(away)\n": "relocation .* is not handled",
    ".option pic\n    la a0, away\n": "depends on away",
    ".option pic\n    la a0, kernel\n": "depends on kernel",
    "    lla a0, away\n": "depends on away",
    "    call away\n": "depends on away",
    "1:  auipc a0, %pcrel_hi(here)\n    ld a0, %pcrel_lo(1b)(a0)\n": "depends on where the linker",
}


@pytest.mark.parametrize("text", _LOADED)
def test_other_relocations_are_not_proved(text: str, tmp_path: Path) -> None:
    source, found = tmp_path / "f.s", tmp_path / "f.o"
    body = f"{text}    ret\n.size kernel, .-kernel\n.section .rodata\nhere:\n.dword 1\n"
    source.write_text(f".text\n.globl kernel\n.type kernel,@function\nkernel:\n{body}")
    subprocess.run([*ASSEMBLER, "-c", "-o", found, source], check=True)
    try:
        report = prove_code(contract_of(_named("xor_2x1"), "lp64d"), load(found), "kernel")
    except LoadError as error:
        assert re.search(_LOADED[text], str(error)), error
    else:
        assert report.status is Status.UNSUPPORTED
        assert re.search(_LOADED[text], report.reason), report.reason


def test_disassemblers_agree(tmp_path: Path) -> None:
    """LLVM's decoder reads the same instructions at the same places."""
    found = _objects([_named("dot_nx1"), _named("dot_6x3_cauchy")], tmp_path)
    for path in found:
        image = load(path)
        listing = subprocess.run(
            ["llvm-objdump-19", "-d", "--mattr=+v", "-M", "no-aliases,numeric", str(path)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        theirs = re.findall(r"^ +[0-9a-f]+: [0-9a-f]+ +\t(\S+)", listing, re.MULTILINE)
        ours = []
        for function in sorted(image.functions.values(), key=lambda function: function.address):
            lines = disassemble(image.read(function.address, function.size) or b"")
            ours += [line.text.split()[0] for line in lines]
        assert len(ours) > 300
        assert [_common(name) for name in ours] == [_common(name) for name in theirs]


def _common(name: str) -> str:
    """Return a mnemonic that both decoders use."""
    return name.removeprefix("c.")


def test_missing_lines_are_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    code = bytes.fromhex("1305000082808280")
    assert [line.size for line in disassemble(code)] == [4, 2, 2]
    whole = disassembler._listing(code)
    skipped = "".join(line for line in whole.splitlines(True) if " 4:" not in line)
    for listing in (skipped, whole.replace("8082", "8002"), ""):
        disassemble.cache_clear()
        monkeypatch.setattr(disassembler, "_listing", lambda _, text=listing: text)
        with pytest.raises(Unsupported, match=r"skips bytes|other bytes"):
            disassemble(code)
    disassemble.cache_clear()


def test_verify_reads_objects(tmp_path: Path) -> None:
    (found,) = _objects([_named("xor_2x1")], tmp_path)
    command = [sys.executable, "-m", "gfsmith", "verify", "--objects", str(found), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["isa"], row["abi"], row["status"]) == ("rvv", "lp64d", "proved")


@pytest.mark.parametrize("inputs, status", [("2", 0), ("3", 1)])
def test_verify_reads_foreign_objects(inputs: str, status: int, tmp_path: Path) -> None:
    spec = _named("xor_2x1")
    (found,) = _objects([spec], tmp_path)
    command = [sys.executable, "-m", "gfsmith", "verify", str(found), "--symbol", spec.symbol, "--isa", "rvv"]
    what = ["--operation", "xor", "--inputs", inputs, "--outputs", "1", "--tables", "none"]
    done = subprocess.run([*command, *what], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
