"""Exported symbols, linking and loading of the libraries, and agreement of the headers with ISA-L's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bench.peers import isal_sources
from tests.system.isal.support import (
    CLIENTS,
    HEADERS,
    REAL,
    REAL_HEADERS,
    STRICT,
    prototypes,
    run,
    with_library,
)

PARTS = ("crc.h", "crc64.h", "erasure_code.h", "gf_vect_mul.h", "raid.h")


def declared(folder: Path) -> dict[str, tuple[str, ...]]:
    return {name: types for part in PARTS for name, types in prototypes(folder / part).items()}


def shown(*command: str) -> set[str]:
    return {line.split()[-1] for line in run(["nm", *command]).splitlines() if re.search(r" [A-TV-Z] ", line)}


@pytest.mark.needs("isal sources")
def test_the_headers_have_the_declarations_of_isal() -> None:
    ours = declared(HEADERS / "isa-l")
    assert len(ours) == 112
    assert ours == declared(isal_sources.sources() / "include")


def test_debians_headers_declare_nothing_else() -> None:
    ours, debian = declared(HEADERS / "isa-l"), declared(REAL_HEADERS / "isa-l")
    rocksoft = {name for name in ours if name.startswith("crc64_rocksoft_")}
    assert set(ours) - set(debian) == {"ec_init_tables_base", "gf_vect_mul_init_base"} | rocksoft
    different = {name for name, types in debian.items() if ours[name] != types}
    assert different == {"gf_vect_mul_base"}  # it returns void in 2.30 and int in 2.32


def test_the_libraries_show_these_names_only(build: Path, shim: Path) -> None:
    names = set(declared(HEADERS / "isa-l"))
    assert shown("-D", "--defined-only", str(shim)) == names
    assert shown("--defined-only", str(build / "libisal_ec.a")) == names


def test_the_shared_library_is_found_under_isals_name(shim: Path) -> None:
    dynamic = run(["readelf", "-dW", str(shim)])
    assert re.search(r"SONAME.*\[libisal\.so\.2\]", dynamic)
    assert re.findall(r"NEEDED.*\[(.*)\]", dynamic) == ["libc.so.6"]
    assert "TEXTREL" not in dynamic
    stack = re.search(r"GNU_STACK.*", run(["readelf", "-lW", str(shim)]))
    assert stack is not None and "RWE" not in stack[0]


@pytest.mark.parametrize("headers", [HEADERS, REAL_HEADERS], ids=["ours", "Debian's"])
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_a_client_compiles_against_either_header(
    shim: Path, tmp_path: Path, headers: Path, compiler: str
) -> None:
    program = tmp_path / "client"
    flags = STRICT[1:-1] if compiler == "gcc" else ("-x", "c++", "-Wall", "-Wextra", "-Werror")
    isystem = ["-I", str(headers)] if headers == HEADERS else []
    run(
        [
            compiler,
            *flags,
            *isystem,
            str(CLIENTS / "roundtrip.c"),
            "-x",
            "none",
            str(shim),
            "-o",
            str(program),
        ]
    )
    assert run([str(program)], env=with_library(shim.parent)) == "repaired\n"
    assert run([str(program)], env=with_library(REAL.parent)) == "repaired\n"


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """A program linked with Debian's libisal that also uses its Adler-32."""
    program = tmp_path / "both"
    run(["gcc", *STRICT, "-D_GNU_SOURCE", str(CLIENTS / "both.c"), "-o", str(program), "-lisal", "-ldl"])
    return program


def test_ours_alone_has_no_adler32(both: Path, shim: Path) -> None:
    """Both libraries have the same SONAME: with ours present, the loader searches no other."""
    done = subprocess.run([str(both)], env=with_library(shim.parent), capture_output=True, text=True)
    assert done.returncode != 0
    assert "undefined symbol: isal_adler32" in done.stderr


def test_ours_can_stand_before_the_real_one(both: Path, shim: Path) -> None:
    """LD_PRELOAD of both: erasure codes and CRC come from ours, Adler-32 from the real one."""
    alone = run([str(both)], env=with_library(None)).splitlines()
    before = run([str(both)], env=with_library(None, LD_PRELOAD=f"{shim} {REAL}")).splitlines()
    assert [name.rsplit("/", 1)[-1] for name in alone[:3]] == ["libisal.so.2"] * 3
    assert before[:3] == [f"ec_encode_data {shim}", f"crc32_iscsi {shim}", f"isal_adler32 {REAL}"]
    assert before[3:] == alone[3:]  # checksums of a parity


def test_the_static_library_together_with_libgfsmith_and_the_real_one(build: Path, tmp_path: Path) -> None:
    program = tmp_path / "static"
    flags = (*STRICT, "-D_GNU_SOURCE", "-DWITH_GFSMITH", "-Iruntime/core/include")
    libraries = (str(build / "libisal_ec.a"), str(build / "libgfsmith.a"), "-lisal", "-ldl")
    run(["gcc", *flags, str(CLIENTS / "both.c"), "-o", str(program), *libraries], cwd=build.parent)
    lines = run([str(program)], env=with_library(None)).splitlines()
    assert lines[:2] == [f"ec_encode_data {program}", f"crc32_iscsi {program}"]
    assert Path(lines[2].split()[1]).resolve() == REAL.resolve()
    assert lines[-1] == "gfsmith agrees"


def test_the_page_lists_the_missing_functions(shim: Path) -> None:
    """docs/isal.md: the rest of libisal is absent, and there are no instruction-set
    names beyond the headers.
    """
    there = shown("-D", "--defined-only", str(shim))
    absent = shown("-D", "--defined-only", str(REAL)) - there
    coding = {n for n in absent if re.match(r"(ec|gf|xor|pq|crc\d+)_", n) and "_slver" not in n}
    undeclared = r".*(_avx512|_0[0-2]|_by4|_by4_02|_by16_10)|crc32_gzip_refl_by8(_02)?"
    assert coding == {n for n in coding if re.fullmatch(undeclared, n)} and coding
    page = (shim.parents[1] / "docs" / "isal.md").read_text()
    for word in ("igzip", "Adler-32", "isal_zero_detect", "_avx512", "_by16_10", "_slver"):
        assert word in page
