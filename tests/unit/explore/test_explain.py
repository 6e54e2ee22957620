"""`gfsmith explain`: its output for kernels whose properties are known in advance."""

from __future__ import annotations

import io
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from gfsmith.build import config, generate
from gfsmith.cli import main
from gfsmith.emit.x86.asm import Ins
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.listing import build
from gfsmith.explore.cost_model import mca, target, tools
from gfsmith.explore.cost_model.loop import main_loop
from gfsmith.explore.explain import kernel, program, show
from gfsmith.kernel.spec import KernelSpec
from tests.support.specs import make_baked, make_spec

TOML = """
[generator]
isas = ["gfni_avx512", "avx2", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx4", "12x3"]
unroll = 1
[[kernels]]
operation = "dot"
code = "vandermonde"
shapes = ["4x2"]
isas = ["gfni_avx512", "avx2"]
"""
SPECS = {s.symbol: s for s in config.specs(config.parse(TOML, "t.toml"), "t.toml")}
BAKED = SPECS["gfs_dot_4x2_vandermonde__gfni_avx512_u2"]
RUNTIME = SPECS["gfs_dot_12x3__gfni_avx512_u1"]
ROLLED = SPECS["gfs_dot_nx4__avx2_u1"]


def _operations(spec: KernelSpec) -> dict[str, kernel.Operation]:
    machine = kernel.machine(spec, generate.program(spec))
    return {operation.name: operation for operation in machine.operations}


def test_a_baked_kernel_multiplies_where_its_matrix_is_not_one() -> None:
    """ISA-L's Vandermonde matrix begins with a row and a column of ones: 4 x 2 needs 3 products."""
    assert BAKED.baked is not None
    products = sum(c > 1 for row in BAKED.baked.rows for c in row)
    assert products == 3
    affine = _operations(BAKED)["affine"]
    assert affine.program == products * BAKED.unroll
    assert affine.instructions == {"vgf2p8affineqb": products * BAKED.unroll}


def test_a_kernel_with_run_time_coefficients_multiplies_everywhere() -> None:
    found = _operations(RUNTIME)
    assert found["affine"].program == 12 * 3
    assert found["affine"].instructions == {"vgf2p8affineqb": 12 * 3}
    assert found["store"].instructions == {"vmovdqu8": 3}
    assert found["(loop)"].instructions == {"add": 1, "sub": 1, "cmp": 1, "jae": 1}


def test_a_rolled_kernel_is_counted_for_one_source() -> None:
    """A nibble product is two lookups; the nibbles of a vector are split once."""
    found = _operations(ROLLED)
    assert found["lookup"].program == 2 * 4
    assert found["lookup"].instructions == {"vpshufb": 2 * 4}
    assert found["high_nibble"].instructions == {"vpsrlq": 1, "vpand": 1}
    assert "store" not in found


@pytest.mark.parametrize("spec", [BAKED, RUNTIME, ROLLED], ids=lambda s: s.symbol)
def test_every_line_of_the_program_is_next_to_the_listing(spec: KernelSpec) -> None:
    made = generate.program(spec)
    said = [row.program for row in kernel.machine(spec, made).rows if row.program]
    assert said == [program.line(instr) for instr in made.instructions()]


def test_a_mutant_listing_changes_the_counts() -> None:
    """A missing instruction, or one without an origin, changes the counts: they come from the listing, not
    from the Program.
    """
    made = generate.program(RUNTIME)
    body = list(build(RUNTIME, made).body)
    names = [item.line.name if isinstance(item.line, Ins) else "" for item in body]
    victim = names.index("vgf2p8affineqb")

    def affine(lines: list[Any]) -> kernel.Operation:
        found = kernel.operations(made, main_loop(lines, 64))
        return next(operation for operation in found if operation.name == "affine")

    assert affine(body).instructions == {"vgf2p8affineqb": 36}
    assert affine(body[:victim] + body[victim + 1 :]).instructions == {"vgf2p8affineqb": 35}
    stranger = replace(body[victim], line=replace(body[victim].line, origin=None))
    assert affine([*body[:victim], stranger, *body[victim + 1 :]]).instructions == {"vgf2p8affineqb": 35}


