"""The kernels have the proved bytes after Go's assembler and linker."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile

from gfsmith.emit import golang_amd64
from gfsmith.prove.machine.formats.load import load
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.prove.verdict import Status
from tests.system.bindings.go.support import KERNELS, UNOPTIMISED, Project, proved
from tests.system.linked.support import check, refused, tamper

RETURN_ADDRESS = 8
PACKAGE = "gfsmith.example/go/gfsmith/internal/kernels"
ENDBR64 = b"\xf3\x0f\x1e\xfa"  #: the first instruction of every kernel
SYMBOL = "gfs_dot_nx1__sse_u4"


class Linked(NamedTuple):
    """A function of a program that is a kernel or contains one. start: the kernel's place in it."""

    address: int
    code: bytes
    start: int


def _functions(program: Path) -> dict[str, Linked]:
    """Return kernel -> its function: gfs_x, or PACKAGE.gfs_x.abi0 with a kernel inside."""
    with program.open("rb") as file:
        elf = ELFFile(file)
        text = elf.get_section_by_name(".text")
        code, base = text.data(), text["sh_addr"]
        found = {
            symbol.name: (symbol["st_value"], code[symbol["st_value"] - base :][: symbol["st_size"]])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC"
        }
    functions = {}
    for kernel, (_, proved_code) in proved().items():
        name = f"{PACKAGE}.{kernel}.abi0" if golang_amd64.listing(proved_code).inside else kernel
        address, function = found[name]
        functions[kernel] = Linked(address, function, function.index(ENDBR64))
    return functions


def _differing(program: Path) -> set[str]:
    linked = _functions(program)
    return {
        symbol
        for symbol, (_, code) in proved().items()
        if not linked[symbol].code[linked[symbol].start :].startswith(code)
    }


def _prove(program: Path, symbol: str) -> Report:
    """Prove a kernel without Go's own unwind tables, which the prover does not read: see the test below."""
    spec = proved()[symbol][0]
    return prove_code(replace(contract_of(spec, "sysv"), unwind=False), load(program), symbol, False)


def test_linked_bytes_are_the_proved_ones(program: Path) -> None:
    linked = _functions(program)
    assert len(proved()) > 30
    assert not _differing(program)
    for symbol, (_, code) in proved().items():
        function = linked[symbol]
        assert function.address % 32 == 0
        if not golang_amd64.listing(code).inside:
            assert function.start == 0
            assert not function.code[len(code) :].strip(b"\xcc"), "bytes follow the kernel"
    assert sum(function.start > 0 for function in linked.values()) == 1


def test_the_prover_reads_the_program(program: Path) -> None:
    for symbol in (SYMBOL, "gfs_mad_1x4__gfni_avx512_u2_steps", "gfs_dot_10x4_cauchy__gfni_avx512_u1"):
        report = _prove(program, symbol)
        assert report, report.reason


def test_one_wrong_byte_is_detected(project: Project, tmp_path: Path) -> None:
    """An addition instead of a lookup is detected by digest, comparison, proof, and the package's tests."""
    wrong = project.copy(tmp_path / "wrong")
    source = wrong.folder / KERNELS / "sse_amd64.s"
    before, kernel = source.read_text().split(f"TEXT {SYMBOL}<>", 1)
    lookup = re.search(r"00380f4466", kernel)  # 66 44 0f 38 00: pshufb; 01: phaddw
    assert lookup is not None
    kernel = kernel[: lookup.start()] + "01" + kernel[lookup.start() + 2 :]
    source.write_text(f"{before}TEXT {SYMBOL}<>{kernel}")
    for package in (f"./{KERNELS}", "./gfsmith"):
        done = wrong.run("test", "-run", "TestVerify|TestKernels", package, CGO_ENABLED="0")
        assert f"{SYMBOL}: its machine code is not the proved one" in done.stdout
    program = tmp_path / "wrong.test"
    wrong.go("test", "-c", "-o", program, "./gfsmith", CGO_ENABLED="0")
    assert _differing(program) == {SYMBOL}
    manifest = wrong.folder / KERNELS / "MANIFEST.json"
    refused(check(manifest, program), f"{SYMBOL}: its machine code is not the proved one")
    assert _prove(program, SYMBOL).status is not Status.PROVED
    done = wrong.run("test", "-run", "TestSuite/sse", "./gfsmith", CGO_ENABLED="0")
    assert done.returncode != 0
    assert "differs" in done.stdout


def test_digests(project: Project, program: Path) -> None:
    """`go test` compares the digests, and packaging/check_linked.py those of the linked program."""
    for package in (f"./{KERNELS}", "./gfsmith", "./cgo"):
        assert "functions compared" in project.go("test", "-v", "-run", "TestVerify|TestKernels", package)
    done = check(project.folder / KERNELS / "MANIFEST.json", program)
    assert f"{len(proved())} functions compared" in done.stdout, done.stderr


def test_one_wrong_byte_is_detected_with_cgo(project: Project, tmp_path: Path) -> None:
    wrong = project.copy(tmp_path / "wrong")
    symbol = "gfs_xor_2x1__sse_u4"
    tamper(wrong.folder / "cgo" / "gfsmith.c", symbol)
    done = wrong.run("test", "-run", "TestKernels", "./cgo", **UNOPTIMISED)
    assert f"{symbol}: its machine code is not the proved one" in done.stdout, done.stdout + done.stderr


def _depths(program: Path) -> dict[int, int]:
    """Return function's address -> the maximum stack depth in Go's tables, in bytes
    below the return address.
    """
    with program.open("rb") as file:
        entries = ELFFile(file).get_dwarf_info().CFI_entries()
        return {
            entry["initial_location"]: max(row["cfa"].offset for row in entry.get_decoded().table)
            - RETURN_ADDRESS
            for entry in entries
            if isinstance(entry, FDE) and entry.get_decoded().table
        }


def test_go_knows_where_the_stack_is(program: Path) -> None:
    """A profiler's signal inside a kernel finds its caller: Go's tables include pushes and spills."""
    linked, depths = _functions(program), _depths(program)
    for symbol, (_, code) in proved().items():
        listing = golang_amd64.listing(code)
        outer = 16 if listing.inside else 0  # the saved frame pointer, and the kernel's return address
        assert depths[linked[symbol].address] == listing.depth + outer, symbol
