"""No kernel with a flaw is proved: attacks in families, and the kernels of ../shared/adversarial."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from gfsmith.prove.machine.formats import listing, load
from gfsmith.prove.machine.formats.image import BASE
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import Description, ForeignError, verify
from tests.support.paths import ROOT
from tests.system.adversarial import aligned, attacks, seams
from tests.system.adversarial.attacks import A64, COFF, POWER, X86, Attack, a64, coff, power, x86

PROVIDED = ROOT.parent / "shared" / "adversarial" / "prover"
ASSEMBLERS = {
    X86: ("as",),
    A64: ("aarch64-linux-gnu-as", "-march=armv8.2-a+sha3"),
    POWER: ("powerpc64le-linux-gnu-as", "-mpower8", "-mregnames"),
    COFF: ("clang-19", "--target=x86_64-pc-windows-gnu", "-c", "-x", "assembler"),
}
WORDS: dict[str, dict[str, Any]] = {
    X86: {},
    COFF: {"abi": "ms"},
    A64: {"abi": "aapcs64"},
    POWER: {"abi": "elfv2", "features": ("VSX207",)},
}
NEEDS = {X86: (), A64: ("qemu",), POWER: ("qemu",), COFF: ("clang",)}
FAMILIES = {**attacks.FAMILIES, **seams.FAMILIES, **aligned.FAMILIES}
_BASE: dict[str, Any] = {
    "symbol": "f",
    "operation": "xor",
    "inputs": 2,
    "outputs": 1,
    "tables": "none",
    "arguments": "len,k,tables,src,dst",
    "isa": "sse",
    "granule": 16,
    "maximum": 1 << 40,
}


def on(machine: str, *values: Any, name: str | None = None) -> Any:
    """A test's parameters, with the needs of the machine's assembler."""
    return pytest.param(
        *values, marks=[pytest.mark.needs(*NEEDS[machine])] if NEEDS[machine] else [], id=name
    )


def assemble(machine: str, source: Path, target: Path) -> None:
    subprocess.run([*ASSEMBLERS[machine], "-o", target, source], check=True, capture_output=True)


def judge(machine: str, text: str, folder: Path, **words: Any) -> Report:
    source, target = folder / "f.s", folder / "f.o"
    source.write_text(text)
    assemble(machine, source, target)
    return verify(target, Description(**{**_BASE, **WORDS[machine], **words}), False)


def status(machine: str, text: str, folder: Path, **words: Any) -> Status:
    """The verdict; unsupported where there is no function that could be proved."""
    try:
        return judge(machine, text, folder, **words).status
    except ForeignError:
        return Status.UNSUPPORTED


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        on(machine, machine, text)
        for machine, text in ((X86, x86()), (A64, a64()), (POWER, power()), (COFF, coff("", "")))
    ],
)
def test_the_kernel_without_a_flaw_is_proved(machine: str, text: str, tmp_path: Path) -> None:
    report = judge(machine, text, tmp_path)
    assert report.status is Status.PROVED, report.reason


_ALIGNED = ".section .rodata\n.p2align 4\nz: .fill 16, 1, 0"
_MERGED = """.section .rodata.cst16, "aM", @progbits, 16
    .p2align 4
