"""Kernels that read the tables of ISA-L's callers, whose entries stand row by row: both proofs of the machine
code accept them and reject wrong places in the table."""

from __future__ import annotations

import pytest

from gfsmith.emit.x86.frame import Abi
from gfsmith.kernel.isa import ISAS, Isa
from gfsmith.kernel.spec import SpecError, Technique
from gfsmith.prove.machine.prove import contract_of, prove_bytes
from gfsmith.prove.verdict import Status
from judge.integers import Rejected
from tests.support.specs import label, make_spec
from tests.unit.judge.kernels import Certified, certified
from tools.mutation.sample import Target

GFNI = [isa for isa in ISAS if isa.name.startswith("gfni")]
NIBBLE = [isa for isa in ISAS if isa.name in ("sse", "avx2", "avx512")]
SETS = [(isa, Technique.ISAL) for isa in GFNI] + [(isa, Technique.ISAL_NIBBLE) for isa in NIBBLE]
SHAPES = (
    *(("dot", None, outputs) for outputs in (1, 3, 8)),
    ("dot", 3, 2),
    *(("mad", 1, outputs) for outputs in (1, 3, 8)),
)


def _certified(
    operation: str, inputs: int | None, outputs: int, isa: str | Isa, abi: Abi, technique: Technique
) -> Certified:
    return certified(Target(make_spec(operation, inputs, outputs, isa, technique=technique, unroll=1), abi))


@pytest.mark.parametrize("abi", list(Abi))
@pytest.mark.parametrize(("isa", "technique"), SETS, ids=label)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_both_proofs_accept(
    shape: tuple[str, int | None, int], isa: Isa, technique: Technique, abi: Abi
) -> None:
    assert _certified(*shape, isa, abi, technique).judge() > 0


#: Kernel, instruction set, bytes of its code, other bytes of the same length.
WRONG = (
    ("rows of 16 bytes an entry", ("dot", None, 3), "gfni_avx512", "49 c1 e7 05", "49 c1 e7 04"),
    (
        "the fourth row is the second",
        ("dot", None, 4),
        "gfni_avx512",
        "4d 89 fe 4d 01 fe 4d 01 fe",
        "4d 89 fe 4d 89 fe 4d 89 fe",
    ),
    ("rows of 64 bytes an entry", ("mad", 1, 4), "gfni_avx512", "48 c1 e6 05", "48 c1 e6 06"),
    ("the next entry of the row", ("mad", 1, 4), "gfni_avx512", "4c 8d 1c 32", "4c 8d 5a 20"),
    (
        "the second entry for the second row",
        ("dot", 3, 2),
        "gfni_avx512",
        "62 f2 fd 48 59 4a 0c",
        "62 f2 fd 48 59 4a 04",
    ),
    ("the low half for the high one", ("dot", 3, 2), "avx2", "c4 e2 7d 5a 62 70", "c4 e2 7d 5a 62 60"),
    ("the row before", ("dot", 3, 2), "avx2", "c4 e2 7d 5a 5a 60", "c4 e2 7d 5a 5a 40"),
)


@pytest.mark.parametrize(
    ("shape", "isa", "before", "after"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_both_proofs_reject_other_places(
    shape: tuple[str, int | None, int], isa: str, before: str, after: str
) -> None:
    technique = Technique.ISAL if isa.startswith("gfni") else Technique.ISAL_NIBBLE
    good = _certified(*shape, isa, Abi.SYSV, technique)
    spec = good.target.spec
    code = good.target.code
    assert code.count(bytes.fromhex(before)) == 1, code.hex(" ")
    wrong = code.replace(bytes.fromhex(before), bytes.fromhex(after))
    assert prove_bytes(contract_of(spec, "sysv"), wrong, spec.symbol, False).status is Status.REFUTED
    with pytest.raises(Rejected):
        good.judge(wrong)


@pytest.mark.parametrize(
    ("operation", "inputs", "outputs", "isa"),
    [
        ("dot", 3, 9, "gfni_avx2"),
        ("mad", None, 2, "gfni_avx2"),
        ("dot", None, 9, "gfni_avx2"),
        ("mad", 1, 9, "gfni_avx2"),
        ("mul", 1, 1, "gfni_sse"),
    ],
)
def test_other_kernels_do_not_exist(operation: str, inputs: int | None, outputs: int, isa: str) -> None:
    with pytest.raises(SpecError, match=r"allowed: dot, and mad of one source, of 1 to 8 outputs"):
        make_spec(operation, inputs, outputs, isa, technique=Technique.ISAL)
