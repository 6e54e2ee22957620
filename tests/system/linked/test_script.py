"""packaging/check_linked.py: every changed byte, file formats, and files that are no match."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.folders import once
from tests.system.linked.support import CHECKER, DIFFERS, RIGHT, SYMBOL, call, check, refused, tamper

CROSS = {
    "mach-o": ("clang-19", "--target=x86_64-apple-macos11"),
    "coff": ("clang-19", "--target=x86_64-w64-windows-gnu"),
    "aarch64": ("clang-19", "--target=aarch64-linux-gnu"),
    "s390x": ("clang-19", "--target=s390x-linux-gnu"),
    # Without gcc for this target, clang does not find the headers of libc6-dev-armhf-cross by itself.
    "arm": ("clang-19", "--target=arm-linux-gnueabihf", "-isystem", "/usr/arm-linux-gnueabihf/include"),
}


def _compile(gen: Path, folder: Path, *compiler: str) -> list[Path]:
    """Compile every kernel of a folder of `gfsmith gen`; for macOS, whose headers are missing, no C."""
    folder.mkdir(exist_ok=True)
    objects = []
    scalar = gen.glob("scalar/*.c") if "apple" not in " ".join(compiler) else ()
    for source in sorted([*gen.glob("x86/*.S"), *scalar]):
        objects.append(folder / f"{source.stem}.o")
        call(*compiler, f"-I{gen}", "-ffreestanding", "-O1", "-fPIC", "-c", source, "-o", objects[-1])
    return objects


@pytest.fixture(scope="session")
def objects(small: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    def make(folder: Path) -> None:
        _compile(small / "gen", folder, "gcc")

    return sorted(once(tmp_path_factory, "objects", make).glob("*.o"))


def _archive(objects: list[Path], path: Path, flags: str = "rcs") -> Path:
    call("ar", flags, path, *objects)
    return path


def _shared(objects: list[Path], path: Path, *flags: str) -> Path:
    call("gcc", "-shared", "-nostdlib", *flags, *objects, "-o", path)
    return path


def test_every_form_of_file(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    archive = _archive(objects, tmp_path / "a.a")
    thin = _archive(objects, tmp_path / "thin.a", "rcsT")
    together = tmp_path / "r.o"
    call("gcc", "-r", "-nostdlib", *objects, "-o", together)
    shared = _shared(objects, tmp_path / "s.so")
    files = (archive, thin, together, shared)
    said = check(manifest, *files)
    assert said.stdout.splitlines() == [f"{file}: {RIGHT}" for file in files], said.stderr
    call("strip", shared)
    assert "4 functions found by their bytes (no symbols)" in check(manifest, shared).stdout


def _places(objects: list[Path], library: Path) -> tuple[int, int]:
    """Return the place of the kernel's code in a library, and its size."""
    single = next(path for path in objects if path.stem == SYMBOL)
    row = call("readelf", "-sW", single)
    found = re.search(rf"^\s*\d+: (\w+)\s+(\d+) FUNC .* {SYMBOL}$", row, re.MULTILINE)
    assert found is not None and int(found[1], 16) == 0
    sections = call("readelf", "-SW", single)
    text = re.search(r"\] \.text\s+PROGBITS\s+\w+ (\w+)", sections)
    assert text is not None
    start, size = int(text[1], 16), int(found[2])
    code = single.read_bytes()[start : start + size]
    assert library.read_bytes().count(code) == 1
    return library.read_bytes().index(code), size