def test_an_origin_does_not_make_instructions_differ() -> None:
    """Encodings are cached by instruction; the origin must not matter."""
    body = build(RUNTIME, generate.program(RUNTIME)).body
    line = next(item.line for item in body if isinstance(item.line, Ins) and item.line.origin)
    assert isinstance(line, Ins)
    assert replace(line, origin=None) == line and hash(replace(line, origin=None)) == hash(line)


def test_registers() -> None:
    machine = kernel.machine(ROLLED, generate.program(ROLLED))
    assert machine.vectors[0] == "ymm0" and len(machine.vectors) <= 16
    assert {"rax", "rdi", "rcx", "r9", "r10", "r11"} <= set(machine.general)
    assert "rbx" not in machine.general


def _explained(spec: KernelSpec) -> tuple[str, dict[str, Any]]:
    """Return text and data of a kernel, with predictions that no tool had to compute."""
    made = generate.program(spec)
    wide = mca.Prediction("testlake", 30.0, 640, 64, 70.0, 6, {"Port0": 29.9, "Port1": 3.0})
    outcomes = (wide, mca.Unmodelled("oldlake", "not in its model: vpxord"))
    machine = kernel.machine(spec, made) if spec.machine_code else None
    generated = generate.generate_one(spec)
    proofs = kernel.certificates(generated, None)
    found = kernel.Explanation(spec, made, generated, proofs, machine, None, outcomes, "")
    text = io.StringIO()
    show.show(Console(file=text, width=160, markup=False), found)
    return text.getvalue(), json.loads(json.dumps(show.to_json(found)))


def test_text_and_data_of_a_baked_kernel() -> None:
    text, data = _explained(BAKED)
    assert (
        "circuits of vandermonde_4x2_11d" in text
        and "dense: 3 products, 6 sums" in text
        and "<- taken" in text
    )
    assert "  01 02 04 08" in text
    assert "testlake" in text and "3.00" in text and "Port0" in text and "not in its model: vpxord" in text
    assert data["matrix"] == [[1, 1, 1, 1], [1, 2, 4, 8]]
    assert [c["taken"] for c in data["circuits"]].count(True) == 1
    assert data["predictions"][0]["cycles_per_64_bytes"] == 3
    assert data["predictions"][1] == {"cpu": "oldlake", "unmodelled": "not in its model: vpxord"}
    shipped = generate.generate_one(BAKED).code[Abi.SYSV].hex()
    rows = [row["code"] for row in data["machine"]["listing"] if row["main"]]
    assert len(rows) > 10 and "".join(rows) in shipped


def test_the_proof_of_the_machine_code_is_shown() -> None:
    text, data = _explained(BAKED)
    assert data["machine_proofs"].keys() == {"sysv", "ms"}
    words = []
    for abi, proof in data["machine_proofs"].items():
        assert proof["status"] == "proved" and 0 < proof["covered"] <= proof["instructions"]
        counted = f"{proof['covered']} of {proof['instructions']} instructions reached"
        words.append(f"proved for {abi}, {counted}")
    wanted = f"machine code: {'; '.join(words)} (result, bounds, ABI and constant time, at every length)"
    assert wanted in " ".join(text.split())


