"""gfsmith_check_kernels: kernels of a running program, and SHA-256 against NIST's examples and hashlib."""

from __future__ import annotations

import ctypes
import hashlib
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.linked.support import CHECKER, SYMBOL, call, tamper

CORE = ROOT / "runtime" / "core"
NATIVE = Path(__file__).parent / "native"
STRICT = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

#: FIPS 180-4's examples and NIST's long message.
NIST = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    b"a" * 1_000_000: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
}


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("sha256") / "digest"
    sources = (NATIVE / "digest.c", CORE / "src" / "sha256.c")
    call("gcc", *STRICT, "-fsanitize=undefined,address", f"-I{CORE / 'src'}", *sources, "-o", program)
    return program


def _sha256(program: Path, data: bytes) -> str:
    return subprocess.run([program], input=data, capture_output=True, check=True).stdout.decode()


def test_sha256_of_the_standard(digest: Path) -> None:
    for message, expected in NIST.items():
        assert _sha256(digest, message) == expected


def test_sha256_of_every_length(digest: Path) -> None:
    data = bytes(n * 37 & 0xFF for n in range(200))
    for length in (*range(140), 183, 191, 192, 193):
        assert _sha256(digest, data[:length]) == hashlib.sha256(data[:length]).hexdigest()


def _cube_root(number: int) -> int:
    root, step = 0, 1 << number.bit_length() // 3 + 1
    while step:
        root += step if (root + step) ** 3 <= number else 0
        step >>= 1
    return root


def test_constants_are_roots_of_primes() -> None:
    text = (CORE / "src" / "sha256.c").read_text()
    numbers = [int(found, 16) for found in re.findall(r"0x[0-9a-f]{8}", text)]
    primes = [n for n in range(2, 312) if all(n % d for d in range(2, n))]
    roots = [math.isqrt(p << 64) & 0xFFFFFFFF for p in primes[:8]]
    roots += [_cube_root(p << 96) & 0xFFFFFFFF for p in primes[:64]]
    assert numbers == roots


def test_the_library() -> None:
    """All kernels of the default set; the numbers are those of the script."""
    library = built("lib") / "libgfsmith.so"
    function = ctypes.CDLL(str(library)).gfsmith_check_kernels
    function.restype = ctypes.c_char_p
    compared, compiled = ctypes.c_uint(), ctypes.c_uint()
    assert function(ctypes.byref(compared), ctypes.byref(compiled)) is None
    assert function(None, None) is None
    said = call("python3", CHECKER, ROOT / "gen_out" / "MANIFEST.json", library)
    assert said.endswith(f": {compared.value} functions compared, {compiled.value} compiled from C\n")


def _tree(small: Path, folder: Path) -> Path:
    tree = Path(shutil.copytree(small / "tree", folder / "tree"))
    call("make", "PYTHON3=", "build/libgfsmith.a", cwd=tree)
    return tree


def test_a_byte_changed_in_memory(small: Path, tmp_path: Path) -> None:
    tree = _tree(small, tmp_path)
    includes = (f"-I{tree}/runtime/core/include", f"-I{tree}/gen_out")
    program = tmp_path / "changed"
    call("gcc", *STRICT, *includes, NATIVE / "changed.c", tree / "build" / "libgfsmith.a", "-o", program)
    assert call(program) == f"equal 4 4\n{SYMBOL} 3 4\n"


#: With the check of clang's, pointers to functions are addresses of jumps to them.
TYPES = ("clang-19", "-O2", "-fsanitize=cfi-icall", "-fvisibility=hidden", "-flto", "-fuse-ld=lld-19")


@pytest.mark.parametrize("compiler", [("gcc",), ("gcc", "-O2", "-flto", "-s"), TYPES])
def test_an_amalgamation(compiler: tuple[str, ...], small: Path, tmp_path: Path) -> None:
    """In a program without symbols, too."""
    folder = Path(shutil.copytree(small / "amalgamation", tmp_path / "sources"))
    main = tmp_path / "main.c"
    main.write_text(
        '#include "gfsmith.h"\n#include <stdio.h>\n'
        "int main(void) {\n  const char *name = gfsmith_check_kernels(NULL, NULL);\n"
        '  puts(name != NULL ? name : "equal");\n'
        "  gfsmith_codec *codec;\n  uint8_t byte = 1, *parity = &byte;\n"
        '  if (gfsmith_codec_create(&codec, "cauchy", 1, 1) == GFSMITH_OK)\n'
        "    gfsmith_encode(codec, 1, (const uint8_t *const[]){&byte}, &parity);\n}\n"
    )
    build = (*compiler, "-std=c11", f"-I{folder}", main, folder / "gfsmith.c", "-o", tmp_path / "program")
    call(*build)
    assert call(tmp_path / "program") == "equal\n"
    tamper(folder / "gfsmith.c")
    call(*build)
    assert call(tmp_path / "program") == f"{SYMBOL}\n"
