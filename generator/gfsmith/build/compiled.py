"""Machine code of C kernels for AArch64, for packages of other languages: clang compiles, this module places.

The code of a kernel is one piece of position-independent bytes with its constants at the end: no relocation
remains, and a package ships the bytes as data. The proof is that of these bytes (prove_kernels.py), so no
step here needs trust.

For Go a kernel must not change sp or x28 (the goroutine) at any time, because a signal handler finds the
callers with them (emit/golang_arm64.py). clang reserves x28, and `_placed` moves the frame of the kernel into
that of its caller: the addresses relative to sp become relative to x26.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from elftools.elf.elffile import ELFFile

from gfsmith.build import parallel
from gfsmith.build.cache import Cache, key
from gfsmith.build.generate import Kernel
from gfsmith.emit.golang import Frames
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.spec import SpecError
from gfsmith.prove.machine.aarch64.registers import AAPCS64_X18, GO_FRAMES, GO_PLACE, GO_SAVED, go_kernel

_COMPILERS = ("clang-19", "clang")  #: the first that is on PATH
_TARGET = "--target=aarch64-linux-gnu"
#: -mcmodel=tiny: constants at a distance from the instruction. The others: nothing but the function.
_FLAGS = (
    *("-O2", "-std=c11", "-fPIC", "-mcmodel=tiny", "-nostdlibinc", "-ffixed-x18"),
    *("-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-fno-jump-tables", "-fno-ident"),
)
_GO_FLAGS = ("-ffixed-x26", "-ffixed-x28")
#: The part of C's library that kernels use.
_STRING_H = "#define memcpy __builtin_memcpy\n#define memset __builtin_memset\n"
_MOVE = re.compile(r"\t(sub|add)\tsp, sp, #(\d+)$")
_PUSH = re.compile(r"(\t(?:stp|str)\t.*), \[sp, #-(\d+)\]!$")
_POP = re.compile(r"(\t(?:ldp|ldr)\t.*), \[sp\], #(\d+)$")
_SLOT = re.compile(r"\[sp(?:, #(\d+))?\]")


class CompileError(Exception):
    """A kernel that does not become one piece of machine code."""


def compile_all(
    kernels: Sequence[Kernel],
    texts: Mapping[str, str],
    form: str,
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
) -> list[Kernel]:
    """Return the kernels, those for AArch64 with machine code for a package of a form. texts: path -> text of
    the headers. Raises SpecError without a compiler, and CompileError."""
    todo = [kernel for kernel in kernels if kernel.spec.isa.arch is Arch.AARCH64]
    if not todo:
        return list(kernels)
    compiler = _compiler(form)
    version = _run(Path(), compiler, "--version")
    store = Cache(cache)
    headers = {path: text for path, text in texts.items() if path.endswith(".h")}
    keys = [key((__name__,), version, form, kernel.text, headers) for kernel in todo]
    found = {name: store.known()[name] for name in keys if name in store.known()}
    missing = [n for n, name in enumerate(keys) if name not in found]
    advance(len(todo) - len(missing))

    def done(number: int, made: tuple[str, bytes]) -> None:
        abi, code = made
        found[keys[missing[number]]] = {"abi": abi, "code": code.hex()}
        advance(1)

    work = partial(_compile, compiler, headers, form)
    parallel.run(work, [(todo[n].spec.symbol, todo[n].text) for n in missing], jobs, done)
    store.save(found)
    codes = {
        kernel.spec: {str(found[name]["abi"]): bytes.fromhex(found[name]["code"])}
        for kernel, name in zip(todo, keys, strict=True)
    }
    return [replace(kernel, code=codes.get(kernel.spec, kernel.code)) for kernel in kernels]


def frames(kernels: Sequence[Kernel]) -> Frames:
    """Return the frames of kernels that are compiled for Go."""
    sizes = {go_kernel(frame).name: frame for frame in GO_FRAMES}
    used = {k.spec.symbol: sizes[abi] for k in kernels for abi in k.code if abi in sizes}
    return Frames(GO_PLACE, used)


def _compiler(form: str) -> str:
    """Return the path of the compiler. Raises SpecError without one."""
    found = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if found is None:
        raise SpecError(
            f"form {form}: neon needs clang, which is not installed; allowed without it: --isa x86_64"
        )
    return found


def _compile(
    compiler: str, headers: Mapping[str, str], form: str, kernel: tuple[str, str]
) -> tuple[str, bytes]:
    """Return calling convention and machine code of a kernel, given as symbol and C source."""
    symbol, text = kernel
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, header in {**headers, "string.h": _STRING_H, "kernel.c": text}.items():
            (folder / path).write_text(header, encoding="utf-8")
        flags = (*_FLAGS, *(_GO_FLAGS if form == "go" else ()))
        _run(folder, compiler, _TARGET, *flags, "-I.", "-S", "-o", "kernel.s", "kernel.c")
        lines, constants = _function(symbol, (folder / "kernel.s").read_text(encoding="utf-8"))
        abi = AAPCS64_X18.name
        if form == "go":
            lines, used = _placed(symbol, lines)
            abi = go_kernel(next(frame for frame in GO_FRAMES if used <= frame)).name
        (folder / "kernel.s").write_text("\n".join([*lines, "\t.p2align 4, 0", *constants, ""]))
        _run(folder, compiler, _TARGET, "-c", "-o", "kernel.o", "kernel.s")
        return abi, _code(symbol, folder / "kernel.o")


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def _function(symbol: str, assembly: str) -> tuple[list[str], list[str]]:
    """Return the lines of the function and those of its constants: labels, instructions and data."""
    lines: list[str] = []
    constants: list[str] = []
    section, inside = constants, False
    for raw in assembly.splitlines():
        line = raw.split("//")[0].rstrip()
        if line.startswith(("\t.section", "\t.text")):
            section = lines if ".text" in line else constants
            inside = ".rodata" in line
        elif line == f"{symbol}:":
            section, inside = lines, True
        elif line.startswith(".Lfunc_end"):
            inside = False
        elif inside and line and (section is constants or not line.startswith("\t.")):
            section.append(line)
    return lines, [line for line in constants if not re.match(r"\t\.(type|size|p2align)", line)]


def _placed(symbol: str, lines: Sequence[str]) -> tuple[list[str], int]:
    """Return the lines with the frame at x26, and the bytes of the caller's frame that they use. The space of
    pushes ends at x26, and that of spills begins there."""
    depth = pushed = deepest = 0
    placed = []
    for line in lines:
        if move := _MOVE.match(line):
            depth += int(move[2]) if move[1] == "sub" else -int(move[2])
        elif push := _PUSH.match(line):
            if depth:
                raise CompileError(f"{symbol}: a push behind other stack space")
            depth = pushed = int(push[2])
            placed.append(f"{push[1]}, [x26, #-{pushed}]")
        elif pop := _POP.match(line):
            depth -= int(pop[2])
            placed.append(f"{pop[1]}, [x26, #-{pop[2]}]")
        else:
            below = pushed if depth == pushed else 0
            placed.append(re.sub(r"\bsp\b", "x26", _SLOT.sub(partial(_slot, below), line)))
        deepest = max(deepest, depth)
    if pushed > GO_SAVED:
        raise CompileError(f"{symbol}: pushes {pushed} bytes; allowed: {GO_SAVED}")
    return placed, GO_SAVED + deepest - pushed if deepest else 0


def _slot(below: int, found: re.Match[str]) -> str:
    """Return a place on the stack relative to x26."""
    return f"[x26, #{int(found[1] or 0) - below}]"


def _code(symbol: str, path: Path) -> bytes:
    with path.open("rb") as file:
        elf = ELFFile(file)
        text = elf.get_section_by_name(".text")
        if text is None or elf.get_section_by_name(".rela.text") is not None:
            raise CompileError(f"{symbol}: refers to something outside of its code")
        return bytes(text.data())
