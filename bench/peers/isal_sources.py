"""ISA-L's erasure-code kernels: their contracts, and the objects to prove.

The sources of ISA-L 2.32 are inside a crate, which cargo fetches; the repository holds no copy. nasm
assembles them, for System V (ELF) and for Microsoft (COFF). ISA-L 2.30 is in Debian's libisal2.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.build_lock import locked
from bench.peers.clients import Unavailable, run_client

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "foreign"

CRATE = "erasure-isa-l-sys"
CRATE_SHA256 = "55d5cc84ca22dcdf91614ac334c010a97f4856fb6b9cd9e7974f2e3c9f977bff"
DEBIAN_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libisal.so.2")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel and its contract, as erasure_code.h, gf_vect_mul.h and ec_highlevel_func.c state it.

    mul:  int f(int len, table, src, dst)                        dst = c src
    dot:  f(int len, int k, tables, src[], dst or dst[])         dst[i] = sum over j of c[i][j] src[j]
    mad:  f(int len, int k, int j, tables, src, dst or dst[])    dst[i] += c[i][j] src

    With one output dst is the buffer itself, otherwise an array of pointers. The entry of c[i][j] is at
    byte 32 (i k + j) of the tables, in every kernel.
    """

    operation: str
    outputs: int
    isa: str

    @property
    def symbol(self) -> str:
        count = "" if self.outputs == 1 else str(self.outputs)
        name = {"mul": "mul", "dot": "dot_prod", "mad": "mad"}[self.operation]
        return f"gf_{count}vect_{name}_{self.isa}"

    @property
    def gfni(self) -> bool:
        return self.isa.endswith("_gfni")

    @property
    def tables(self) -> str:
        """Return the table format. isal-nibble: 16 products of low nibbles, 16 of high ones. isal-affine: 4
        times the matrix.
        """
        return "isal-affine" if self.gfni else "isal-nibble"

    @property
    def minimum(self) -> int:
        """The least length in bytes that the kernel processes."""
        if self.operation == "mul":
            return 32
        if self.gfni:
            return 0
        if self.symbol == "gf_vect_dot_prod_avx512":
            return 32
        return {"sse": 16, "avx": 16, "avx2": 32, "avx512": 64}[self.isa]

    @property
    def masks_in_data(self) -> bool:
        """Return True if the kernel reads constants from .data, which is writable."""
        avx2_mad = self.operation == "mad" and self.isa == "avx2" and self.outputs >= 3
        return self.isa in ("sse", "avx") or avx2_mad

    def leaf(self, abi: str) -> bool:
        """Return True if the kernel does not move the stack pointer."""
        if abi == "ms":
            return self.symbol == "gf_vect_mul_avx2_gfni"
        if self.operation == "dot":
            return self.outputs == 1 and self.isa != "avx2_gfni"
        return self.outputs <= (5 if "avx512" in self.isa else 3)


def _kernels() -> Iterator[Kernel]:
    for isa in ("sse", "avx", "avx2_gfni"):
        yield Kernel("mul", 1, isa)
    for operation in ("dot", "mad"):
        for isa in ("sse", "avx", "avx2", "avx512", "avx2_gfni", "avx512_gfni"):
            most = {"dot": 3, "mad": 5}[operation] if isa == "avx2_gfni" else 6
            yield from (Kernel(operation, outputs, isa) for outputs in range(1, most + 1))


KERNELS = tuple(_kernels())


def objects(abi: str) -> Path:
    """Return the folder with <symbol>.o for each of KERNELS, for the ABI "sysv" or "ms".

    Raises Unavailable with the reason.
    """
    output = BUILD / "isal-2.32" / abi
    with locked(BUILD / "lock"):
        if not (output / "complete").exists():
            _assemble(sources(), abi, output)
    return output


def sources() -> Path:
    """Return ISA-L's source folder; cargo fetches it if it is missing."""
    project = BUILD / "crate"
    found = project / "vendor" / CRATE / "vendor" / "isa-l"
    if not found.exists():
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(HERE / "isal_crate", project)
        advice = f"cargo 1.85 or newer fetches the crate {CRATE} from the crates registry"
        run_client(["cargo", "vendor", "--quiet", "vendor"], project, advice)
    lock = (project / "Cargo.lock").read_text()
    entry = re.search(rf'name = "{CRATE}"[^\[]*checksum = "(\w+)"', lock)
    if entry is None or entry[1] != CRATE_SHA256:
        raise Unavailable(f"the crate {CRATE} has an unexpected checksum; expected SHA-256 {CRATE_SHA256}")
    return found


def _assemble(sources: Path, abi: str, output: Path) -> None:
    """Assemble object files with the flags of ISA-L's own CMake build."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    flags = {"sysv": ["-f", "elf64", "-D", "LINUX"], "ms": ["-f", "win64"]}[abi]
    for kernel in KERNELS:
        source = f"erasure_code/{kernel.symbol}.asm"
        target = str(output / f"{kernel.symbol}.o")
        command = ["nasm", *flags, "-I", "include/", "-I", "erasure_code/", "-o", target, source]
        run_client(command, sources, "nasm 2.14.01 or newer assembles ISA-L")
    (output / "complete").touch()
