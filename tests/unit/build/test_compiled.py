"""Machine code of neon kernels for Go and Rust: one piece of bytes, proved under the convention of each."""

from __future__ import annotations

import re
import shutil
from functools import cache

import pytest

from gfsmith.build import compiled
from gfsmith.build.generate import Kernel, generate_one
from gfsmith.emit import golang, lists, packaged, rust
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.spec import SpecError
from gfsmith.prove.machine.prove import Report, contract_of, prove_bytes
from gfsmith.prove.verdict import PROVED, Status
from tests.support.specs import make_baked, make_spec

GENERAL = make_spec("dot", None, 1, "neon")
KNOWN = make_baked("neon", "backblaze", 8, 4)  #: constants in the code, and a frame


@cache
def made(form: str) -> tuple[Kernel, ...]:
    kernels = [generate_one(spec) for spec in (GENERAL, KNOWN)]
    headers = lists.build([GENERAL, KNOWN], ())
    return tuple(compiled.compile_all(kernels, headers, form, 1, None, lambda done: None))


def code_of(kernel: Kernel) -> tuple[str, bytes]:
    ((abi, code),) = kernel.code.items()
    return abi, code


def proof(kernel: Kernel, abi: str, code: bytes) -> Report:
    return prove_bytes(contract_of(kernel.spec, abi), code, kernel.spec.symbol, exhaustive=False)


@pytest.mark.parametrize(
    ("form", "abis"),
    [("go", ["go-arm64-kernel-0", "go-arm64-kernel-512"]), ("rust", ["aapcs64-x18", "aapcs64-x18"])],
)
def test_the_code_is_proved(form: str, abis: list[str]) -> None:
    assert [code_of(kernel)[0] for kernel in made(form)] == abis
    for kernel in made(form):
        report = proof(kernel, *code_of(kernel))
        assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize("form", ["go", "rust"])
def test_a_wrong_constant_is_not_proved(form: str) -> None:
    """The last bytes are constants; no relocation and no other data belongs to the kernel."""
    abi, code = code_of(made(form)[1])
    for place in (-1, -16, -100):
        wrong = bytearray(code)
        wrong[place] ^= 1
        assert proof(made(form)[1], abi, bytes(wrong)).status is not Status.PROVED


def test_a_frame_of_its_own_is_refuted_for_go() -> None:
    kernel = made("rust")[1]
    report = proof(kernel, "go-arm64-kernel-512", code_of(kernel)[1])
    assert report.status is Status.REFUTED and "bytes of stack; allowed: 0" in report.reason


#: mov x9, rN; mov rN, x0; mov rN, x9. Or add and subtract 16 from sp, in one order and in the other.
KEPT = {
    "x28": ((0xAA1C03E9, 0xAA0003FC, 0xAA0903FC), "changes x28, which a signal handler reads"),
    "x18": ((0xAA1203E9, 0xAA0003F2, 0xAA0903F2), "changes x18, which a signal handler reads"),
    "sp above": ((0x910043FF, 0xD10043FF), "leaves 16 bytes of the caller's frame to signal handlers"),
    "sp below": ((0xD10043FF, 0x910043FF), "uses 16 bytes of stack; allowed: 0"),
}


@pytest.mark.parametrize("register", KEPT)
def test_a_register_must_be_constant(register: str) -> None:
    """A register that has its value again at the end was wrong in between."""
    kernel = made("go")[0]
    abi, code = code_of(kernel)
    words, reason = KEPT[register]
    changed = b"".join(word.to_bytes(4, "little") for word in words) + code
    report = proof(kernel, abi, changed)
    assert report.status is Status.REFUTED and reason in report.reason
    if register == "x18":
        assert proof(kernel, "aapcs64-x18", changed)


def test_a_frame_has_its_size() -> None:
    kernel = made("go")[1]
    for abi, reason in (("go-arm64-kernel-0", "writes the caller's frame"), ("go-arm64-kernel-1024", "")):
        assert reason in proof(kernel, abi, code_of(kernel)[1]).reason
    assert compiled.frames(made("go")).used == {GENERAL.symbol: 0, KNOWN.symbol: 512}


def test_lines_of_the_packages_are_the_bytes() -> None:
    """By the manuals of the two assemblers, a second opinion on golang_arm64.py and rust.py."""
    for kernel in made("go"):
        code, frames = code_of(kernel)[1], compiled.frames(made("go"))
        text = golang.files([(kernel.spec, code)], "k", frames)["neon_arm64.s"]
        assert _words(r"WORD \$(0x\w+)", text) == code
        frame = max(16, frames.used[kernel.spec.symbol])
        assert f"TEXT ·{kernel.spec.symbol}(SB), 0, ${frame}-40" in text
    for kernel in made("rust"):
        (row,) = packaged.entries([(kernel.spec, code_of(kernel)[1])], Arch.AARCH64)
        lines = rust.directives(row)
        assert all(line.startswith(".inst ") for line in lines)
        assert _words(r"(0x\w+)", " ".join(lines)) == row.code


def _words(pattern: str, text: str) -> bytes:
    return b"".join(int(word, 16).to_bytes(4, "little") for word in re.findall(pattern, text))


@pytest.mark.parametrize("form", ["go", "rust"])
def test_code_that_needs_other_code_is_refused(form: str) -> None:
    text = f"void other(void); void {GENERAL.symbol}(void) {{ other(); other(); }}"
    kernel = Kernel(GENERAL, "k.c", text, {}, PROVED)
    with pytest.raises(compiled.CompileError, match="refers to something outside"):
        compiled.compile_all([kernel], {}, form, 1, None, lambda done: None)


def test_a_missing_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    kernel = Kernel(GENERAL, "k.c", "", {}, PROVED)
    with pytest.raises(SpecError, match=r"neon needs clang, which .*; allowed without it: --isa x86_64"):
        compiled.compile_all([kernel], {}, "go", 1, None, lambda done: None)