z:  .fill 16, 1, 1
y:  .fill 16, 1, 0
"""
_PROBED = ("pushq %rbx; subq $4000, %rsp; movq %rax, (%rsp)", "addq $4000, %rsp; popq %rbx")
_LOADED = ("adrp x9, z; ldr q2, [x9, :lo12:z]", "adrp x9, z; add x9, x9, :lo12:z; ldr q2, [x9]")


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (X86, x86(inside="pxor z(%rip), %xmm0", data=_ALIGNED)),
        (X86, x86(inside="movdqu y(%rip), %xmm2; pxor %xmm2, %xmm0", data=_MERGED)),
        (X86, x86(before=_PROBED[0], after=_PROBED[1])),
        (X86, x86(before=".byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0")),
        *(on(A64, A64, a64(inside=f"{load}; eor v0.16b, v0.16b, v2.16b", data=_ALIGNED)) for load in _LOADED),
    ],
)
def test_harmless_code_like_the_attacks_is_proved(machine: str, text: str, tmp_path: Path) -> None:
    report = judge(machine, text, tmp_path)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.parametrize(("text", "words"), seams.HARMLESS.values(), ids=seams.HARMLESS)
def test_harmless_code_along_the_seams_is_proved(text: str, words: dict[str, Any], tmp_path: Path) -> None:
    report = judge(X86, text, tmp_path, **words)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.needs(*NEEDS[POWER])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (aligned.TWO, aligned.TWO_WORDS),
        (aligned.ANY, aligned.ANY_WORDS),
        (aligned.framed(48), aligned.ANY_WORDS),
    ],
    ids=["two", "any", "frame-48"],
)
def test_kernels_that_test_the_alignment_are_proved(text: str, words: dict[str, Any], tmp_path: Path) -> None:
    report = judge(POWER, text, tmp_path, **words)
    assert report.status is Status.PROVED, report.reason


@pytest.mark.needs(*NEEDS[POWER])
def test_a_right_kernel_that_is_not_followed_is_not_refuted(tmp_path: Path) -> None:
    report = judge(POWER, aligned.DOWNWARDS, tmp_path, **aligned.ANY_WORDS)
    assert report.status is Status.UNSUPPORTED, report.reason


def test_there_are_many() -> None:
    assert len(FAMILIES) == sum(len(module.FAMILIES) for module in (attacks, seams, aligned))
    assert sum(map(len, FAMILIES.values())) >= 400
    for family in FAMILIES.values():
        assert len({attack.name for attack in family}) == len(family)


@pytest.mark.parametrize(
    "attack",
    [
        on(attack.machine, attack, name=f"{name}-{attack.name}".replace(" ", "-"))
        for name, family in FAMILIES.items()
        for attack in family
    ],
)
def test_attack_is_not_proved(attack: Attack, tmp_path: Path) -> None:
    found = status(attack.machine, attack.text, tmp_path, **attack.words)
    assert found is not Status.PROVED


@pytest.mark.parametrize(
    "words",
    [
        {"minimum": 64, "maximum": 32},
        {"minimum": 17, "maximum": 31},
        {"maximum": 8, "minimum": 1},
        {"granule": 0},
        {"outputs": 0},
        {"aligned": 0},
        {"aligned": 3},
        {"minimum": -16},
        {"maximum": 1 << 64},
        {"columns": 0},
        {"columns": 1},
        {"arguments": "len,index,tables,src,dst"},
    ],
    ids=str,
)
def test_descriptions_of_nothing_are_refused(words: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ForeignError):
        judge(X86, x86(), tmp_path, **words)


def test_a_maximum_between_granules_is_rounded(tmp_path: Path) -> None:
    assert judge(X86, x86(), tmp_path, maximum=1000).status is Status.PROVED


_MAD = """
    .globl f
    .type f, @function
f:  test %rdi, %rdi
    jz 9f
    {}
    vpbroadcastq (%rcx,%rdx,8), %ymm3
    xorl %eax, %eax
8:  vmovdqu (%r8,%rax), %ymm0
    vgf2p8affineqb $0, %ymm3, %ymm0, %ymm0
    vpxor (%r9,%rax), %ymm0, %ymm0
    vmovdqu %ymm0, (%r9,%rax)
    addq $32, %rax
    cmpq %rdi, %rax
    jb 8b
9:  vzeroupper
    ret
    .size f, . - f
