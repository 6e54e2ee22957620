"""Every kernel for SVE and SVE2, as clang compiles it, is proved from its object for each length of vectors;
capstone decodes their instructions as LLVM does.

The architecture has permitted 16 lengths. The tests prove each kernel for three of them, and for every length
some kernels of each instruction set; with --update-golden they prove each kernel for all lengths.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest

from gfsmith.build import config
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.aarch64.decode import Decoded
from gfsmith.prove.machine.aarch64.registers import SCALABLE_BYTES
from gfsmith.prove.machine.aarch64.scalable import decode
from gfsmith.prove.machine.aarch64.semantics import scalable
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.support.golden_record import PROVED_OBJECTS
from tests.support.paths import ROOT
from tests.system.cosim.scalable import instances
from tests.system.cosim.scalar64.instances import assemble
from tests.unit.prove import proved_objects
from tests.unit.prove.aarch64.compile import kernels

ISAS = ("sve", "sve2")
PARTS = 8  #: parts of the test of all kernels
COMPILER = "clang-19 -O2, vectors of 128 to 2048 bits"
TOML = ROOT / "gfsmith.toml"


@lru_cache(maxsize=1)
def specs() -> tuple[KernelSpec, ...]:
    every = config.specs(config.load(TOML), TOML.name)
    return tuple(spec for spec in every if spec.isa.name in ISAS)


def _objects(chosen: Sequence[KernelSpec], folder: Path) -> list[Path]:
    return kernels([(spec.isa.name, spec.symbol) for spec in chosen], folder)


def _lengths(spec: KernelSpec) -> tuple[int, ...]:
    """Return the shortest length, the longest and one of the others, which the kernels take in turn."""
    shortest, *others, longest = SCALABLE_BYTES
    number = [each.symbol for each in specs()].index(spec.symbol)
    return shortest, longest, others[number % len(others)]


def _again() -> tuple[KernelSpec, ...]:
    """Return the kernels that each run proves: of each kind, and for each length of each instruction set."""
    return proved_objects.of_each_kind(specs(), lambda spec: (spec.isa.name, _lengths(spec)))


@proved_objects.LEVELS
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    update = request.config.getoption("--update-golden")
    files = _objects(specs()[part::PARTS], tmp_path)
    images = {symbol: image for image in map(load, files) for symbol in image.functions}
    unreached = 0
    chosen = proved_objects.part(f"sve {part}", specs()[part::PARTS], files, "aapcs64")
    for spec in chosen.to_prove(_again(), every or update):
        lengths = SCALABLE_BYTES if update else _lengths(spec)
        contract, image = contract_of(spec, "aapcs64"), images[spec.symbol]
        report = prove_code(contract, image, spec.symbol, exhaustive=False, vector_bytes=lengths)
        assert report.status is Status.PROVED, report.reason
        assert set(report.vector_bytes) == set(lengths)
        unreached += report.instructions - report.covered
    assert unreached < 20
    chosen.confirm(COMPILER, update)


def test_every_length_has_kernels() -> None:
    """The lengths of the kernels are all lengths, for each instruction set."""
    for isa in ISAS:
        found = {length for spec in _again() if spec.isa.name == isa for length in _lengths(spec)}
        assert found == set(SCALABLE_BYTES)
    assert [8 * size for size in SCALABLE_BYTES] == list(range(128, 2049, 128))


@pytest.mark.parametrize("isa", ISAS)
def test_the_record_has_every_kernel(isa: str) -> None:
    assert PROVED_OBJECTS.symbols(isa) == {spec.symbol for spec in specs() if spec.isa.name == isa}


OTHER_COMPILERS = {
    "clang-19 -O3": ("clang-19", "--target=aarch64-linux-gnu", "-O3"),
    "gcc-12 -O2": ("aarch64-linux-gnu-gcc", "-O2"),
}
FLAGS = ("-std=c11", "-fPIC", "-Wall", "-Werror")


@pytest.mark.needs("qemu")
@pytest.mark.parametrize("compiler", OTHER_COMPILERS)
def test_a_sample_of_other_compilers(compiler: str, tmp_path: Path) -> None:
    """clang calls no function of the C library; gcc uses movprfx."""
    chosen = specs()[::11]
    names = [(spec.isa.name, spec.symbol) for spec in chosen]
    images = map(load, kernels(names, tmp_path, (*OTHER_COMPILERS[compiler], *FLAGS)))
    found = {symbol: image for image in images for symbol in image.functions}
    for spec in chosen:
        contract, image = contract_of(spec, "aapcs64"), found[spec.symbol]
        report = prove_code(contract, image, spec.symbol, exhaustive=False, vector_bytes=(16, 48))
        assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(
    "name, other", [("dot_nx1", "mad_nx1"), ("mad_1x1", "mul_1x1"), ("xor_2x1", "xor_3x1")]
)
def test_other_contracts_are_refuted(name: str, other: str, tmp_path: Path) -> None:
    """No proof is vacuous: each kernel fails another kernel's contract."""
    spec, claimed = (next(s for s in specs() if f"_{each}__sve_u" in s.symbol) for each in (name, other))
    image = load(_objects([spec], tmp_path)[0])
    report = prove_code(contract_of(claimed, "aapcs64"), image, spec.symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason
    assert "with vectors of 128 bits: " in report.reason


def _verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gfsmith", "verify", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_verify_proves_every_length(tmp_path: Path) -> None:
    spec = next(spec for spec in specs() if "_mul_1x1__sve2" in spec.symbol)
    path = _objects([spec], tmp_path)[0]
    done = _verify("--objects", path, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["kernels"]
    assert (row["symbol"], row["isa"], row["status"]) == (spec.symbol, "sve2", "proved")
    assert row["vector_bytes"] == list(SCALABLE_BYTES)


@pytest.mark.parametrize("isa, status", [("sve2", 0), ("sve", 1), ("neon", 1)])
def test_verify_describes_a_function(isa: str, status: int, tmp_path: Path) -> None:
    """A function of another project: its description names the instruction set that it may use."""
    spec = next(spec for spec in specs() if "_dot_4x2__sve2" in spec.symbol)
    path = _objects([spec], tmp_path)[0]
    words = ("--operation", "dot", "--inputs", "4", "--outputs", "2", "--tables", "nibble")
    order = ("--arguments", "len,k,tables,src,dst")
    done = _verify(path, "--symbol", spec.symbol, *words, *order, "--isa", isa)
    assert done.returncode == status, done.stdout + done.stderr
    told = done.stdout + done.stderr
    assert ("vectors of 128 to 2048 bits (16 lengths)" in told) is (status == 0), told
    assert status == 0 or "which the instruction set does not have" in told


def _words(folder: Path) -> list[int]:
    """Return encodings of every form, and these with one or two bits changed."""
    rng = Random(8)
    lines = [
        (form, instances.write(form, Random(f"{form} {n}"), 16)) for form in scalable.TABLE for n in range(6)
    ]
    assembled = assemble(lines, folder, instances.ASSEMBLER)
    words = [int.from_bytes(instance.encoded, "little") for instance in assembled]
    changed = [word ^ 1 << bit for word in words for bit in range(32)]
    return words + changed + [word ^ 1 << rng.randrange(32) for word in changed]


def _by_llvm(words: Sequence[int], folder: Path) -> list[str]:
    """Return LLVM's text of each word."""
    source, found = folder / "words.s", folder / "words.o"
    source.write_text("".join(f".inst {word:#x}\n" for word in words))
    subprocess.run(
        ["clang-19", "--target=aarch64-linux-gnu", "-c", "-o", str(found), str(source)], check=True
    )
    command = ["llvm-objdump-19", "-d", "--mattr=+all", "--no-show-raw-insn", "--no-addresses", str(found)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if line.startswith(("\t", "  "))]


def _plain(text: str) -> str:
    """Return a text without the differences in style: braces, spaces, comments, numbers of bytes and their
    bases.
    """
    text = " ".join(re.sub(r"<[^>]*>|//.*|\{ ?| ?\}", "", text).split())
    byte = re.match(r"(and|eor|mov) z\d+\.b", text) is not None

    def number(found: re.Match[str]) -> str:
        value = int(found[1], 0)
        return f"#{value % 256 if byte else value - (1 << 64) * (value >> 63 > 0)}"

    return re.sub(r"#(-?\w+)", number, text)


def _mismatches(found: Sequence[Decoded | None], texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = ((each, text) for each, text in zip(found, texts, strict=True) if each is not None)
    meant = ((each.text, text) for each, text in pairs if each.form in scalable.TABLE)
    return [(ours, text.strip()) for ours, text in meant if _plain(ours) != _plain(text)]


def test_capstone_decodes_as_llvm(tmp_path: Path) -> None:
    """No encoding has a meaning that LLVM decodes otherwise, or not at all."""
    words = _words(tmp_path)
    texts = _by_llvm(words, tmp_path)
    found = [decode(word.to_bytes(4, "little"), 0) for word in words]
    assert len(texts) == len(words)
    assert not _mismatches(found, texts)
    forms = {each.form for each in found if each is not None}
    assert forms >= set(scalable.TABLE)
    assert _mismatches(found[1:], texts[:-1]), "the comparison detects a difference"
