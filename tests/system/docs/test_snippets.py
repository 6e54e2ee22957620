"""The C code on pages compiles and gives the stated results, and console blocks print the stated output.

Every ```c block of the pages is a fragment with an entry in FRAGMENTS, is compiled and run by another test
(ELSEWHERE), or is a whole program. Every ```console block is run, or has a reason in NOT_RUN.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.docs import howto
from tests.system.docs.pages import fences, pages

CC = [
    "gcc",
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-I",
    "runtime/core/include",
    "-I",
    "runtime/adaptive/include",
    "-I",
    "runtime/compose/include",
    "-I",
    "gen_out",
]

CONTRACT_MAIN = """
#include <stdio.h>

int main(void) {
  uint8_t a[77], b[77], out[77];
  for (int n = 0; n < 77; n++) {
    a[n] = (uint8_t)(n * 5);
    b[n] = (uint8_t)(n * 3 + 1);
  }
  example(77, a, b, out);
  for (int n = 0; n < 77; n++)
    if (out[n] != (times(3, a[n]) ^ times(7, b[n])))
      return 1;
  return 0;
}
"""


def _c(page: str) -> list[str]:
    return [f.text for f in fences((ROOT / page).read_text(encoding="utf-8")) if f.language == "c"]


def _run(folder: Path, source: str) -> None:
    path, program = folder / "snippet.c", folder / "snippet"
    path.write_text(source)
    command = [*CC, path, "build/libgfsmith.a", "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], check=False).returncode == 0


def test_the_kernel_call_of_the_contract(tmp_path: Path) -> None:
    prototype, snippet = _c("docs/contract.md")
    assert "KERNEL(size_t len" in prototype
    _run(tmp_path, snippet + CONTRACT_MAIN)


HEADERS = (
    "#include <gfsmith.h>\n#include <gfsmith_adaptive.h>\n#include <gfsmith_compose.h>\n"
    "#include <gfsmith_checksum.h>\n#include <gfsmith_parallel.h>\n#include <gfsmith_plan.h>\n"
    "#include <gfsmith_raid.h>\n"
)
#: A fragment may compute a status or a count that its text only explains.
FRAGMENT_CC = [*CC, "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-fsyntax-only"]

CODEC, STRIPE = "gfsmith_codec *codec", "size_t len, uint8_t *const *shards"
#: Page -> for each fragment on it, in order, the variables that the text takes as given.
FRAGMENTS: dict[str, tuple[str, ...]] = {
    "docs/adaptive.md": (CODEC,),
    "docs/checksums.md": (
        "const uint8_t *first, const uint8_t *second",
        f"{CODEC}, const uint8_t *const *first_data, uint8_t *const *first_parity, "
        "const uint8_t *const *second_data, uint8_t *const *second_parity",
        f"{CODEC}, {STRIPE}, const bool *present, const uint64_t *stored",
        f"{CODEC}, {STRIPE}",
    ),
    "docs/algebra.md": ("const uint8_t *numerators, const uint8_t *denominators, uint8_t *quotients",),
    "docs/compose/guide.md": (
        f"{CODEC}, const uint16_t *ranks, const bool *present, const uint16_t *readers, gfsmith_node *node, "
        "uint64_t job, unsigned deadline_ms, size_t length, size_t slice, uint8_t **shards, "
        "gfsmith_notice notice",
        "gfsmith_node *node, gfsmith_job job, size_t length, const uint8_t *shard, gfsmith_done *done, "
        "void *context",
    ),
    "docs/packets.md": (
        f"{CODEC}, size_t regions, const uint8_t *const *data, uint8_t *const *parity",
    ),
    "docs/raid.md": ("size_t len, uint8_t *d0, uint8_t *d1, uint8_t *d2, uint8_t *d3, uint8_t *p, "
                     "uint8_t *q",),
    "docs/threads.md": (
        f"{CODEC}, {STRIPE}, const bool *present, const uint8_t *const *data, uint8_t *const *parity",
        f"{CODEC}, size_t len, const uint8_t *const *data, uint8_t *const *parity, void *my_threads, "
        "void (*run_on_my_threads)(void *, unsigned, void (*)(void *, unsigned), void *)",
    ),
    "docs/repair.md": (
        f"{CODEC}, const bool *present, unsigned count, {STRIPE}",
        f"{CODEC}, size_t len, const uint8_t *const *shards",
        f"{CODEC}, {STRIPE}, const bool *present, size_t *counts",
        f"{CODEC}, size_t len, unsigned j, const uint8_t *delta, unsigned count, const unsigned *indices, "
        "const uint8_t *const *deltas, const uint8_t *data, uint8_t *const *parity, bool first",
    ),
    "docs/wide.md": (
        f"{STRIPE}, const bool *present, const uint8_t *const *data, uint8_t *const *parity",
    ),
    "docs/widths.md": (
        "const uint16_t *parity, size_t len, const uint8_t *const *planes, uint8_t *const *results",
    ),
}  # fmt: skip
#: Pages whose C code other tests compile and run.
ELSEWHERE = {
    "README.md": "test_commands.py runs its program",
    "docs/verdicts.md": "tests/unit/verify/test_documented.py follows its recipe",
    "docs/migrate/isal.md": "test_migrate.py",
    "docs/migrate/jerasure.md": "test_migrate.py",
    "docs/contract.md": "test_the_kernel_call_of_the_contract, above",
}
#: (Page, first command) of console blocks that no test runs -> reason.
NOT_RUN: dict[tuple[str, str], str] = {}


def _names() -> list[str]:
    names = (path.relative_to(ROOT).as_posix() for path in pages())
    return [name for name in names if not name.startswith("docs/howto/")]  # test_howto.py follows these


def _consoles() -> list[tuple[str, str, str]]:
    """Return page, commands and output of every console block."""
    found = []
    for name in _names():
        text = (ROOT / name).read_text(encoding="utf-8")
        for fence in fences(text) if "console" in text else ():
            if fence.language == "console":
                lines = fence.text.splitlines(keepends=True)
                commands = "".join(line[2:] for line in lines if line.startswith("$ "))
                found.append((name, commands, "".join(line for line in lines if not line.startswith("$ "))))
    return found


def _wrapped(fragment: str, parameters: str) -> str:
    """Return a translation unit: the includes of a fragment, and a function with its other lines."""
    lines = fragment.splitlines()
    includes = "\n".join(line for line in lines if line.startswith("#include"))
    body = "\n".join("" if line.startswith("#include") else line for line in lines)
    return f"{includes}\n{HEADERS}void snippet({parameters});\nvoid snippet({parameters}) {{\n{body}\n}}\n"


def _compiles(folder: Path, source: str) -> str:
    """Return the compiler's messages about a source."""
    path = folder / "fragment.c"
    path.write_text(source)
    done = subprocess.run([*FRAGMENT_CC, path], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stderr


def test_every_c_block_has_a_test() -> None:
    """No page with C code is missing in the lists, and none of their entries is stale."""
    with_c = {name for name in _names() if _c(name)}
    assert with_c == FRAGMENTS.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("page", FRAGMENTS)
def test_fragments_compile(page: str, tmp_path: Path) -> None:
    for fragment, parameters in zip(_c(page), FRAGMENTS[page], strict=True):
        assert _compiles(tmp_path, _wrapped(fragment, parameters)) == ""


def test_a_wrong_fragment_is_detected(tmp_path: Path) -> None:
    (parameters,) = FRAGMENTS["docs/raid.md"]
    (fragment,) = _c("docs/raid.md")
    assert "too few arguments" in _compiles(
        tmp_path, _wrapped(fragment.replace("(4, 2, ", "(4, "), parameters)
    )


def test_every_console_block_is_run_or_has_a_reason() -> None:
    keys = [(page, commands.splitlines()[0]) for page, commands, _ in _consoles()]
    assert keys and NOT_RUN.keys() <= set(keys), "an entry without a block"
    assert all(NOT_RUN.values())


@pytest.mark.parametrize(("page", "commands", "printed"), _consoles(), ids=lambda text: text.split("\n")[0])
def test_console_blocks_print_the_output_of_the_page(page: str, commands: str, printed: str) -> None:
    if (page, commands.splitlines()[0]) in NOT_RUN:
        return
    if printed.startswith("gfsmith: "):  # an error, with status 2
        commands = f"status=0\n{commands.rstrip()} || status=$?\ntest $status = 2\n"
    howto.follow(howto.Run(commands, printed), ROOT)


def test_every_sh_block_with_output_is_run() -> None:
    """The pages with such blocks are those that test_commands.py and test_klauspost.py follow."""
    with_output = {
        name
        for name in _names()
        for step in howto.steps((ROOT / name).read_text(encoding="utf-8"))
        if isinstance(step, howto.Run) and step.printed is not None
    }
    assert with_output <= {"docs/how-a-proof-is-read.md", "README.md", "examples/go-replace/README.md"}