"""
_INDEXED: dict[str, Any] = {
    "operation": "mad",
    "inputs": 1,
    "columns": 5,
    "tables": "affine",
    "isa": "gfni_avx2",
    "granule": 32,
    "arguments": "len,k,index,tables,src0,dst0",
}


@pytest.mark.parametrize(
    ("first", "proved"),
    [
        ("", True),
        ("test %rdx, %rdx; jne 9b", False),
        ("xorl %edx, %edx", False),
        ("addq $1, %rdx", False),
        ("cmpq $3, %rdx; ja 9b", False),
    ],
)
def test_every_index_is_proved(first: str, proved: bool, tmp_path: Path) -> None:
    text = _MAD.format(first.replace("9b", "9f"))
    assert (status(X86, text, tmp_path, **_INDEXED) is Status.PROVED) is proved


_WRONG = x86(inside="pxor %xmm0, %xmm0", symbol=".globl f")
_MAP = "OLD { global: f; local: *; };\nNEW { global: f; } OLD;\n"


def _named(name: str, **words: str) -> str:
    """The kernel f under another name."""
    text = x86(symbol=f".globl {name}", **words)
    return text.replace("f:", f"{name}:").replace(" f,", f" {name},").replace("- f", f"- {name}")


@pytest.mark.parametrize("old", ["right", "wrong"])
def test_versions_of_a_symbol_are_not_mixed(old: str, tmp_path: Path) -> None:
    """A program links f@@NEW and an old program f@OLD: the name f means neither."""
    new = {"right": "wrong", "wrong": "right"}[old]
    versions = f"\n.symver {old}, f@OLD\n.symver {new}, f@@NEW\n"
    (tmp_path / "f.s").write_text(_named("right") + _named("wrong", inside="pxor %xmm0, %xmm0") + versions)
    (tmp_path / "f.map").write_text(_MAP)
    assemble(X86, tmp_path / "f.s", tmp_path / "f.o")
    link = [
        "ld",
        "-shared",
        "--version-script",
        tmp_path / "f.map",
        "-o",
        tmp_path / "f.so",
        tmp_path / "f.o",
    ]
    subprocess.run(link, check=True)
    for file in ("f.o", "f.so"):
        with pytest.raises(ForeignError, match="f"):
            verify(tmp_path / file, Description(**_BASE), False)
        for symbol, expected in (("right", Status.PROVED), ("wrong", Status.REFUTED)):
            report = verify(tmp_path / file, Description(**{**_BASE, "symbol": symbol}), False)
            assert report.status is expected, report.reason


def _both(folder: Path, first: str, second: str) -> tuple[Path, Path]:
    paths = folder / "first.o", folder / "second.o"
    for text, path in zip((first, second), paths, strict=True):
        (folder / "f.s").write_text(text)
        assemble(X86, folder / "f.s", path)
    return paths


def test_a_local_function_is_not_taken_for_a_global_one(tmp_path: Path) -> None:
    one, two = _both(tmp_path, x86(symbol=""), _WRONG)
    subprocess.run(["ld", "-r", "-o", tmp_path / "both.o", one, two], check=True)
    with pytest.raises(ForeignError):
        verify(tmp_path / "both.o", Description(**_BASE), False)


def test_a_name_without_a_type_is_not_overlooked(tmp_path: Path) -> None:
    """A linker takes the first member that defines the name, of any type."""
    untyped = _WRONG.replace(".type f, @function", "")
    archive = tmp_path / "both.a"
    subprocess.run(["ar", "rcs", archive, *_both(tmp_path, untyped, x86())], check=True)
    assert load.members_with(archive, frozenset({"f"})) == {"first.o": {"f"}, "second.o": {"f"}}


def test_an_archive_with_two_is_refused(tmp_path: Path) -> None:
    for symbol in ("", ".globl f", ".weak f"):
        one, two = _both(tmp_path, x86(symbol=symbol), _WRONG)
        archive = tmp_path / f"both{len(symbol)}.a"
        subprocess.run(["ar", "rcs", archive, one, two], check=True)
        with pytest.raises(ForeignError):
            verify(archive, Description(**_BASE), False)


# ---- listings ----

_KERNEL = "gfs_xor_2x1__sse_u4"
_PXOR = "    .byte 0x66,0x0f,0xef,0xc1                                # pxor xmm0, xmm1\n"


def _listing() -> str:
    path = ROOT / "gen_out" / "x86" / f"{_KERNEL}.S"
    if not path.exists():
        pytest.skip("no generated kernels; run gfsmith gen")
    return path.read_text()


def test_a_generated_listing_is_read() -> None:
    assert set(listing.read(_listing(), _KERNEL)) == {"sysv", "ms"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (_PXOR, "#if 0\n" + _PXOR + "#endif\n"),
        (_PXOR, "# if 0\n" + _PXOR + "# endif\n"),
        (_PXOR, "#ifdef NEVER\n" + _PXOR + "#endif\n"),
        (_PXOR, "/*\n" + _PXOR + "*/\n"),
        (_PXOR, _PXOR.rstrip("\n") + " \\\n"),
        (_PXOR, _PXOR.rstrip("\n") + " /*\n# */\n"),
        (_PXOR, _PXOR.replace("  #", "; .byte 0x90 #")),
        (_PXOR, _PXOR.replace("  #", " ,0x90 #")),
        (_PXOR, _PXOR.replace("0xc1 ", "0xc1,")),
        (_PXOR, _PXOR.replace("0xc1", "0xC1")),
        (_PXOR, _PXOR.replace("0xc1", "0xc1 + 0")),
        (_PXOR, _PXOR.replace(".byte", ".word")),
        (_PXOR, _PXOR + "    GFSMITH_CFI(.byte 0x90)\n"),
        (_PXOR, _PXOR + "    GFSMITH_SEH(.byte 0x90)\n"),
        (_PXOR, _PXOR + "    GFSMITH_CFI(.cfi_escape 0x90; .byte 0x90)\n"),
        (_PXOR, _PXOR + "    GFSMITH_CFI(.cfi_restore rbx; nop)\n"),
        (_PXOR, _PXOR + "    GFSMITH_CFI(.cfi_restore rbx) nop\n"),
        (_PXOR, _PXOR + '# 1 "other.S"\n'),
        (_PXOR, _PXOR + "# define GFSMITH_CFI(x) x\n"),
        (_PXOR, _PXOR + "    nop\n"),
        (_PXOR, _PXOR + ".org 0\n"),
        (_PXOR, _PXOR + "\n"),
        (_PXOR, "# \u2028" + _PXOR),
        (_PXOR, "# \r" + _PXOR),
        (f"GFSMITH_FUNCTION({_KERNEL})", "GFSMITH_FUNCTION(gfs_other)"),
        (f"GFSMITH_END({_KERNEL})", "GFSMITH_END(gfs_other)"),
        ("GFSMITH_OBJECT_NOTES", "GFSMITH_OBJECT_NOTES\n.byte 0"),
        ('#include "gfsmith_asm.h"', '#include "gfsmith_asm.h"\n#define GFSMITH_END(x) nop'),
        ('#include "gfsmith_asm.h"', '#include "other.h"'),
        ("/* Generated", "/* Generated */ nop /*"),
        ("/* Generated", "/* *??/\n/ nop\n/* Generated"),
        ("#else\n", "#elif 1\n"),
        ("#if defined(GFSMITH_ASM_MS_ABI)", "#if !defined(GFSMITH_ASM_MS_ABI)"),
    ],
)
def test_other_lines_of_a_listing_are_refused(old: str, new: str) -> None:
    text = _listing()
    assert old in text
    with pytest.raises(listing.ListingError):
        listing.read(text.replace(old, new, 1), _KERNEL)


# ---- the provided kernels ----

_PROVIDED_WORDS: dict[str, dict[str, Any]] = {
    "crossing_avx2": {"isa": "avx2"},
    "avx_const_align32": {"isa": "avx2"},
    "crossing_gfni": {"isa": "gfni_sse"},
    "pushw_cfi": {"unwind": True},
    "mad_index_only0": _INDEXED,
}
_MACHINES = {"a64": A64, "ppc": POWER, "coff": COFF}
_LISTING = "listing_evil"


def _provided() -> list[str]:
    return sorted(path.stem for path in PROVIDED.glob("*.S")) if PROVIDED.exists() else []


def _machine(name: str) -> str:
    """Return the machine of a provided kernel, from its name."""
    return _MACHINES.get(name.partition("_")[0], X86)


@pytest.mark.parametrize(
    ("machine", "name"),
    [on(_machine(name), _machine(name), name, name=name) for name in _provided() if name != _LISTING],
)
@pytest.mark.parametrize("more", [{}, {"granule": 32}, {"granule": 32, "isa": "avx2"}], ids=str)
def test_provided_kernel_is_not_proved(machine: str, name: str, more: dict[str, Any], tmp_path: Path) -> None:
    assemble(machine, PROVIDED / f"{name}.S", tmp_path / "f.o")
    words = {**_BASE, **WORDS[machine], **_PROVIDED_WORDS.get(name, {})}
    try:
        report = verify(tmp_path / "f.o", Description(**{**words, **more}), False)
    except ForeignError:
        return
    assert report.status is not Status.PROVED


@pytest.mark.skipif(_LISTING not in _provided(), reason="no ../shared/adversarial")
def test_provided_listing_is_refused() -> None:
    text = (PROVIDED / f"{_LISTING}.S").read_text()
    with pytest.raises(listing.ListingError):
        listing.read(text, _KERNEL)


# ---- shared objects ----


def _library(
    folder: Path, text: str = x86(inside="pxor z(%rip), %xmm0", data=_ALIGNED), *options: str
) -> Path:
    (folder / "f.s").write_text(text)
    assemble(X86, folder / "f.s", folder / "f.o")
    subprocess.run(["ld", "-shared", *options, "-o", folder / "f.so", folder / "f.o"], check=True)
    return folder / "f.so"


def test_a_shared_object_is_proved(tmp_path: Path) -> None:
    report = verify(_library(tmp_path), Description(**_BASE), False)
    assert report.status is Status.PROVED, report.reason


def _header(library: Path, name: str) -> int:
    """Return the place of a section's header in the file."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        index = next(n for n, section in enumerate(elf.iter_sections()) if section.name == name)
        return int(elf["e_shoff"] + index * elf["e_shentsize"])


