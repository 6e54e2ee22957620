"""Generated lists and values inside files that are otherwise written by hand.

python -m tools.facts writes them; with --check it prints the files in which one is stale. A list stands
between a line with "begin facts: NAME" and the next line with "end facts", and comes from a table of the
generator: codes (gfsmith.codes.names), architectures (gfsmith.kernel.architecture), instruction sets and
groups of them (gfsmith.kernel.isa, groups), keys of gfsmith.toml (gfsmith.build.settings), settings of
`gfsmith tune` (gfsmith.explore.tune.space), results of `make analyze` (tests/system/analysis); status
codes come from gfsmith.h, guards from cpu_*.c. Lists that
depend on a configuration are in gen_out/ instead. A value is a part of one line, which a pattern of VALUES
describes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from gfsmith import __version__
from gfsmith.build.settings import KernelGroup, OneOf
from gfsmith.build.target import Target
from gfsmith.codes import find, safe_shapes
from gfsmith.codes.names import ALIASES, CODES, LRC, SEARCHED, Code
from gfsmith.explore.tune.space import axes
from gfsmith.kernel.architecture import ARCHITECTURES, BY_ARCH, Arch, Architecture
from gfsmith.kernel.groups import GROUPS
from gfsmith.kernel.isa import ISAS, Encoding
from gfsmith.kernel.operation import Operation
from gfsmith.kernel.spec import MAX_PREFETCH, MAX_UNROLL
from tools import c_values

ROOT = Path(__file__).resolve().parents[1]

_LIST = re.compile(
    r"^(?P<indent>[ \t]*)(?P<begin>\S.*\bbegin facts: (?P<name>[^\n]*?)(?: \*/| -->)?)\n"
    r"(?P<body>(?:.*\n)*?)(?P<end>[ \t]*\S+ end facts\b.*\n)",
    re.MULTILINE,
)


class FactsError(ValueError):
    """A marker names a list that no table provides."""


def _pointer(function: str | None) -> str:
    return function or "NULL"


def _codes_in_c() -> Iterator[str]:
    yield "/* clang-format off */"
    for code in CODES:
        is_mds = _pointer(f"{code.element}_is_mds" if code.nested else None)
        improve = _pointer(f"{code.improve}_improve" if code.improve else None)
        shapes = f"{code.greatest_k(code.least_m)}, {code.least_m}, {code.most_m}"
        yield f'{{"{code.name}", {shapes}, {is_mds}, {code.element}_element, {improve}}},'
    yield "/* clang-format on */"


def _usable(code: Code) -> str:
    """Return the shapes at which the library creates the code."""
    return f"{code.limits}, and one of: {safe_shapes(find(code.name))}" if code.nested else code.limits


def _usable_by_name(codes: Iterable[Code] = CODES) -> Iterator[tuple[str, str]]:
    """Yield each name of each code, aliases included, with its shapes."""
    for code in codes:
        for name in (code.name, *code.aliases):
            yield name, _usable(code)


def _shapes_in_c() -> Iterator[str]:
    yield "/* clang-format off */"
    for name, shapes in _usable_by_name((*CODES, LRC)):
        yield f'{{"{name}", "{shapes}"}},'
    yield "/* clang-format on */"


def _shapes_in_python() -> Iterator[str]:
    for code in CODES:
        if _usable(code) != find("cauchy").code.limits:
            note = "  # noqa: E501" if code.name == "vandermonde" else ""
            for name in (code.name, *code.aliases):
                yield f'"{name}": "{_usable(code)}",{note}'


def _aliases_in_c() -> Iterator[str]:
    yield "/* clang-format off */"
    for alias, name in ALIASES.items():
        yield f'{{"{alias}", "{name}"}},'
    yield "/* clang-format on */"


def _codes_in_python() -> Iterator[str]:
    for code in CODES:
        yield f'"{code.name}",'


def _aliases_in_python() -> Iterator[str]:
    for alias in ALIASES:
        yield f'"{alias}",'


def _description(code: Code) -> str:
    """Return the code's origin and, if not all shapes are allowed, its shapes, for a reader who chooses a
    code."""
    limited = "" if code.limits == CODES[0].limits else f" {code.limits}."
    partly = " Only shapes at which it is MDS." if code.nested else ""
    return f"{code.source[0].upper()}{code.source[1:]}.{limited}{partly}"


def _variants_in_rust() -> Iterator[str]:
    for code in CODES:
        yield f"/// {_description(code)}"
        yield f"{code.identifier},"


def _names_in_rust() -> Iterator[str]:
    for code in CODES:
        yield f'Code::{code.identifier} => c"{code.name}",'


def _identifiers_in_rust() -> Iterator[str]:
    for code in CODES:
        yield f"Code::{code.identifier},"


def _shapes_in_rust() -> Iterator[str]:
    """Return arms of a match; the shapes that most codes have come last."""
    limits = {code.limits for code in CODES} - {CODES[0].limits}
    for shapes in sorted(limits):
        named = " | ".join(f"Code::{code.identifier}" for code in CODES if code.limits == shapes)
        yield f'{named} => "{shapes}",'
    yield f'_ => "{CODES[0].limits}",'


def _aliases_in_rust() -> Iterator[str]:
    for code in CODES:
        if code.aliases:
            names = ", ".join(f'"{name}"' for name in code.aliases)
            yield f"Code::{code.identifier} => &[{names}],"
    yield "_ => &[],"


def _shapes_in_javascript() -> Iterator[str]:
    for name, shapes in _usable_by_name():
        yield f"'{name}': '{shapes}',"


def _shapes_in_java() -> Iterator[str]:
    for name, shapes in _usable_by_name():
        yield f'SHAPES.put("{name}", "{shapes}");'


def _codes_in_go() -> Iterator[str]:
    left = max(len(code.identifier) for code in CODES)
    right = max(len(code.name) for code in CODES) + 2
    for code in CODES:
        quoted = f'"{code.name}"'
        yield f"{code.identifier:{left}} Code = {quoted:{right}} // {_description(code)}"


def _codes_in_markdown() -> Iterator[str]:
    yield "| code | also called | matrix | shapes | from |"
    yield "|---|---|---|---|---|"
    for code in (*CODES, *SEARCHED, LRC):
        aliases = ", ".join(f"`{alias}`" for alias in code.aliases)
        cells = (f"`{code.name}`", aliases, code.formula, code.limits, code.source)
        yield f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|"


def _processors_in_make() -> Iterator[str]:
    for architecture in ARCHITECTURES:
        for processor in architecture.processors:
            yield f"ARCH_OF_{processor} := {architecture.arch.value}"


def _processors_in_cmake() -> Iterator[str]:
    yield f"set(architectures {' '.join(architecture.arch.value for architecture in ARCHITECTURES)})"
    for architecture in ARCHITECTURES:
        yield f"set(processors_{architecture.arch.value} {' '.join(architecture.processors)})"


def _families_in_meson() -> Iterator[str]:
    for architecture in ARCHITECTURES:
        yield f"'{architecture.family}': '{architecture.arch.value}',"


def _features_in_c() -> Iterator[str]:
    yield "/* clang-format off */"
    bit = 0
    for architecture in ARCHITECTURES:
        if architecture.features:
            yield f"/* {architecture.title} */"
        for feature in architecture.features:
            note = f" /* {feature.note} */" if feature.note else ""
            yield f"#define GFSMITH_CPU_{feature.name} (1u << {bit}){note}"
            bit += 1
    yield "/* clang-format on */"


def _guards_in_c() -> Iterator[str]:
    """Yield a block for each cpu_*.c of an architecture, with its guard and the functions that it defines."""
    yield "/* clang-format off */"
    for path in sorted((ROOT / "runtime/core/src").glob("cpu_*.c")):
        text = path.read_text(encoding="utf-8")
        guard = re.search(r"^#if (.+)\n", text, re.MULTILINE)
        if path.name == "cpu_other.c":
            continue
        if guard is None:
            raise FactsError(f"{path.name} has no #if; allowed: one for its architecture")
        yield f"#if {guard[1]} /* {path.name} */"
        for name, function in (("FEATURES", "gfs_cpu_features"), ("IDENTITY", "gfs_cpu_identify")):
            if f" {function}(" in text[guard.end() :]:
                yield f"#define HAS_{name}"
        yield "#endif"
    yield "/* clang-format on */"


def _toolchain(architecture: Architecture) -> Iterator[str]:
    yield f"set(triple {architecture.triple})"
    yield f"set(CMAKE_SYSTEM_PROCESSOR {architecture.processors[0]})"
    emulator = f"qemu-{architecture.emulator}-static"
    yield f"set(CMAKE_CROSSCOMPILING_EMULATOR {emulator} -L /usr/{architecture.triple})"


def _sets_in_markdown() -> Iterator[str]:
    yield "| set | architecture | vectors | features | kernels in |"
    yield "|---|---|---|---|---|"
    for isa in ISAS:
        title = "any" if isa.arch is Arch.PORTABLE else BY_ARCH[isa.arch].title
        size = f"{isa.vector_bytes} bytes" + (" or more" if isa.scalable else "")
        form = "C" if isa.encoding is Encoding.C else "machine code"
        yield f"| `{isa.name}` | {title} | {size} | {', '.join(isa.cpu_flags) or '-'} | {form} |"


def _groups_in_markdown() -> Iterator[str]:
    yield "| group | instruction sets |"
    yield "|---|---|"
    for group, names in GROUPS.items():
        yield f"| `{group}` | {', '.join(f'`{name}`' for name in names)} |"


def _webassembly_in_typescript() -> Iterator[str]:
    for isa in ISAS:
        if isa.arch in (Arch.WASM, Arch.PORTABLE):
            yield f"| '{isa.name}'"


#: Allowed values of keys whose annotation states no range.
_RANGES = {
    "unroll": f"1 to {MAX_UNROLL} (cache lines of vectors with `walk`, `shuffled` and `pipelined`)",
    "prefetch": f"0 to {MAX_PREFETCH}",
}


def _written(value: Any) -> str:
    """Return a value of gfsmith.toml as Markdown."""
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{str(value).lower()}`"


def _words(annotation: Any) -> Iterator[Any]:
    """Yield the values of Literal, and of bool, in an annotation."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif annotation is bool:
        yield from (False, True)
    else:
        for part in get_args(annotation):
            yield from _words(part)


