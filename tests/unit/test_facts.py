"""Each fact has one place: codes, instruction sets and architectures are listed once, and generated lists
equal their tables.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith import __version__
from gfsmith.build.settings import KernelGroup
from gfsmith.codes import FAMILIES
from gfsmith.codes.names import ALIASES, CODES, LRC, NAMES, SEARCHED
from gfsmith.kernel.architecture import ARCHITECTURES, BY_ARCH, Arch
from gfsmith.kernel.groups import GROUPS, named
from gfsmith.kernel.isa import BY_NAME, ISAS
from tests.support.paths import ROOT
from tools import facts

#: Number of quoted names from a table that a file may have without counting as a list.
MOST = 2

#: Hand-written lists, and the reasons why they are allowed.
ALLOWED = {
    "generator/gfsmith/codes/names.py": "the table of codes",
    "generator/gfsmith/kernel/isa.py": "the table of instruction sets",
    "generator/gfsmith/kernel/architecture.py": "the table of architectures",
    "runtime/core/include/gfsmith.h": "the fixed interface in prose; test_the_header_names_every_code",
    "bindings/wasm/src/index.d.ts": "examples in prose that refers to gfsmith.h",
    "bindings/wasm/src/engine.js": "the module of each set; test_webassembly_has_a_module_for_each_set",
    "bindings/rust/gfsmith/build.rs": "the user's choice of sets",
    "bindings/go/gfsmith.toml": "the user's choice of sets and codes",
    "bindings/go/reedsolomon/gfsmith.toml": "the user's choice of sets and codes",
    "bindings/rust/reed-solomon-erasure/gfsmith.toml": "the user's choice of sets and codes",
    "bindings/go/reedsolomon/options.go": "klauspost's option for each set",
    "judge/spec.py": "the second judge takes nothing from the generator",
    "gfsmith.toml": "the codes that the default set has kernels for",
    "apps/stripe-store/common/layout.c": "the scheme lrc, and the codes of the store",
    "examples/ceph/ErasureCodePluginGfsmith.cc": "Ceph's names of two codes, and ours",
}
#: Folders whose files select codes and sets, check the tables or explain them.
FOLDERS = (
    *("bindings/rust/gfsmith/tests/", "packaging/release/tests/", "bench/", "research/", "tests/", "docs/"),
    *("tuned/", "gen_out/"),
)
TESTS = ("_test.go", ".test.js")
SUFFIXES = {".md", ".json", ".svg", ".sum", ".abi", ".ods", ".png"}

TABLES: dict[str, tuple[str, ...]] = {
    "codes": NAMES,
    "instruction sets": tuple(BY_NAME),
    "processors": tuple(name for each in ARCHITECTURES for name in each.processors),
    "triples": tuple(each.triple for each in ARCHITECTURES),
}


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [
        name
        for name in listed.split()
        if not name.startswith(FOLDERS)
        and not name.endswith(TESTS)
        and Path(name).suffix not in SUFFIXES
        and (ROOT / name).is_file()
    ]


def by_hand(text: str) -> dict[str, set[str]]:
    """Return the quoted names outside generated lists, by table, if there are more than MOST."""
    rest = facts.without_lists(text)
    quoted = set(re.findall(r"""["'`]([\w-]+)["'`]""", rest))
    found = {table: quoted & set(names) for table, names in TABLES.items()}
    return {table: names for table, names in found.items() if len(names) > MOST}


def test_no_second_list_is_written_by_hand() -> None:
    found = {name: by_hand((ROOT / name).read_text(encoding="utf-8", errors="replace")) for name in _files()}
    assert {name: lists for name, lists in found.items() if lists and name not in ALLOWED} == {}
    assert set(ALLOWED) <= {name for name, lists in found.items() if lists}


def test_a_second_list_would_be_found() -> None:
    assert by_hand('sets = ["avx2", "neon", "vsx"]\n') == {"instruction sets": {"avx2", "neon", "vsx"}}
    assert by_hand("case 'minio': case 'zfs': case `hadoop`:") == {"codes": {"minio", "zfs", "hadoop"}}
    assert by_hand('["avx2", "neon"]') == {}
    marked = '# begin facts: codes in Python\n"cauchy",\n"minio",\n"zfs",\n# end facts\n'
    assert by_hand(marked) == {}


def test_generated_lists_equal_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts.main(["--check"]) == 0, capsys.readouterr().err


def test_every_list_is_somewhere() -> None:
    texts = [path.read_text(encoding="utf-8") for path in facts.files()]
    for name in facts.LISTS:
        assert any(f"begin facts: {name}" in text for text in texts), name
    for text in texts:
        assert text.count("begin facts: ") == text.count("end facts")


@pytest.mark.parametrize("comment", ["#", "//", "/*", "<!--"])
def test_a_list_is_filled_with_the_indentation_of_its_marker(comment: str) -> None:
    close = {"/*": " */", "<!--": " -->"}.get(comment, "")
    marked = f"a\n  {comment} begin facts: aliases in Python{close}\nstale\n  {comment} end facts{close}\nb\n"
    rows = "".join(f'  "{alias}",\n' for alias in ALIASES)
    assert facts.filled(marked) == marked.replace("stale\n", rows)
    assert facts.filled(facts.filled(marked)) == facts.filled(marked)


def test_an_unknown_list_is_an_error() -> None:
    with pytest.raises(facts.FactsError, match="'codes in Cobol' is no list; allowed: codes in C, "):
        facts.filled("# begin facts: codes in Cobol\n# end facts\n")


def test_a_stale_value_is_written() -> None:
    text = "# dependency\nproject(gfsmith VERSION 0.0.9 LANGUAGES C)\nset(x 1 SOVERSION 99)\n"
    new = facts.with_values("CMakeLists.txt", text)
    assert f"project(gfsmith VERSION {__version__} LANGUAGES C)" in new and "SOVERSION 99" not in new
    with pytest.raises(facts.FactsError, match=r"CMakeLists.txt: 2 lines match .*; allowed: 1"):
        facts.with_values("CMakeLists.txt", text * 2)


def test_the_version_has_no_other_copy() -> None:
    copy = rf"gfsmith(-[a-z]+)?[ -](VERSION )?{re.escape(__version__)}"
    command = ["git", "grep", "-lIE", copy, "--", ":!bench", ":!gen_out"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(found) <= {each.path for each in facts.VALUES}


def test_codes_are_named_once() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(CODES) + len(SEARCHED) + len(ALIASES) + 1
    assert len({code.identifier for code in (*CODES, *SEARCHED, LRC)}) == len(CODES) + len(SEARCHED) + 1
    assert tuple(FAMILIES) == tuple(code.name for code in CODES)


def test_names_load_without_sympy() -> None:
    code = "import sys, gfsmith.codes.names; assert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_header_names_every_code() -> None:
    """The documentation of gfsmith_codec_create is prose and part of the fixed interface."""
    text = (ROOT / "runtime" / "core" / "include" / "gfsmith.h").read_text(encoding="utf-8")
    start = text.index("/** Create a codec for a code known by name")
    stated = set(re.findall(r'"([\w-]+)"', text[start : text.index("*/", start)]))
    assert stated == {code.name for code in CODES} | set(ALIASES)


def test_the_page_describes_every_key() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)` \|", facts.without_lists(text), re.MULTILINE)
    keys = list(KernelGroup.model_fields)
    assert [key for key in described if key in keys] == [*keys, "isas", "outputs"]  # the last two: [adaptive]


def test_allowed_values_of_keys() -> None:
    """The generated table has the kinds of values that annotations state."""
    rows = dict(row.split(" | ", 1) for row in [*facts.LISTS["keys of [[kernels]] in Markdown"]()][2:])
    assert '`"shift"`' in rows["| `technique`"] and "plain" not in rows["| `technique`"]
    assert rows["| `outputs`"] == '1 to 128, `"auto"` | `"auto"` |'
    assert rows["| `width`"].startswith('`"auto"`, `256`, `512`')
    assert rows["| `packets`"].startswith("`false`, `true`")


def test_webassembly_has_a_module_for_each_set() -> None:
    text = (ROOT / "bindings" / "wasm" / "src" / "engine.js").read_text(encoding="utf-8")
    wanted = [isa.name for isa in ISAS if isa.arch in (Arch.WASM, Arch.PORTABLE)]
    assert re.findall(r"kernels: '(\w+)'", text) == wanted


def test_architectures_are_named_once() -> None:
    assert set(BY_ARCH) == set(Arch) - {Arch.PORTABLE} and len(BY_ARCH) == len(ARCHITECTURES)
    for names in (
        [name for each in ARCHITECTURES for name in each.processors],
        [each.family for each in ARCHITECTURES],
        [feature.name for each in ARCHITECTURES for feature in each.features],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("isa", ISAS, ids=lambda isa: isa.name)
def test_a_set_needs_features_of_its_architecture(isa: object) -> None:
    assert isinstance(isa, type(ISAS[0]))
    known = set() if isa.arch is Arch.PORTABLE else {feature.name for feature in BY_ARCH[isa.arch].features}
    assert set(isa.cpu_flags) <= known


def test_groups_have_the_sets_that_they_say() -> None:
    assert not set(GROUPS) & set(BY_NAME)
    assert GROUPS["all"] == tuple(BY_NAME)
    assert GROUPS["gfni"] == ("gfni_avx512", "gfni_avx2", "gfni_sse")
    assert GROUPS["avx"] == ("gfni_avx512", "gfni_avx2", "avx512", "avx2")
    assert GROUPS["paired"] == ("gfni_avx512", "gfni_avx2", "avx512", "avx2")
    assert GROUPS["unpaired"] == ("gfni_sse", "sse")
    assert set(GROUPS["c"]) == set(BY_NAME) - set(GROUPS["x86_64"])
    assert set(GROUPS["intrinsics"]) == set(GROUPS["c"]) - {"scalar"}
    assert named(["gfni", "scalar"]) == [*GROUPS["gfni"], "scalar"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["avx3"], "'avx3' is not an instruction set; allowed: gfni_avx512, .*; or a group: all, c, "),
        (["gfni", "gfni_sse"], "an instruction set is named twice: gfni_sse"),
        (["x86_64", "avx"], "an instruction set is named twice: gfni_avx512"),
    ],
)
def test_names_of_sets_that_cannot_be(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named(names)