@pytest.mark.parametrize("section", [".text", ".rodata", ".dynsym", ".dynstr"])
@pytest.mark.parametrize(("field", "step"), [(16, 16), (24, 16), (16, 0x1000), (24, -8)])
def test_headers_that_the_loader_ignores_are_not_believed(
    section: str, field: int, step: int, tmp_path: Path
) -> None:
    """Fields of a section's header: 16 is its address, 24 its offset in the file."""
    library = _library(tmp_path)
    data = bytearray(library.read_bytes())
    place = _header(library, section) + field
    data[place : place + 8] = (int.from_bytes(data[place : place + 8], "little") + step).to_bytes(8, "little")
    library.write_bytes(data)
    with pytest.raises(ForeignError):
        verify(library, Description(**_BASE), False)


def test_segments_that_are_writable_are_not_code(tmp_path: Path) -> None:
    library = _library(tmp_path)
    with library.open("rb") as file:
        elf = ELFFile(file)
        code = next(
            n for n, segment in enumerate(elf.iter_segments())
            if segment["p_type"] == "PT_LOAD" and segment["p_flags"] & 1
        )  # fmt: skip
        place = elf["e_phoff"] + code * elf["e_phentsize"] + 4
    data = bytearray(library.read_bytes())
    data[place] |= 2
    library.write_bytes(data)
    with pytest.raises(ForeignError):
        verify(library, Description(**_BASE), False)