def _metadata(annotation: Any) -> Iterator[Any]:
    """Yield the metadata in an annotation and its parts."""
    for part in (*getattr(annotation, "__metadata__", ()), *get_args(annotation)):
        yield from part.metadata if isinstance(part, FieldInfo) else (part,)
        if get_origin(part) is not Literal:
            yield from _metadata(part)


def _allowed(key: str, field: FieldInfo) -> str:
    """Return the allowed values of a key; "" if they are not a list or a range."""
    data = [*field.metadata, *_metadata(field.annotation)]
    ranges = [_RANGES[key]] if key in _RANGES else []
    least, most = ([each for each in data if isinstance(each, kind)] for kind in (Ge, Le))
    if least and most:
        ranges.append(f"{least[0].ge} to {most[0].le}")
    listed = [each.func for each in data if isinstance(each, AfterValidator)]
    words = [word for each in listed if isinstance(each, OneOf) for word in each.allowed]
    return ", ".join([*ranges, *map(_written, words or _words(field.annotation))])


def _keys_in_markdown() -> Iterator[str]:
    yield "| key | allowed values | default |"
    yield "|---|---|---|"
    for key, field in KernelGroup.model_fields.items():
        default = (
            "required" if field.is_required() else "" if field.default is None else _written(field.default)
        )
        cells = (f"`{key}`", _allowed(key, field), default)
        yield f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|"


