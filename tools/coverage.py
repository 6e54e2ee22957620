"""make coverage: line and branch coverage of the C code in runtime/core.

The library is compiled with clang's source-based coverage. The programs of tests/system/runtime/native, the
committed inputs of the fuzz targets and the Python tests of MODULES run with it. The table lists every file;
the exit status is 1 if all files together are below LINES or BRANCHES percent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "coverage"
PLAIN = ROOT / "build" / "libgfsmith.a"  #: the kernels, which are proved and not measured

LINES, BRANCHES = 95.0, 90.0

FLAGS = (
    *("-std=gnu11", "-O1", "-g", "-fPIC", "-pthread", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"),
    *("-fprofile-instr-generate", "-fcoverage-mapping"),
    *(f"-I{ROOT / 'runtime/core' / part}" for part in ("include", "src")),
    *(f"-I{ROOT / path}" for path in ("gen_out", "tests/system/runtime/native", "tests/system/fuzz")),
)
SOURCES = ROOT / "runtime/core/src"
NATIVE = ROOT / "tests/system/runtime/native"
FUZZ = ROOT / "tests/system/fuzz"
#: Files for other CPUs, and for functions that only builds with other options have.
ELSEWHERE = (
    "cpu_aarch64",
    "cpu_loongarch",
    "cpu_power",
    "cpu_riscv",
    "cpu_s390x",
    "cpu_auxv",
    "linked",
    "sha256",
)

#: C programs and their arguments.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "stripes": ("",),
    "batches": ("brief",),
    "parallel": ("brief",),
    "pool": (),
    "algebra": (),
    "probe": (),
    "features": (),
    "memory": (),
}
#: Functions that the program `memory` replaces, so that each allocation fails in turn.
WRAPPED = ("malloc", "free")
#: The sources of the fuzz target `api`.
API = ("api", "api_batch", "api_codec", "api_repair", "api_plain", "arena", "model")
#: Modules of tests/system/runtime whose tests call the library in their own process.
MODULES = ("arguments", "locate", "packets", "raid", "plan", "dispatch", "correct", "linear", "recode")


@dataclass(frozen=True, slots=True)
class Row:
    """The covered and all lines and branches of a file."""

    name: str
    lines: tuple[int, int]
    branches: tuple[int, int]


def run(command: Sequence[str | Path], **environment: str) -> str:
    """Run a command in the root folder and return its output. Raises SystemExit if it fails."""
    words = list(map(str, command))
    changed = {**os.environ, "LLVM_PROFILE_FILE": str(BUILD / "%b-%p.profraw"), **environment}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, errors="replace", env=changed)
    if done.returncode != 0:
        sys.exit(f"coverage: {' '.join(words[:3])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def compiled() -> list[Path]:
    """Compile the sources and return the objects."""
    sources = sorted(SOURCES.glob("*.c"))
    objects = [BUILD / f"{path.stem}.o" for path in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        commands = (
            ("clang-19", *FLAGS, "-c", source, "-o", made)
            for source, made in zip(sources, objects, strict=True)
        )
        list(pool.map(run, commands))
    return objects


def linked(objects: Sequence[Path]) -> list[Path]:
    """Link the library, the programs and the fuzz target, in this order."""
    library = BUILD / "libgfsmith.so"
    made = [library]
    run(("clang-19", *FLAGS, "-shared", "-Wl,--exclude-libs,ALL", "-o", library, *objects, PLAIN))
    for name in PROGRAMS:
        wraps = [f"-Wl,--wrap={function}" for function in WRAPPED] if name == "memory" else []
        made.append(BUILD / name)
        run(("clang-19", *FLAGS, *wraps, "-o", made[-1], NATIVE / f"{name}.c", *objects, PLAIN))
    made.append(BUILD / "fuzz")
    sources = (FUZZ / f"{part}.c" for part in API)
    run(("clang-19", *FLAGS, "-fsanitize=fuzzer", "-o", made[-1], *sources, *objects, PLAIN))
    return made


def execute() -> None:
    """Run the programs, the fuzz inputs and the tests."""
    for name, arguments in PROGRAMS.items():
        for isa in ("scalar", ""):
            run((BUILD / name, *arguments), GFSMITH_ISA=isa)
    run((BUILD / "fuzz", "-runs=0", FUZZ / "corpus/api"))
    modules = [ROOT / "tests/system/runtime" / f"test_{name}.py" for name in MODULES]
    pytest = (sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), "-o", "addopts=")
    run((*pytest, *modules), GFSMITH_TEST_LIBRARY=str(BUILD / "libgfsmith.so"))


def rows(objects: Sequence[Path]) -> Iterator[Row]:
    """Merge the profiles and yield a row for each file of SOURCES."""
    profile = BUILD / "all.profdata"
    run(("llvm-profdata-19", "merge", "-sparse", *BUILD.glob("*.profraw"), "-o", profile))
    others = [word for path in objects[1:] for word in ("-object", path)]
    export = ("llvm-cov-19", "export", "-summary-only", f"-instr-profile={profile}")
    text = run((*export, objects[0], *others, SOURCES))
    for entry in json.loads(text)["data"][0]["files"]:
        path, summary = Path(entry["filename"]), entry["summary"]
        if path.stem in ELSEWHERE or summary["lines"]["count"] == 0:
            continue
        counts = [(summary[kind]["covered"], summary[kind]["count"]) for kind in ("lines", "branches")]
        yield Row(str(path.relative_to(ROOT)), *counts)


def total(found: Iterable[Row]) -> Row:
    """Return the sums of all rows."""
    lines, branches = [0, 0], [0, 0]
    for row in found:
        for sums, pair in ((lines, row.lines), (branches, row.branches)):
            sums[0] += pair[0]
            sums[1] += pair[1]
    return Row("all", (lines[0], lines[1]), (branches[0], branches[1]))


def percent(pair: tuple[int, int]) -> float:
    """Return the covered part in percent; 100 if there is nothing to cover."""
    return 100.0 * pair[0] / pair[1] if pair[1] else 100.0


def main() -> int:
    if not PLAIN.exists():
        sys.exit(f"coverage: {PLAIN.relative_to(ROOT)} is missing: make lib")
    BUILD.mkdir(parents=True, exist_ok=True)
    for old in BUILD.glob("*.profraw"):
        old.unlink()
    objects = linked(compiled())
    execute()
    found = list(rows(objects))
    everything = total(found)
    for row in (*sorted(found, key=lambda row: percent(row.branches)), everything):
        print(f"{row.name:40} lines {percent(row.lines):6.2f} %   branches {percent(row.branches):6.2f} %")
    reached = percent(everything.lines) >= LINES and percent(everything.branches) >= BRANCHES
    verdict = "reached" if reached else "below"
    print(f"coverage: {verdict} {LINES:.0f} % of lines and {BRANCHES:.0f} % of branches")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