_POINTER = x86(
    inside="movq p(%rip), %xmm2; movq q(%rip), %xmm3; pxor %xmm3, %xmm2; pxor %xmm2, %xmm0",
    data="""
    .section .data.rel.ro, "aw"
    p: .quad z
    .section .rodata
    q: .quad {}
    .globl z
    .hidden z
    z: .quad 0""",
)


@pytest.mark.parametrize("relocations", ["pack-relative-relocs", "nopack-relative-relocs"])
def test_a_pointer_is_no_data(relocations: str, tmp_path: Path) -> None:
    """The constant q is the address of z in the layout of the verifier, and in no program."""
    library = _library(tmp_path, _POINTER.format(0), "-z", relocations)
    with library.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        place = table.get_symbol_by_name("z")[0]["st_value"]
    library = _library(tmp_path, _POINTER.format(BASE + place), "-z", relocations)
    assert verify(library, Description(**_BASE), False).status is not Status.PROVED


_WRITTEN = x86(
    inside="movdqu z(%rip), %xmm2; pxor %xmm2, %xmm0",
    data='.section .data.rel.ro, "aw"\n.quad f\n.data\n.p2align 4\nz: .quad 0, 0',
)


def test_part_of_a_page_is_not_protected(tmp_path: Path) -> None:
    """PT_GNU_RELRO of this library ends in the middle of a page, which stays writable."""
    library = _library(tmp_path, _WRITTEN)
    data = bytearray(library.read_bytes())
    with library.open("rb") as file:
        elf = ELFFile(file)
        number, segment = next(
            (n, s) for n, s in enumerate(elf.iter_segments()) if s["p_type"] == "PT_GNU_RELRO"
        )
        section: Any = elf.get_section_by_name(".data")
        size = section["sh_addr"] + section["sh_size"] - segment["p_vaddr"]
        place = elf["e_phoff"] + number * elf["e_phentsize"] + 32
    data[place : place + 16] = 2 * size.to_bytes(8, "little")
    library.write_bytes(data)
    assert verify(library, Description(**_BASE), False).status is not Status.PROVED


# ---- objects with changed headers ----


def _changed(folder: Path, text: str, section: str, field: int, value: int) -> Path:
    """Return an object in which the four bytes `field` of a section's header are changed."""
    (folder / "f.s").write_text(text)
    assemble(X86, folder / "f.s", folder / "f.o")
    data = bytearray((folder / "f.o").read_bytes())
    place = _header(folder / "f.o", section) + field
    data[place : place + 4] = value.to_bytes(4, "little")
    (folder / "f.o").write_bytes(data)
    return folder / "f.o"


def test_tables_of_an_unknown_type_are_refused(tmp_path: Path) -> None:
    """CREL relocations, for example, which newer linkers apply. Bytes 4 to 7 of a header are the type."""
    text = x86(inside="pxor z(%rip), %xmm0", data=_ALIGNED)
    with pytest.raises(ForeignError, match="unknown type"):
        verify(_changed(tmp_path, text, ".rela.text", 4, 0x4000_0014), Description(**_BASE), False)


def test_members_of_a_group_need_no_flag(tmp_path: Path) -> None:
    """Bytes 8 to 11 of a header are the flags; without that of a group, lld still discards the section."""
    text = x86(section='.text.f, "axG", @progbits, g, comdat')
    with pytest.raises(ForeignError, match="no single function"):
        verify(_changed(tmp_path, text, ".text.f", 8, 6), Description(**_BASE), False)
