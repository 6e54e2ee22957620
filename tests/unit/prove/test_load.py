"""The loader produces the same image as a linker, and rejects all other input."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pytest
from iced_x86 import Instruction

from gfsmith.prove.machine.formats.image import GUARD, Image
from gfsmith.prove.machine.formats.load import Hole, LoadError, load, load_symbol, raw
from gfsmith.prove.machine.x86.padding import without_filling
from tests.support import needs
from tests.support.paths import ROOT
from tests.unit.prove import objects
from tests.unit.prove.objects import (
    COFF,
    FORMATS,
    GCC,
    GCC_MS,
    GEN_OUT,
    MACHO,
    MINGW,
    SECRET,
    assemble,
    code_of,
    decode,
    references,
    run,
)

KERNEL = "gfs_dot_10x4__avx2_u2_steps"


@pytest.fixture(params=needs.params(FORMATS))
def image(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Image]:
    name = request.param
    return name, load(assemble(FORMATS[name], references(name), tmp_path))


def _word(image: Image, address: int) -> int:
    data = image.read(address, 8)
    assert data is not None
    return int.from_bytes(data, "little")


def _targets(instructions: list[Instruction]) -> list[int]:
    return [i.memory_displacement for i in instructions if i.is_ip_rel_memory_operand]


def test_references_lead_where_they_should(image: tuple[str, Image]) -> None:
    _, found = image
    code = decode(found, "reads")
    secret, behind, byte, half, word, pointer = _targets(code)
    inner = found.functions["inner"].address
    assert _word(found, secret) == SECRET
    assert (behind, _word(found, behind)) == (secret + 8, SECRET + 1)
    assert byte == half == word
    assert _word(found, byte) == inner
    assert _word(found, pointer) == secret + 8
    assert [i.near_branch_target for i in code[-3:-1]] == [inner, found.functions["reads"].address]


def test_functions_end_before_the_filling(image: tuple[str, Image]) -> None:
    _, found = image
    assert sorted(found.functions) == ["inner", "outward", "reads"]
    assert code_of(found, "inner") == bytes.fromhex("31c0c3")
    assert code_of(found, "reads")[-1:] == b"\xc3"
    assert code_of(found, "outward")[-1:] == b"\xc3"


def test_external_symbols_are_holes(image: tuple[str, Image]) -> None:
    _, found = image
    start = found.functions["outward"].address
    assert found.holes == (Hole(start + 1, 4, "elsewhere"), Hole(start + 8, 4, "foreign"))
    assert found.hole_in(start, 1) is None
    assert found.hole_in(start, 2) == found.holes[0]
    assert found.hole_in(start + 4, 4) == found.holes[0]
    assert found.hole_in(start + 5, 3) is None


def test_sections_are_separate_and_keep_their_kind(image: tuple[str, Image]) -> None:
    _, found = image
    code = found.segment_at(found.functions["reads"].address)
    secret, *_, pointer = _targets(decode(found, "reads"))
    constants, data = found.segment_at(secret), found.segment_at(pointer)
    assert code is not None and constants is not None and data is not None
    assert (code.executable, code.writable) == (True, False)
    assert (constants.executable, constants.writable) == (False, False)
    assert (data.executable, data.writable) == (False, True)
    for one, other in zip(found.segments, found.segments[1:], strict=False):
        assert other.address - one.end >= GUARD
        assert other.address % 4096 == 0


def test_reading_stays_inside_one_segment() -> None:
    found = raw("f", b"\x90\xc3", address=0x5000)
    assert found.read(0x5000, 2) == b"\x90\xc3"
    assert found.read(0x5001, 1) == b"\xc3"
    assert found.read(0x5001, 2) is None
    assert found.read(0x4FFF, 1) is None
    assert found.segment_at(0x5002) is None
    assert found.functions["f"].size == 2
    assert found.segments[0].executable


def test_pointers_in_an_offset_table(tmp_path: Path) -> None:
    """Pointers through the GOT: to a symbol of the file, and to one of another file, which is a gap in the
    table.
    """
    source = """
        .globl f, value
        .type f, @function
    f:  movq value@GOTPCREL(%rip), %rax
        movl foreign@GOTPCREL(%rip), %ecx
        addq value@GOTPCREL(%rip), %rdx
        ret
        .data
    value: .quad 42
    """
    found = load(assemble(GCC, source, tmp_path))
    own, foreign, again = _targets(decode(found, "f"))
    assert _word(found, _word(found, own)) == 42
    assert own == again
    assert found.holes == (Hole(foreign, 8, "foreign"),)


@pytest.mark.needs("clang")
def test_pointers_in_an_offset_table_of_macho(tmp_path: Path) -> None:
    source = """
        .globl _f, _value
    _f: movq _value@GOTPCREL(%rip), %rax
        addq _foreign@GOTPCREL(%rip), %rcx
        ret
        .data
    _value: .quad 42
        .long _value - _f
    """
    found = load(assemble(MACHO, source, tmp_path))
    own, foreign = _targets(decode(found, "f"))
    place = _word(found, own)
    assert _word(found, place) == 42
    difference = found.read(place + 8, 4)
    assert difference is not None
    assert int.from_bytes(difference, "little") == place - found.functions["f"].address
    assert found.holes == (Hole(foreign, 8, "foreign"),)


def test_absolute_addresses(tmp_path: Path) -> None:
    """Absolute addresses of 32 bits, unsigned and signed, as in code that is not position-independent."""
    source = """
        .globl f
    f:  movl $table, %eax
        movq $table + 8, %rcx
        movq table(,%rdx,8), %rdx
        movabsq $table, %rsi
        ret
        .section .rodata
        .quad 0
    table: .quad 1, 2
        .long table - ., 0
    """
    found = load(assemble(GCC, source, tmp_path))
    code = decode(found, "f")
    table = code[0].immediate(1)
    assert _word(found, table) == 1
    assert code[1].immediate(1) == table + 8
    assert code[2].memory_displacement == table
    assert code[3].immediate(1) == table
    distance = found.read(table + 16, 4)
    assert distance is not None and struct.unpack("<i", distance) == (-16,)


def test_local_symbols_of_one_name_do_not_share_a_slot(tmp_path: Path) -> None:
    template = """
        .globl {0}
    {0}: movq value@GOTPCREL(%rip), %rax
        ret
        .data
    value: .quad {1}
    """
    parts = [assemble(GCC, template.format(f"f{n}", n), tmp_path, f"part{n}") for n in (1, 2)]
    run("ld", "-r", "-o", tmp_path / "both.o", *parts)
    found = load(tmp_path / "both.o")
    for n in (1, 2):
        (slot,) = _targets(decode(found, f"f{n}"))
        assert _word(found, _word(found, slot)) == n


@pytest.mark.needs("clang", "mingw")
@pytest.mark.parametrize("abi", ["sysv", "ms"])
def test_kernels_have_the_bytes_of_the_manifest(abi: str, tmp_path: Path) -> None:
    """The kernels have the manifest's bytes in every format and from every assembler; the digest of the
    manifest covers both frames.
    """
    manifest = json.loads((GEN_OUT / "MANIFEST.json").read_text())
    digest = next(k["sha256"] for k in manifest["kernels"] if k["symbol"] == KERNEL)
    other = load(objects.kernel(GCC_MS if abi == "sysv" else GCC, KERNEL, tmp_path / "other"))
    commands = [GCC, objects.CLANG, MACHO] if abi == "sysv" else [GCC_MS, COFF, MINGW]
    for number, command in enumerate(commands):
        found = load(objects.kernel(command, KERNEL, tmp_path / str(number)))
        assert set(found.functions) == {KERNEL}
        assert not found.holes
        pair = [code_of(found, KERNEL), code_of(other, KERNEL)]
        both = b"".join(pair if abi == "sysv" else reversed(pair))
        assert hashlib.sha256(both).hexdigest() == digest


@pytest.mark.parametrize("archiver", ["ar", pytest.param("llvm-ar-19", marks=pytest.mark.needs("clang"))])
def test_archives(archiver: str, tmp_path: Path) -> None:
    names = [KERNEL, "gfs_xor_2x1__a_rather_long_name_for_an_archive"]
    first = objects.kernel(GCC, KERNEL, tmp_path)
    second = assemble(GCC, f".globl g; g: ret # {KERNEL}\n", tmp_path, names[1])
    assert KERNEL.encode() not in second.read_bytes()
    archive = tmp_path / "lib.a"
    run(archiver, "rcs", archive, second, first)
    assert set(load(archive, f"{names[1]}.o").functions) == {"g"}
    assert code_of(load_symbol(archive, KERNEL), KERNEL) == code_of(load(first), KERNEL)
    assert set(load_symbol(archive, "g").functions) == {"g"}
    for member, message in ((None, "2 members"), ("nothing.o", "0 members are called nothing.o")):
        with pytest.raises(LoadError, match=message):
            load(archive, member)
    with pytest.raises(LoadError, match="no function nothing"):
        load_symbol(archive, "nothing")
    with pytest.raises(LoadError, match="not an archive"):
        load(first, "member.o")


@pytest.mark.parametrize("format", needs.params({name: FORMATS[name] for name in ("elf", "coff", "macho")}))
def test_labels_do_not_end_a_function(format: str, tmp_path: Path) -> None:
    """Labels kept as local symbols, as nasm spells them, without sizes."""
    f, g = ("_f", "_g") if format == "macho" else ("f", "g")
    source = f".globl {f}, {g}\n{f}: dec %rdi\n{f}.loop: jnz {f}.loop\nother: ret\n{g}: ret\n"
    found = load(assemble(FORMATS[format], source, tmp_path))
    assert {name: function.size for name, function in found.functions.items()} == {"f": 6, "g": 1}


def test_an_archive_of_one(tmp_path: Path) -> None:
    run("ar", "rcs", tmp_path / "lib.a", objects.kernel(GCC, KERNEL, tmp_path))
    assert set(load(tmp_path / "lib.a").functions) == {KERNEL}


def test_a_shared_library(tmp_path: Path) -> None:
    source = """
        .globl f, g
        .type f, @function
        .type g, @function
    f:  lea secret(%rip), %rax
        mov pointer(%rip), %rcx
        mov outside@GOTPCREL(%rip), %rdx
        mov own@GOTPCREL(%rip), %rsi
        ret
        .size f, . - f
    g:  ret
        .section .rodata
    secret: .quad 77
        .data
    pointer: .quad secret, outside
        .globl own
    own: .quad 5
        .section .data.rel.ro,"aw"
        .quad secret
        .bss
        .zero 64
    """
    library = tmp_path / "lib.so"
    run("gcc", "-shared", "-nostdlib", "-o", library, assemble(GCC, source, tmp_path))
    found = load_symbol(library, "f")
    secret, pointer, outside, own = _targets(decode(found, "f"))
    assert _word(found, secret) == 77
    assert _word(found, pointer) == secret
    assert _word(found, _word(found, own)) == 5
    assert found.hole_in(outside, 8) == Hole(outside, 8, "outside")
    assert found.hole_in(pointer + 8, 8) == Hole(pointer + 8, 8, "outside")
    writable = {segment.name: segment.writable for segment in found.segments}
    assert writable[".data"] and writable[".bss"]
    assert not writable[".text"] and not writable[".data.rel.ro"] and not writable[".got"]
    assert code_of(found, "g") == b"\xc3"


def test_the_library_has_the_kernels(tmp_path: Path) -> None:
    found = load(ROOT / "build" / "libgfsmith.so")
    assert code_of(found, KERNEL) == code_of(load(objects.kernel(GCC, KERNEL, tmp_path)), KERNEL)


@pytest.mark.needs("mingw")
def test_a_dll(tmp_path: Path) -> None:
    library = tmp_path / "lib.dll"
    sources = [assemble(MINGW, references("mingw").replace("elsewhere", KERNEL), tmp_path, "a")]
    sources.append(
        assemble(
            MINGW,
            ".globl foreign, DllMainCRTStartup\nDllMainCRTStartup: ret\n.data\nforeign: .quad 1\n",
            tmp_path,
            "b",
        )
    )
    sources.append(objects.kernel(MINGW, KERNEL, tmp_path))
    run(*MINGW, "-shared", "-nostdlib", "-o", library, *sources)
    found = load(library)
    secret, *_, pointer = _targets(decode(found, "reads"))
    assert _word(found, secret) == SECRET
    assert _word(found, pointer) == secret + 8
    assert code_of(found, KERNEL) == code_of(load(sources[-1]), KERNEL)
    assert decode(found, "outward")[0].near_branch_target == found.functions[KERNEL].address


@pytest.mark.needs("mingw")
def test_the_imports_of_a_dll_are_holes(tmp_path: Path) -> None:
    source = ".globl f\nf: call *__imp_puts(%rip)\nret\n.globl DllMainCRTStartup\nDllMainCRTStartup: ret\n"
    run(
        *MINGW,
        "-shared",
        "-nostartfiles",
        "-o",
        tmp_path / "lib.dll",
        assemble(MINGW, source, tmp_path),
        "-lmsvcrt",
    )
    found = load(tmp_path / "lib.dll")
    slot = _targets(decode(found, "f"))[0]
    assert found.hole_in(slot, 8) == Hole(slot, 8, "puts")


@pytest.mark.needs("clang")
def test_universal_files(tmp_path: Path) -> None:
    first = objects.kernel(MACHO, KERNEL, tmp_path)
    arm = assemble(["clang-19", "--target=arm64-apple-macos11"], ".globl _f\n_f: ret\n", tmp_path, "arm")
    run("llvm-lipo-19", "-create", "-output", tmp_path / "fat.o", arm, first)
    assert code_of(load(tmp_path / "fat.o"), KERNEL) == code_of(load(first), KERNEL)
    run("llvm-lipo-19", "-create", "-output", tmp_path / "thin.o", arm)
    with pytest.raises(LoadError, match="Mach-O for ARM64, not for x86-64"):
        load(tmp_path / "thin.o")


def test_filling_is_left_out() -> None:
    assert without_filling(bytes.fromhex("c3 90 6690 0f1f00 cc")) == b"\xc3"
    assert without_filling(bytes.fromhex("c3 0000 00")) == b"\xc3"
    assert without_filling(bytes.fromhex("90 c20000")) == bytes.fromhex("90c20000")
    assert without_filling(bytes.fromhex("c3 90 06")) == bytes.fromhex("c39006")
    assert without_filling(b"") == b""
