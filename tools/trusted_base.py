"""Size of the trusted base: `python -m tools.trusted_base` prints SOUNDNESS.md's table; --write replaces it.

The trusted base of the proofs is the code that the provers import, directly or through other modules. A line
counts if it holds code; blank lines, comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "SOUNDNESS.md"

#: The modules whose imports are followed: the four proofs, and the reader of object files.
ROOTS = (
    "gfsmith.prove.program.prove",
    "gfsmith.prove.machine.prove",
    "gfsmith.prove.machine.formats.load",
    "gfsmith.prove.algebra.prove",
    "gfsmith.prove.checksum.prove",
)
#: Folders of the packages, each with its part; a module belongs to the first row that its name begins with.
PARTS = (
    ("gfsmith.prove.program", "program proof (`prove/program/`)"),
    (
        "gfsmith.prove.machine.x86",
        "x86-64: registers, decoding, instructions, unwind tables (`prove/machine/x86/`)",
    ),
    ("gfsmith.prove.machine.aarch64", "AArch64: the same without unwind tables (`prove/machine/aarch64/`)"),
    ("gfsmith.prove.machine.s390x", "s390x: the same without unwind tables (`prove/machine/s390x/`)"),
    ("gfsmith.prove.machine.power", "POWER: the same without unwind tables (`prove/machine/power/`)"),
    ("gfsmith.prove.machine.riscv", "RISC-V: the same without unwind tables (`prove/machine/riscv/`)"),
    (
        "gfsmith.prove.machine.wasm",
        "WebAssembly: registers, control flow, instructions (`prove/machine/wasm/`)",
    ),
    (
        "gfsmith.prove.machine.formats",
        "object files: ELF, COFF, Mach-O, WebAssembly, listings (`prove/machine/formats/`)",
    ),
    ("gfsmith.prove.machine", "machine-code proof: the part common to all processors (`prove/machine/`)"),
    ("gfsmith.prove.algebra", "algebra routines (`prove/algebra/`)"),
    ("gfsmith.prove.checksum", "checksums (`prove/checksum/`)"),
    (
        "gfsmith",
        "specification: field, instruction sets, operations, Programs (`field/`, `kernel/`, `ir/`)",
    ),
)
JUDGE = "the second judge of x86 kernels, which needs none of these (`judge/`)"
_TABLE = re.compile(r"(?<=<!-- begin trusted base -->\n).*?(?=<!-- end trusted base -->)", re.DOTALL)


def _path(module: str) -> Path:
    path = ROOT / "generator" / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(module: str) -> Iterator[str]:
    """The modules of gfsmith that a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(_path(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gfsmith"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _path(inner).exists() else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("gfsmith"))


def modules() -> set[str]:
    """The modules of the trusted base: the transitive imports of ROOTS."""
    seen, todo = set[str](), list(ROOTS)
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += _imports(module)
    return seen


def code_lines(source: str) -> int:
    """The number of lines that hold code, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                source = _without(source, value.lineno, value.end_lineno or value.lineno)
    return sum(1 for line in source.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def _without(source: str, first: int, last: int) -> str:
    """The source with lines first to last (from 1) empty."""
    lines = source.splitlines()
    lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def sizes() -> dict[str, tuple[int, int]]:
    """part -> number of files, lines of code."""
    files, lines = Counter[str](), Counter[str]()
    for module in modules():
        part = next(title for prefix, title in PARTS if f"{module}.".startswith(f"{prefix}."))
        files[part] += 1
        lines[part] += code_lines(_path(module).read_text(encoding="utf-8"))
    return {title: (files[title], lines[title]) for _, title in reversed(PARTS)}


def judge_size() -> tuple[int, int]:
    """Return the number of files and the lines of code of the second judge, which replaces the prover's part
    of the trusted base."""
    files = sorted((ROOT / "judge").glob("*.py"))
    return len(files), sum(code_lines(path.read_text(encoding="utf-8")) for path in files)


def table() -> str:
    """The table of SOUNDNESS.md."""
    found = sizes()
    rows = [f"| {title} | {files} | {lines:,} |" for title, (files, lines) in found.items()]
    files, lines = (sum(column) for column in zip(*found.values(), strict=True))
    rows.append(f"| together | {files} | {lines:,} |")
    files, lines = judge_size()
    rows.append(f"| {JUDGE} | {files} | {lines:,} |")
    return "\n".join(["| part | files | lines of code |", "|---|---:|---:|", *rows]) + "\n"


def stated(page: str) -> dict[str, int]:
    """part -> lines of code, as the table of a page states them."""
    found = _TABLE.search(page)
    rows = re.findall(r"^\| (.*) \| \d+ \| ([\d,]+) \|$", found[0] if found else "", re.MULTILINE)
    return {title: int(lines.replace(",", "")) for title, lines in rows}


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_TABLE.sub(lambda _: table(), page), encoding="utf-8")
    else:
        print(table(), end="")


if __name__ == "__main__":
    main()
