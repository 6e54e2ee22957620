"""What pages show as C compiles and does what they say."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pages import ROOT, fences

CC = [
    "gcc",
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-I",
    "runtime/include",
    "-I",
    "gen_out",
]

README_MAIN = """
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 14, LEN = 1000 };

int main(void) {
  static uint8_t memory[SHARDS][LEN], kept[SHARDS][LEN];
  uint8_t *shards[SHARDS];
  bool present[SHARDS];
  for (int i = 0; i < SHARDS; i++) {
    shards[i] = memory[i];
    present[i] = true;
    for (int b = 0; b < LEN; b++)
      memory[i][b] = (uint8_t)rand();
  }
  if (protect_and_repair(LEN, shards, present) != GFSMITH_OK)
    return 1;
  memcpy(kept, memory, sizeof kept);
  for (int i = 10; i < SHARDS; i++) /* parities are read as they are: nothing may change but what is lost */
    present[i] = i != 12;
  memset(memory[12], 0, LEN);
  if (protect_and_repair(LEN, shards, present) != GFSMITH_OK)
    return 2;
  return memcmp(kept, memory, sizeof kept) == 0 ? 0 : 3;
}
"""

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


def test_the_program_of_the_readme(tmp_path: Path) -> None:
    (snippet,) = _c("README.md")
    _run(tmp_path, snippet + README_MAIN)


def test_the_kernel_call_of_the_contract(tmp_path: Path) -> None:
    prototype, snippet = _c("docs/contract.md")
    assert "KERNEL(size_t len" in prototype
    _run(tmp_path, snippet + CONTRACT_MAIN)
