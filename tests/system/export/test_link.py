"""The amalgamation in programs: compilers, two libraries in one program, C++,
link-time optimisation, CMake.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gfsmith.export.names import Names
from tests.support import needs
from tests.support.levels import first, sample
from tests.system.export.support import NATIVE, STRICT, Export, compiled, run, write_tree

COMPILERS = {"gcc": ("gcc",), "clang-14": ("clang-14",), "clang-19": ("clang-19",)}
PORTABLE = {"sse", "scalar"}  #: sets that every x86-64 CPU of today has


def _cpu_flags() -> set[str]:
    return set(re.findall(r"\S+", Path("/proc/cpuinfo").read_text()))


def expected(names: Names) -> str:
    """Return the expected output of the self-test on this CPU."""
    flags = _cpu_flags()
    wide = {"avx512f", "avx512bw", "avx512vl"} <= flags
    have = {
        "gfni_avx512": wide and "gfni" in flags,
        "gfni_avx2": "avx2" in flags and "gfni" in flags,
        "avx512": wide,
        "avx2": "avx2" in flags,
        "gfni_sse": "gfni" in flags,
        "sse": True,
        "scalar": True,
    }
    of_build = ("avx2", "sse", "scalar") if names.prefix == "acme" else tuple(have)
    return " ".join([*(isa for isa in of_build if have[isa]), "ok\n"])


def _program(export: Export, compiler: tuple[str, ...], *flags: str) -> Path:
    sources = [export.source, export.program("selftest.c"), export.program("main.c")]
    run(*compiler, *STRICT, *flags, *sources, "-o", export.folder / "program")
    return export.folder / "program"


@pytest.mark.parametrize("compiler", sample(needs.params(COMPILERS), "gcc", "clang-19"))
def test_compilers(compiler: str, plain: Export) -> None:
    assert run(_program(plain, COMPILERS[compiler])) == expected(plain.names)


def test_without_optimisation_in_the_order_of_the_file(plain: Export) -> None:
    assert run(_program(plain, ("gcc",), "-O0", "-fno-toplevel-reorder")) == expected(plain.names)


def test_every_global_symbol_begins_with_the_prefix(acme: Export) -> None:
    listing = run("nm", "--defined-only", "-g", compiled(acme, ("gcc",)))
    symbols = [line.split()[-1] for line in listing.splitlines()]
    assert len(symbols) > 60
    assert [name for name in symbols if not name.startswith("acme_")] == []


def test_nothing_but_the_licence_and_comments_keeps_the_old_names(acme: Export) -> None:
    for path in (acme.source, acme.source.with_suffix(".h")):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        left = set(re.findall(r"\w*(?:gfsmith|GFSMITH)\w*", code)) | set(
            re.findall(r"(?<!acme_)(?<!ACME_)\b(?:gfs|GFS)_\w+", code)
        )
        assert left <= {"gfsmith"}, left  # in the text of an #error


def test_the_environment_variable_is_the_librarys_own(acme: Export) -> None:
    user = acme.folder / "user.c"
    user.write_text('#include "acme.h"\n#include <stdio.h>\nint main(void) { puts(acme_isa()); return 0; }\n')
    run("gcc", *STRICT, acme.source, user, "-o", acme.folder / "user")
    assert run(acme.folder / "user", ACME_ISA="sse") == "sse\n"
    assert run(acme.folder / "user", GFSMITH_ISA="scalar") != "scalar\n"


LINKS = {
    "plain": (("gcc", "g++"), ()),
    "gc-sections": (("gcc", "g++"), ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")),
    "lto": (("gcc", "g++"), ("-flto=2",)),
    "clang-lto": (("clang-19", "clang++-19"), ("-flto", "-fuse-ld=lld-19")),
}


@pytest.mark.parametrize("how", sample(first(needs.params(LINKS)), "plain", "clang-lto"))
def test_two_libraries_in_one_program(how: str, plain: Export, acme: Export, tmp_path: Path) -> None:
    (c, cxx), flags = LINKS[how]
    objects = []
    for export in (plain, acme):
        objects.append(compiled(export, (c,), *(f for f in flags if not f.startswith(("-Wl", "-fuse")))))
        test = tmp_path / f"{export.names.library}_test.o"
        run(c, *STRICT, "-c", export.program("selftest.c"), "-o", test)
        objects.append(test)
    includes = [f"-I{plain.folder}", f"-I{acme.folder}"]
    warnings = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    run(cxx, *warnings, *flags, *includes, NATIVE / "two.cc", *objects, "-o", tmp_path / "two")
    assert run(tmp_path / "two") == expected(plain.names) + expected(acme.names)


@pytest.mark.needs("build systems")
def test_the_tree_with_a_prefix_builds_with_cmake(acme: Export, tmp_path: Path) -> None:
    folder, build, installed = tmp_path / "tree", tmp_path / "build", tmp_path / "installed"
    write_tree("acme", folder)
    run("cmake", "-S", folder, "-B", build, f"-DCMAKE_INSTALL_PREFIX={installed}")
    run("cmake", "--build", build, "--target", "install", "--parallel", "2")
    assert (installed / "include" / "acme.h").is_file()
    sources = [acme.program("selftest.c"), acme.program("main.c")]
    library = installed / "lib" / "libacme.a"
    run("gcc", *STRICT, f"-I{installed}/include", *sources, library, "-o", tmp_path / "program")
    assert run(tmp_path / "program") == expected(acme.names)


def test_a_compiler_without_assembly_statements_is_refused(plain: Export) -> None:
    """cl has no assembly statements; clang-cl has them."""
    with pytest.raises(AssertionError, match="cl has no assembly statements"):
        run("gcc", "-D_MSC_VER=1930", "-fsyntax-only", plain.source)
