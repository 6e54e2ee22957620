"""The C code on pages compiles and gives the stated results."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.paths import ROOT
from tests.system.docs.pages import fences

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
