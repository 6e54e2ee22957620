"""Algebra routines: proved unchanged, refuted with an error; isomorphisms against the galois package."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import galois
import numpy as np
import pytest

from gfsmith.build.algebra import isomorphisms, routines
from gfsmith.emit.c.algebra import build
from gfsmith.field import Field, FieldError, apply
from gfsmith.field.isomorphism import check_isomorphism, inverse_matrix, isomorphism
from gfsmith.ir.algebra import Act, Instr, Routine
from gfsmith.prove.algebra.prove import prove, prove_isomorphisms
from gfsmith.prove.algebra.ring import ZERO, Element
from gfsmith.prove.verdict import Status
from tests.support import needs
from tests.support.levels import first
from tests.support.paths import ROOT

AES = Field(0x11B)
SETS = ("gfni_avx512", "gfni_avx2", "gfni_sse")
WORDS, VECTORS = routines(SETS)
BY_SYMBOL = {routine.symbol: routine for routine in (*WORDS, *VECTORS)}
MUTATED = [
    *(routine.symbol for routine in WORDS),
    *("gfs_multiply__gfni_avx512", "gfs_multiply_mapped__gfni_avx512", "gfs_invert_mapped__gfni_avx512"),
    *("gfs_polynomials8_mapped__gfni_avx512", "gfs_polynomials16__gfni_avx2", "gfs_polynomials32__gfni_sse"),
    *(f"gfs_{name}__{set_}" for name in ("matrices8", "matrices64") for set_ in SETS),
]


def test_elements_of_any_ring_of_characteristic_2() -> None:
    x, y = Element.unknown("a", 0), Element.unknown("b", 0)
    assert (x ^ y) ** 2 == x**2 ^ y**2 and x**2 != x and x ^ x == ZERO
    assert str(x**254 ^ x * y) == "a[0] b[0] + a[0]^254"


@pytest.mark.parametrize("symbol", BY_SYMBOL)
def test_proved(symbol: str) -> None:
    assert prove(BY_SYMBOL[symbol]).status is Status.PROVED


def _wrong(instr: Instr) -> Iterator[Instr | None]:
    """Yield instructions with another result; None omits the instruction."""
    match instr.act:
        case Act.XOR:
            yield replace(instr, args=(instr.args[0],) * 2)
        case Act.MULB | Act.PRODUCT | Act.AND:
            yield replace(instr, act=Act.XOR)
        case Act.AFFINE:
            yield replace(instr, args=instr.args[::-1])
        case Act.AFFINE_INVERSE:
            yield replace(instr, act=Act.AFFINE)
        case Act.ARGUMENT:
            yield replace(instr, text={"forth": "back", "back": "forth", "low": "forth"}[instr.text])
        case Act.LOAD | Act.COEFFICIENT | Act.ROW:
            yield replace(instr, text={"a": "b", "b": "a", "modulus": "b"}[instr.text])
        case Act.STORE:
            yield None
            yield replace(instr, offset=instr.offset + 1)
        case Act.SHIFT:
            yield replace(instr, immediate=-instr.immediate)
        case Act.CONST:
            yield replace(instr, data=bytes([instr.data[0] ^ 1]) + instr.data[1:])
        case Act.PERMUTE if instr.text == "shuffle":
            yield replace(instr, data=bytes([instr.data[0] ^ 1]) + instr.data[1:])
        case Act.PERMUTE if instr.text not in ("units", "unpack", "two_groups", "four_groups"):
            yield replace(instr, immediate=instr.immediate - 1)
        case Act.PERMUTE if instr.text in ("two_groups", "four_groups"):
            yield replace(instr, immediate=instr.immediate ^ (0x10 if instr.text == "two_groups" else 0x40))


def _mutants(routine: Routine) -> Iterator[Routine]:
    """Yield every wrong variant of some instructions of each section, and of the order of the steps."""

    def changed(code: tuple[Instr, ...]) -> Iterator[tuple[Instr, ...]]:
        for n in range(0, len(code), 1 + len(code) // 12):
            for wrong in _wrong(code[n]):
                yield (*code[:n], *(() if wrong is None else (wrong,)), *code[n + 1 :])

    for section in ("preload", "head", "close"):
        for code in changed(getattr(routine, section)):
            yield replace(routine, **{section: code})
    for n in sorted({0, len(routine.steps) // 2, len(routine.steps) - 1} & set(range(len(routine.steps)))):
        step, steps = routine.steps[n], routine.steps
        for code in changed(step.code):
            yield replace(routine, steps=(*steps[:n], replace(step, code=code), *steps[n + 1 :]))
        if step.index is not None:
            yield replace(routine, steps=(*steps[:n], *steps[n + 1 :]))
            yield replace(routine, steps=(*steps[:n], replace(step, index=step.index ^ 1), *steps[n + 1 :]))


@pytest.mark.parametrize("symbol", MUTATED)
def test_mutants_are_refuted(symbol: str) -> None:
    mutants = list(_mutants(BY_SYMBOL[symbol]))
    assert len(mutants) > 2
    for mutant in mutants:
        verdict = prove(mutant)
        assert verdict.status is Status.REFUTED, mutant
        assert verdict.reason.startswith(f"{symbol}: ")


def test_a_read_after_a_store_that_may_have_replaced_it_is_refuted() -> None:
    routine = BY_SYMBOL["gfs_multiply__gfni_avx512"]
    again = Instr(Act.LOAD, 99, text="a")
    assert "after a store" in prove(replace(routine, close=(again,))).reason


@pytest.mark.parametrize(("source", "target"), [(0x11D, 0x11B), (0x1F5, 0x12B)])
def test_isomorphism(source: int, target: int) -> None:
    matrix = isomorphism(Field(source), Field(target))
    ours, theirs = (galois.GF(256, irreducible_poly=p, repr="int") for p in (source, target))
    x, y = np.meshgrid(np.arange(256), np.arange(256))
    image = np.array([apply(matrix, value) for value in range(256)])
    products = np.asarray(ours(x) * ours(y))
    assert np.array_equal(image[products], np.asarray(theirs(image[x]) * theirs(image[y])))
    assert [apply(inverse_matrix(matrix), value) for value in image] == list(range(256))


def test_a_linear_map_that_is_no_isomorphism_is_refused() -> None:
    matrix = isomorphism(Field(0x11D), AES)
    for wrong in (matrix[::-1], (0,) * 8, tuple(1 << n for n in range(8))):
        with pytest.raises(FieldError, match="no isomorphism from 0x11d to 0x11b"):
            check_isomorphism(Field(0x11D), AES, wrong)


def test_table_of_isomorphisms() -> None:
    entries = isomorphisms()
    assert prove_isomorphisms(entries).status is Status.PROVED
    swapped = replace(entries[5], forth=entries[5].back, back=entries[5].forth)
    assert "no isomorphism" in prove_isomorphisms([*entries[:5], swapped, *entries[6:]]).reason
    foreign = replace(entries[5], back=entries[6].back)
    assert prove_isomorphisms([*entries[:5], foreign, *entries[6:]]).status is Status.REFUTED
    assert "every irreducible polynomial" in prove_isomorphisms(entries[1:]).reason


def _compiled(folder: Path, compiler: str, isas: tuple[str, ...]) -> str:
    """Compile the routines for some sets, with lists like a build's, without warnings, and return the
    disassembly.
    """
    for name, text in build(*routines(isas), isas, []).items():
        (folder / name).write_text(text)
    lists = "".join(f"GFSMITH_ISA({name}, affine, 0)\n" for name in (*isas, "scalar"))
    (folder / "isas.inc").write_text(lists)
    (folder / "gfsmith_kernels.h").write_text(
        "#include <stddef.h>\n#include <stdint.h>\ntypedef void gfsmith_kernel(size_t);\n"
        "#define GFSMITH_BUILDS(name) 1\n"
    )
    flags = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    include = (f"-I{folder}", f"-I{ROOT / 'runtime/core/include'}", f"-I{ROOT / 'runtime/core/src'}")
    target = folder / "kernels.o"
    command = [compiler, *flags, *include, "-c", ROOT / "runtime/core/src/algebra_kernels.c", "-o", target]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    dump = ["objdump", "-d", "--no-show-raw-insn", target]
    return subprocess.run(dump, capture_output=True, text=True, check=True).stdout


def leaks(listing: str) -> list[str]:
    """Return the instructions that move values from vector registers elsewhere than to memory: only they
    could make a branch or an address depend on data.
    """
    out_of = r"\tv?(mov[dq]|pextr\w|movmsk\w+|pmovmskb|kmov\w|cvt\w+2si\w?)\s.*%[xyzk]\w+,%[re]\w+$"
    flags = r"\tv?(ptest|test[pm]\w|u?comis\w|kor?test\w|pcmp[ei]str\w)\s"
    gather = r"\tv?p?(gather|scatter)\w+\s"
    return [line for line in listing.splitlines() if re.search(f"{out_of}|{flags}|{gather}", line)]


def test_a_leak_is_detected(tmp_path: Path) -> None:
    source, target = tmp_path / "leak.c", tmp_path / "leak.o"
    source.write_text(
        "#include <immintrin.h>\n"
        "int f(__m128i x) { return _mm_movemask_epi8(x) ? 1 : 2; }\n"
        "long long g(__m128i x) { return _mm_cvtsi128_si64(x); }\n"
        "int h(__m128i x) { return _mm_testz_si128(x, x); }\n"
    )
    subprocess.run(["gcc", "-O2", "-msse4.1", "-c", source, "-o", target], check=True)
    dump = ["objdump", "-d", "--no-show-raw-insn", target]
    listing = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    assert len(leaks(listing)) == 3


@pytest.mark.parametrize("isas", first([SETS, (), ("gfni_avx2",), ("avx2",)]))
@pytest.mark.parametrize("compiler", needs.params(["gcc", "clang-19", "x86_64-w64-mingw32-gcc"]))
def test_builds_with_any_sets(tmp_path: Path, isas: tuple[str, ...], compiler: str) -> None:
    """Any choice of sets compiles without warnings. The code does not broadcast a matrix from memory, which
    LLVM encodes wrongly, and data stays in vector registers.
    """
    listing = _compiled(tmp_path, compiler, isas)
    found = [line for line in listing.splitlines() if "gf2p8" in line]
    assert bool(found) == bool(set(isas) & set(SETS))
    assert not [line for line in found if "{1to" in line]
    functions = listing.split("\n\n")
    vectors = [text for text in functions if re.search(r"^[0-9a-f]+ <gfs_\w+__gfni", text)]
    assert bool(vectors) == bool(found) and not [line for text in vectors for line in leaks(text)]
    # GCC for Windows would spill wide vectors to a stack that is aligned to 16 bytes.
    wide = "%ymm" in listing or "%zmm" in listing
    assert wide == ("w64" not in compiler and bool(set(isas) & {"gfni_avx512", "gfni_avx2"}))
