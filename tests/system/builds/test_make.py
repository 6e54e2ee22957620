"""gfsmith.mk in another Makefile, and the Makefile of an exported tree with its pkg-config file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from gfsmith import __version__
from tests.system.builds.support import (
    BOTH,
    OUTPUT,
    SMALL,
    Place,
    check_kernels,
    compiled_with_blanks,
    copied,
    kernels,
    times,
    unpacked,
    widen,
)

#: A program with a library whose names begin with acme.
PROGRAM = """#include <acme.h>
#include <stdio.h>
int main(void) {
  acme_codec *codec;
  acme_status status = acme_codec_create(&codec, "cauchy", 10, 4);
  printf("%s %s\\n", acme_isa(), acme_strerror(status));
  acme_codec_destroy(codec);
  return status != ACME_OK;
}
"""


def test_example(place: Place, tmp_path: Path) -> None:
    """The build makes the selected kernels and no others, again when configuration or flags change, and
    nothing after an error.
    """
    source = copied("make", tmp_path)
    place.call("make", "-j2", cwd=source)
    assert re.fullmatch(OUTPUT, place.call(source / "example"))
    assert re.fullmatch(BOTH, place.call(source / "both"))
    shards, archive = (source / f"build/gfsmith/{name}/lib{name}.a" for name in ("gfsmith", "archive"))
    check_kernels(place, shards, archive)

    done = place.run("make", "GFSMITH=missing", cwd=source)
    assert (done.returncode, done.stdout) == (2, "")
    assert "missing does not run; put it in PATH or set GFSMITH" in done.stderr
    assert place.call("make", cwd=source) == ""
    before = times([shards, archive, source / "both"])
    widen(source / "archive.toml")
    place.call("make", cwd=source)
    now = times([shards, archive, source / "both"])
    assert [new == old for new, old in zip(now, before, strict=True)] == [True, False, False]
    assert "archive_dot_nx3__avx2" in kernels(place, archive)

    makefile = source / "Makefile"
    makefile.write_text(makefile.read_text().replace(" --isa scalar", ""))
    place.call("make", cwd=source)
    assert {name.split("__")[1] for name in kernels(place, shards)} == {"avx2"}

    makefile.write_text(makefile.read_text().replace("--k 10 --m 4", "--k 300 --m 4"))
    shutil.rmtree(source / "build/gfsmith/gfsmith")
    done = place.run("make", cwd=source)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("gfsmith: ")]
    assert said == ["gfsmith: cauchy has no shape 300+4; allowed: k >= 1, m >= 1, k + m <= 255"]
    assert not (source / "build/gfsmith/gfsmith").exists()


def test_a_tree(place: Place, tmp_path: Path) -> None:
    """With another prefix, installed below DESTDIR: shared and static, by pkg-config, in any place."""
    (tmp_path / "small.toml").write_text(SMALL)
    tree = tmp_path / "tree"
    export = ("gfsmith", "export", "--form", "tree", "--prefix", "acme")
    place.call(*export, "-c", tmp_path / "small.toml", "-o", tree)
    stage = tmp_path / "stage"
    place.call("make", "-j2", "install", "CFLAGS=-O1", "PREFIX=/opt/acme", f"DESTDIR={stage}", cwd=tree)
    names = {path.name for path in stage.rglob("*") if not path.is_dir()}
    parts = ("plan", "parallel", "raid", "algebra", "checksum", "wide")
    headers = {"acme.h", *(f"acme_{part}.h" for part in parts)}
    shared = {"libacme.so", "libacme.so.0", f"libacme.so.{__version__}"}
    assert names == headers | shared | {"libacme.a", "acme.pc"}

    prefix = (stage / "opt/acme").rename(tmp_path / "moved")
    found = ("pkg-config", "--define-prefix", f"acme = {__version__}")
    where = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    flags = place.call(*found, "--cflags", **where).split()
    libraries = place.call(*found, "--libs", **where).split()
    assert (flags, libraries) == ([f"-I{prefix}/include"], [f"-L{prefix}/lib", "-lacme"])
    program = tmp_path / "program"
    program.with_suffix(".c").write_text(PROGRAM)
    compiler = ("gcc", *flags, program.with_suffix(".c"), "-o", program)
    said = "scalar success\n"
    place.call(*compiler, *libraries)
    assert place.run(program).returncode == 127  # libacme.so.0 is in none of the system's folders
    assert place.call(program, LD_LIBRARY_PATH=f"{prefix}/lib") == said
    place.call(*compiler, prefix / "lib/libacme.a")
    assert place.call(program) == said
    stated = place.call("pkg-config", "--cflags", "acme", **where).split()
    assert stated == ["-I/opt/acme/include"]


def test_folders_with_blanks(archive: Path, place: Place, tmp_path: Path) -> None:
    """The flags of pkg-config are words of a shell; the prefix also has a character that sed replaces."""
    prefix = tmp_path / "R&D  of a team" / "prefix"
    libraries, headers = prefix / "lib of 64 bits", tmp_path / "other headers"
    folders = (f"PREFIX={prefix}", f"LIBDIR={libraries}", f"INCLUDEDIR={headers}")
    place.call("make", "-j2", "install", *folders, cwd=unpacked(archive, tmp_path))
    described = libraries / "pkgconfig" / "gfsmith.pc"
    assert "\nlibdir=${prefix}/lib\\ of\\ 64\\ bits\n" in described.read_text()
    compiled_with_blanks(place, described.parent, tmp_path)


@pytest.mark.parametrize("target", ["install", "install-shards"])
def test_a_folder_that_cannot_be_written(target: str, archive: Path, place: Place, tmp_path: Path) -> None:
    """One line names it, before anything is built. It is below a file, where root cannot write either."""
    (tmp_path / "file").touch()
    tree = unpacked(archive, tmp_path)
    done = place.run("make", target, f"PREFIX={tmp_path}/file/prefix", cwd=tree, HOME="/home/user")
    said, ended = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "") and "*** [" in ended
    assert said.startswith(f"make install: {tmp_path}/file/prefix/lib cannot be written; install as root, ")
    assert said.endswith(": PREFIX=/home/user/.local")
    assert not (tree / "build").exists()
