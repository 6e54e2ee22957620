"""The objects of the amalgamation contain exactly the proved machine code, and correct unwind tables and
notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gfsmith.build.output import manifest
from gfsmith.emit.x86.frame import Abi
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.verdict import Status
from gfsmith.verify import objects
from tests.support import needs
from tests.support.levels import sample
from tests.system.export.support import Export, compiled, run

#: Compilers of Linux (System V) and Windows (Microsoft).
PAIRS = {
    "gcc": (("gcc",), ("x86_64-w64-mingw32-gcc",)),
    "clang-14": (("clang-14",), ("x86_64-w64-mingw32-gcc",)),
    "clang-19": (("clang-19",), ("clang-19", "--target=x86_64-w64-mingw32")),
}
PROVED = ("gfs_dot_nx4__avx2_u2_steps", "gfs_dot_10x4_cauchy__gfni_avx512", "gfs_mul_nx1__sse")


def machine_code(export: Export, path: Path, abi: Abi) -> dict[str, tuple[bytes, bytes]]:
    """Return symbol -> the code in the object, and the proved code."""
    image = load(path)
    found = {}
    for kernel in export.made.kernels:
        if kernel.spec.machine_code:
            start, wanted = image.functions[kernel.spec.symbol].address, kernel.code[abi]
            found[kernel.spec.symbol] = (image.read(start, len(wanted)) or b"", wanted)
    assert len(found) > 20
    return found


def unoptimised(export: Export, compiler: tuple[str, ...], *flags: str) -> Path:
    """Return the object of the amalgamation, compiled fast: its kernels for x86-64 are machine code."""
    return compiled(export, compiler, "-O0", *flags)


def dll(path: Path) -> Path:
    """Link a COFF object, because the prover's reader of COFF objects does not support zero-filled
    sections.
    """
    library = path.with_suffix(".dll")
    run("x86_64-w64-mingw32-gcc", "-shared", "-Wl,--export-all-symbols", path, "-o", library)
    return library


def different(code: Mapping[str, tuple[bytes, bytes]]) -> list[str]:
    return [symbol for symbol, (there, wanted) in code.items() if there != wanted]


@pytest.mark.parametrize("pair", sample(needs.params(PAIRS), "gcc", "clang-19"))
def test_code_has_the_digest_of_the_manifest(pair: str, plain: Export) -> None:
    """The manifest's SHA-256 covers a kernel's code for both ABIs, concatenated: ELF, then COFF."""
    unix, windows = PAIRS[pair]
    sysv = machine_code(plain, unoptimised(plain, unix), Abi.SYSV)
    ms = machine_code(plain, dll(unoptimised(plain, windows)), Abi.MS)
    assert different(sysv) == different(ms) == []
    listed = json.loads(manifest(plain.made.kernels, {}))["kernels"]
    digests = {kernel["symbol"]: kernel["sha256"] for kernel in listed}
    for symbol, (code, _) in sysv.items():
        assert hashlib.sha256(code + ms[symbol][0]).hexdigest() == digests[symbol]


def test_code_ends_where_the_object_says(plain: Export) -> None:
    """In ELF a function has a size, which equals the kernel's."""
    image = load(unoptimised(plain, ("gcc",)))
    for kernel in plain.made.kernels:
        if kernel.spec.machine_code:
            assert image.functions[kernel.spec.symbol].size == kernel.size


def _changed(export: Export, folder: Path, there: str, instead: str) -> Export:
    """Return an amalgamation with a change in the first of the PROVED kernels."""
    text = export.source.read_text()
    start = text.index(f'GFSMITH_FUNCTION("{PROVED[0]}')
    place = text.index(there, start)
    assert place < text.index("GFSMITH_END(", start)
    (folder / "gfsmith.h").write_text(export.source.with_suffix(".h").read_text())
    (folder / "gfsmith.c").write_text(text[:place] + instead + text[place + len(there) :])
    return Export(folder, export.names)


@pytest.mark.campaign
def test_a_changed_byte_is_detected(plain: Export, tmp_path: Path) -> None:
    """vpxor is changed to vpor, which is not linear."""
    path = unoptimised(_changed(plain, tmp_path, ",0xef,", ",0xeb,"), ("gcc",))
    changed = different(machine_code(plain, path, Abi.SYSV))
    verdicts = _verdicts(plain, path)
    assert changed == [symbol for symbol, status in verdicts.items() if status is not Status.PROVED]
    assert len(changed) == 1 and len(verdicts) == len(PROVED)


def _verdicts(export: Export, path: Path) -> dict[str, Status]:
    """Return the verdicts of `gfsmith verify --objects` on some kernels of an object."""
    specs = [k.spec for k in export.made.kernels if k.spec.symbol.startswith(PROVED)]
    tasks = objects.find([path], specs, None, False)
    return {proof.symbol: proof.report.status for proof in objects.prove(tasks, 1, lambda _: None)}


@pytest.mark.campaign
@pytest.mark.parametrize("compiler", needs.params(["gcc", "clang-19", "x86_64-w64-mingw32-gcc"]))
def test_the_object_is_proved(compiler: str, plain: Export) -> None:
    """Code, and unwind tables (.eh_frame; .pdata and .xdata), by the prover of the .S files' objects."""
    path = unoptimised(plain, (compiler,))
    verdicts = _verdicts(plain, dll(path) if "mingw" in compiler else path)
    assert len(verdicts) == len(PROVED)
    assert set(verdicts.values()) == {Status.PROVED}


@pytest.mark.needs("clang")
def test_c_kernels_of_the_object_are_proved(plain: Export) -> None:
    """AArch64, compiled: the other functions of the unit do not matter."""
    path = compiled(plain, ("clang-19", "--target=aarch64-linux-gnu"))
    specs = [k.spec for k in plain.made.kernels if k.spec.symbol.startswith("gfs_mul_nx1__neon")]
    proofs = objects.prove(objects.find([path], specs, None, False), 1, lambda _: None)
    assert [proof.report.status for proof in proofs] == [Status.PROVED]


@pytest.mark.needs("mingw")
def test_wrong_unwind_information_is_detected(plain: Export, tmp_path: Path) -> None:
    """The code is unchanged; the table no longer states the place of xmm7."""
    export = _changed(plain, tmp_path, 'GFSMITH_SEH(".seh_savexmm xmm7, 16")', "")
    path = dll(unoptimised(export, ("x86_64-w64-mingw32-gcc",)))
    assert different(machine_code(plain, path, Abi.MS)) == []
    refuted = [symbol for symbol, status in _verdicts(plain, path).items() if status is Status.REFUTED]
    assert len(refuted) == 1 and refuted[0].startswith(PROVED[0])


@pytest.mark.parametrize("compiler", needs.params(["gcc", "clang-19"]))
def test_no_executable_stack_and_landing_pads(compiler: str, plain: Export) -> None:
    path = unoptimised(plain, (compiler,), "-fcf-protection")
    with path.open("rb") as file:
        elf = ELFFile(file)
        stack = elf.get_section_by_name(".note.GNU-stack")
        assert stack is not None and not stack["sh_flags"] & 0x4  # SHF_EXECINSTR
        notes = elf.get_section_by_name(".note.gnu.property")
        properties = [p for note in notes.iter_notes() for p in note["n_desc"]]
    assert [p["pr_data"] for p in properties if p["pr_type"] == "GNU_PROPERTY_X86_FEATURE_1_AND"] == [3]
    for code, _ in machine_code(plain, path, Abi.SYSV).values():
        assert code.startswith(b"\xf3\x0f\x1e\xfa")  # endbr64
