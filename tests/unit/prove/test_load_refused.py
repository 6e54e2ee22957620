"""Objects that the loader cannot represent faithfully are rejected with a one-line reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from gfsmith.prove.machine.formats.load import LoadError, load
from tests.support import needs
from tests.unit.prove.objects import COFF, FORMATS, GCC, MACHO, assemble, references

ARM = ["clang-19", "--target=aarch64-linux-gnu"]


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["gcc", "-m32"], "32-bit ELF for x86, not for x86-64"),
        (
            ["clang-19", "--target=loongarch64-linux-gnu"],
            "64-bit ELF for LoongArch, not for x86-64 or AArch64",
        ),
        (["clang-19", "--target=aarch64_be-linux-gnu"], "64-bit big-endian ELF for AArch64, not for"),
        (
            ["clang-19", "--target=x86_64-linux-gnux32"],
            "32-bit ELF for x64, not for x86-64",
        ),
        (["clang-19", "--target=aarch64-windows-gnu"], "neither ELF nor Mach-O nor COFF for x86-64"),
    ],
)
def test_other_machines_are_refused(command: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=message):
        load(assemble(command, ".globl f\nf: ret\n", tmp_path))


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("command", "line", "message"),
    [
        (GCC, "movq x@GOTTPOFF(%rip), %rax", "R_X86_64_GOTTPOFF in .text is not handled"),
        (GCC, "movl $f@SIZE, %eax", "relocation 32 in .text is not handled"),
        (ARM, "adrp x0, :gottprel:x", "R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21 in .text is not handled"),
        (COFF, ".secrel32 f", "AMD64_SECREL in .text is not handled"),
        (MACHO, "movq _x@TLVP(%rip), %rax", "relocation 9 in __text is not handled"),
    ],
)
def test_unknown_relocations_are_refused(command: list[str], line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=message):
        load(assemble(command, f".globl f\nf: {line}\nret\n", tmp_path))


def test_a_value_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = assemble(GCC, ".globl f\nf: movl $far, %eax\n.globl far\n.set far, 0x100000000\n", tmp_path)
    with pytest.raises(LoadError, match="does not fit 4 bytes"):
        load(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, content in {"text": b"not an object", "empty": b"", "cut": b"\x7fELF\x02\x01\x01"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LoadError) as caught:
            load(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(LoadError, match="No such file"):
        load(tmp_path / "missing")


def test_a_dynamic_section_without_its_strings_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "f.so"
    subprocess.run(
        [*GCC, "-shared", "-o", library, assemble(GCC, ".globl f\nf: ret\n", tmp_path)], check=True
    )
    data = bytearray(library.read_bytes())
    with library.open("rb") as file:
        elf = ELFFile(file)
        number = elf.get_section_index(".dynamic")
        link = elf["e_shoff"] + number * elf["e_shentsize"] + 40  # sh_link of Elf64_Shdr
    data[link : link + 4] = bytes(4)
    library.write_bytes(data)
    with pytest.raises(LoadError, match="damaged file"):
        load(library)


@pytest.mark.parametrize("format", needs.params(FORMATS))
def test_cut_files_are_refused_or_whole(format: str, tmp_path: Path) -> None:
    """A truncated file causes a LoadError, unless the missing part does not affect the code."""
    whole = assemble(FORMATS[format], references(format), tmp_path)
    expected = load(whole)
    data = whole.read_bytes()
    refused = 0
    for size in range(0, len(data), 23):
        (tmp_path / "cut.o").write_bytes(data[:size])
        try:
            found = load(tmp_path / "cut.o")
        except LoadError:
            refused += 1
        else:
            assert found.segments == expected.segments, f"cut to {size} bytes"
    assert refused > len(data) // 46
