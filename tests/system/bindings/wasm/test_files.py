"""The tests of shard files in the package detect faults of its reader. Cost: about 7 s."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.system.bindings.wasm.support import EXAMPLE, NODE

#: A fault: the file, a text in it, and its replacement.
MUTANTS = {
    "a good block of a wrong length is used": (
        "shardfile.js",
        "found?.length !== Math.min(block, size - n * block)",
        "!found",
    ),
    "checksums of records are not compared": (
        "shardfile.js",
        "return equal(record(kind, number, content, tag, checksum), file.subarray(at, at + RECORD + size))",
        "return tag",
    ),
    "the damaged header gives the tag of the blocks": (
        "shardfile.js",
        "const tag = tagOf(writeHeader(header, checksum));\n  const { block } = header;\n  /**",
        "const tag = tagOf(file);\n  const { block } = header;\n  /**",
    ),
    "the damaged header gives the tag of the trailer": (
        "shardfile.js",
        "const tag = tagOf(writeHeader(header, checksum));\n  const { block } = header;\n  for",
        "const tag = tagOf(file);\n  const { block } = header;\n  for",
    ),
    "only the end of the file has a trailer": (
        "shardfile.js",
        "if (end?.stripes === stripes) return",
        "if (!n)",
    ),
    "a trailer of any number ends the blocks": ("shardfile.js", "end?.stripes === stripes", "end"),
    "a shard with a damaged header is lost": ("files.js", "typeof index !== 'number' ||", "true ||"),
    "two files have one index": ("files.js", "!free.delete(index)", "!free.has(index)"),
    "indices are ignored": ("files.js", "indices ? indices[position] : position", "position"),
    "positions are no indices": ("files.js", "indices ? indices[position] : position", "indices?.[position]"),
    "a shard without a valid header is intact": ("files.js", "if (broken) return broken;", ""),
    "groups are not read": ("shardfile.js", "l: view.getUint32(AT.l, true),", "l: 0,"),
    "every loss of m blocks can be repaired": (
        "files.js",
        "!canRepair(codec, good)",
        "good.filter((each) => !each).length > codec.m",
    ),
    "a loss of empty shards can always be repaired": (
        "codec.js",
        "let at = 0;\n    do {",
        "let at = 0;\n    if (length > 0) do {",
    ),
}


def _tests(folder: Path) -> subprocess.CompletedProcess[str]:
    flags = ("--test", "--test-reporter=tap", "--test-skip-pattern=report progress")
    command = (NODE, *flags, "test/files.test.js")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def _copy(folder: Path) -> Path:
    for part in ("src", "test", "package.json"):
        source = EXAMPLE / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
    (folder / "dist").symlink_to(EXAMPLE / "dist")
    return folder


def test_the_tests_pass_in_a_copy(package: None, tmp_path: Path) -> None:
    done = _tests(_copy(tmp_path))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", MUTANTS)
def test_the_tests_detect_a_fault(name: str, package: None, tmp_path: Path) -> None:
    file, text, other = MUTANTS[name]
    source = _copy(tmp_path) / "src" / file
    before = source.read_text(encoding="utf-8")
    assert before.count(text) == 1
    source.write_text(before.replace(text, other), encoding="utf-8")
    done = _tests(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "Subtest: are restored" in done.stdout, "the source has an error of syntax"
