"""Exported symbols, headers and loading of the library, and its answers to invalid arguments."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import needs
from tests.system.isal.support import run, with_library
from tests.system.jerasure.support import CLIENTS, HEADERS, REAL, REAL_HEADERS, STRICT

PARTS = ("jerasure.h", *(f"jerasure/{name}.h" for name in ("cauchy", "galois", "liberation", "reed_sol")))
#: Names that Debian's library exports without a declaration. The drop-in has the functions among them.
UNDECLARED = {f"galois_w{w}_region_xor" for w in (8, 16, 32)}
VARIABLES = {"gfp_array", "gfp_is_composite"}


def declared(folder: Path) -> set[str]:
    """Return the functions that the headers declare."""
    text = "".join((folder / part).read_text() for part in PARTS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return set(re.findall(r"\b((?:jerasure|galois|reed_sol|cauchy|liber\w+|blaum)_\w+)\s*\(", text))


def shown(library: Path) -> set[str]:
    lines = run(["nm", "-D", "--defined-only", str(library)]).splitlines()
    return {line.split()[-1] for line in lines if re.search(r" [A-TV-Z] ", line)}


def test_the_library_has_every_function_of_debians(shim: Path) -> None:
    names = shown(shim)
    assert declared(HEADERS) == declared(REAL_HEADERS) and len(names) > 60
    assert names == declared(HEADERS) | UNDECLARED
    assert shown(REAL) == names | VARIABLES


def test_the_library_is_found_under_jerasures_name(shim: Path) -> None:
    dynamic = run(["readelf", "-dW", str(shim)])
    assert re.search(r"SONAME.*\[libJerasure\.so\.2\]", dynamic)
    assert re.findall(r"NEEDED.*\[(.*)\]", dynamic) == ["libc.so.6"]
    assert "TEXTREL" not in dynamic


def test_the_headers_declare_the_same(shim: Path, tmp_path: Path) -> None:
    program = tmp_path / "interface"
    flags = [*STRICT[:3], "-Wno-strict-prototypes", "-Werror", "-I/usr/include/jerasure"]
    run(["gcc", *flags, str(CLIENTS / "interface.c"), str(shim), "-o", str(program)])
    for library in (shim, REAL):
        assert run([str(program)], env=with_library(library.parent)) == "245 4107\n"


@pytest.mark.parametrize("compiler", needs.params(["gcc", "g++", "clang-19"]))
def test_a_client_compiles_against_our_headers(shim: Path, tmp_path: Path, compiler: str) -> None:
    source = (
        "\n".join(f"#include <{part}>" for part in PARTS)
        + "\nint main(void) { return galois_inverse(1, 8) - 1; }\n"
    )
    program = tmp_path / ("client.cpp" if compiler == "g++" else "client.c")
    program.write_text(source)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(HEADERS)]
    run([compiler, *flags, str(program), str(shim), "-o", str(tmp_path / "client")])
    run([str(tmp_path / "client")], env=with_library(shim.parent))


CALL = """
import ctypes as c, sys
lib = c.CDLL(sys.argv[1])
ints = lambda *values: (c.c_int * len(values))(*values)
pointers = "coding_matrix coding_bitmatrix to_erased to_bitmatrix schedule_cache field_ptr".split()
name = sys.argv[2].partition("(")[0].removeprefix("lib.")
if any(name.endswith(end) for end in pointers):
    getattr(lib, name).restype = c.c_void_p
