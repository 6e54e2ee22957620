"""Files for build systems: their paths, rules of make, and the same hardening flags in all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gfsmith.build.output import OutputError
from gfsmith.cli import where
from gfsmith.cli.main import main
from gfsmith.cli.where import PLACES
from gfsmith.export.depfile import depfile


def test_makes_include_takes_a_path_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "with a blank" / "gfsmith.mk"
    place.parent.mkdir()
    place.write_text("all:\n\t@echo included\n")
    monkeypatch.setattr(where, "share", lambda name: place)
    printed = CliRunner().invoke(main, ["where", "make"]).stdout
    (tmp_path / "printed").write_text(printed)
    (tmp_path / "Makefile").write_text("include $(shell cat printed)\n")
    done = subprocess.run(["make", "--no-print-directory"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "included\n"), done.stderr


#: A program that writes a library whose kernels differ from the proved ones.
WRONG = """#!/bin/sh -e
mkdir -p build/gfsmith/acme
cd build/gfsmith/acme
echo 'int acme;' >acme.c
touch acme.h MANIFEST.json
echo 'import sys; sys.exit(f"{sys.argv[2]}: its machine code is not the proved one")' >check_linked.py
"""


def test_a_library_that_differs_is_not_kept(root: Path, tmp_path: Path) -> None:
    """Another make would take it for up to date, and the comparison is a part of its rule."""
    program = tmp_path / "generator"
    program.write_text(WRONG)
    program.chmod(0o755)
    (tmp_path / "Makefile").write_text(
        f"include {root}/packaging/make/gfsmith.mk\n"
        "$(eval $(call gfsmith_generate,acme,--code cauchy))\n"
        ".DEFAULT_GOAL := all\nall: $(acme_LIBS)\n"
    )
    command = ["make", f"GFSMITH={program}", f"GFSMITH_PYTHON={sys.executable}"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        assert "build/gfsmith/acme/libacme.a: its machine code is not the proved one\n" in done.stderr
    assert not (tmp_path / "build/gfsmith/acme/libacme.a").exists()


@pytest.mark.parametrize("system", PLACES)
def test_where(system: str, root: Path) -> None:
    done = CliRunner().invoke(main, ["where", system])
    assert done.exit_code == 0
    found = Path(done.output.strip().replace("\\ ", " "))
    assert found.is_relative_to(root)
    assert (
        found.is_file()
        if system == "make"
        else (found / "BUILD").exists() or list(found.glob("*-config.cmake"))
    )


def test_there_is_no_other_system() -> None:
    done = CliRunner().invoke(main, ["where", "scons"])
    assert done.exit_code == 2
    assert "'scons' is not one of 'bazel', 'cmake', 'make'" in done.output


def test_make_reads_the_rule(tmp_path: Path) -> None:
    """Names with characters that are special to make; a file deleted later is not an error."""
    names = ["plain", "a space", "a#hash", "a$dollar"]
    inputs = [tmp_path / name for name in names]
    for path in inputs:
        path.write_text("")
    depfile(tmp_path / "rule.d", tmp_path / "out put", inputs)
    (tmp_path / "Makefile").write_text(
        "include rule.d\n%put:\n\t@printf '%s|' $(foreach f,$(notdir $^),'$f')\n"
    )
    make = ["make", "-s", str(tmp_path / "out put")]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("plain", "hash", "a$dollar", "prove_kernels.py", "amalgamation.c.j2", "encode.c"):
        assert word in done.stdout
    inputs[0].unlink()
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        depfile(tmp_path / "file" / "rule.d", tmp_path / "target", [])


#: The build files with hardening flags, and the pattern of a branch by architecture.
HARDENING = {
    "packaging/make/library.mk": r"\$\(ARCH\),(\w+)\)",
    "CMakeLists.txt": r'arch STREQUAL "(\w+)"',
    "packaging/meson/meson.build": r"arch == '(\w+)'",
}
_PARTS = {"runtime": r"harden_runtime|fortify", "kernels": r"harden_kernels", "link": r"harden_link|\blink\b"}


def _hardening(path: str, text: str) -> set[tuple[str, str, str]]:
    """Return (part, architecture, flag) of each flag in the section about hardening; architecture "": all."""
    section = text.partition("Hardening flags that the compiler accepts")[2]
    section = re.split(r"\nOBJECTS :=|\nset_source_files|\nheaders = ", section)[0]
    found: set[tuple[str, str, str]] = set()
    arch = ""
    for line in section.replace("\\\n", " ").splitlines():
        if branch := re.search(HARDENING[path], line):
            arch = branch[1]
        elif re.fullmatch(r"\s*(endif(\(\))?)\s*", line):
            arch = ""
        if re.search(r"\bif\(|^\s*if |findstring|IN_LIST", line) or line.lstrip().startswith("#"):
            continue
        flags = re.findall(r"(?<![\w-])-(?:f[\w-]+|mbranch[\w=-]+|nostartfiles|U\w+|D_FORTIFY\w+)", line)
        flags += [f"-z {word}" for word in re.findall(r"(?<=[z,])(noexecstack|relro|now)\b", line)]
        for part, pattern in _PARTS.items():
            if re.search(pattern, line, re.IGNORECASE):
                found |= {(part, arch, flag) for flag in flags}
    return found


def test_build_files_have_the_same_hardening_flags(root: Path) -> None:
    texts = {path: (root / path).read_text(encoding="utf-8") for path in HARDENING}
    make, cmake, meson = (_hardening(path, text) for path, text in texts.items())
    assert {("runtime", "x86_64", "-fcf-protection"), ("link", "", "-nostartfiles")} < make
    assert {arch for _, arch, _ in make} == {"", "x86_64", "aarch64"} and len(make) == 13
    assert cmake == make
    assert meson == make
    for text in texts.values():
        assert "FORTIFY_SOURCE=3" in text and re.search(r"FORTIFY_SOURCE=2|'3' : '2'", text)
    wrong = texts["CMakeLists.txt"].replace('"-mbranch-protection=bti" harden_kernels', '"" harden_kernels')
    assert make - _hardening("CMakeLists.txt", wrong) == {("kernels", "aarch64", "-mbranch-protection=bti")}
