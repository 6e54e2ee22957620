"""Jerasure's own tests and example programs, unchanged: the same output with either library."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.verdicts.sources import debian
from tests.support.folders import once
from tests.system.isal.support import run, with_library
from tests.system.jerasure.support import REAL

#: Example program -> its arguments in several runs: those of the manual, and others.
RUNS = {
    "jerasure_01": ("5 4 8", "3 15 32"),
    "jerasure_02": ("3 4 5", "4 4 8"),
    "jerasure_03": ("4 3", "6 8", "9 16"),
    "jerasure_04": ("4 3", "4 8"),
    "jerasure_05": ("3 4 8 64 100", "10 4 16 64 7", "5 3 32 128 9"),
    "jerasure_06": ("3 4 3 64 100", "6 2 8 16 5"),
    "jerasure_07": ("3 4 3 102", "6 3 8 9"),
    "jerasure_08": ("7 7 100", "5 8 3", "3 4 3"),
    "reed_sol_01": ("7 7 8 105", "5 3 16 5", "5 3 32 5"),
    "reed_sol_02": ("6 4 8", "6 4 11", "6 4 32"),
    "reed_sol_03": ("4 8 100", "7 16 3", "7 32 3"),
    "reed_sol_04": ("8 100", "16 3", "32 3"),
    "cauchy_01": ("01 8", "0x8e 8", "77 13"),
    "cauchy_02": ("3 3 3 100", "6 2 8 3"),
    "cauchy_03": ("3 3 3 100", "10 4 8 3"),
    "cauchy_04": ("3 3 3 100", "6 2 8 3", "8 3 4 1"),
    "liberation_01": ("3 7 100", "7 7 3", "4 5 3"),
    "test_galois": ("",),
    "reed_sol_test_gf": (
        *("12 3 8 1370 -", "12 3 8 1370 -m LOG -", "12 3 8 1370 -m COMPOSITE 2 - -"),
        *("12 3 8 1370 -m SHIFT -p 0x12b -", "12 3 16 1370 -m SPLIT 16 4 -r ALTMAP -"),
        *("12 3 16 1370 -m COMPOSITE 2 - -", "7 4 32 1370 -"),
    ),
}
#: Programs that print times: the tests run them, and compare their files instead of their output.
TIMED = ("encoder", "decoder", "reed_sol_time_gf")


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example programs and test scripts, built from the sources of Debian's package."""
    sources = debian.upstream("jerasure")

    def make(folder: Path) -> None:
        for path in (sources / "Examples").glob("*.sh"):
            shutil.copy(path, folder)
        names = sorted(path.stem for path in (sources / "Examples").glob("*.c"))
        assert names == sorted((*RUNS, *TIMED))
        flags = ["gcc", "-w", "-O1", "-I/usr/include/jerasure", "-I", str(sources / "include")]
        for name in names:
            timing = [str(sources / "src" / "timing.c")] if name in TIMED else []
            source = str(sources / "Examples" / f"{name}.c")
            run([*flags, source, *timing, "-o", str(folder / name), "-lJerasure", "-lgf_complete"])

    return once(tmp_path_factory, "jerasure-examples", make)


@pytest.mark.parametrize("name", RUNS)
def test_an_example_prints_the_same(examples: Path, shim: Path, name: str) -> None:
    for arguments in RUNS[name]:
        command = [str(examples / name), *arguments.split()]
        printed = run(command, env=with_library(shim.parent))
        assert printed == run(command, env=with_library(REAL.parent)), arguments
        assert printed != "" or name == "test_galois"


def test_the_examples_load_this_library(examples: Path, shim: Path) -> None:
    loaded = run(["ldd", str(examples / "reed_sol_01")], env=with_library(shim.parent))
    assert f"libJerasure.so.2 => {shim} " in loaded


@pytest.mark.parametrize("script", ["encode_decode.sh", "test_all_gfs.sh"])
def test_a_script_of_the_own_tests(examples: Path, shim: Path, tmp_path: Path, script: str) -> None:
    """`make check` of Jerasure runs these and test_galois. gf_methods is a program of gf-complete."""
    shutil.copytree(examples, tmp_path / "run")
    environment = with_library(shim.parent, GF_COMPLETE_DIR="/usr/bin")
    printed = run(["bash", f"./{script}"], cwd=tmp_path / "run", env=environment)
    if script == "test_all_gfs.sh":
        assert printed.endswith("Passed all tests!\n")
        successes = printed.count("Encoding and decoding were both successful.")
        assert printed.count("Testing") == successes > 20  # gf_methods lists more on some CPUs


#: Techniques of `encoder`: k, m, name, w, packet size, buffer size.
CODINGS = (
    "6 3 reed_sol_van 8 0 0",
    "5 3 reed_sol_van 16 0 0",
    "5 2 reed_sol_r6_op 32 0 0",
    "4 3 cauchy_orig 4 16 0",
    "6 3 cauchy_good 8 64 0",
    "5 2 liberation 7 64 0",
    "4 2 blaum_roth 6 64 0",
    "6 2 liber8tion 8 64 0",
    "4 2 cauchy_good 8 64 20000",
)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_file_goes_from_one_library_to_the_other(
    examples: Path, shim: Path, tmp_path: Path, coding: str
) -> None:
    """`encoder` writes the same files with both, and `decoder` reads those of the other one."""
    data = os.urandom(100_000)
    folders = {library: tmp_path / str(n) for n, library in enumerate((shim, REAL))}
    for library, folder in folders.items():
        folder.mkdir()
        (folder / "file.dat").write_bytes(data)
        environment = with_library(library.parent)
        run([str(examples / "encoder"), "file.dat", *coding.split()], cwd=folder, env=environment)
    ours, theirs = (sorted((folder / "Coding").iterdir()) for folder in folders.values())
    shards = [path.name for path in ours if path.suffix == ".dat"]
    assert [path.name for path in ours] == [path.name for path in theirs] and len(shards) > 5
    for name in shards:
        assert (ours[0].parent / name).read_bytes() == (theirs[0].parent / name).read_bytes(), name
    for library, folder in zip(reversed(folders), folders.values(), strict=True):
        for name in ("file_k1.dat", "file_m2.dat"):
            (folder / "Coding" / name).unlink()
        subprocess.run(
            [str(examples / "decoder"), "file.dat"],
            cwd=folder,
            env=with_library(library.parent),
            capture_output=True,
            check=True,
        )
        assert (folder / "Coding" / "file_decoded.dat").read_bytes() == data


def test_the_timed_program_runs(examples: Path, shim: Path) -> None:
    for w in ("8", "16", "32"):
        command = [str(examples / "reed_sol_time_gf"), *["6", "3"], w, *["5", "2", "4096", "-"]]
        assert "Decode throughput for 2 iterations" in run(command, env=with_library(shim.parent))