cache = lambda: c.c_void_p(lib.jerasure_generate_schedule_cache(2, 2, 1, ints(1, 1, 0, 1), 0))
lib.jerasure_generate_schedule_cache.restype = c.c_void_p
shards = (c.c_void_p * 8)(*(c.addressof(c.create_string_buffer(64)) for _ in range(8)))
both = (shards, shards)
print(eval(sys.argv[2]))
"""

#: Invalid calls to which both libraries give this answer; "abort": a line on the standard error, and abort().
SAME = {
    "lib.galois_init_default_field(33)": "22",
    "lib.galois_single_divide(3, 0, 8)": "-1",
    "lib.galois_inverse(0, 8)": "-1",
    "lib.galois_single_multiply(3, 5, 33)": "abort",
    "lib.galois_change_technique(None, 8)": "abort",
    "lib.galois_w16_region_multiply(shards[0], 3, 13, shards[1], 0)": "abort",
    "lib.reed_sol_vandermonde_coding_matrix(250, 7, 8)": "None",
    "lib.reed_sol_vandermonde_coding_matrix(3, 2, 33)": "abort",
    "lib.reed_sol_r6_coding_matrix(5, 4)": "None",
    "lib.cauchy_original_coding_matrix(3, 6, 3)": "None",
    "lib.cauchy_good_general_coding_matrix(8, 2, 3)": "None",
    "lib.liberation_coding_bitmatrix(8, 7)": "None",
    "lib.liber8tion_coding_bitmatrix(9)": "None",
    "lib.blaum_roth_coding_bitmatrix(7, 6)": "None",
    "lib.jerasure_erasures_to_erased(3, 2, ints(0, 4, 1, -1))": "None",
    "lib.jerasure_matrix_to_bitmatrix(1, 1, 4, None)": "None",
    "lib.jerasure_matrix_encode(3, 2, 4, None, None, None, 8)": "abort",
    "lib.jerasure_matrix_decode(3, 2, 4, None, 0, None, None, None, 8)": "-1",
    "lib.jerasure_matrix_decode(2, 1, 8, ints(1, 1), 1, ints(0, 2, -1), shards, shards, 8)": "-1",
    "lib.jerasure_matrix_decode(2, 2, 8, ints(1, 1, 1, 1), 1, ints(0, 1, -1), shards, shards, 8)": "-1",
    "lib.jerasure_matrix_dotprod(3, 4, ints(1, 1, 1), None, 3, shards, shards, 8)": "abort",
    "lib.jerasure_bitmatrix_dotprod(3, 4, ints(1), None, 3, shards, shards, 7, 2)": "abort",
    "lib.jerasure_bitmatrix_encode(1, 1, 2, ints(1, 1, 1, 1), shards, shards, 12, 3)": "abort",
    "lib.jerasure_bitmatrix_encode(1, 1, 2, ints(1, 1, 1, 1), shards, shards, 40, 8)": "abort",
    "lib.jerasure_generate_schedule_cache(2, 3, 2, ints(*[1] * 24), 1)": "None",
    "lib.jerasure_schedule_decode_cache(2, 2, 1, cache(), ints(0, 0, 1, -1), *both, 8, 8)": "-1",
}
#: Invalid calls of which the original does not notice that they are invalid.
STRICTER = {
    "lib.jerasure_erasures_to_erased(3, 2, ints(7, -1))": "None",
    "lib.jerasure_matrix_decode(2, 1, 8, ints(1, 300), 0, ints(0, -1), shards, shards, 8)": "-1",
    "lib.jerasure_matrix_decode(2, 1, 16, ints(1, 3), 0, ints(0, -1), shards, shards, 7)": "-1",
    "lib.jerasure_matrix_encode(2, 1, 8, ints(1, 300), shards, shards, 8)": "abort",
    "lib.jerasure_schedule_encode(1, 1, 2, None, shards, shards, 8, 4)": "abort",
    "lib.jerasure_bitmatrix_decode(1, 1, 1, ints(1), 0, ints(0, -1), shards, shards, 7, 2)": "-1",
    "lib.jerasure_schedule_decode_lazy(2, 2, 1, ints(1, 1, 1, 1), ints(0, 1, -1), *both, 8, 8, 0)": "-1",
    "lib.jerasure_schedule_decode_lazy(2, 2, 1, ints(1, 1, 0, 1), ints(-1), shards, shards, 8, 8, 1)": "0",
    "lib.reed_sol_r6_encode(3, 4, None, None, 8)": "0",
    "lib.reed_sol_vandermonde_coding_matrix(0, 2, 8)": "None",
    "lib.liberation_coding_bitmatrix(0, 7)": "None",
    "lib.galois_get_field_ptr(0)": "None",
    "lib.galois_init_field(8, 0, 0x20, 0, c.c_uint64(0), 0, 0)": "abort",
    "lib.galois_init_composite_field(8, 0, 0, 2, None)": "abort",
}


def answer(library: Path, call: str) -> str:
    command = [sys.executable, "-c", CALL, str(library), call]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == -6 and done.stderr:
        return "abort"
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("call", SAME)
def test_invalid_arguments_have_the_same_answer(shim: Path, call: str) -> None:
    assert answer(shim, call) == SAME[call]
    assert answer(REAL, call) == SAME[call]


@pytest.mark.parametrize("call", STRICTER)
def test_other_invalid_arguments_are_refused(shim: Path, call: str) -> None:
    assert answer(shim, call) == STRICTER[call]


def test_a_refusal_is_one_line(shim: Path) -> None:
    call = "lib.jerasure_matrix_encode(3, 2, 4, None, None, None, 8)"
    done = subprocess.run([sys.executable, "-c", CALL, str(shim), call], capture_output=True, text=True)
    expected = "jerasure_matrix_encode: w must be 8, 16 or 32, k positive, size a multiple of w / 8\n"
    assert done.stderr == expected
