"""Names of specs, and invalid specs: one clear line for each error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gfsmith.build import config
from gfsmith.build.generate import choose, generate_one, program
from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.field.matrix import bit_matrix
from gfsmith.kernel.isa import BY_NAME, ISAS
from gfsmith.kernel.spec import (
    Baked,
    Circuit,
    KernelSpec,
    Operation,
    Order,
    Placement,
    SpecError,
    Store,
    Technique,
    with_width,
)
from tests.support.paths import ROOT
from tests.support.specs import make_baked, make_program, make_spec


@pytest.mark.parametrize("isa", ["sse", "gfni_sse", "avx2", "gfni_avx2"])
@pytest.mark.parametrize("shape", ["4x2", "10x2", "10x4"])
def test_automatic_choices_fit_into_registers(isa: str, shape: str) -> None:
    text = f'[[kernels]]\noperation = "dot"\ncode = "cauchy"\nshapes = ["{shape}"]\nisas = ["{isa}"]\n'
    (spec,) = config.specs(config.parse(text, "a test"), "a test")
    assert program(spec).loops


def test_symbols_say_everything() -> None:
    assert make_spec("dot", 10, 4, "avx2", unroll=1).symbol == "gfs_dot_10x4__avx2_u1"
    assert make_spec("mad", None, 2, "sse", unroll=2).symbol == "gfs_mad_nx2__sse_u2"
    spec = make_spec("dot", None, 4, "gfni_avx512", unroll=2, store=Store.STREAMING, prefetch=512)
    assert spec.symbol == "gfs_dot_nx4__gfni_avx512_u2_p512t0_nt"
    mulb = make_spec("mul", 1, 1, "gfni_sse", unroll=1, technique=Technique.MULB, polynomial=0x11B)
    assert mulb.symbol == "gfs_mul_1x1__gfni_sse_mulb_u1"
    narrow = with_width(BY_NAME["gfni_avx512"], 256)
    assert make_spec("dot", 10, 4, narrow, unroll=2).symbol == "gfs_dot_10x4__gfni_avx512_v256_u2"
    assert with_width(BY_NAME["avx512"], 512) == BY_NAME["avx512"]


def test_symbols_of_the_default_set_are_unique_and_cover_every_operation() -> None:
    specs = config.specs(config.load(ROOT / "gfsmith.toml"), "gfsmith.toml")
    assert len({spec.symbol for spec in specs}) == len(specs)
    for isa in ISAS:
        mine = [spec for spec in specs if spec.isa.name == isa.name]
        for operation in ("dot", "mad", "mul", "xor"):
            kinds = {spec.inputs is None for spec in mine if spec.operation.value == operation}
            assert kinds == {True, False}, f"{isa.name} lacks {operation} for fixed or any k"
        widest = max(s.outputs for s in mine if s.operation.value == "dot")
        assert widest >= (6 if (isa.registers or 32) == 32 else 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": 0}, "inputs = 0"),
        ({"inputs": 255}, "allowed: 1..254"),
        ({"outputs": 0}, "outputs = 0"),
        ({"unroll": 9}, r"allowed: 1\.\.8"),
        ({"prefetch": -1}, "prefetch = -1"),
        ({"technique": Technique.AFFINE}, "not possible on avx2; allowed: nibble"),
        ({"technique": Technique.PLAIN}, "plain is for xor and packets"),
        ({"prefix": "9x"}, "not a C identifier"),
        (
            {"isa": BY_NAME["scalar"], "technique": Technique.BITPLANE, "store": Store.STREAMING},
            "scalar has no",
        ),
        ({"isa": BY_NAME["rvv"], "prefetch": 64}, "rvv has no"),
        ({"isa": BY_NAME["gfni_sse"], "technique": Technique.MULB}, "modulo 0x11b only"),
        ({"operation": Operation.FFT4, "outputs": 4}, "multiplies products; allowed: affine"),
        ({"operation": Operation.IFFT4, "inputs": 2}, "ifft4 is for shapes 4x4 and 8x8"),
        ({"operation": Operation.FFT16, "inputs": 32, "outputs": 32}, "fft16 is for shapes 16x16"),
        ({"operation": Operation.IFFT4LINES, "outputs": 4}, "ifft4lines is for shapes 8x8"),
        ({"operation": Operation.FFT4SCALED, "inputs": 2}, "fft4scaled is for shapes 4x4 and 8x8"),
        (
            {"operation": Operation.FFT4LINES, "isa": BY_NAME["gfni_sse"], "inputs": 8, "outputs": 8},
            "machine code with vectors of at least 256 bits",
        ),
        (
            {"operation": Operation.FFT4LINES, "inputs": 8, "outputs": 8, "store": Store.STREAMING},
            "fft4lines",
        ),
    ],
)
def test_impossible_specs_are_refused(changes: dict[str, object], words: str) -> None:
    base = make_spec("dot", 4, 2, "avx2", unroll=1)
    values = {name: getattr(base, name) for name in KernelSpec.__dataclass_fields__}
    with pytest.raises(SpecError, match=words):
        KernelSpec(**{**values, **changes})


def test_schedules_have_names_and_limits() -> None:
    base = make_spec("dot", 4, 2, "avx2", unroll=2)
    steps = replace(base, order=Order.STEPS, placement=Placement.MEMORY)
    assert steps.symbol == "gfs_dot_4x2__avx2_u2_steps_mem"
    rows = ((1, 2, 3, 4), (5, 6, 7, 8))
    baked = replace(base, baked=Baked("cauchy", 2, 0, rows), circuit=Circuit.DENSE, order=Order.COPIES)
    assert baked.symbol == "gfs_dot_4x2_cauchy__avx2_dense_u2_copies"
    with pytest.raises(SpecError, match="allowed with unroll = 1: sums"):
        replace(steps, unroll=1)
    with pytest.raises(SpecError, match="only kernels for a code have circuits"):
        replace(base, circuit=Circuit.DENSE)


@pytest.mark.parametrize("isa", ["sse", "avx2", "gfni_avx512"])
def test_schedules_change_the_code_and_not_the_results(isa: str) -> None:
    """generate_one proves each of them, and refuses wrong ones."""
    base = make_spec("dot", 4, 2, isa, unroll=2)
    made = {(o, p): generate_one(replace(base, order=o, placement=p)) for o in Order for p in Placement}
    # Without registers for tables both placements are equal.
    assert len({kernel.digest for kernel in made.values()}) >= 4
    orders = [made[order, Placement.MEMORY].digest for order in Order]
    assert len(set(orders)) == 3


def test_circuits_match_their_names() -> None:
    base = make_baked("gfni_avx512", "cauchy", 8, 4)
    chosen = {c: choose(replace(base, circuit=c))[0] for c in (Circuit.DENSE, Circuit.FACTORED2)}
    assert (chosen[Circuit.DENSE].method, chosen[Circuit.FACTORED2].dimension) == ("dense", 2)
    assert choose(base)[0] == chosen[Circuit.FACTORED2]
    with pytest.raises(SpecError, match=r"circuit = factored4; allowed for cauchy_8x4_11d: dense, factored1"):
        choose(replace(base, circuit=Circuit.FACTORED4))


def test_streaming_mad_is_refused() -> None:
    with pytest.raises(SpecError, match="mad reads its destinations; allowed: temporal"):
        make_spec("mad", 1, 1, "avx2", store=Store.STREAMING)


@pytest.mark.parametrize(("isa", "outputs"), [("avx2", 13), ("sse", 13), ("gfni_avx2", 15), ("avx512", 29)])
def test_kernels_that_do_not_fit_are_refused_with_the_numbers(isa: str, outputs: int) -> None:
    registers = BY_NAME[isa].registers
    make_program(make_spec("dot", None, outputs - 2, isa, unroll=1))
    with pytest.raises(SpecError, match=rf"needs \d+ vector registers and {isa} has {registers}"):
        make_program(make_spec("dot", None, outputs + 1, isa, unroll=1))


def packets_spec(rows: tuple[tuple[int, ...], ...], **changes: object) -> KernelSpec:
    base = make_spec("dot", 16, 8, "avx2", unroll=1)
    values = {name: getattr(base, name) for name in KernelSpec.__dataclass_fields__}
    baked = Baked("cauchy_good", 16, 8, rows, packets=True)
    return KernelSpec(**{**values, "technique": Technique.PLAIN, "baked": baked, **changes})


def test_kernels_for_packets() -> None:
    rows = bit_matrix(Field(), parity_matrix("cauchy_good", 2, 2))[8:]
    assert packets_spec(rows).symbol == "gfs_dot_16x8_cauchy_good_packetsm16r8__avx2_plain_u1"
    with pytest.raises(SpecError, match="holds 0 and 1 only"):
        packets_spec(((2, *rows[0][1:]), *rows[1:]))
    with pytest.raises(SpecError, match="xor and packets"):
        packets_spec(rows, technique=Technique.NIBBLE)
    with pytest.raises(SpecError, match="xor and packets"):
        packets_spec(rows, baked=Baked("cauchy_good", 16, 8, rows))
