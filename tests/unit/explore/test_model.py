"""The llvm-mca model: the loop that it analyses, the values read from its output, and its refusals."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gfsmith.explore.cost_model import kernels, mca, target, tools
from gfsmith.explore.cost_model.features import FEATURES
from gfsmith.explore.cost_model.loop import MainLoop, main_loop
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes import check_frame
from tests.support.specs import make_spec

STORED = Path(__file__).parent / "data" / "llvm-mca.json"


@pytest.fixture
def stored() -> dict[str, Any]:
    """Nine instructions, 500 iterations on sapphirerapids, as llvm-mca-19 printed them."""
    report: dict[str, Any] = json.loads(STORED.read_text())
    return report


def test_a_report_is_read(stored: dict[str, Any]) -> None:
    found = mca.parse(stored, "sapphirerapids", source_bytes=128)
    assert (found.cycles, found.instructions, found.uops, found.width) == (2.05, 9, 9, 6)
    assert found.cycles_per_64 == pytest.approx(1.025)
    assert found.pressure["SPRPort00"] == 2
    assert found.pressure["SPRPort11"] == pytest.approx(0.668)
    assert found.bottleneck == "SPRPort00"


def test_the_steady_state_is_free_of_how_it_began(stored: dict[str, Any]) -> None:
    long = copy.deepcopy(stored)
    long["CodeRegions"][0]["SummaryView"].update(Iterations=2000, TotalCycles=1025 + 3 * 1000)
    assert mca.steady(stored, long) == 2.0
    long["CodeRegions"][0]["SummaryView"]["TotalCycles"] += 1500
    assert mca.steady(stored, long) == 3.0


def test_bounds_of_a_loop(stored: dict[str, Any]) -> None:
    found = mca.parse(stored, "sapphirerapids", 64)
    assert replace(found, uops=60, cycles=10).bottleneck == "dispatch, 6 a cycle"
    assert replace(found, cycles=9).bottleneck == "latency or buffers"
    both = {"a": 1.0, "b": 2.0, "c": 1.99}
    assert replace(found, pressure=both).bottleneck == "b, c"


def test_units_of_a_group_have_readable_names(stored: dict[str, Any]) -> None:
    stored["TargetInfo"]["Resources"][0] = "Zn4FP45.\x01"
    assert "Zn4FP45.1" in mca.parse(stored, "znver4", 64).pressure


def _loop(spec: KernelSpec) -> MainLoop:
    return kernels.machine_loop(spec)


@pytest.mark.parametrize(
    ("spec", "source_bytes", "end"),
    [
        (make_spec("dot", 4, 2, "gfni_avx512", unroll=2), 4 * 2 * 64, "jae"),
        (make_spec("dot", None, 3, "avx2", unroll=2), 2 * 32, "jb"),
        (make_spec("mad", 2, 2, "sse", unroll=1), 2 * 16, "jae"),
        (make_spec("mul", None, 1, "gfni_avx2", unroll=4), 4 * 32, "jae"),
        (make_spec("xor", None, 1, "avx512", unroll=2, prefetch=512), 2 * 64, "jae"),
    ],
    ids=lambda v: v.symbol if isinstance(v, KernelSpec) else str(v),
)
def test_the_main_loop(spec: KernelSpec, source_bytes: int, end: str) -> None:
    """The bytes of source follow from the shape: all sources, or one for a loop rolled over them."""
    loop = _loop(spec)
    assert loop.source_bytes == source_bytes
    assert loop.instructions[-1].name == end
    assert sum(i.target is not None for i in loop.instructions) == 1
    assert len(loop.text.splitlines()) == len(loop.instructions) + 2


def test_a_listing_without_a_loop_is_refused() -> None:
    loop = _loop(make_spec("dot", 2, 1, "avx2", unroll=1))
    with pytest.raises(ValueError, match="no loop"):
        main_loop(loop.lines[:-1], 32)


def test_portable_c_has_no_prediction() -> None:
    with pytest.raises(tools.Unavailable, match="__scalar_u1 is portable C"):
        kernels.predict(make_spec("dot", 2, 1, "scalar"), ["znver4"])


@pytest.mark.needs("clang")
def test_a_real_run_finds_the_port_of_the_products() -> None:
    """16 products at one per cycle on SPRPort00 (512 bits), two per cycle (256
    bits): known without a model.
    """
    wide = kernels.predict(make_spec("dot", 8, 2, "gfni_avx512", unroll=1), ["sapphirerapids"])[
        "sapphirerapids"
    ]
    assert isinstance(wide, mca.Prediction)
    assert wide.cycles == 16
    assert wide.bottleneck == "SPRPort00"
    half = kernels.predict(make_spec("dot", 8, 2, "gfni_avx2", unroll=1), ["sapphirerapids"])[
        "sapphirerapids"
    ]
    assert isinstance(half, mca.Prediction)
    assert 8 <= half.cycles < 16


@pytest.mark.needs("clang")
def test_every_spelling_parses() -> None:
    """Folded and broadcast operands, table loads, streaming stores and prefetches, of every set."""
    specs = [
        make_spec("dot", 12, 3, "gfni_avx512", unroll=1, prefetch=512),  # broadcast operands
        *(make_spec("dot", None, 2, isa) for isa in ("gfni_avx2", "avx512", "avx2", "gfni_sse", "sse")),
    ]
    found = kernels.predict_all(specs, ["sapphirerapids"], 1)
    assert "{1to8}" in _loop(specs[0]).text and "prefetcht0" in _loop(specs[0]).text
    for spec in specs:
        assert isinstance(found[spec]["sapphirerapids"], mca.Prediction), found[spec]


@pytest.mark.needs("clang")
def test_a_core_without_the_instructions_is_refused() -> None:
    """LLVM's tables of znver3 contain 256-bit products, which that core lacks."""
    wide = kernels.predict(make_spec("dot", 4, 2, "gfni_avx512"), ["alderlake", "btver2", "bdver4"])
    assert wide["alderlake"] == mca.Unmodelled("alderlake", "has no AVX512F, AVX512BW, AVX512VL")
    small, none = wide["btver2"], wide["bdver4"]
    assert isinstance(small, mca.Unmodelled) and isinstance(none, mca.Unmodelled)
    assert small.reason.startswith("not in its model: ") and "zmm" in small.reason
    assert none.reason.startswith("unable to find instruction-level scheduling information")
    spec = make_spec("dot", 4, 2, "gfni_avx2")
    assert kernels.predict(spec, ["znver3"])["znver3"] == mca.Unmodelled("znver3", "has no GFNI")
    assert isinstance(mca.predict_loop(kernels.loop_of(spec), "znver3"), mca.Prediction)


