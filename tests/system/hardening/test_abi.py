"""The recorded binary interfaces: changes that break programs are refused, others are not. x86-64."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.folders import built, once
from tests.support.paths import ROOT
from tests.system.hardening.symbols import call

RECORDS = sorted((ROOT / "runtime" / "abi").glob("*.abi"))


def check(library: Path, include: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if include is None else {"GFSMITH_ABI_HEADERS": str(include)})
    command = [ROOT / "tools/abi.sh", "check", library]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def compile_runtime(runtime: Path, sources: list[Path], folder: Path) -> None:
    includes = [f"-I{path}" for path in (runtime / "core/include", runtime / "core/src", ROOT / "gen_out")]
    flags = ["-std=c11", "-g", "-O0", "-fPIC", "-fvisibility=hidden", *includes]
    subprocess.run(["gcc", *flags, "-c", *sources], cwd=folder, check=True)


def link(folder: Path) -> Path:
    """Link a library without kernels, which is enough for its interface."""
    library = folder / "libgfsmith.so"
    call("gcc", "-shared", "-Wl,-soname,libgfsmith.so.0", "-o", library, *folder.glob("*.o"))
    return library


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The objects of the unchanged runtime, and the library made from them."""

    def make(folder: Path) -> None:
        runtime = ROOT / "runtime"
        compile_runtime(runtime, sorted((runtime / "core/src").glob("*.c")), folder)
        link(folder)

    return once(tmp_path_factory, "abi", make)


def test_the_libraries_are_as_recorded(build: Path) -> None:
    built("shards")
    assert {path.stem for path in RECORDS} == {"libgfsmith", "libgfsmith-shards"}
    for path in RECORDS:
        done = check(build / f"{path.stem}.so")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_the_record_names_no_machine(record: Path) -> None:
    text = record.read_text()
    assert str(ROOT) not in text and not re.search("'/[a-z]|comp-dir|filepath", text)


@dataclass(frozen=True, slots=True)
class Change:
    """A replacement in a file of runtime/, and the sources to compile again."""

    old: str
    new: str
    files: tuple[str, ...]
    again: tuple[str, ...]


PACKETS = ("include/gfsmith.h", "src/codec.c")
LEAST = ("include/gfsmith_plan.h", "src/plan.c")
PARALLEL = ("include/gfsmith_parallel.h",)
REFUSED = {
    "parameter": Change("size_t packet)", "unsigned packet)", PACKETS, ("codec.c",)),
    "enumerator": Change("HINT_CACHED = 1", "HINT_CACHED = 5", ("include/gfsmith.h",), ("codec.c",)),
    "member": Change(
        "  void *context;    /**<", "  long more;\n  void *context;    /**<", PARALLEL, ("parallel.c",)
    ),
    "result": Change("bool gfsmith_plan_is_least", "int gfsmith_plan_is_least", LEAST, ("plan.c",)),
}


def changed(change: Change, plain: Path, folder: Path) -> tuple[Path, Path]:
    """Return the library of a changed runtime, and its headers."""
    runtime, objects = folder / "runtime", folder / "objects"
    shutil.copytree(ROOT / "runtime", runtime)
    objects.mkdir()
    for name in change.files:
        text = (runtime / "core" / name).read_text()
        assert change.old in text
        (runtime / "core" / name).write_text(text.replace(change.old, change.new))
    for path in plain.glob("*.o"):
        shutil.copy(path, objects)
    compile_runtime(runtime, [runtime / "core/src" / name for name in change.again], objects)
    return link(objects), runtime / "core/include"


def refused(done: subprocess.CompletedProcess[str], sentence: str) -> bool:
    return done.returncode == 1 and sentence in done.stderr and "make abi" in done.stderr


def test_objects_of_the_runtime_alone_are_as_recorded(plain: Path) -> None:
    assert check(plain / "libgfsmith.so").returncode == 0


@pytest.mark.parametrize("name", REFUSED)
def test_a_changed_interface_is_refused(name: str, plain: Path, tmp_path: Path) -> None:
    assert refused(check(*changed(REFUSED[name], plain, tmp_path)), "may break")


def shards_library(folder: Path, old: str, new: str) -> tuple[Path, Path]:
    """Return the library of shards with a replacement in its public header, and its headers."""
    shards = Path(shutil.copytree(ROOT / "runtime" / "shards", folder / "shards"))
    header = shards / "include" / "gfsmith_shards.h"
    text = header.read_text()
    assert text.count(old) == 1
    header.write_text(text.replace(old, new))
    includes = (f"-I{header.parent}", f"-I{ROOT / 'runtime/core/include'}")
    flags = ("-std=c11", "-D_GNU_SOURCE", "-g", "-O0", "-fPIC", "-fvisibility=hidden", *includes)
    library = folder / "libgfsmith-shards.so"
    named = "-Wl,-soname,libgfsmith-shards.so.0"
    call("gcc", *flags, "-shared", named, "-o", library, *sorted(shards.glob("src/*.c")))
    return library, header.parent


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("/** Bytes of a header. */", "/** The size of a header. */", True),
        ("uint64_t bad_blocks;", "uint32_t bad_blocks;", False),
        ("uint64_t bad_blocks;", "bool read_again;\n  uint64_t bad_blocks;", False),
        ("GFSMITH_API bool gfsmith_shards_intact(", "bool gfsmith_shards_intact(", False),
    ],
    ids=["comment", "width", "member", "hidden"],
)
def test_shards_a_changed_interface_is_refused(old: str, new: str, accepted: bool, tmp_path: Path) -> None:
    done = check(*shards_library(tmp_path, old, new))
    assert (done.returncode == 0) == accepted
    assert accepted or refused(done, "earlier libgfsmith-shards.so may break")


def test_other_libraries_have_no_record(plain: Path, tmp_path: Path) -> None:
    shutil.copy(plain / "libgfsmith.so", tmp_path / "libother.so")
    done = check(tmp_path / "libother.so")
    assert done.returncode == 2 and "allowed: libgfsmith.so, libgfsmith-shards.so" in done.stderr


@pytest.fixture
def copy(plain: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that links the library without one object."""

    def make(without: str) -> Path:
        for path in plain.glob("*.o"):
            if path.name != without:
                shutil.copy(path, tmp_path)
        return link(tmp_path)

    return make


def test_a_removed_function_is_refused(copy: Callable[[str], Path]) -> None:
    done = check(copy("locate.o"))
    assert refused(done, "may break") and "gfsmith_locate" in done.stdout


def test_a_further_function_is_to_be_recorded(plain: Path, tmp_path: Path) -> None:
    change = Change(
        "#include <string.h>\n",
        "#include <string.h>\nGFSMITH_API int gfsmith_further(void);\n"
        "int gfsmith_further(void) { return 1; }\n",
        ("src/codec.c",),
        ("codec.c",),
    )
    assert refused(check(*changed(change, plain, tmp_path)), "has functions that")


def test_private_structs_may_change(plain: Path, tmp_path: Path) -> None:
    """Programs know a codec only by its address."""
    change = Change(
        "struct gfsmith_codec {", "struct gfsmith_codec {\n  int more[9];", ("src/codec.h",), ("codec.c",)
    )
    assert check(*changed(change, plain, tmp_path)).returncode == 0


def test_a_library_without_debugging_information_is_refused(plain: Path, tmp_path: Path) -> None:
    shutil.copy(plain / "libgfsmith.so", tmp_path)
    call("strip", "--strip-debug", tmp_path / "libgfsmith.so")
    done = check(tmp_path / "libgfsmith.so")
    assert done.returncode == 2 and "-g" in done.stderr
