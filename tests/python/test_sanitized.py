"""The extension and the runtime's C under AddressSanitizer and UndefinedBehaviorSanitizer, called with what
is right and what is wrong in the other tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gfsmith

REPO = Path(__file__).resolve().parents[2]
NATIVE = REPO / "generator" / "gfsmith" / "codec" / "native"
FLAGS = ["-std=c11", "-g", "-O1", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-w"]

CALLS = f"""
import sys
sys.path[:0] = [sys.argv[1], {str(REPO / "tests")!r}]
import gfsmith.codec
assert gfsmith.codec.__file__.startswith(sys.argv[1])
from python.test_buffers import ARRAYS, KINDS
from python import test_buffers as buffers, test_codec as codecs, test_wrong as wrong
codec = gfsmith.Codec("cauchy", 4, 2)
for name in wrong.WRONG:
    wrong.test_what_is_wrong_is_named_and_nothing_is_written(name, codec)
for call, kind, message in wrong.CREATIONS:
    wrong.test_codecs_that_cannot_be(call, kind, message)
expected = [bytes(parity) for parity in codec.encode(buffers.DATA)]
for name in KINDS:
    buffers.test_anything_that_holds_bytes_is_a_shard(name, codec, expected)
for name in ARRAYS:
    buffers.test_rows_of_an_array_are_shards(name, codec, expected)
codecs.test_a_wrong_shard_is_located()
codecs.test_only_what_is_wanted_is_rebuilt()
for parities in (1, 2, 3):
    codecs.test_raid(parities)
print("done")
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The runtime's C that the codec uses, instrumented; the kernels are those of the library."""
    folder = tmp_path_factory.mktemp("runtime")
    includes = [f"-I{REPO / path}" for path in ("runtime/include", "runtime/src", "gen_out")]
    sources = [path for path in (REPO / "runtime" / "src").glob("*.c") if "algebra" not in path.name]
    subprocess.run(["gcc", *FLAGS, *includes, "-c", *map(str, sources)], check=True, cwd=folder)
    return sorted(folder.glob("*.o"))


def package(folder: Path, runtime: list[Path], native: Path) -> Path:
    """A copy of gfsmith with an instrumented extension of the sources in `native`."""
    shutil.copytree(Path(gfsmith.__file__).parent, folder / "gfsmith", ignore=shutil.ignore_patterns("*.so"))
    includes = [
        f"-I{sysconfig.get_path('include')}",
        *(f"-I{REPO / path}" for path in ("runtime/include", "gen_out")),
    ]
    sources = sorted(native.glob("*.c"))
    target = folder / "gfsmith" / "codec" / "_native.abi3.so"
    command = ["gcc", *FLAGS, "-shared", "-DPy_LIMITED_API=0x030b0000", *includes, *sources, *runtime]
    subprocess.run([*command, REPO / "build" / "libgfsmith.a", "-o", target], check=True)
    return folder


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    environment = os.environ | {
        "LD_PRELOAD": asan.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", CALLS, folder], capture_output=True, text=True, env=environment, cwd=folder
    )


def test_nothing_is_touched_outside_buffers(runtime: list[Path], tmp_path: Path) -> None:
    done = run(package(tmp_path, runtime, NATIVE))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_check_that_is_left_out_is_noticed(runtime: list[Path], tmp_path: Path) -> None:
    """Without the comparison of its length, `where` of Codec.locate is written beyond its end."""
    native = tmp_path / "native"
    shutil.copytree(NATIVE, native)
    source = native / "calls.c"
    text = source.read_text(encoding="utf-8")
    assert "view->shape[0] == s->len" in text
    source.write_text(text.replace("view->shape[0] == s->len", "view->shape[0] >= 0"), encoding="utf-8")
    done = run(package(tmp_path, runtime, native))
    assert done.returncode != 0 and "AddressSanitizer: heap-buffer-overflow" in done.stderr, done.stderr
    assert "locate.c" in done.stderr
