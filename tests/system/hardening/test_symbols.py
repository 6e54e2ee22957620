"""The shared library exports exactly the public functions."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.support.compiler import Compiler
from tests.support.paths import ROOT
from tests.system.hardening.symbols import INCLUDE, Differences, call, declared, exported, external

NOTHING: frozenset[str] = frozenset()

DIRECT = """
#include "gfsmith_kernels.h"
int main(void) {
  uint8_t a[5] = {1, 2, 3, 4, 5}, b[5] = {5, 4, 3, 2, 1}, out[5];
  const uint8_t *src[2] = {a, b};
  uint8_t *dst[1] = {out};
  KERNEL(5, 2, 0, src, dst);
  return out[0] == 4 && out[4] == 4 ? 0 : 1;
}
"""


def test_the_shared_library_exports_the_declarations_of_the_headers(build: Path) -> None:
    """In both directions. Kernels and gfs_ internals are for the static library."""
    public = declared()
    assert len(public) > 30 and "gfsmith_encode" in public
    found = exported(build / "libgfsmith.so")
    assert Differences.between(public, found) == Differences(NOTHING, NOTHING)


def test_a_declared_function_that_is_missing_is_found(build: Path, tmp_path: Path) -> None:
    shutil.copytree(INCLUDE, tmp_path / "include")
    header = tmp_path / "include" / "gfsmith_raid.h"
    text = header.read_text()
    header.write_text(
        text.replace("#ifdef __cplusplus\n}", "int gfsmith_absent(void);\n#ifdef __cplusplus\n}")
    )
    found = Differences.between(declared(tmp_path / "include"), exported(build / "libgfsmith.so"))
    assert found == Differences(frozenset({"gfsmith_absent"}), NOTHING)


def test_an_object_without_the_flag_is_found(compiler: Compiler) -> None:
    """A library with one source compiled with the compiler's default visibility exports that source's
    functions.
    """
    flags, library = ("-std=c11", "-O1", "-fPIC", *Compiler.INCLUDES), compiler.output / "lib.so"
    for name, visibility in (("field", "default"), ("tables", "hidden")):
        target = str(compiler.output / f"{name}.o")
        compiler.run(
            "gcc", *flags, f"-fvisibility={visibility}", "-c", f"runtime/core/src/{name}.c", "-o", target
        )
    compiler.run("gcc", "-shared", "-o", str(library), *map(str, compiler.output.glob("*.o")))
    found = Differences.between(declared(), exported(library)).extra
    assert "gfs_field_mul" in found
    assert not any(name.startswith("gfs_tables") for name in found)


def test_the_static_library_has_its_own_names_only(build: Path) -> None:
    names = external(build / "libgfsmith.a")
    assert declared() < names
    assert [name for name in names if not name.startswith(("gfsmith_", "gfs_"))] == []


def test_kernels_can_be_called_from_the_static_library_alone(build: Path, tmp_path: Path) -> None:
    """Hidden symbols link into a program with the archive; the shared library does not offer them."""
    kernel = re.search(r"\bgfs_xor_nx1__scalar_\w+", (ROOT / "gen_out/gfsmith_kernels.h").read_text())
    assert kernel is not None
    source = tmp_path / "direct.c"
    source.write_text(DIRECT.replace("KERNEL", kernel[0]))
    command = ["gcc", "-Igen_out", str(source), "-o", str(tmp_path / "direct")]
    call(*command, build / "libgfsmith.a")
    call(tmp_path / "direct")
    refused = subprocess.run(
        [*command, str(build / "libgfsmith.so")], cwd=ROOT, capture_output=True, text=True
    )
    assert refused.returncode != 0 and "undefined reference" in refused.stderr


def test_programs_link_to_the_version_of_the_interface(build: Path, tmp_path: Path) -> None:
    """Programs link to the library by its SONAME; make lib creates a link of that
    name, so that they start.
    """
    source = tmp_path / "main.c"
    source.write_text('#include "gfsmith.h"\nint main(void) { return gfsmith_isa() == 0; }\n')
    shared = build / "libgfsmith.so"
    call("gcc", f"-I{INCLUDE}", source, shared, f"-Wl,-rpath,{build}", "-o", tmp_path / "main")
    assert "[libgfsmith.so.0]" in call("readelf", "-d", tmp_path / "main")
    call(tmp_path / "main")