#: Notes on the settings of `gfsmith tune`.
_SETTINGS = {
    "circuit": "for the kernel of a code; some only with more than four outputs",
    "width": "bits of a vector, on the AVX-512 sets",
    "unroll": "vectors an iteration",
    "order": "the interleaving of these vectors",
    "placement": "place of the table entries during a call",
    "prefetch": "bytes ahead; more than {cached} only from memory",
    "hint": "the level of the prefetch, from memory",
    "store": "from memory, from the CPU's [limit](#limits-of-a-cpu) on",
}


def _settings_in_markdown() -> Iterator[str]:
    yield "| setting | values | |"
    yield "|---|---|---|"
    target = Target(Operation.DOT, CODES[0].name, 10, 5, ISAS[0])
    cached = axes(target, "cached")["prefetch"]
    for name, values in axes(target, "bulk").items():
        listed = ", ".join(f"`{value}`" if isinstance(value, str) else str(value) for value in values)
        yield f"| `{name}` | {listed} | {_SETTINGS[name].format(cached=max(map(int, cached)))} |"


ANALYSIS = ROOT / "tests/system/analysis"


def _analysis_in_markdown() -> Iterator[str]:
    yield "| driver | inputs | functions | statements reached | properties shown | not shown |"
    yield "|---|---|---:|---:|---:|---:|"
    for name, found in json.loads((ANALYSIS / "results.json").read_text())["drivers"].items():
        reached = f"{found['statements reached']} of {found['statements']}"
        numbers = (found["functions"], reached, found["properties shown"], found["properties not shown"])
        yield f"| `{name}` | {found['bounds']} | {' | '.join(map(str, numbers))} |"


