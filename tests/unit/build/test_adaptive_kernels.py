"""Kernels that traverse rows, shuffled and pipelined: specs, Programs, configuration, lists, size."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.build import adaptive_kernels, config
from gfsmith.build.generate import generate_one
from gfsmith.build.generate import program as generated
from gfsmith.cli.main import main
from gfsmith.emit import lists
from gfsmith.ir import CURRENT, Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.kernel.defaults import PASS_MAX
from gfsmith.kernel.isa import BY_NAME, ISAS
from gfsmith.kernel.spec import Baked, KernelSpec, SpecError, Technique
from gfsmith.kernel.tables import table
from gfsmith.kernel.tuning_parameters import LINE, Hint, Order, Store, Walk, fits, shuffled
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import Status
from tests.support.specs import (
    Machine,
    make_baked,
    make_known_pipelined,
    make_pipelined,
    make_program,
    make_spec,
)

ROWS = make_pipelined("avx2", 2, 4, Walk.ROWS, shuffled=True)
BLOCK = make_pipelined("gfni_avx512", 2, 4, Walk.TOGETHER, shuffled=True)
FIXED = replace(ROWS, inputs=3)
KNOWN = make_known_pipelined("avx2", "cauchy", 4, 2, 4)
PACKETS = Baked("packets", 1, 0, ((1, 1),), packets=True)
SETS = (
    "gfni_avx512",
    "gfni_avx2",
    "avx512",
    "avx2",
    "gfni_sse",
    "sse",
    "neon",
    "vsx",
    "vx",
    "lasx",
    "scalar",
)


# ---- the order ----


@pytest.mark.parametrize("lines", range(1, 17))
def test_every_line_is_visited_once(lines: int) -> None:
    assert sorted(shuffled(lines)) == list(range(lines))


def test_the_orders_of_the_variants() -> None:
    """pipelined.inc has these orders, and measurements use them."""
    assert [shuffled(n) for n in (2, 4, 8)] == [(1, 0), (2, 1, 3, 0), (4, 3, 5, 2, 6, 1, 7, 0)]


@pytest.mark.parametrize("lines", [2, 4, 6, 8])
def test_no_two_steps_have_the_same_direction(lines: int) -> None:
    """Neither within an iteration nor between iterations do two successive steps have the same direction."""
    visited = [turn * lines + line for turn in range(3) for line in shuffled(lines)]
    ups = [after > before for before, after in pairwise(visited)]
    assert all(a != b for a, b in pairwise(ups))


# ---- specs ----


@pytest.mark.parametrize(
    ("spec", "symbol"),
    [
        (ROWS, "gfs_dot_nx2__avx2_u8_rows_shuffled_pipe"),
        (replace(ROWS, pipelined=False), "gfs_dot_nx2__avx2_u8_rows_shuffled"),
        (replace(ROWS, shuffled=False, store=Store.STREAMING), "gfs_dot_nx2__avx2_u8_rows_pipe_nt"),
        (replace(BLOCK, order=Order.STEPS), "gfs_dot_nx2__gfni_avx512_u4_steps_shuffled_pipe"),
        (replace(BLOCK, hint=Hint.T1), "gfs_dot_nx2__gfni_avx512_u4_shuffled_pipet1"),
        (FIXED, "gfs_dot_3x2__avx2_u8_rows_shuffled_pipe"),
        (KNOWN, "gfs_dot_4x2_cauchy__avx2_u8_rows_pipe"),
    ],
)
def test_symbols(spec: KernelSpec, symbol: str) -> None:
    assert spec.symbol == symbol


@pytest.mark.parametrize(
    ("base", "changes", "words"),
    [
        (
            replace(make_spec("dot", 2, 1, "avx2"), technique=Technique.PLAIN, baked=PACKETS),
            {"pipelined": True, "unroll": 2},
            "pipelined = true; allowed: dot without packets",
        ),
        (make_spec("mad", None, 2, "avx2", unroll=2), {"pipelined": True}, "pipelined = true; allowed: dot"),
        (ROWS, {"unroll": 3}, "unroll = 3; walk = rows; allowed: whole lines of 64 bytes"),
        (ROWS, {"unroll": 18}, r"unroll = 18; allowed: 1\.\.16"),
        (ROWS, {"unroll": 2}, "unroll = 2; shuffled needs at least 2 lines per iteration"),
        (ROWS, {"prefetch": 512}, "prefetch = 512; allowed: 0; a pipelined kernel prefetches"),
        (
            BLOCK,
            {"walk": Walk.ROWS, "order": Order.STEPS},
            "order = steps; allowed with one vector of each source: sums",
        ),
        (
            make_spec("dot", None, 2, "rvv", unroll=4),
            {"walk": Walk.ROWS},
            "rvv has no fixed number of vectors",
        ),
        (make_spec("dot", None, 2, "wasm_simd128", unroll=4), {"pipelined": True}, "has no prefetch"),
        (make_spec("dot", None, 2, "vsx", unroll=4), {"store": Store.STREAMING}, "no streaming stores"),
    ],
)
def test_impossible_specs_are_refused(base: KernelSpec, changes: dict[str, object], words: str) -> None:
    values = {name: getattr(base, name) for name in KernelSpec.__dataclass_fields__}
    with pytest.raises(SpecError, match=words):
        KernelSpec(**{**values, **changes})


# ---- Programs ----


def _visits(loops: tuple[Loop, ...]) -> list[int]:
    """Return the lines of one iteration in the order in which their first bytes are read, one source at a
    time.
    """
    refs = [i.ref for loop in loops for i in (*loop.head, *loop.body) if i.ref is not None]
    starts = [ref.offset for ref in refs if ref.space is Space.SOURCE and ref.offset % LINE == 0]
    return [offset // LINE for offset in dict.fromkeys(starts)]


@pytest.mark.parametrize("spec", [ROWS, BLOCK, FIXED], ids=["rows", "block", "fixed"])
def test_lines_are_visited_in_order(spec: KernelSpec) -> None:
    program = make_program(spec)
    assert _visits(program.iterations()[0]) == list(shuffled(4))
    plain = make_program(replace(spec, shuffled=False))
    assert _visits(plain.iterations()[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("outputs", [1, 3, 8])
def test_variants_are_proved_and_fit(isa: str, outputs: int) -> None:
    """Each variant is proved as a Program; emission of those in machine code shows that registers suffice."""
    found = adaptive_kernels.variants(BY_NAME[isa], outputs, ROWS.field, "gfs")
    assert len({spec.symbol for spec in found}) == len(found) >= 3
    for spec in found:
        if spec.lines == 1 or (isa != "scalar" and outputs * spec.lines <= 12):
            assert generate_one(spec).verdict.status is Status.PROVED, spec.symbol


@pytest.mark.parametrize("isa", ["gfni_avx512", "avx512", "avx2"])
def test_registers_suffice_for_every_number_of_outputs(isa: str) -> None:
    for outputs in range(1, PASS_MAX + 1):
        for spec in adaptive_kernels.variants(BY_NAME[isa], outputs, ROWS.field, "gfs"):
            if spec.walk is Walk.TOGETHER:
                generated(spec)  # raises SpecError if not


@pytest.mark.parametrize("isa", ["gfni_avx512", "avx2", "neon", "vsx"])
def test_variants_for_known_matrices_are_proved(isa: str) -> None:
    found = adaptive_kernels.known_variants(make_baked(isa, "cauchy", 4, 2))
    assert {(s.lines, s.shuffled) for s in found} == {(1, False), (4, False), (8, True)}
    assert all(s.walk is Walk.ROWS and s.pipelined for s in found)
    for spec in found:
        assert generate_one(spec).verdict.status is Status.PROVED, spec.symbol


def test_long_code_for_known_matrices_is_left_out() -> None:
    """10 x 4 products for four vectors of gfni_avx512 are 160, for eight of avx2 320."""
    assert 160 <= adaptive_kernels.MOST_PRODUCTS < 320
    for isa, k, lines in (("gfni_avx512", 10, {1, 4}), ("avx2", 10, {1}), ("avx2", 48, set())):
        found = adaptive_kernels.known_variants(make_baked(isa, "cauchy", k, 4))
        assert {s.lines for s in found} == lines


def test_a_source_that_is_not_read_is_prefetched() -> None:
    """A known matrix may multiply a source by 0; the pointers still belong to k sources."""
    spec = replace(KNOWN, baked=Baked("zeros", 2, 0, ((1, 2, 0, 4), (3, 5, 0, 7))))
    program = generated(spec)
    assert prove(spec, program)
    assert sum(i.op is Op.PREFETCH for i in program.instructions()) == 4 * 4


def test_a_row_is_one_loop_where_registers_suffice() -> None:
    for isa, outputs, loops in (("avx2", 4, [2]), ("avx2", 5, [1, 1]), ("sse", 1, [4])):
        spec = make_pipelined(isa, outputs, 1, Walk.ROWS)
        assert [len(part) for part in spec.visits(spec.abreast)] == loops
    assert fits(BY_NAME["gfni_avx512"], 4, 6) and not fits(BY_NAME["gfni_avx512"], 4, 7)


def test_values_are_right() -> None:
    """An interpreter runs them on bytes, with a length that uses every loop; and
    the coefficients of a row.
    """
    rng = random.Random(9)
    spec, k = ROWS, 3
    length = 2 * spec.block + 32 + 5
    sources = [bytearray(rng.randbytes(length)) for _ in range(k)]
    targets = [bytearray(rng.randbytes(length)) for _ in range(spec.outputs)]
    rows = [[rng.randrange(256) for _ in range(k)] for _ in range(spec.outputs)]
    Machine(spec, table(spec.field, spec.tables, rows), sources, targets).run(make_program(spec))
    for row, target in zip(rows, targets, strict=True):
        want = bytearray(length)
        for c, source in zip(row, sources, strict=True):
            for n in range(length):
                want[n] ^= spec.field.multiply(c, source[n])
        assert target == want


# ---- mutants of the Program ----


def _changed(program: Program, number: int, **changes: object) -> Program:
    loops = list(program.loops)
    loops[number] = replace(loops[number], **changes)  # type: ignore[arg-type]
    return replace(program, loops=tuple(loops))


def _instr(op: Op, result: int | None, ref: Ref) -> Instr:
    return Instr(op, result, (), ref)


def _pointer(index: int) -> Instr:
    return _instr(Op.PREFETCH, None, Ref(Space.AHEAD, index, 0))


def _mutants(program: Program) -> dict[str, tuple[Program, str]]:
    first, second = program.loops[:2]
    bare = replace(second, body=tuple(i for i in second.body if i.op is not Op.PREFETCH))
    last = len(program.loops) - 1
    read = next(i for i in first.body if i.op is Op.LOAD)
    asking = (i for i in first.body if i.op is not Op.PREFETCH)
    through = tuple(replace(i, ref=Ref(Space.AHEAD, 0, 0)) if i is read else i for i in asking)
    without = replace(program, loops=(*program.loops[:1], *program.loops[2:]))
    return {
        "a row omitted": (without, "takes 3 prefetch pointers"),
        "a row of pointers only": (_changed(program, 1, close=()), "is not stored"),
        "a row done twice": (_changed(program, 1, close=first.close, carries=first.carries), "before it is"),
        "a row done again": (replace(program, loops=(*program.loops[:2], bare, *program.loops[2:])), "twice"),
        "a row by itself": (_changed(program, 1, joined=False), "takes 1 prefetch pointers"),
        "joined to nothing": (_changed(program, 0, joined=True), "joined to none"),
        "of another step": (_changed(program, 1, step=first.step + 64), "of another kind"),
        "no pointer for a row": (_changed(program, 1, body=bare.body), "takes 3 prefetch pointers"),
        "one too many": (_changed(program, 1, body=(*second.body, _pointer(1))), "takes 5 prefetch pointers"),
        "the same one twice": (_changed(program, 1, body=(*second.body, _pointer(0))), "not taken in turn"),
        "before the sources": (_changed(program, 1, head=(*second.head, _pointer(0))), "not taken in turn"),
        "in the tail": (
            _changed(program, last, body=(*program.loops[last].body, _pointer(0))), "takes 1 prefetch"),
        "read": (_changed(program, 0, body=through), "cannot read ahead"),
    }  # fmt: skip


def _unrolled_mutants(program: Program) -> dict[str, tuple[Program, str]]:
    first, second = program.loops[:2]
    bare = tuple(i for i in second.head if i.op is not Op.PREFETCH)
    loaded = next(i for i in first.head if i.op is Op.LOAD)
    kept = (i for i in first.head if i.ref != Ref(Space.AHEAD, 0, 0))
    through = tuple(replace(i, ref=Ref(Space.AHEAD, 0, 0)) if i is loaded else i for i in kept)
    swapped = _changed(_changed(program, 0, head=second.head), 1, head=first.head)
    last = len(program.loops) - 1
    return {
        "no pointers for a row": (_changed(program, 1, head=bare), "not taken in turn, 4 for each source"),
        "one too many": (_changed(program, 1, head=(*second.head, _pointer(99))), "not taken in turn"),
        "the same one twice": (_changed(program, 1, head=(*bare, *map(_pointer, (4, 5, 6, 6)))), "in turn"),
        "rows in another order": (swapped, "not taken in turn"),
        "a row omitted": (replace(program, loops=(first, *program.loops[2:])), "not taken in turn"),
        "in the tail": (
            _changed(program, last, head=(*program.loops[last].head, _pointer(0))), "0 for each source"),
        "read": (_changed(program, 0, head=through), "cannot read ahead"),
    }  # fmt: skip


@pytest.mark.parametrize("spec", [FIXED, KNOWN], ids=["fixed", "known"])
def test_mutants_of_unrolled_kernels_are_refuted(spec: KernelSpec) -> None:
    program = generated(spec)
    assert prove(spec, program) and not program.loops[0].rolled
    for name, (mutant, words) in _unrolled_mutants(program).items():
        verdict = prove(spec, mutant)
        assert verdict.status is Status.REFUTED, name
        assert words in verdict.reason, (name, verdict.reason)


def test_mutants_are_refuted() -> None:
    program = make_program(ROWS)
    assert prove(ROWS, program)
    assert program.loops[-1].role is Role.TAIL and CURRENT < 0
    for name, (mutant, words) in _mutants(program).items():
        verdict = prove(ROWS, mutant)
        assert verdict.status is Status.REFUTED, name
        assert words in verdict.reason, (name, verdict.reason)


def test_pointers_are_for_pipelined_kernels_only() -> None:
    verdict = prove(replace(ROWS, pipelined=False), make_program(ROWS))
    assert "takes 4 prefetch pointers" in verdict.reason


# ---- configuration and lists ----

BASE = '[[kernels]]\noperation = "dot"\nshapes = ["nx2"]\nisas = ["avx2"]\n'


def _listed(text: str) -> tuple[KernelSpec, ...]:
    return config.specs(config.parse(text, "x.toml"), "x.toml")


def test_no_table_no_kernels() -> None:
    assert not any(spec.pipelined for spec in _listed(BASE))


def test_the_defaults_are_all_that_can() -> None:
    found = [spec for spec in _listed(f"{BASE}[adaptive]\n") if spec.pipelined]
    assert {s.isa.name for s in found} == {isa.name for isa in ISAS if adaptive_kernels.able(isa)}
    assert {"gfni_avx512", "avx2", "neon", "vsx"} <= {s.isa.name for s in found}
    assert not {"scalar", "sse", "gfni_sse", "sve", "rvv"} & {s.isa.name for s in found}
    assert {s.outputs for s in found} == set(range(1, 9))


def test_requested_kernels() -> None:
    text = f'[generator]\nisas = ["avx2", "sse"]\n{BASE}[adaptive]\nisas = ["avx2", "neon"]\noutputs = [3]\n'
    found = [spec for spec in _listed(text) if spec.pipelined]
    assert [(s.walk.value, s.lines, s.shuffled, s.store.value) for s in found] == [
        (walk, lines, mixed, store)
        for walk, lines, mixed in (("rows", 1, False), ("rows", 4, False), ("rows", 8, True))
        for store in ("temporal", "streaming")
    ]
    assert {(s.isa.name, s.outputs) for s in found} == {("avx2", 3)}


CODE = '[[kernels]]\noperation = "dot"\ncode = "cauchy"\nshapes = ["10x4"]\nisas = ["avx2", "scalar"]\n'


def test_known_matrices_of_the_build_get_variants() -> None:
    text = '[generator]\nisas = ["gfni_avx512", "avx2", "scalar"]\n'
    streaming = CODE + 'store = "streaming"\nunroll = 2\n'
    packets = CODE.replace("10x4", "2x1") + "packets = true\n"
    table = "[adaptive]\noutputs = [1]\n"
    found = [s for s in _listed(text + CODE + streaming + packets + table) if s.pipelined and s.baked]
    assert {(s.isa.name, s.inputs, s.outputs, s.matrix_id) for s in found} == {
        ("avx2", 10, 4, "cauchy_10x4_11d")
    }
    assert [(s.lines, s.store) for s in found] == [(1, Store.TEMPORAL), (1, Store.STREAMING)]
    rows = CODE + 'walk = "rows"\nunroll = 4\n'
    assert [s for s in _listed(text + rows + table) if s.pipelined and s.baked] == found
    found = list(_listed(text + CODE + table + "known = false\n"))
    assert not any(spec.pipelined and spec.baked for spec in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[adaptive]\nknown = 1\n", "adaptive.known: Input should be a valid boolean"),
        ("[adaptive]\noutputs = []\n", "adaptive.outputs"),
        ("[adaptive]\nlines = 4\n", "adaptive.lines: no such key; allowed: isas, "),
        ('[adaptive]\nisas = ["avx9"]\n', "adaptive.isas: 'avx9' is not an instruction set"),
        ('[adaptive]\nisas = ["sve"]\n', "adaptive (nx1, sve): walk = rows; sve has no fixed number"),
        ("[adaptive]\noutputs = [0]\n", "outputs = 0; allowed"),
        ("[adaptive]\noutputs = [2, 2]\n", "is listed twice"),
    ],
)
def test_wrong_tables_are_reported(text: str, words: str) -> None:
    with pytest.raises(config.ConfigError) as error:
        _listed(BASE + text)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_kernels_take_the_settings_one_by_one() -> None:
    text = BASE + 'unroll = 4\nwalk = "rows"\nshuffled = true\npipelined = true\n'
    assert [spec.symbol for spec in _listed(text)] == ["gfs_dot_nx2__avx2_u4_rows_shuffled_pipe"]


def test_lists_keep_them_apart() -> None:
    """Dispatch reads kernels.inc, and would call them with k pointers."""
    plain = make_spec("dot", None, 2, "avx2")
    files = lists.build([plain, ROWS])
    assert ROWS.symbol not in files["kernels.inc"] and plain.symbol in files["kernels.inc"]
    assert (
        f"GFSMITH_PIPELINED({ROWS.symbol}, avx2, 0, 2, none, rows, 1, 4, temporal, nibble)"
        in files["pipelined.inc"]
    )
    assert "GFSMITH_PIPELINED_ORDER(4, 2, 1, 3, 0)" in files["pipelined.inc"]
    for name, words in (
        ("sources.mk", "GFSMITH_ADAPTIVE := 1"),
        ("sources.cmake", "set(GFSMITH_ADAPTIVE 1)"),
    ):
        assert words in files[name] and "/avx2.S" in files[name]
    assert f'#include "x86/{ROWS.symbol}.S"' in files["avx2.S"]
    assert f"gfsmith_kernel {ROWS.symbol};" in files["gfsmith_kernels.h"]
    known = lists.build([plain, KNOWN])
    row = f"GFSMITH_PIPELINED({KNOWN.symbol}, avx2, 4, 2, cauchy_4x2_11d, rows, 0, 4, temporal, none)"
    assert row in known["pipelined.inc"] and KNOWN.symbol not in known["baked.inc"]
    assert "GFSMITH_MATRIX(cauchy_4x2_11d" in known["matrices.inc"]
    without = lists.build([plain])
    assert "GFSMITH_PIPELINED" not in without["pipelined.inc"].split("*/")[1]
    assert not any("GFSMITH_ADAPTIVE" in without[name] for name in ("sources.mk", "sources.cmake"))


# ---- commands ----


def test_size_is_reported() -> None:
    plain = make_spec("dot", None, 2, "avx2")
    assert adaptive_kernels.code([(plain, 10**6)]) == ""
    said = adaptive_kernels.code(
        [(plain, 10**6), (ROWS, 700), (replace(ROWS, shuffled=False), 800), (BLOCK, 900), (KNOWN, 1000)]
    )
    assert said == "pipelined: 4 kernels, 3400 bytes of machine code; most, 1500, for 2 outputs on avx2"
    said = adaptive_kernels.code([(ROWS, 700), (KNOWN, 1000)])
    assert said.endswith("most, 1000, for cauchy_4x2_11d on avx2")


def test_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[generator]\nisas = ["gfni_avx512"]\n' + BASE.replace("avx2", "gfni_avx512")
    (tmp_path / "x.toml").write_text(text + "[adaptive]\noutputs = [1]\n")
    monkeypatch.setattr(adaptive_kernels, "MOST_CODE", 5000)
    done = CliRunner().invoke(main, ["gen", "-j", "1", "-c", str(tmp_path / "x.toml")])
    assert done.exit_code == 2
    assert "the kernels of gfni_avx512 for 1 outputs are" in done.output and "allowed: 5000" in done.output
    assert not (tmp_path / "gen_out").exists()


def test_the_flag_adds_them_to_any_request(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[generator]\nisas = ["avx2"]\n' + BASE)
    listing = ["list", "-c", str(tmp_path / "x.toml"), "--json"]
    plain, more = (CliRunner().invoke(main, [*listing, *flag]).output for flag in ([], ["--adaptive"]))
    assert "_pipe" not in plain and "gfs_dot_nx8__avx2_u16_rows_shuffled_pipet1_nt" in more
    assert '"walk": "rows"' in more and '"pipelined": true' in more


def test_the_code_of_the_command_line_gets_variants(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[generator]\nisas = ["avx2"]\n' + BASE)
    words = [
        "list",
        "-c",
        str(tmp_path / "x.toml"),
        "--adaptive",
        "--code",
        "cauchy",
        "--k",
        "10",
        "--m",
        "4",
    ]
    listed = CliRunner().invoke(main, words).output
    assert "gfs_dot_10x4_cauchy__avx2_u2_rows_pipet1_nt" in listed


def test_explain_shows_rows_and_pointers(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[generator]\nisas = ["avx2"]\n' + BASE)
    symbol = "gfs_dot_nx2__avx2_u8_rows_pipet1"
    done = CliRunner().invoke(main, ["explain", "-c", str(tmp_path / "x.toml"), "--adaptive", symbol])
    assert done.exit_code == 0, done.output
    assert "in the same iteration" in done.output and "prefetch ahead[0]" in done.output


def test_one_order_needs_no_coordinator() -> None:
    """Batch calls use pipelined kernels that read row by row; a build that has only these has no coordinator,
    which would have nothing to choose."""
    text = """
[generator]
isas = ["avx2"]
[[kernels]]
operation = "dot"
shapes = ["nx1"]
walk = "rows"
pipelined = true
hint = "t1"
store = "streaming"
unroll = 2
"""
    alone = config.specs(config.parse(text, "rows"), "rows")
    both = config.parse(text + "[adaptive]\noutputs = [1]\n", "both")
    with_table = config.specs(both, "both")
    assert [spec.symbol for spec in alone] == ["gfs_dot_nx1__avx2_u2_rows_pipet1_nt"]
    assert alone[0] in with_table and len(with_table) > 1, "listed once, although [adaptive] adds it too"
    assert "GFSMITH_ADAPTIVE" not in lists.build(alone)["sources.mk"]
    assert "GFSMITH_ADAPTIVE := 1" in lists.build(with_table)["sources.mk"]
