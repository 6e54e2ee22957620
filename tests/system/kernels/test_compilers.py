"""Kernels in C for POWER, s390x and LoongArch with all available compilers: GCC and Clang agree, without
warnings and extra flags, and an error in a header shows when the kernels run.

The harness (test_emulated.py) executes all kernels as Clang compiles them. This file tests differences
between compilers, above all of vpermxor, whose built-in functions have one name and different semantics.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lief
import numpy as np
import pytest

from gfsmith.build import config
from gfsmith.build.generate import Kernel, generate_one
from gfsmith.emit import lists
from gfsmith.kernel import tables
from gfsmith.kernel.spec import KernelSpec, Operation
from tests.system.kernels.support import galois_field

HERE = Path(__file__).parent
WARNINGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
CONFIG = """
[generator]
isas = ["{isa}"]
[[kernels]]
operation = "dot"
shapes = ["4x2", "10x4", "nx3", "nx8"]
[[kernels]]
operation = "mad"
shapes = ["1x2", "nx2"]
[[kernels]]
operation = "mul"
shapes = ["nx1"]
[[kernels]]
operation = "xor"
shapes = ["4x1", "nx1"]
[[kernels]]
operation = "dot"
code = "cauchy"
shapes = ["10x4"]
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Commands that compile and execute a set; `least` is the weakest CPU, by qemu's name."""

    isa: str
    compiler: tuple[str, ...]
    linker: str
    emulator: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.isa}-{self.linker.partition('-')[0]}-{self.compiler[0].partition('-')[0]}"

    @property
    def big_endian(self) -> bool:
        return self.linker.startswith(("s390x", "powerpc64-"))


def _both(isa: str, triple: str, emulator: Sequence[str]) -> list[Toolchain]:
    gcc = f"{triple}-gcc"
    clang = ("clang-19", f"--target={triple}")
    return [Toolchain(isa, command, gcc, tuple(emulator)) for command in ((gcc,), clang)]


TOOLCHAINS = [
    *_both("vsx", "powerpc64le-linux-gnu", ["qemu-ppc64le-static", "-cpu", "power8"]),
    *_both("vsx_p10", "powerpc64le-linux-gnu", ["qemu-ppc64le-static", "-cpu", "power10"]),
    *_both("altivec", "powerpc64le-linux-gnu", ["qemu-ppc64le-static", "-cpu", "power8"]),
    *_both("altivec", "powerpc64-linux-gnu", ["qemu-ppc64-static", "-cpu", "970"]),
    *_both("vx", "s390x-linux-gnu", ["qemu-s390x-static", "-cpu", "qemu"]),
]


@cache
def _sample(isa: str) -> list[Kernel]:
    specs = config.specs(config.parse(CONFIG.format(isa=isa), "sample.toml"), "sample.toml")
    return [generate_one(spec) for spec in specs]


def _kernels(isa: str, folder: Path) -> list[Kernel]:
    """Generate a sample of kernels and write them with their headers."""
    kernels = _sample(isa)
    specs = [kernel.spec for kernel in kernels]
    files = {**lists.build(specs), **{kernel.path: kernel.text for kernel in kernels}}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return kernels


def _run(command: Sequence[str | Path], given: bytes = b"") -> bytes:
    done = subprocess.run(list(map(str, command)), input=given, capture_output=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr.decode()}"
    return done.stdout


def _calls(number: int, spec: KernelSpec, order: str) -> tuple[bytes, bytes]:
    """Return the input of compilers/call.c for a kernel, with numbers in a byte order, and the expected
    output. Each length is called with blocks behind a guard page and with blocks before one.
    """
    rng, field = np.random.default_rng(5), galois_field()
    given, wanted = b"", b""
    for length in (0, 1, 2, 7, 8, 15, 16, 33, 64, 100, 131):
        k = spec.inputs or 5
        outputs = k if spec.diagonal else spec.outputs
        sources = rng.integers(0, 256, (k, length), dtype=np.uint8)
        before = rng.integers(0, 256, (outputs, length), dtype=np.uint8)
        matrix = rng.integers(0, 256, (outputs, k), dtype=np.uint8)
        if spec.operation is Operation.XOR:
            matrix[:] = 1
        if spec.operation is Operation.HORNER:
            matrix = np.array([field(1 << i) ** np.arange(k) for i in range(outputs)], np.uint8)
        if spec.diagonal:
            matrix = np.diag(matrix.diagonal())
        if spec.baked is not None:
            matrix = np.array(spec.baked.rows, np.uint8)
        entries = [matrix.diagonal()] if spec.diagonal else matrix
        table = tables.table(spec.field, spec.tables, tuple(tuple(map(int, row)) for row in entries))
        sums = np.asarray(field(matrix) @ field(sources))
        result = (sums ^ before if spec.operation is Operation.MAD else sums).astype(np.uint8).tobytes()
        for place in (0, 1):
            given += struct.pack(f"{order}6I", number, place, k, outputs, len(table), length) + table
            given += sources.tobytes() + before.tobytes()
            wanted += result
    return given, wanted


