"""`make lib`, `make isal`, the Makefile of a tree, the amalgamation and the wheel detect a changed kernel."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.linked.support import (
    CHECKER,
    RIGHT,
    SYMBOL,
    call,
    check,
    refused,
    run,
    tamper,
)


def _make(small: Path, build: Path, *targets: str) -> tuple[str, ...]:
    """Return the command that builds the checkout's runtime with the small build's kernels."""
    return ("make", "-C", str(ROOT), f"GFSMITH_GENERATED={small}", f"BUILD={build}", *targets)


def test_make_lib(small: Path, tmp_path: Path) -> None:
    """The build compares each library, deletes a wrong one, and `make check-linked` compares again."""
    gen, build = Path(shutil.copytree(small / "gen", tmp_path / "gen")), tmp_path / "build"
    said = call(*_make(gen, build, "lib"))
    for name in ("libgfsmith.a", "libgfsmith.so"):
        assert f"{build}/{name}: {RIGHT}\n" in said
    assert RIGHT not in call(*_make(gen, build, "lib"))
    assert call(*_make(gen, build, "check-linked")).count(RIGHT) == 2

    tamper(gen / "x86" / f"{SYMBOL}.S")
    for name in ("libgfsmith.a", "libgfsmith.so"):
        refused(run(*_make(gen, build, f"{build}/{name}")))
        assert not (build / name).exists()


def test_a_changed_library_is_detected(small: Path, tmp_path: Path) -> None:
    """The library was changed after its build: ISA-L's replacement is linked with it, and compared."""
    build = tmp_path / "build"
    isal = ("runtime/isal/isal.mk", f"{build}/libisal.so.2", f"{build}/libisal_ec.a")
    said = call(*_make(small / "gen", build, *isal[1:]))
    assert said.count(RIGHT) == 3
    gen = Path(shutil.copytree(small / "gen", tmp_path / "gen"))
    tamper(gen / "x86" / f"{SYMBOL}.S")
    call("gcc", f"-I{gen}", "-c", gen / "avx2.S", "-o", tmp_path / "avx2.o")
    call("ar", "r", build / "libgfsmith.a", tmp_path / "avx2.o")
    refused(run(*_make(small / "gen", build, "check-linked")))
    for path in isal[1:]:
        refused(run(*_make(small / "gen", build, path)))
        assert not Path(path).exists()


def test_a_tree(small: Path, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(small / "tree", tmp_path / "tree"))
    assert call("make", cwd=tree).count(RIGHT) == 2
    tamper(tree / "gen_out" / "x86" / f"{SYMBOL}.S")
    refused(run("make", cwd=tree))


def test_one_instruction_set(small: Path, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(small / "tree", tmp_path / "tree"))
    assert "4 functions compared, 0 compiled from C" in call("make", "ISA=avx2", cwd=tree)
    assert "0 functions compared, 4 compiled from C" in call("make", "ISA=scalar", cwd=tree)


def test_without_python(small: Path, tmp_path: Path) -> None:
    """A build without Python reports that nothing was compared."""
    tree = Path(shutil.copytree(small / "tree", tmp_path / "tree"))
    said = call("make", "PYTHON3=", cwd=tree)
    assert said.count("MANIFEST.json: python3 is missing") == 2


@pytest.mark.campaign
@pytest.mark.parametrize("optimised", ["-O2", "-O2 -flto"])
def test_an_amalgamation(optimised: str, small: Path, tmp_path: Path) -> None:
    """The object, or after link-time optimisation the program."""
    folder = Path(shutil.copytree(small / "amalgamation", tmp_path / "sources"))
    source, program = folder / "gfsmith.c", tmp_path / "program"
    main = tmp_path / "main.c"
    main.write_text('#include "gfsmith.h"\nint main(void) { return gfsmith_isa() == 0; }\n')
    build = ("gcc", "-std=c11", *optimised.split(), f"-I{folder}", main, source, "-o", program)
    call(*build)
    said = call("python3", folder / "check_linked.py", folder / "MANIFEST.json", program)
    assert "4 functions compared" in said
    tamper(source)
    call(*build)
    refused(run("python3", folder / "check_linked.py", folder / "MANIFEST.json", program))


def test_exports_contain_the_script(small: Path) -> None:
    for path in ("tree/packaging", "amalgamation"):
        assert (small / path / CHECKER.name).read_bytes() == CHECKER.read_bytes()


#: A kernel of the default set whose bytes no other kernel has.
OTHER = "gfs_dot_10x4__avx2_u2_steps"


def _changed_library(folder: Path) -> Path:
    """Return a copy of build/libgfsmith.a in which one byte of a kernel is different."""
    library = Path(shutil.copy(built("lib") / "libgfsmith.a", folder / "libgfsmith.a"))
    generated = ROOT / "gen_out"
    call("gcc", f"-I{generated}", "-c", generated / "x86" / f"{OTHER}.S", "-o", f"{OTHER}.o", cwd=folder)
    call("objcopy", "-O", "binary", "-j", ".text", f"{OTHER}.o", "code", cwd=folder)
    data, kernel = library.read_bytes(), (folder / "code").read_bytes()
    assert data.count(kernel) == 1
    place = data.index(kernel) + len(kernel) // 2
    library.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    return library


@pytest.mark.campaign
def test_a_wheel(tmp_path: Path) -> None:
    """The wheel of `make python`, whose extension has no symbols; a changed library makes no wheel."""
    built("python")
    (wheel,) = (ROOT / "dist").glob("gfsmith-*.whl")
    with zipfile.ZipFile(wheel) as file:
        extension = file.extract("gfsmith/codec/_native.abi3.so", tmp_path)
    done = check(ROOT / "gen_out" / "MANIFEST.json", extension)
    assert "functions found by their bytes" in done.stdout, done.stderr

    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for path in ROOT.iterdir():
        if path.name not in (".git", "bindings", "build", "dist", "tools"):
            (checkout / path.name).symlink_to(path)
    for name in ("bindings", "tools"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("node_modules", "target"))
    done = run(checkout / "tools" / "python.sh", _changed_library(tmp_path))
    refused(done, f"{OTHER}: its proved machine code is not in the file")
    assert not list((checkout / "dist").iterdir())
