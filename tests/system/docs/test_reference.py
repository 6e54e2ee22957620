"""The C reference describes everything public, and the check finds missing descriptions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

HEADERS = [
    path
    for part in ("core", "adaptive", "compose", "shards")
    for path in sorted(ROOT.glob(f"runtime/{part}/include/*.h"))
]


def _reference(*words: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "reference.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    done = _reference(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.stem)
def test_every_public_function_has_its_entry(reference: Path, header: Path) -> None:
    """The check also covers functions that Doxygen ignores silently because it never found them."""
    page = reference / f"{header.stem.replace('_', '__')}_8h.html"
    text = page.read_text(encoding="utf-8")
    functions = re.findall(r"^GFSMITH_API [^(]*?(\w+)\(", header.read_text(encoding="utf-8"), re.MULTILINE)
    assert functions
    for name in functions:
        assert f"</span>{name}()</h2>" in text, f"{header.name}: {name}"


def test_files_have_no_date_or_place(reference: Path) -> None:
    for page in reference.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert str(ROOT) not in text and "Generated on" not in text, page


#: Text removed from the header -> the expected message.
MUTANTS = {
    "function": ("/** Free a codec.\n", "/* Free a codec.\n", "gfsmith_codec_destroy"),
    "parameter": (" * @param delta len bytes, read\n", "", "delta"),
    "wrong name": ("@param delta len", "@param difference len", "difference"),
    "type": ("/** One code and shape, ready", "/* One code and shape, ready", "gfsmith_codec"),
    "value": ("/**< out of memory */", "/* out of memory */", "GFSMITH_ENOMEM"),
    "macro": ("/** The most shards a codec has", "/* The most shards a codec has", "GFSMITH_MAX_SHARDS"),
    "result": (" * @return as gfsmith_update */", " */", "gfsmith_append"),
    "file": ("/** @file\n", "/*\n", "gfsmith.h"),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_missing_descriptions_are_errors(tmp_path: Path, what: str) -> None:
    old, new, name = MUTANTS[what]
    text = (ROOT / "runtime/core/include" / "gfsmith.h").read_text(encoding="utf-8")
    assert old in text
    header = tmp_path / "gfsmith.h"
    header.write_text(text.replace(old, new, 1))
    done = _reference(tmp_path / "out", header)
    assert done.returncode == 1
    assert name in done.stderr.replace(str(header), ""), done.stderr


def test_an_undescribed_new_function_is_an_error(tmp_path: Path) -> None:
    header = tmp_path / "gfsmith_new.h"
    header.write_text("/** @file\n * New. */\n#define GFSMITH_API\nGFSMITH_API int gfsmith_new(int a);\n")
    done = _reference(tmp_path / "out", header)
    assert done.returncode == 1 and "gfsmith_new(int a)" in done.stderr
