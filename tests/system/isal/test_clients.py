"""Programs written for ISA-L, run with the drop-in: their own tests, and stripes exchanged with ISA-L."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bench.peers import isal_sources
from tests.support.paths import ROOT
from tests.system.isal.support import (
    REAL,
    STRICT,
    exchange_stripes,
    pyeclib,
    pyeclibs_own_tests,
    run,
    with_library,
)

TYPES = ("isa_l_rs_vand", "isa_l_rs_cauchy")


@pytest.fixture(scope="session")
def liberasurecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """liberasurecode 1.0.7 and its test program, built from the sources in PyECLib's source package."""
    folder = tmp_path_factory.mktemp("liberasurecode")
    archive = pyeclib("1.0.7") / "src" / "c" / "liberasurecode-1.0.7.tar.gz"
    run(["tar", "-xzf", str(archive), "-C", str(folder), "--strip-components=1"])
    flags = ["gcc", "-w", "-O1", "-Iinclude", "-Iinclude/erasurecode", "-Iinclude/xor_codes"]
    sources = [str(path) for path in (folder / "src").rglob("*.c")]
    library = ["-include", "errno.h", "-fPIC", "-shared", "-Wl,-soname,liberasurecode.so.1"]
    run([*flags, *library, "-o", "liberasurecode.so.1", *sources, "-ldl", "-lz", "-pthread"], cwd=folder)
    test = ["-o", "own_tests", "test/liberasurecode_test.c", "liberasurecode.so.1", "-ldl", "-lz"]
    run([*flags, *test], cwd=folder)
    return folder


def test_liberasurecodes_own_tests(liberasurecode: Path, shim: Path, tmp_path: Path) -> None:
    """liberasurecode loads libisal.so, without a version number."""
    (tmp_path / "libisal.so").symlink_to(shim)
    environment = with_library(None, LD_LIBRARY_PATH=f"{tmp_path}:{liberasurecode}", LD_DEBUG="libs")
    done = subprocess.run(
        ["./own_tests"], cwd=liberasurecode, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    passed = [line for line in done.stdout.splitlines() if re.match(r"ok .*: isa_l_rs_vand", line)]
    assert len(passed) == 14
    assert "not ok" not in done.stdout
    assert f"trying file={tmp_path}/libisal.so" in done.stderr
    assert str(REAL.parent / "libisal") not in done.stderr  # the loader searches no other place


#: Selections of PyECLib's tests, and the types they use. One test also needs types that are not ISA-L's.
SELECTIONS = {
    "not valid_ec_types": " ".join(TYPES),
    "valid_ec_types": "",
}


@pytest.mark.parametrize("selected", SELECTIONS)
def test_pyeclibs_own_tests(shim: Path, tmp_path: Path, selected: str) -> None:
    passed = pyeclibs_own_tests(shim, SELECTIONS[selected], selected, tmp_path)
    assert passed >= (20 if selected.startswith("not") else 1)


@pytest.mark.parametrize("ec_type", TYPES)
def test_stripes_go_from_one_library_to_the_other(shim: Path, tmp_path: Path, ec_type: str) -> None:
    exchange_stripes(shim, REAL, ec_type, sum((3, 6, 9, 14, 18, 22)), tmp_path)


#: ISA-L's own test programs, with fewer rounds where they have many. Three more (gf_vect_mul_test,
#: gf_vect_dot_prod_test, gf_vect_mad_test) pass as well and take CI too long: docs/isal.md.
OWN_TESTS = {
    "erasure_code/erasure_code_test": ("TEST_SOURCES=40", "RANDOMS=40"),
    "erasure_code/erasure_code_base_test": ("TEST_SOURCES=40", "RANDOMS=2"),
    "erasure_code/erasure_code_update_test": ("TEST_SOURCES=40", "RANDOMS=40"),
    "erasure_code/gf_inverse_test": ("TEST_SOURCES=64",),
    "erasure_code/gf_vect_dot_prod_base_test": ("TEST_SOURCES=32", "RANDOMS=4"),
    "erasure_code/gf_vect_mul_base_test": (),
    "raid/pq_gen_test": (),
    "raid/pq_check_test": (),
    "raid/xor_gen_test": (),
    "raid/xor_check_test": (),
    "crc/crc16_t10dif_test": (),
    "crc/crc16_t10dif_copy_test": (),
    "crc/crc32_funcs_test": (),
    "crc/crc64_funcs_test": (),
}


@pytest.mark.parametrize("name", OWN_TESTS)
def test_isals_own_tests(shim: Path, tmp_path: Path, name: str) -> None:
    """The test programs of ISA-L 2.32, compiled with its own headers."""
    sources, program = isal_sources.sources(), tmp_path / "test"
    smaller = [f"-D{setting}" for setting in OWN_TESTS[name]]
    includes = [f"-I{sources / folder}" for folder in ("include", "erasure_code", "crc")]
    source = str(sources / f"{name}.c")
    run(["gcc", "-w", "-O1", *includes, *smaller, source, str(shim), "-o", str(program)])
    printed = run([str(program)], env=with_library(shim.parent))
    assert printed.rstrip().lower().endswith("pass"), printed[-300:]


def test_isals_own_tests_can_fail(shim: Path, tmp_path: Path) -> None:
    """With functions that do nothing preloaded, the test programs fail, so they check results."""
    nothing = tmp_path / "nothing.so"
    source = tmp_path / "nothing.c"
    source.write_text("void ec_encode_data(void) {}\n")
    run(["gcc", *STRICT, "-shared", "-fPIC", str(source), "-o", str(nothing)], cwd=ROOT)
    sources, program = isal_sources.sources(), tmp_path / "test"
    test = str(sources / "erasure_code" / "erasure_code_test.c")
    run(["gcc", "-w", f"-I{sources / 'include'}", test, str(shim), "-o", str(program)])
    environment = with_library(shim.parent, LD_PRELOAD=str(nothing))
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True)
    assert done.returncode != 0