def _macros(machine: str, cpu: str) -> set[str]:
    command = ["clang-19", f"--target={machine}-linux-gnu", cpu, "-dM", "-E", "-x", "c", os.devnull]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.needs("clang")
@pytest.mark.parametrize("cpu", [cpu for cpu, flags in FEATURES.items() if "AVX2" in flags])
def test_features_are_as_clang_has_them(cpu: str) -> None:
    macros = _macros("x86_64", f"-march={cpu}")
    asked = {flag for isa in ISAS for flag in isa.cpu_flags}
    assert FEATURES[cpu] & asked == {flag for flag in asked if f"__{flag}__" in macros}


@pytest.mark.needs("clang")
@pytest.mark.parametrize("cpu", [cpu for cpu, flags in FEATURES.items() if "ASIMD" in flags])
def test_features_of_arm_are_as_clang_has_them(cpu: str) -> None:
    """Except SHA3, which Arm offers with neoverse-n2 and neoverse-v2 and LLVM omits."""
    macros = _macros("aarch64", f"-mcpu={cpu}")
    names = {"ASIMD": "__ARM_NEON", **{f: f"__ARM_FEATURE_{f}" for f in ("SHA3", "SVE", "SVE2")}}
    said = {flag for flag, macro in names.items() if macro in macros}
    assert FEATURES[cpu] - said <= ({"SHA3"} if cpu in ("neoverse-n2", "neoverse-v2") else set())
    assert said <= FEATURES[cpu]