def test_machine_code_that_cannot_be_proved_is_no_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first XOR of the code becomes an AND."""
    made = generate.generate_one(BAKED)
    wrong = {abi: code.replace(b"\xef", b"\xdb", 1) for abi, code in made.code.items()}
    assert wrong != made.code
    monkeypatch.setattr(generate, "generate_one", lambda _: replace(made, code=wrong))
    with pytest.raises(generate.Refuted):
        kernel.explain(BAKED, None, None)


def test_text_of_c() -> None:
    found = kernel.explain(make_spec("dot", 2, 1, "scalar"), None, None)
    text = io.StringIO()
    show.show(Console(file=text, width=160), found)
    data = show.to_json(found)
    assert "C source" in text.getvalue() and "for (" in text.getvalue()
    assert "machine code: not proved, since a compiler makes it" in text.getvalue()
    assert data["machine_proofs"] == {}
    assert "no cycles predicted" in text.getvalue() and "is portable C" in data["silence"]
    assert data["machine"] is None and data["compiled"] is None


@pytest.mark.needs("clang")
def test_text_of_c_with_intrinsics() -> None:
    """The counts are those of the compiler: two lookups per product, and a sum for every lookup but the
    first.
    """
    found = kernel.explain(make_spec("dot", 6, 2, "neon", unroll=2), ("neoverse-n1", "cortex-a76"), None)
    text = io.StringIO()
    show.show(Console(file=text, width=160), found)
    names = [line.split()[0] for line in show.to_json(found)["compiled"]["instructions"]]
    assert names.count("tbl") == 6 * 2 * 2 * 2 and names.count("eor") == (6 * 2 - 1) * 2 * 2
    assert f"{len(names)} instructions are executed for {6 * 2 * 16} bytes of source" in text.getvalue()
    assert "cortex-a76 (model of cortex-a57)" in text.getvalue()
    cores = [p["cpu"] for p in show.to_json(found)["predictions"]]
    assert cores == ["neoverse-n1", "cortex-a76"]
    assert all(p["cycles"] > 0 for p in show.to_json(found)["predictions"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "gfsmith.toml").write_text(TOML)
    return tmp_path


def _run(project: Path, *arguments: str) -> Result:
    command = ["explain", *arguments, "--config", str(project / "gfsmith.toml")]
    return CliRunner().invoke(main.main, command, catch_exceptions=False)


def test_without_llvm_mca_the_rest_is_shown(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.fspath(project))
    target.known_cpus.cache_clear()
    result = _run(project, BAKED.symbol)
    assert result.exit_code == 0
    assert "circuits of vandermonde_4x2_11d" in result.output and "vgf2p8affineqb zmm" in result.output
    lines = [line for line in result.output.splitlines() if "llvm-mca-19 is missing" in line]
    assert len(lines) == 1 and "llvm-19" in lines[0]
    assert "sapphirerapids" not in result.output
    silent = json.loads(_run(project, BAKED.symbol, "--json").output)
    assert silent["predictions"] == [] and "llvm-mca-19 is missing" in silent["silence"]


@pytest.mark.needs("clang")
def test_requested_cores(project: Path) -> None:
    found = json.loads(_run(project, RUNTIME.symbol, "--json", "--cpu", "znver4,sapphirerapids").output)
    assert [p["cpu"] for p in found["predictions"]] == ["znver4", "sapphirerapids"]
    assert found["machine"]["main_loop"]["source_bytes"] == 12 * 64
    for prediction in found["predictions"]:
        assert 36 <= prediction["cycles"] < 45
    wrong = _run(project, RUNTIME.symbol, "--cpu", "znver4,pentium9")
    assert wrong.exit_code == 2
    assert wrong.stderr.count("\n") == 1 and "cpu 'pentium9' is not known to llvm-mca-19" in wrong.stderr
    assert _run(project, RUNTIME.symbol, "--cpu", ",").exit_code == 2
    foreign = _run(project, RUNTIME.symbol, "--cpu", "neoverse-v2")
    assert foreign.exit_code == 2 and foreign.stderr.count("\n") == 1
    assert "cpu 'neoverse-v2' is a core of aarch64" in foreign.stderr


def test_a_kernel_whose_values_wait_in_the_frame() -> None:
    """The registers do not include the stack pointer, which addresses the slots."""
    spec = make_baked("avx2", "backblaze", 16, 8)
    shown = kernel.machine(spec, generate.program(spec))
    assert "slot[0]" in "\n".join(program.body(generate.program(spec)))
    assert len(shown.vectors) == 16 and "rsp" not in (*shown.vectors, *shown.general)


@pytest.mark.needs("clang")
def test_without_a_compiler_the_source_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / tools.MCA).symlink_to(shutil.which(tools.MCA) or "")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    found = kernel.explain(make_spec("dot", 3, 1, "neon", unroll=1), None, None)
    assert found.compiled is None and found.predictions == ()
    assert found.silence.startswith("clang-19 is missing") and "\n" not in found.silence
