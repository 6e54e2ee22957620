"""Programs: executed on real bytes and compared with galois, and proved for every operation and instruction
set.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import galois
import numpy as np
import pytest

from gfsmith.build.generate import program as generated
from gfsmith.field import Field
from gfsmith.ir import Op
from gfsmith.kernel import tables
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.operation import SCALED
from gfsmith.kernel.spec import KernelSpec, Operation, Store, Technique
from gfsmith.prove.program.prove import prove
from tests.support.levels import sample
from tests.support.specs import Machine, make_baked, make_program, make_spec

SHAPES = [
    ("dot", None, 1),
    ("dot", None, 5),
    ("dot", 1, 1),
    ("dot", 4, 2),
    ("dot", 10, 4),
    ("mad", None, 3),
    ("mad", 1, 4),
    ("mad", 3, 2),
    ("mul", 1, 1),
    ("mul", None, 1),
    ("xor", None, 1),
    ("xor", 5, 1),
    ("horner", None, 2),
    ("horner", None, 3),
    ("fft", 2, 2),
    ("fft", 4, 4),
    ("ifft", 2, 2),
    ("ifft", 4, 4),
]
#: Butterflies of two layers, for sets with one instruction for a product.
LAYERS = [("fft4", 4, 4), ("fft4", 8, 8), ("ifft4", 4, 4), ("ifft4", 8, 8)]
LAYERS += [("fft4scaled", 4, 4), ("ifft4scaled", 4, 4)]
CASES = [(op, k, r, isa.name) for isa in ISAS for op, k, r in SHAPES + LAYERS * (Op.AFFINE in isa.ops)]
CASES += [(operation, 16, 16, "gfni_avx512") for operation in ("fft16", "ifft16", "refft16")]
IN_LINES = ("fft4lines", "ifft4lines", "fft4scaled", "ifft4scaled")
CASES += [(operation, 8, 8, isa) for operation in IN_LINES for isa in ("gfni_avx2", "gfni_avx512")]


def _butterfly(spec: KernelSpec, matrices: list[np.ndarray], sources: np.ndarray) -> np.ndarray:
    elements, one = np.split(sources, spec.elements), spec.elements - 1
    if spec.changed == "src":
        elements = _changed(spec, elements, matrices[one:])
    if spec.operation is Operation.REFFT16:
        zeros = [0 * each if number in (0, 1, 3, 7) else each for number, each in enumerate(matrices[:one])]
        _layers(spec, True, matrices[one:], elements)
        _layers(spec, False, zeros, elements)
    else:
        _layers(spec, spec.operation.value.startswith("i"), matrices, elements)
    if spec.changed == "dst":
        elements = _changed(spec, elements, matrices[one:])
    return np.asarray(np.concatenate(elements))


def _layers(spec: KernelSpec, inverse: bool, matrices: list[np.ndarray], elements: list[np.ndarray]) -> None:
    layers = [spec.elements >> n for n in range(1, spec.elements.bit_length())]
    steps = []
    for distance in reversed(layers) if inverse else layers:
        before = spec.elements // (2 * distance) - 1  # matrices of the layers with larger distances
        for x in range(spec.elements):
            if x // distance % 2 == 0:
                steps.append((x, x + distance, before + x // (2 * distance)))
    for x, y, number in steps:
        if inverse:
            elements[y] = elements[y] + elements[x]
        elements[x] = elements[x] + matrices[number] @ elements[y]
        if not inverse:
            elements[y] = elements[y] + elements[x]


def _changed(spec: KernelSpec, elements: list[np.ndarray], rest: list[np.ndarray]) -> list[np.ndarray]:
    """Return the products of elements by a matrix each, or elements in the other basis: low += B high."""
    if spec.operation in SCALED:
        return [matrix @ element for matrix, element in zip(rest, elements, strict=True)]
    return [np.stack([low + rest[0][0, 0] * high, high]) for low, high in elements]


def _expected(spec: KernelSpec, matrix: np.ndarray, sources: np.ndarray, before: np.ndarray) -> np.ndarray:
    field = galois.GF(256, irreducible_poly=spec.field.polynomial)
    if spec.operation is Operation.XOR:
        return np.bitwise_xor.reduce(sources, axis=0, keepdims=True)
    if spec.operation is Operation.HORNER:
        powers = np.arange(len(sources))
        matrix = np.array([field(1 << i) ** powers for i in range(spec.outputs)], np.uint8)
    if spec.butterfly:
        places = range(spec.table_outputs, matrix.shape[1], spec.table_outputs)
        return _butterfly(spec, np.split(field(matrix), places, axis=1), field(sources))
    total = np.asarray(field(matrix) @ field(sources))
    return total ^ before if spec.operation is Operation.MAD else total


@pytest.mark.campaign
@pytest.mark.parametrize(("operation", "inputs", "outputs", "isa"), CASES)
@pytest.mark.parametrize("unroll", sample([1, None], None))
def test_programs_agree_with_galois(
    operation: str, inputs: int | None, outputs: int, isa: str, unroll: int | None
) -> None:
    spec = make_spec(operation, inputs, outputs, isa, unroll=unroll)
    program = make_program(spec)
    vector = spec.isa.vector_bytes
    counts = (1,) if spec.diagonal else (inputs,) if inputs else (7, 2)
    rng = np.random.default_rng(17)
    in_lines = (0, spec.granule, 4 * vector - spec.granule)
    lengths = in_lines if spec.in_lines else (0, 1, vector - 1, 3 * vector + 5)
    for length, count in product(lengths, counts):
        sources = rng.integers(0, 256, (count, length), dtype=np.uint8)
        before = rng.integers(0, 256, (outputs, length), dtype=np.uint8)
        columns = spec.table_inputs or count
        matrix = rng.integers(0, 256, (spec.table_outputs, columns), dtype=np.uint8)
        table = tables.table(spec.field, spec.tables, tuple(map(tuple, matrix.tolist())))
        out = [bytearray(row.tobytes()) for row in before]
        Machine(spec, table, [bytearray(s.tobytes()) for s in sources], out).run(program)
        expected = _expected(spec, matrix, sources, before)
        assert [bytes(row) for row in out] == [row.tobytes() for row in expected]


@pytest.mark.parametrize(("operation", "inputs", "outputs", "isa"), CASES)
def test_programs_are_proved(operation: str, inputs: int | None, outputs: int, isa: str) -> None:
    for polynomial in (0x11D,) if operation == "horner" else (0x11D, 0x11B, 0x187):
        spec = make_spec(operation, inputs, outputs, isa, polynomial=polynomial)
        verdict = prove(spec, make_program(spec))
        assert verdict, verdict.reason


@pytest.mark.parametrize("isa", ["gfni_avx512", "gfni_avx2", "gfni_sse"])
def test_mulb_is_proved_in_its_field_only(isa: str) -> None:
    spec = make_spec("dot", 3, 2, isa, technique=Technique.MULB, polynomial=0x11B)
    program = make_program(spec)
    assert prove(spec, program)
    elsewhere = make_spec("dot", 3, 2, isa, polynomial=0x11D)
    object.__setattr__(elsewhere, "technique", Technique.MULB)
    verdict = prove(elsewhere, program)
    assert not verdict
    assert "counterexample" in verdict.reason


@pytest.mark.parametrize("isa", [isa.name for isa in ISAS if Op.STREAM in isa.ops])
def test_streaming_and_prefetch_are_proved_and_present(isa: str) -> None:
    spec = make_spec("dot", 4, 2, isa, store=Store.STREAMING, prefetch=512)
    program = make_program(spec)
    assert prove(spec, program)
    names = [i.op.name for i in program.instructions()]
    assert "STREAM" in names and "STORE" in names
    ahead = [i.ref.offset for i in program.instructions() if i.op.name == "PREFETCH" and i.ref]
    assert min(ahead) == 512


def test_field_and_default_agree() -> None:
    assert make_spec("dot", 4, 2, "avx2").field == Field(0x11D)


@pytest.mark.parametrize(("isa", "most"), [("gfni_avx512", 52), ("avx512", 133), ("avx2", 154)])
def test_operations_of_a_known_matrix(isa: str, most: int) -> None:
    """12+4 Cauchy has 25 products and 37 additions. Without divided products and halved sums its operations
    were 54, 148 and 169; HIGH_NIBBLE is a shift and a mask."""
    weight = {Op.AFFINE: 1, Op.XOR: 1, Op.XOR3: 1, Op.AND: 1, Op.LOOKUP: 1, Op.HIGH_NIBBLE: 2}
    iteration = generated(make_baked(isa, "cauchy", 12, 4)).iterations()[0]
    found = Counter(instr.op for loop in iteration for instr in loop.head)
    assert sum(weight.get(op, 0) * count for op, count in found.items()) <= most