def _execute(toolchain: Toolchain, kernels: Sequence[Kernel], folder: Path) -> dict[str, bool]:
    """Return, for each kernel, whether its outputs are right."""
    include, unit, compiled = f"-I{folder}", folder / "unit.c", folder / "unit.o"
    unit.write_text("".join(f'#include "{kernel.path}"\n' for kernel in kernels))
    _run([*toolchain.compiler, *WARNINGS, include, "-c", unit, "-o", compiled])
    names = ",".join(kernel.spec.symbol for kernel in kernels)
    main = [toolchain.linker, "-std=c11", "-O1", f"-DKERNELS={names}", include]
    _run([*main, HERE / "compilers" / "call.c", compiled, "-static", "-o", folder / "program"])
    order = ">" if toolchain.big_endian else "<"
    calls = [_calls(number, kernel.spec, order) for number, kernel in enumerate(kernels)]
    made = _run([*toolchain.emulator, folder / "program"], b"".join(given for given, _ in calls))
    right, at = {}, 0
    for kernel, (_, wanted) in zip(kernels, calls, strict=True):
        right[kernel.spec.symbol] = made[at : at + len(wanted)] == wanted
        at += len(wanted)
    assert at == len(made)
    return right


#: Debian's compiler and C library for big-endian POWER are a need of their own.
_MARKED = [
    pytest.param(
        each, marks=[pytest.mark.needs("ppc64")] if "powerpc64-" in each.linker else [], id=str(each)
    )
    for each in TOOLCHAINS
]


@pytest.mark.parametrize("toolchain", _MARKED)
def test_compilers_agree(toolchain: Toolchain, tmp_path: Path) -> None:
    right = _execute(toolchain, _kernels(toolchain.isa, tmp_path), tmp_path)
    assert all(right.values()), right


#: Errors in a header of POWER: the right text and the wrong one.
MISTAKES = {
    "tables swapped": ("(high, low, x)", "(low, high, x)"),
    "complemented": ("(high, low, x)", "(high, low, ~x)"),
    "in the order of memory": ("vec_xl_be(0, (const unsigned long long *)from)", "vec_xl(0, from)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("toolchain", TOOLCHAINS[:2], ids=str)
def test_errors_are_detected(toolchain: Toolchain, mistake: str, tmp_path: Path) -> None:
    kernels = _kernels("vsx", tmp_path)[:3]
    header = tmp_path / "gfsmith_permxor.h"
    there, instead = MISTAKES[mistake]
    assert there in header.read_text()
    header.write_text(header.read_text().replace(there, instead))
    right = _execute(toolchain, kernels, tmp_path)
    assert not any(right.values()), right


@pytest.mark.parametrize("toolchain", TOOLCHAINS[:4], ids=str)
def test_nothing_is_swapped_or_complemented(toolchain: Toolchain, tmp_path: Path) -> None:
    """Vectors need no change of byte order, and products use vpermxor."""
    for kernel in _kernels(toolchain.isa, tmp_path):
        source = tmp_path / kernel.path
        listing = _run([*toolchain.compiler, "-O2", f"-I{tmp_path}", "-S", source, "-o", "-"]).decode()
        names = re.findall(r"^\s+([a-z][a-z0-9.]*)\s", listing, re.MULTILINE)
        assert not {"xxlnor", "vnor", "vperm", "xxperm", "xxbrq"} & set(names), kernel.spec.symbol
        assert ("vpermxor" in names) == ("gfs_lookup2" in kernel.text)


@pytest.mark.parametrize(("name", "instruction"), [("lsx", "vshuf.b"), ("lasx", "xvshuf.b")])
def test_loongarch_compiles(name: str, instruction: str, tmp_path: Path) -> None:
    """LoongArch code is compiled and not executed. Debian has no C library for it, so a stub replaces
    <string.h>, and the object must not need any library function.
    """
    library = tmp_path / "library"
    library.mkdir()
    (library / "string.h").write_text(
        "#include <stddef.h>\nvoid *memcpy(void *to, const void *from, size_t n);\n"
    )
    command = ["clang-19", "--target=loongarch64-linux-gnu", "-nostdlibinc", f"-I{library}", f"-I{tmp_path}"]
    for kernel in _kernels(name, tmp_path):
        compiled = tmp_path / "kernel.o"
        _run([*command, *WARNINGS, "-c", tmp_path / kernel.path, "-o", compiled])
        binary = lief.ELF.parse(str(compiled))
        assert binary is not None
        assert [str(symbol.name) for symbol in binary.imported_symbols] == []
        assert kernel.spec.symbol in {str(symbol.name) for symbol in binary.exported_symbols}
        listing = _run(["llvm-objdump-19", "-d", compiled]).decode()
        assert (f"\t{instruction}\t" in listing) == ("shuf" in kernel.text), kernel.spec.symbol
