"""make coverage: line and branch coverage of the C code in runtime/.

.venv/bin/python -m tools.coverage [PART ...]

For each part of parts.py, its sources are compiled with clang's source-based coverage; its programs, the
committed inputs of its fuzz target and its tests run with them. The table lists every file; the exit status
is 1 if the files of a part have together less than TARGETS.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.coverage.parts import PARTS, TARGETS, Part, Product

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "coverage"
PLAIN = ROOT / "build" / "libgfsmith.a"  #: the kernels, which are proved and not measured

#: Macros of uthash and utlist, whose conditions clang counts in the line that uses them.
OTHERS = re.compile(r"(HASH|LL|DL)_[A-Z_]+\(")

FLAGS = (
    *("-std=gnu11", "-O1", "-g", "-fPIC", "-pthread", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"),
    *("-fprofile-instr-generate", "-fcoverage-mapping", f"-I{ROOT / 'runtime/core/include'}"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The covered and all lines and branches of a file."""

    name: str
    lines: tuple[int, int]
    branches: tuple[int, int]


def run(command: Sequence[str | Path], **environment: str) -> str:
    """Run a command in the root folder and return its output. Raises SystemExit if it fails."""
    words = list(map(str, command))
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, errors="replace", env={**os.environ, **environment}
    )
    if done.returncode != 0:
        sys.exit(f"coverage: {' '.join(words[:3])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Measured:
    """A part, and its folder below build/coverage."""

    def __init__(self, part: Part) -> None:
        self.part, self.folder = part, BUILD / part.name
        self.sources = ROOT / "runtime" / part.name / "src"
        self.flags = (*FLAGS, *(f"-I{ROOT / path}" for path in part.include), *part.flags)

    def rows(self) -> list[Row]:
        """Build, run and count."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "linked").mkdir(parents=True)
        self._link(self._compiled())
        self._execute()
        self._test()
        return list(self._counted())

    def _compiled(self) -> list[Path]:
        """Compile the sources, if there are products of them, and return the objects."""
        sources = sorted(self.sources.glob("*.c")) if self.part.products else []
        objects = [self.folder / f"{path.stem}.o" for path in sources]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            commands = (
                ("clang-19", *self.flags, "-c", source, "-o", made)
                for source, made in zip(sources, objects, strict=True)
            )
            list(pool.map(run, commands))
        return objects

    def _link(self, objects: Sequence[Path]) -> None:
        def link(product: Product) -> None:
            sources = [path for pattern in product.sources for path in sorted(ROOT.glob(pattern))]
            output = self.folder / product.name
            run(("clang-19", *self.flags, *product.flags, "-o", output, *sources, *objects, PLAIN))

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(link, self.part.products))

    def _environment(self) -> dict[str, str]:
        return {
            "LLVM_PROFILE_FILE": str(self.folder / "%4m.profraw"),
            "GFSMITH_TEST_BUILD": str(self.folder),
            "COVERAGE_LINKED": str(self.folder / "linked"),
            "PATH": f"{HERE / 'compiler'}:{os.environ['PATH']}",
        }

    def _execute(self) -> None:
        for product in self.part.products:
            for arguments in product.runs:
                for isa in ("scalar", ""):
                    run((self.folder / product.name, *arguments), GFSMITH_ISA=isa, **self._environment())

    def _test(self) -> None:
        pytest = (sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), "-o", "addopts=")
        run((*pytest, f"--basetemp={self.folder / 'tests'}", *self.part.tests), **self._environment())

    def _linked(self) -> list[Path]:
        """Return the products and all other programs that the tests have linked, each content once."""
        products = (self.folder / product.name for product in self.part.products)
        paths = [*products, *sorted((self.folder / "linked").iterdir())]
        found = {hashlib.sha256(path.read_bytes()).digest(): path for path in paths}
        return list(found.values())

    def _counted(self) -> Iterator[Row]:
        """Merge the profiles and yield a row for each file of the part."""
        profile = self.folder / "all.profdata"
        run(("llvm-profdata-19", "merge", "-sparse", *self.folder.glob("*.profraw"), "-o", profile))
        first, *others = self._linked()
        objects = [first, *(word for path in others for word in ("-object", path))]
        export = ("llvm-cov-19", "export", f"-instr-profile={profile}")
        found = json.loads(run((*export, *objects, self.sources)))["data"][0]
        branches = branches_of(found["functions"])
        for entry in found["files"]:
            path, lines = Path(entry["filename"]), entry["summary"]["lines"]
            if path.stem in self.part.elsewhere or lines["count"] == 0:
                continue
            yield Row(
                str(path.relative_to(ROOT)), (lines["covered"], lines["count"]), branches.get(path, (0, 0))
            )


def branches_of(functions: Iterable[dict[str, Any]]) -> dict[Path, tuple[int, int]]:
    """Return the covered and all outcomes of the conditions of each file, without those of OTHERS' macros.

    functions: as llvm-cov exports them; a function in a header occurs once for each object.
    """
    outcomes: dict[Path, dict[tuple[Any, ...], list[bool]]] = {}
    for function in functions:
        paths = [Path(name) for name in function["filenames"]]
        for line, column, *end, taken, passed, file, _, _ in function["branches"]:
            path = paths[file]
            if OTHERS.match(text_of(path)[line - 1], column - 1):
                continue
            key = (function["name"].split(":")[-1], file, line, column, *end)
            known = outcomes.setdefault(path, {}).setdefault(key, [False, False])
            known[:] = known[0] or taken > 0, known[1] or passed > 0
    counts = {path: [seen for pair in found.values() for seen in pair] for path, found in outcomes.items()}
    return {path: (sum(seen), len(seen)) for path, seen in counts.items()}


@functools.cache
def text_of(path: Path) -> list[str]:
    """Return the lines of a source file."""
    return path.read_text().split("\n")


def total(name: str, found: Iterable[Row]) -> Row:
    """Return the sums of all rows."""
    lines, branches = [0, 0], [0, 0]
    for row in found:
        for sums, pair in ((lines, row.lines), (branches, row.branches)):
            sums[0] += pair[0]
            sums[1] += pair[1]
    return Row(name, (lines[0], lines[1]), (branches[0], branches[1]))


def percent(pair: tuple[int, int]) -> float:
    """Return the covered part in percent; 100 if there is nothing to cover."""
    return 100.0 * pair[0] / pair[1] if pair[1] else 100.0


def report(part: Part) -> bool:
    """Print the table of a part. Return whether it reaches its targets."""
    found = Measured(part).rows()
    everything = total(f"runtime/{part.name}", found)
    for row in (*sorted(found, key=lambda row: percent(row.branches)), everything):
        print(f"{row.name:44} lines {percent(row.lines):6.2f} %   branches {percent(row.branches):6.2f} %")
    lines, branches = TARGETS
    reached = percent(everything.lines) >= lines and percent(everything.branches) >= branches
    verdict = "reached" if reached else "below"
    print(f"coverage: {verdict} {lines:.0f} % of lines and {branches:.0f} % of branches", flush=True)
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(prog="coverage")
    parser.add_argument("parts", nargs="*", metavar="PART")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := [name for name in parts if name not in PARTS]:
        sys.exit(f"coverage: unknown part '{unknown[0]}'; allowed: {', '.join(PARTS)}")
    if not PLAIN.exists():
        sys.exit(f"coverage: {PLAIN.relative_to(ROOT)} is missing: make lib")
    reached = [report(PARTS[name]) for name in parts]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())
