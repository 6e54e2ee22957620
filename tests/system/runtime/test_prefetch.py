"""prefetch.h: the compiler keeps calls of functions that only prefetch."""

from __future__ import annotations

import platform

import pytest

from tests.support.compiler import Compiler

#: GCC 12 regarded fetch() as a function without effects.
SOURCE = """
#include <stdbool.h>
#include "prefetch.h"
static void fetch(const uint8_t *shard, size_t len) {
  if (shard != NULL)
    gfs_prefetch_second(shard, len);
}
void load(const uint8_t *shard, size_t len, bool fetched);
void load(const uint8_t *shard, size_t len, bool fetched) {
  if (fetched)
    fetch(shard, len);
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for an instruction of x86")
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_prefetches_remain(compiler: Compiler, level: str) -> None:
    source, target = compiler.output / "fetch.c", compiler.output / "fetch.s"
    source.write_text(SOURCE)
    compiler.run("gcc", *compiler.FLAGS, level, *compiler.INCLUDES, "-S", str(source), "-o", str(target))
    assert "prefetcht1" in target.read_text()