@pytest.mark.needs("clang")
def test_a_kernel_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_frame, "MAX_FRAME", -1)
    found = kernels.predict(make_spec("dot", 3, 2, "sse", unroll=1), ["znver4"])["znver4"]
    assert isinstance(found, mca.Unmodelled) and "allowed: -1" in found.reason


@pytest.mark.needs("clang")
def test_an_unknown_core_is_refused() -> None:
    with pytest.raises(tools.ModelError, match=r"cpu 'znver44' is not known to llvm-mca-19; allowed: znver4"):
        kernels.predict(make_spec("xor", 2, 1, "avx2"), ["sapphirerapids", "znver44"])


@pytest.mark.needs("clang")
@pytest.mark.parametrize(("isa", "cpu"), [("avx2", "neoverse-v2"), ("neon", "znver4")])
def test_a_core_of_another_architecture_is_refused(isa: str, cpu: str) -> None:
    spec = make_spec("xor", 2, 1, isa)
    other = {"avx2": "aarch64", "neon": "x86_64"}[isa]
    with pytest.raises(tools.ModelError, match=f"cpu '{cpu}' is a core of {other}, and {spec.symbol} is for"):
        kernels.predict(spec, [cpu])


@pytest.mark.needs("clang")
@pytest.mark.parametrize("arch", target.TARGETS, ids=lambda arch: arch.value)
def test_cores_that_llvm_models_by_another(arch: Arch) -> None:
    """`Target.models` lists them; the resources of these cores and of no other usual core have the same
    names.
    """
    known = target.TARGETS[arch]

    def resources(cpu: str) -> tuple[str, ...]:
        nothing = "nopr\n" if arch is Arch.S390X else "nop\n"
        found = tools.run(tools.MCA, [f"-mtriple={known.triple}", f"-mcpu={cpu}", "--json"], nothing)
        return tuple(json.loads(found.stdout)["TargetInfo"]["Resources"])

    assert all(resources(cpu) == resources(model) for cpu, model in known.models.items())
    own = [resources(cpu) for cpu in known.cpus if cpu not in known.models]
    assert len(set(own)) == len(own)


@pytest.mark.needs("clang")
def test_answers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, cache = make_spec("dot", 3, 2, "avx2"), tmp_path / "mca.json"
    first = kernels.predict(spec, ["znver4"], cache)
    monkeypatch.setattr(kernels, "predict_loop", lambda loop, cpu: mca.Unmodelled(cpu, "asked again"))
    assert kernels.predict(spec, ["znver4"], cache) == first
    other = kernels.predict(spec, ["znver3", "znver4"], cache)
    assert other["znver3"] == mca.Unmodelled("znver3", "asked again")
    assert other["znver4"] == first["znver4"]


@pytest.mark.needs("clang")
def test_ranks() -> None:
    """Products bound these kernels, not sums: fewer outputs cost fewer cycles per byte of source."""
    specs = [make_spec("dot", 8, outputs, "gfni_avx512", unroll=1) for outputs in (4, 2, 3)]
    assert [spec.outputs for spec, _ in kernels.rank(specs, "sapphirerapids")] == [2, 3, 4]
    ranked = kernels.rank([*specs, make_spec("dot", 8, 2, "avx2")], "znver3")
    assert ranked[0][0].isa.name == "avx2"
    assert isinstance(ranked[-1][1], mca.Unmodelled)


def test_without_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    target.known_cpus.cache_clear()
    with pytest.raises(tools.ToolMissing, match=r"llvm-mca-19 is missing.*llvm-19"):
        kernels.predict(make_spec("dot", 2, 1, "avx2"), ["znver4"])
