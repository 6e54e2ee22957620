"""Parameters of a spec appear in the emitted code: unroll, prefetch, stores, fences, frames."""

from __future__ import annotations

import re

import pytest

from gfsmith.build import generate
from gfsmith.emit.x86.asm import Ins
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.listing import build
from gfsmith.kernel.isa import Isa
from gfsmith.kernel.spec import Hint, KernelSpec, Store
from tests.support.specs import NARROW, X86, label, make_spec


def _instructions(spec: KernelSpec) -> list[Ins]:
    kernel = build(spec, generate.program(spec))
    return [item.line for item in kernel.body if isinstance(item.line, Ins)]


def _change(spec: KernelSpec, **changes: object) -> KernelSpec:
    values = {name: getattr(spec, name) for name in KernelSpec.__dataclass_fields__}
    return KernelSpec(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("isa", X86, ids=label)
@pytest.mark.parametrize(("inputs", "lines"), [(4, 4), (None, 1)])
def test_prefetch_distance_and_hint(isa: Isa, inputs: int | None, lines: int) -> None:
    spec = make_spec("dot", inputs, 2, isa, unroll=1)
    assert not [i for i in _instructions(spec) if i.name.startswith("prefetch")]
    for hint in Hint:
        found = [
            i
            for i in _instructions(_change(spec, prefetch=448, hint=hint))
            if i.name == f"prefetch{hint.value}"
        ]
        sources = lines if spec.group == 1 else lines * spec.group + 1  # a group, and a remaining source
        assert len(found) == sources + spec.outputs
        assert all("+448" in str(i) for i in found)


def test_prefetches_cover_each_line_once_and_no_streaming_stores() -> None:
    for spec, wanted in (
        (make_spec("mad", 2, 3, "avx512", unroll=1, prefetch=256), 2 + 3),
        (make_spec("mad", None, 3, "avx512", unroll=1, prefetch=256), 1 + 3),
        (make_spec("dot", 4, 2, "avx512", unroll=1, prefetch=256, store=Store.STREAMING), 4 + 4),
    ):
        names = [i.name for i in _instructions(spec)]
        assert names.count("prefetcht0") == wanted


@pytest.mark.parametrize("isa", X86, ids=label)
def test_streaming_stores_have_fence_and_fallback(isa: Isa) -> None:
    spec = make_spec("dot", 4, 2, isa, unroll=2, store=Store.STREAMING)
    names = [i.name for i in _instructions(spec)]
    assert sum(name in ("movntdq", "vmovntdq") for name in names) == 4
    assert names.count("sfence") == 1
    assert names.index("test") < names.index("sfence")
    plain = [i.name for i in _instructions(_change(spec, store=Store.TEMPORAL))]
    assert "sfence" not in plain and not any("movnt" in name for name in plain)


@pytest.mark.parametrize("isa", X86, ids=label)
def test_unroll_is_the_step_of_the_main_loop(isa: Isa) -> None:
    for unroll in (1, 2, 4):
        spec = make_spec("dot", None, 1, isa, unroll=unroll)
        first = next(i for i in _instructions(spec) if i.name == "cmp")
        assert first.operands[1] == unroll * spec.isa.vector_bytes == spec.block


@pytest.mark.parametrize("isa", X86, ids=label)
def test_no_instruction_of_a_wider_set(isa: Isa) -> None:
    """EVEX only where AVX-512 is declared, VEX only where AVX is, GFNI only where it is."""
    for operation, inputs, outputs in (
        ("dot", 10, 4),
        ("mad", None, 3),
        ("mul", 1, 1),
        ("xor", None, 1),
    ):
        spec = make_spec(operation, inputs, outputs, isa)
        for item in build(spec, generate.program(spec)).body:
            if not isinstance(item.line, Ins):
                continue
            assert (item.code[0] != 0x62) or "AVX512F" in spec.isa.cpu_flags
            assert (item.code[0] not in (0xC4, 0xC5)) or spec.isa.name not in ("sse", "gfni_sse")
            assert ("gf2p8" not in item.line.name) or "GFNI" in spec.isa.cpu_flags


@pytest.mark.parametrize("isa", NARROW, ids=label)
def test_narrow_vectors_keep_the_features_of_the_set(isa: Isa) -> None:
    """Only ymm registers, also those above 15, masked tails and three-input XORs."""
    text = " ".join(str(i) for i in _instructions(make_spec("dot", 10, 4, isa, unroll=2)))
    numbers = {int(n) for n in re.findall(r"ymm(\d+)", text)}
    assert not re.search(r"[xz]mm", text)
    assert max(numbers) > 15
    assert "vpternlogd" in text
    assert re.search(r"vmovdqu8 ymm\d+\{k1\}\{z\}", text)


@pytest.mark.parametrize("isa", X86, ids=label)
def test_frames_save_the_callee_saved_registers(isa: Isa) -> None:
    spec = make_spec("dot", 10, 4, isa)
    text = build(spec, generate.program(spec)).source
    sysv = text.split("#else")[1].split("#endif")[0]
    ms = text.split("#if defined(GFSMITH_ASM_MS_ABI)")[1].split("#else")[0]
    assert re.findall(r"# push (\w+)", sysv) == ["rbx", "rbp", "r12", "r13", "r14", "r15"]
    assert re.findall(r"# push (\w+)", ms)[:2] == ["rsi", "rdi"]
    saved = set(re.findall(r"# movaps \[rsp[^]]*\], (xmm\d+)", ms))
    used = {f"xmm{n}" for n in re.findall(r"[xyz]mm(\d+)", text.split("#endif")[1]) if 6 <= int(n) <= 15}
    assert saved == used
    assert len(re.findall(r"GFSMITH_SEH\(\.seh_savexmm", ms)) == len(saved)


def test_both_abis_share_the_body() -> None:
    spec = make_spec("dot", 10, 4, "avx2")
    kernel = build(spec, generate.program(spec))
    body = b"".join(item.code for item in kernel.body)
    assert all(body in kernel.code[abi] for abi in Abi)
    assert kernel.code[Abi.SYSV].startswith(b"\xf3\x0f\x1e\xfa")