def _reviewed_in_markdown() -> Iterator[str]:
    yield "| function | property | drivers | reason |"
    yield "|---|---|---|---|"
    for each in tomllib.loads((ANALYSIS / "reviewed.toml").read_text())["property"]:
        drivers = ", ".join(f"`{name}`" for name in each["drivers"])
        yield (
            f"| `{each['function']}` | {each['kind']}: `{each['text']}` | {drivers} | "
            f"{' '.join(each['reason'].split())} |"
        )


HEADER = "runtime/core/include/gfsmith.h"


def _statuses() -> dict[str, int]:
    """Return the status codes of the header without their prefix."""
    found = c_values.enumerators(HEADER, "gfsmith_status")
    return {name.removeprefix("GFSMITH_"): number for name, number in found.items()}


def _errors() -> dict[str, int]:
    return {name: number for name, number in _statuses().items() if number}


def _statuses_in_rust() -> Iterator[str]:
    for name, number in _statuses().items():
        yield f"pub const {name}: Status = {number};"


def _errors_in_python() -> Iterator[str]:
    for name, number in _errors().items():
        yield f"_{name} = {number}"


def _errors_in_javascript() -> Iterator[str]:
    for name, number in _errors().items():
        yield f"[{number}]: '{name}',"


def _errors_in_typescript() -> Iterator[str]:
    for name in _errors():
        yield f"| '{name}'"


#: NAME in the markers -> function that yields the lines of the list.
LISTS: dict[str, Callable[[], Iterator[str]]] = {
    "codes in C": _codes_in_c,
    "aliases in C": _aliases_in_c,
    "shapes of codes in C": _shapes_in_c,
    "codes in Python": _codes_in_python,
    "aliases in Python": _aliases_in_python,
    "shapes of codes in Python": _shapes_in_python,
    "variants of codes in Rust": _variants_in_rust,
    "names of codes in Rust": _names_in_rust,
    "codes in Rust": _identifiers_in_rust,
    "shapes of codes in Rust": _shapes_in_rust,
    "aliases of codes in Rust": _aliases_in_rust,
    "shapes of codes in JavaScript": _shapes_in_javascript,
    "shapes of codes in Java": _shapes_in_java,
    "codes in Go": _codes_in_go,
    "codes in Markdown": _codes_in_markdown,
    "processors in Make": _processors_in_make,
    "processors in CMake": _processors_in_cmake,
    "families in Meson": _families_in_meson,
    "features in C": _features_in_c,
    "guards of cpu_*.c in C": _guards_in_c,
    "instruction sets in Markdown": _sets_in_markdown,
    "groups in Markdown": _groups_in_markdown,
    "keys of [[kernels]] in Markdown": _keys_in_markdown,
    "settings of tune in Markdown": _settings_in_markdown,
    "analysis in Markdown": _analysis_in_markdown,
    "reviewed properties in Markdown": _reviewed_in_markdown,
    "statuses in Rust": _statuses_in_rust,
    "errors in Python": _errors_in_python,
    "errors in JavaScript": _errors_in_javascript,
    "errors in TypeScript": _errors_in_typescript,
    "sets of WebAssembly in TypeScript": _webassembly_in_typescript,
    **{
        f"toolchain of {architecture.arch.value}": lambda architecture=architecture: _toolchain(architecture)
        for architecture in ARCHITECTURES
        if architecture.emulator
    },
}


@dataclass(frozen=True, slots=True)
class Value:
    """A copy of a value: the file, and the pattern whose only group is the value, in one line of the file."""

    path: str
    pattern: str
    value: str


def _soversion() -> str:
    """Return the version of the binary interface (docs/versions.md)."""
    text = (ROOT / "packaging/make/library.mk").read_text(encoding="utf-8")
    (found,) = re.findall(r"^SOVERSION := (\d+)$", text, re.MULTILINE)
    return str(found)