def test_every_changed_byte_is_detected(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    """In the library with symbols and in the one without: each byte of one kernel, one after the other."""
    library = _shared(objects, tmp_path / "s.so")
    start, size = _places(objects, library)
    bare = Path(shutil.copy(library, tmp_path / "bare.so"))
    call("strip", bare)
    assert _places(objects, bare) == (start, size)
    script = _module()
    listed = json.loads(manifest.read_text())
    for path in (library, bare):
        original = path.read_bytes()
        for place in range(start, start + size):
            changed = bytearray(original)
            changed[place] ^= 0x10
            path.write_bytes(changed)
            with pytest.raises(script.Wrong, match=f"^{SYMBOL}: "):
                script.check(path, listed, [])


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_linked", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_second_definition_is_compared(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    """The linker takes the first member of an archive that defines a name, wherever the right one is."""
    source = tmp_path / "other.s"
    source.write_text(f".globl {SYMBOL}\n.type {SYMBOL}, @function\n{SYMBOL}: ret\n.size {SYMBOL}, 1\n")
    call("gcc", "-c", source, "-o", tmp_path / "other.o")
    for order in ([tmp_path / "other.o", *objects], [*objects, tmp_path / "other.o"]):
        (tmp_path / "two.a").unlink(missing_ok=True)
        refused(check(manifest, _archive(order, tmp_path / "two.a")))


def test_a_relocation_inside_a_kernel(
    objects: list[Path], manifest: Path, small: Path, tmp_path: Path
) -> None:
    """The bytes in the object are the proved ones, and the linker changes them."""
    source = tmp_path / f"{SYMBOL}.S"
    text = (small / "gen" / "x86" / source.name).read_text()
    source.write_text(text + f"\n.reloc {SYMBOL}+16, R_X86_64_PC32, elsewhere\n")
    call("gcc", f"-I{small / 'gen'}", "-c", source, "-o", tmp_path / "x.o")
    others = [path for path in objects if path.stem != SYMBOL]
    archive = _archive([*others, tmp_path / "x.o"], tmp_path / "x.a")
    refused(check(manifest, archive), f"{SYMBOL}: a relocation changes it")


def test_a_writable_section(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    single = next(path for path in objects if path.stem == SYMBOL)
    call("objcopy", "--set-section-flags", ".text=alloc,code", single, tmp_path / "w.o")
    others = [path for path in objects if path.stem != SYMBOL]
    archive = _archive([*others, tmp_path / "w.o"], tmp_path / "w.a")
    refused(check(manifest, archive), f"{SYMBOL}: it is in a writable section")


def test_equal_kernels_without_symbols(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    """Two kernels may have the same bytes: then these must occur twice."""
    listed = json.loads(manifest.read_text())
    twin = next(kernel for kernel in listed["kernels"] if kernel["symbol"] == SYMBOL)
    listed["kernels"].append({**twin, "symbol": "twin"})
    (tmp_path / "listed.json").write_text(json.dumps(listed))
    library = _shared(objects, tmp_path / "s.so", "-s")
    done = check(tmp_path / "listed.json", library)
    assert "its proved machine code is not in the file" in done.stderr
    assert "4 functions found" in check(manifest, library).stdout


def test_a_missing_kernel(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    archive = _archive([path for path in objects if path.stem != SYMBOL], tmp_path / "a.a")
    refused(check(manifest, archive), f"{SYMBOL}: its proved machine code is not in the file")
    assert "0 functions compared" in check("--isa", "scalar", manifest, archive).stdout


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "neither ELF nor Mach-O nor COFF nor PE"),
        (b"BC\xc0\xde", "no machine code; compare the linked library or program instead"),
        (b"!<arch>\n", "no machine code; compare the linked library or program instead"),
        (b"\x7fELF\x01\x01\x01", "cannot be read"),
        (b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x01\0\x3e\0" + bytes(40), "32-bit ELF file (x32)"),
        (b"\x7fELF\x02\x01\x01", "unpack_from requires"),
    ],
)
def test_files_that_are_no_library(content: bytes, reason: str, manifest: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    done = check(manifest, path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and reason in done.stderr


def test_truncated_files_end_in_one_line(objects: list[Path], manifest: Path, tmp_path: Path) -> None:
    whole = _shared(objects, tmp_path / "s.so").read_bytes()
    for length in range(1, len(whole), len(whole) // 20):
        (tmp_path / "cut.so").write_bytes(whole[:length])
        done = check(manifest, tmp_path / "cut.so")
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_missing_file(manifest: Path, tmp_path: Path) -> None:
    refused(check(manifest, tmp_path / "none"), f"{tmp_path / 'none'}: No such file or directory")
    refused(check(tmp_path / "none", manifest), f"{tmp_path / 'none'}: No such file or directory")


@pytest.mark.needs("clang", "armhf")
@pytest.mark.parametrize("form", CROSS)
def test_other_machines(form: str, small: Path, manifest: Path, tmp_path: Path) -> None:
    """Objects of other systems; machines other than x86-64 have all kernels in C."""
    archive = tmp_path / "a.a"
    call("llvm-ar-19", "rcs", archive, *_compile(small / "gen", tmp_path / "right", *CROSS[form]))
    done = check(manifest, archive)
    compared, compiled = {"mach-o": (4, 0), "coff": (4, 4)}.get(form, (0, 4))
    assert f"{compared} functions compared, {compiled} compiled from C" in done.stdout, done.stderr
    if not compared:
        return
    gen = Path(shutil.copytree(small / "gen", tmp_path / "gen"))
    tamper(gen / "x86" / f"{SYMBOL}.S")
    archive.unlink()
    call("llvm-ar-19", "rcs", archive, *_compile(gen, tmp_path / "wrong", *CROSS[form]))
    refused(check(manifest, archive), DIFFERS)


@pytest.mark.needs("mingw")
def test_a_dll(small: Path, manifest: Path, tmp_path: Path) -> None:
    compiler = "x86_64-w64-mingw32-gcc"
    objects = _compile(small / "gen", tmp_path / "objects", compiler)
    library = tmp_path / "a.dll"
    link: tuple[str | Path, ...] = (compiler, "-shared", "-Wl,--export-all-symbols", *objects, "-o", library)
    call(*link)
    assert RIGHT in check(manifest, library).stdout
    call("x86_64-w64-mingw32-strip", library)
    assert "4 functions found by their bytes" in check(manifest, library).stdout


def test_it_needs_the_standard_library_only() -> None:
    """Isolated, without the packages of any environment."""
    done = subprocess.run(
        ["python3", "-I", "-S", CHECKER, "--help"], capture_output=True, text=True, check=True
    )
    assert "MANIFEST.json" in done.stdout
