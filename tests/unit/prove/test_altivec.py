"""AltiVec kernels as clang 19 compiles them, little endian: all are proved, changed assembly is not.

The two variants of each kernel differ in how they load and store: lvx and stvx if all pointers are multiples
of 16, else words through the stack.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.unit.prove import compiled, proved_objects
from tests.unit.prove.aarch64.compile import kernels
from tests.unit.prove.power.targets import ALTIVEC, ASSEMBLER

ISA, ABI = "altivec", "elfv2"
#: One kernel of each kind: any and fixed numbers of sources, in place, one source each, additions, known.
SAMPLE = ("dot_nx1", "dot_nx4", "dot_4x2", "mad_1x1", "mad_nx1", "mul_nx1", "xor_nx1", "horner_nx2")
PARTS = 8
UNREACHED = 20  #: instructions, at most


@cache
def _listing(name: str) -> str:
    return compiled.listing(compiled.named(ISA, name), ALTIVEC)


def _prove(name: str, text: str, folder: Path) -> Report:
    spec = compiled.named(ISA, name)
    image = compiled.assembled(text, folder, ASSEMBLER)
    return prove_code(contract_of(spec, ABI), image, spec.symbol, exhaustive=False)


@proved_objects.LEVELS
@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_is_proved(
    part: int, every: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    update, specs = request.config.getoption("--update-golden"), compiled.specs(ISA)
    assert len(specs) > 45
    files = kernels([(ISA, spec.symbol) for spec in specs[part::PARTS]], tmp_path, ALTIVEC)
    images = {symbol: image for image in map(load, files) for symbol in image.functions}
    chosen = proved_objects.part(f"{ISA} {part}", specs[part::PARTS], files, ABI)
    for spec in chosen.to_prove(proved_objects.of_each_kind(specs), every or update):
        report = prove_code(contract_of(spec, ABI), images[spec.symbol], spec.symbol, exhaustive=False)
        assert report.status is Status.PROVED, report.reason
        assert report.instructions - report.covered <= UNREACHED, spec.symbol
    chosen.confirm("clang-19 -O2 -mcpu=970", update)


def test_no_kernel_reads_around_a_shard() -> None:
    """lvsl and lvsr are how compilers load a vector from any address: they read the vectors around it."""
    for name in SAMPLE:
        names = set(re.findall(r"^\s+([a-z][a-z0-9.]*)\s", _listing(name), re.MULTILINE))
        assert {"lvx", "stvx"} <= names
        assert not names & {"lvsl", "lvsr", "lvewx", "lvebx", "stvewx", "bl"}, names


#: Kernel, a pattern in its assembly, its replacement.
MUTANTS = (
    ("dot_nx1", r"andi\. (\d+), (\d+), 15", r"andi. \1, \2, 7"),
    ("dot_nx1", r"or (\d+), \1, (\d+)\n\tbdnz", r"or \1, \1, 1\n\tbdnz"),
    ("dot_nx1", r"lvx (\d+), (\d+), (\d+)\n\tlvx", r"lvx \1, 0, \2\n\tlvx"),
    ("dot_4x2", r"andi\. (\d+), (\d+), 15", r"andi. \1, \2, 8"),
    ("mad_1x1", r"(andi\. \d+, \d+, 15\n(?:.*\n){0,3}\tb)eq", r"\1ne"),
    ("mad_1x1", r"vperm (\d+), (\d+), \2, (\d+)", r"vperm \1, \2, \3, \3"),
    ("mad_1x1", r"\n\tvnot\t?.*", ""),
    ("mul_nx1", r"or (\d+), (\d+), (\d+)\n", r"mr \1, \2\n"),
    ("xor_nx1", r"(?s)(.*)addi (\d+), \2, 64", r"\1addi \2, \2, 56"),
)


@pytest.mark.parametrize(("name", "pattern", "instead"), MUTANTS)
def test_wrong_kernels_are_not_proved(name: str, pattern: str, instead: str, tmp_path: Path) -> None:
    wrong, changes = re.subn(pattern, instead, _listing(name), count=1)
    assert changes == 1
    assert _prove(name, wrong, tmp_path).status is not Status.PROVED


def test_other_contracts_are_refuted(tmp_path: Path) -> None:
    spec = compiled.named(ISA, "mad_1x1")
    image = compiled.assembled(_listing("mul_1x1"), tmp_path, ASSEMBLER)
    symbol = compiled.named(ISA, "mul_1x1").symbol
    report = prove_code(contract_of(spec, ABI), image, symbol, exhaustive=False)
    assert report.status is Status.REFUTED, report.reason


def test_code_for_vsx_is_refuted(tmp_path: Path) -> None:
    """Compiled for POWER8, the same source uses VSX, which the set does not have."""
    spec: KernelSpec = compiled.named(ISA, "mul_1x1")
    (found,) = kernels([(ISA, spec.symbol)], tmp_path, ALTIVEC[:-1])
    report = prove_code(contract_of(spec, ABI), load(found), spec.symbol, exhaustive=False)
    assert (report.status, "needs VSX207" in report.reason) == (Status.REFUTED, True), report.reason