#: The oldest compilers that compile the library (docs/sources.md), and the statements of them.
GCC, CLANG = "11", "12"
_COMPILERS = (
    ("README.md", r"C11, gcc (\d+) or clang", r"or clang (\d+) and later;"),
    ("docs/versions.md", r"C11: gcc (\d+) or later", r"or later, clang (\d+) or later;"),
    ("templates/export_readme.md.j2", r"assembler: gcc (\d+),", r", clang (\d+) or newer,"),
    ("templates/amalgamation.c.j2", r"with gcc (\d+),", r", clang (\d+) or newer,"),
)

_NUMBER = r"(\d+\.\d+\.\d+)"
VALUES: tuple[Value, ...] = (
    Value("CMakeLists.txt", rf"^project\(gfsmith VERSION {_NUMBER} ", __version__),
    Value("runtime/core/include/gfsmith.h", rf'^#define GFSMITH_VERSION "{_NUMBER}"$', __version__),
    Value("packaging/meson/meson.build", rf"^  version: '{_NUMBER}'", __version__),
    Value("bindings/rust/gfsmith/Cargo.toml", rf'^version = "{_NUMBER}"$', __version__),
    Value("bindings/wasm/package.json", rf'^  "version": "{_NUMBER}",$', __version__),
    Value("bindings/wasm/README.md", rf"# gfsmith-wasm-{_NUMBER}\.tgz", __version__),
    Value("examples/wrap/meson.build", rf"gfsmith-{_NUMBER}\.tar\.xz", __version__),
    Value("examples/wrap/subprojects/gfsmith.wrap", rf"^directory = gfsmith-{_NUMBER}$", __version__),
    Value("examples/wrap/subprojects/gfsmith.wrap", rf"^source_filename = gfsmith-{_NUMBER}\.", __version__),
    Value("CMakeLists.txt", r" SOVERSION (\d+)\)", _soversion()),
    Value("packaging/meson/meson.build", r"^  soversion: '(\d+)'", _soversion()),
    Value("docs/versions.md", r"SONAME `libgfsmith\.so\.(\d+)`", _soversion()),
    Value("docs/versions.md", r"has `libgfsmith-shards\.so\.(\d+)`", _soversion()),
    Value("docs/hardening.md", r"SONAME `libgfsmith\.so\.(\d+)`", _soversion()),
    Value("docs/hardening.md", r"SONAME is `libgfsmith-shards\.so\.(\d+)`", _soversion()),
    *(Value(path, gcc, GCC) for path, gcc, _ in _COMPILERS),
    *(Value(path, clang, CLANG) for path, _, clang in _COMPILERS),
)


def with_values(path: str, text: str) -> str:
    """Return the text of a file with its values. Raises FactsError if a pattern does not occur once."""
    for each in VALUES:
        if each.path == path:
            places = [found.span(1) for found in re.finditer(each.pattern, text, re.MULTILINE)]
            if len(places) != 1:
                raise FactsError(f"{path}: {len(places)} lines match {each.pattern!r}; allowed: 1")
            text = text[: places[0][0]] + each.value + text[places[0][1] :]
    return text


def filled(text: str) -> str:
    """Return the text of a file with its lists taken from the tables. Raises FactsError."""

    def lines(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in LISTS:
            raise FactsError(f"'{name}' is no list; allowed: {', '.join(LISTS)}")
        body = "".join(f"{found['indent']}{line}\n" for line in LISTS[name]())
        return f"{found['indent']}{found['begin']}\n{body}{found['end']}"

    return _LIST.sub(lines, text)


def without_lists(text: str) -> str:
    """Return the text of a file with empty lists."""
    return _LIST.sub("", text)


def files() -> Iterator[Path]:
    """Yield every file of the checkout that has a list or a value. How-to pages show markers only."""
    command = ["git", "grep", "-lI", "begin facts: ", "--", ".", ":!docs/howto"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in sorted({*listed, *(each.path for each in VALUES)}):
        if name not in ("tools/facts.py", "tests/unit/test_facts.py"):
            yield ROOT / name


def main(arguments: list[str]) -> int:
    """Write lists and values; with --check, print the files in which one is stale."""
    stale = []
    for path in files():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        new = with_values(name, filled(text))
        if new != text:
            stale.append(name)
            if arguments != ["--check"]:
                path.write_text(new, encoding="utf-8")
    if arguments == ["--check"] and stale:
        print(f"stale lists or values, write them with `make facts`: {', '.join(stale)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
