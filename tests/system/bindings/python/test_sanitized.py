"""The extension and the runtime's C under AddressSanitizer and UndefinedBehaviorSanitizer, with the right and
wrong calls of the other tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gfsmith
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT

BINDING = ROOT / "bindings" / "python"
NATIVE = BINDING / "native"
#: The same sources as in setup.py.
GRAPHS = ("graph", "graph_build", "graph_check", "graph_create", "graph_json", "graph_layouts")
BESIDE = [
    "runtime/adaptive/src/device.c",
    *(f"runtime/compose/src/{name}.c" for name in GRAPHS),
    *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("runtime/shards/src/*.c"))),
]
INCLUDES = (
    *("runtime/core/include", "runtime/adaptive/src", "runtime/compose/include", "runtime/compose/src"),
    *("runtime/shards/include", "runtime/shards/src"),
)
FLAGS = ["-std=c11", "-g", "-O0", "-fPIC", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-w"]

CALLS = f"""
import sys
sys.path[:0] = [sys.argv[1], {str(ROOT)!r}]
import gfsmith.codec
assert gfsmith.codec.__file__.startswith(sys.argv[1])
from tests.system.bindings.python.test_buffers import ARRAYS, KINDS
from tests.system.bindings.python import test_buffers as buffers, test_codec as codecs
from tests.system.bindings.python import test_commands as commands, test_wrong as wrong
from tests.system.bindings.python import test_batches as batches, test_streams as streams
from tests.system.bindings.python import test_wide as wide
codec = gfsmith.Codec("cauchy", 4, 2)
for name in wrong.WRONG:
    wrong.test_errors_are_named_and_nothing_is_written(name, codec)
for call, kind, message in wrong.CREATIONS:
    wrong.test_codecs_that_cannot_be(call, kind, message)
expected = [bytes(parity) for parity in codec.encode(buffers.DATA)]
for name in KINDS:
    buffers.test_anything_that_holds_bytes_is_a_shard(name, codec, expected)
for name in ARRAYS:
    buffers.test_rows_of_an_array_are_shards(name, codec, expected)
for m in (1, 2, 5):
    buffers.test_an_array_of_no_rows_has_no_shards(m)
commands.test_graphs()
commands.test_devices()
for case in streams.CASES:
    streams.test_vectors(case)
streams.test_every_shard_damaged()
streams.test_too_many_losses()
streams.test_sets_are_not_mixed()
streams.test_exceptions_of_streams()
streams.test_progress_and_cancellation()
streams.test_a_view_ends_with_its_callback()
for name in commands.WRONG:
    commands.test_errors_are_named(name)
batches.test_encoded_and_checked_stripes()
batches.test_reconstructed_stripes()
batches.test_updated_stripes()
batches.test_stripes_without_numpy()
batches.test_any_number_of_stripes_without_bytes()
codecs.test_a_wrong_shard_is_located()
codecs.test_wrong_symbols_are_corrected()
codecs.test_only_wanted_shards_are_rebuilt()
for parities in (1, 2, 3):
    codecs.test_raid(parities)
for name in wide.WRONG:
    wide.test_errors_are_named_and_nothing_is_written(name)
wide.test_overlaps_are_found_by_address()
wide.test_repairs(("leopard16", 13, 5))
print("done")
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The instrumented C of the runtime that the codec uses; the kernels are those of the library."""
    folder = tmp_path_factory.mktemp("runtime")
    includes = [f"-I{ROOT / path}" for path in (*INCLUDES, "runtime/core/src", "gen_out")]
    sources = [path for path in (ROOT / "runtime/core/src").glob("*.c") if "algebra" not in path.name]
    sources += [ROOT / path for path in BESIDE]
    subprocess.run(["gcc", *FLAGS, *includes, "-c", *map(str, sources)], check=True, cwd=folder)
    return sorted(folder.glob("*.o"))


def copied(folder: Path) -> None:
    """Copy the package gfsmith without its extension to a folder."""
    shutil.copytree(Path(gfsmith.__file__).parent, folder / "gfsmith")
    codec = BINDING / "gfsmith" / "codec"
    shutil.copytree(codec, folder / "gfsmith" / "codec", ignore=shutil.ignore_patterns("*.so"))


def package(folder: Path, runtime: list[Path], native: Path) -> Path:
    """Make a copy of gfsmith with an instrumented extension of the sources in `native`."""
    copied(folder)
    includes = [
        f"-I{sysconfig.get_path('include')}",
        *(f"-I{ROOT / path}" for path in (*INCLUDES, "gen_out")),
    ]
    sources = sorted(native.glob("*.c"))
    target = folder / "gfsmith" / "codec" / "_native.abi3.so"
    command = ["gcc", *FLAGS, "-shared", "-DPy_LIMITED_API=0x030b0000", *includes, *sources, *runtime]
    subprocess.run([*command, ROOT / "build" / "libgfsmith.a", "-o", target], check=True)
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


@pytest.mark.campaign
def test_nothing_is_touched_outside_buffers(runtime: list[Path], tmp_path: Path) -> None:
    done = run(package(tmp_path, runtime, NATIVE))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.campaign
def test_a_missing_check_is_detected(runtime: list[Path], tmp_path: Path) -> None:
    """Without the check of its length, the extension writes past the end of `where` of Codec.locate."""
    native = tmp_path / "native"
    shutil.copytree(NATIVE, native)
    unchecked = Mutant("view->shape[0] == s->len", "view->shape[0] >= 0")
    plant(unchecked, sorted(NATIVE.glob("*.c")), native)
    done = run(package(tmp_path, runtime, native))
    assert done.returncode != 0 and "AddressSanitizer: heap-buffer-overflow" in done.stderr, done.stderr
    assert "locate.c" in done.stderr
