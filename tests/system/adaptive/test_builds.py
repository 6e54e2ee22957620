"""Each way to build the library includes the coordinator exactly if there are
kernels for it to choose from.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith import __version__
from gfsmith.codes import parity_matrix
from gfsmith.export.names import Names
from tests.support.paths import ROOT
from tests.system.adaptive.builds import NATIVE, STRICT, WITH, WITHOUT, export, library, run
from tests.system.docs.pages import code, fences

POLICIES = ("default", "plain", "row,d=5", "row,d=9,first=12")
SAID = "default plain row,d=5 row,d=9,first=12\n"
HEADER = "gfsmith_adaptive.h"
ENTRY = "gfsmith_adaptive_create"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the libraries with a tree's Makefile and return the folder."""
    return library(tmp_path_factory)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree without variants."""
    folder = tmp_path_factory.mktemp("plain") / "tree"
    export(folder, WITHOUT, "--form", "tree")
    return folder


def _symbols(archive: Path) -> set[str]:
    return set(re.findall(r" [A-Za-z] (\w+)$", run("nm", archive), re.MULTILINE))


def _encodes(program: Path, **environment: str) -> None:
    assert run(program, *POLICIES, **environment) == SAID


def test_the_guide_switches_the_program_of_the_readme_on(built: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adaptive.md").read_text()
    include, _, calls = next(each.text for each in fences(page) if each.language == "c").partition("\n")
    readme = next(each.text for each in fences((ROOT / "README.md").read_text()) if each.language == "c")
    head, line, tail = readme.partition('gfsmith_codec_create(&codec, "cauchy", K, M);\n')
    assert line and include == "#include <gfsmith_adaptive.h>"
    (tmp_path / "program.c").write_text(f"{include}\n{head}{line}{calls}{tail}")
    command = next(text for text in code(page) if text.startswith("cc -O2 ")).split()
    where = {"build/adaptive/libgfsmith.a": str(built / "libgfsmith.a")}
    run(*(where.get(word, word.replace("-Iruntime", f"-I{ROOT}/runtime")) for word in command), cwd=tmp_path)
    trace = tmp_path / "trace"
    assert run(tmp_path / "program", GFSMITH_ADAPT_TRACE=str(trace)) == "all shards are back\n"
    assert trace.exists()


def test_make(built: Path, tmp_path: Path) -> None:
    """Static, then installed and shared, with pkg-config."""
    assert ENTRY in _symbols(built / "libgfsmith.a")
    program = tmp_path / "program"
    headers = [f"-I{built.parent}/runtime/{part}/include" for part in ("core", "adaptive")]
    run("gcc", *STRICT, *headers, NATIVE / "encode.c", built / "libgfsmith.a", "-o", program)
    _encodes(program)
    run("make", "install", f"PREFIX={tmp_path}/there", cwd=built.parent)
    assert (tmp_path / "there" / "include" / HEADER).is_file()
    where = {"PKG_CONFIG_PATH": f"{tmp_path}/there/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", "gfsmith", **where).split()
    run("gcc", *STRICT, NATIVE / "encode.c", *flags, "-o", program)
    _encodes(program, LD_LIBRARY_PATH=f"{tmp_path}/there/lib")


def test_kernels_for_known_matrices(built: Path, tmp_path: Path) -> None:
    """The coordinator takes them where the first pass of a map has their matrix; they need AVX2, as `row` of
    the other tests does."""
    tree, program = built.parent, tmp_path / "program"
    parts = [f"{tree}/runtime/{part}/{kind}" for part in ("core", "adaptive") for kind in ("include", "src")]
    headers = [f"-I{folder}" for folder in (*parts, tree / "gen_out")]
    run("gcc", *STRICT, *headers, NATIVE / "known.c", built / "libgfsmith.a", "-pthread", "-o", program)
    elements = [e for row in (*parity_matrix("cauchy", 5, 2), (1, 2, 3, 4, 5)) for e in row]
    assert run(program, *map(str, elements)) == "equal\n"


def test_plugins(built: Path, tmp_path: Path) -> None:
    """A hundred plugins with copies of the library, one of which is loaded again and again."""
    copies = [tmp_path / f"plugin{n}.so" for n in range(100)]
    for copy in copies:
        shutil.copyfile(built / "libgfsmith.so", copy)
    program = tmp_path / "host"
    include = f"-I{built.parent}/runtime/core/include"
    run("gcc", *STRICT, "-D_GNU_SOURCE", "-Wno-pedantic", include, NATIVE / "host.c", "-ldl", "-o", program)
    for wanted in ("0", "1"):
        assert run(program, *copies, GFSMITH_ADAPT=wanted) == "ok\n"
    trace = tmp_path / "trace"
    assert run(program, *copies, GFSMITH_ADAPT="1", GFSMITH_ADAPT_TRACE=str(trace)) == "ok\n"
    assert '"event": "start"' in trace.read_text()


def test_python_loads_the_library(built: Path) -> None:
    """As a module would, after the program has started; threads of Python then adapt."""
    script = (
        "import ctypes as c, sys; from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "g = c.CDLL(sys.argv[1]); codec = c.c_void_p()\n"
        "assert g.gfsmith_codec_create(c.byref(codec), b'cauchy', 5, 2) == 0\n"
        "assert g.gfsmith_codec_hint(codec, 2) == 0\n"
        "def encode(n):\n"
        "    shards = [c.create_string_buffer(bytes([i + 1]) * 2048) for i in range(7)]\n"
        "    at = [c.addressof(shard) for shard in shards]\n"
        "    data, parity = (c.c_void_p * 5)(*at[:5]), (c.c_void_p * 2)(*at[5:])\n"
        "    return [g.gfsmith_encode(codec, c.c_size_t(2048), data, parity) for _ in range(200)]\n"
        "print({status for each in Pool(4).map(encode, range(8)) for status in each})\n"
    )
    assert run(sys.executable, "-c", script, built / "libgfsmith.so", GFSMITH_ADAPT="1") == "{0}\n"


CONSUMER = """cmake_minimum_required(VERSION 3.18)
project(consumer LANGUAGES C)
find_package(gfsmith REQUIRED)
add_executable(program {source})
target_link_libraries(program gfsmith::gfsmith)
"""


@pytest.mark.needs("build systems")
def test_cmake(built: Path, tmp_path: Path) -> None:
    """Installed, then found as a package."""
    build, there, consumer = (tmp_path / name for name in ("build", "there", "consumer"))
    fast = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", *fast, "-S", built.parent, "-B", build, f"-DCMAKE_INSTALL_PREFIX={there}")
    run("cmake", "--build", build, "--target", "install")
    assert (there / "include" / HEADER).is_file()
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CONSUMER.format(source=NATIVE / "encode.c"))
    run("cmake", *fast, "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={there}")
    run("cmake", "--build", consumer / "build")
    _encodes(consumer / "build" / "program")


@pytest.mark.needs("build systems")
def test_meson(built: Path, tmp_path: Path) -> None:
    build, there = tmp_path / "build", tmp_path / "there"
    run("meson", "setup", "-Dbuildtype=debug", "--libdir=lib", f"--prefix={there}", build, built.parent)
    run("meson", "install", "-C", build)
    assert (there / "include" / HEADER).is_file()
    program = tmp_path / "program"
    words = (f"-I{there}/include", f"-L{there}/lib", NATIVE / "encode.c", "-lgfsmith", "-o", program)
    run("gcc", *STRICT, *words)
    _encodes(program, LD_LIBRARY_PATH=f"{there}/lib")


_LOAD = """
import ctypes, sys
for path in sys.argv[1:]:
    version = ctypes.CDLL(path).gfsmith_version
    version.restype = ctypes.c_char_p
print(version().decode())
"""


def test_plugin_hosts_load_many_copies(built: Path, tmp_path: Path) -> None:
    """A process loads 100 copies at run time, more than the loader's reserve for static thread variables
    allows, because the library needs none of it."""
    copies = [tmp_path / f"copy{n}.so" for n in range(100)]
    for copy in copies:
        copy.write_bytes((built / "libgfsmith.so").read_bytes())
    assert run(sys.executable, "-c", _LOAD, *copies).strip() == __version__
    assert "STATIC_TLS" not in run("readelf", "-d", copies[0])


@pytest.mark.campaign
def test_an_amalgamation(tmp_path: Path) -> None:
    """One source and header with another prefix compiles without a warning: its parts share no names."""
    names = Names("acme")
    export(tmp_path / "sources", WITH, "--prefix", "acme")
    source = tmp_path / "sources" / f"{names.library}.c"
    main = tmp_path / "encode.c"
    main.write_text(names.text((NATIVE / "encode.c").read_text()))
    program = tmp_path / "program"
    run("gcc", *STRICT, "-DTOGETHER", f"-I{source.parent}", main, source, "-o", program)
    _encodes(program)
    exported = run("nm", "-g", "--defined-only", program)
    assert f"{names.library}_adaptive_create" in exported


def test_nothing_of_it_without_variants(plain: Path, tmp_path: Path) -> None:
    """Without its sources and header, only the core's hook remains."""
    names = {str(path.relative_to(plain)) for path in plain.rglob("*adaptive*")}
    assert names == {"runtime/core/src/adaptive.h"}
    export(tmp_path / "one", WITHOUT)
    assert ENTRY not in (tmp_path / "one" / "gfsmith.c").read_text()
    assert ENTRY not in (tmp_path / "one" / "gfsmith.h").read_text()


@pytest.mark.needs("build systems")
def test_a_checkout_without_variants(plain: Path, tmp_path: Path) -> None:
    """A checkout contains the coordinator's files, but neither builds nor installs them."""
    build, there = tmp_path / "build", tmp_path / "there"
    settings = (f"-DGFSMITH_GENERATED={plain}/gen_out", f"-DCMAKE_INSTALL_PREFIX={there}")
    run("cmake", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-S", ROOT, "-B", build, *settings)
    run("cmake", "--build", build, "--target", "install")
    assert (there / "include" / "gfsmith.h").is_file()
    assert not (there / "include" / HEADER).exists()
    symbols = _symbols(there / "lib" / "libgfsmith.a")
    assert "gfsmith_encode" in symbols
    assert [name for name in symbols if "adaptive" in name or "counters" in name] == []
    variables = (f"BUILD={tmp_path}/make", f"GFSMITH_GENERATED={plain}/gen_out")
    for words, expected in (((), False), (("GFSMITH_ADAPTIVE=1",), True)):
        told = run("make", "-n", "install", *variables, *words, cwd=ROOT)
        assert "runtime/core/include/gfsmith_raid.h" in told
        assert (HEADER in told) == ("runtime/adaptive/src/counters.c" in told) == expected


STUB = """#!/bin/sh
# The output of `gfsmith gen --adaptive -o FOLDER`.
test "$1 $2 $3" = "gen --adaptive -o" && mkdir -p "$4" && cp -r {tree}/gen_out/. {tree}/MANIFEST.json "$4"
"""


@pytest.mark.campaign
def test_make_adaptive(built: Path, tmp_path: Path) -> None:
    """In a checkout with generated kernels, the target builds next to the default library."""
    for name in ("Makefile", "packaging", "runtime", "CMakeLists.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "tools").mkdir()
    scripts = {"gfsmith": STUB.format(tree=built.parent), "tools/setup.sh": "#!/bin/sh\n"}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    run("make", "-j2", "adaptive", f"GFSMITH={tmp_path}/gfsmith", cwd=tmp_path)
    made = tmp_path / "build" / "adaptive"
    assert ENTRY in _symbols(made / "libgfsmith.a")
    assert (made / "libgfsmith.so").is_file()
    assert {path.name for path in (tmp_path / "build").iterdir()} == {"adaptive"}
    shutil.rmtree(tmp_path / "build")


GENERATE = """cmake_minimum_required(VERSION 3.18)
project(generates LANGUAGES C)
find_package(gfsmith REQUIRED)
gfsmith_generate(TARGET shards CODE cauchy K 5 M 2 {adaptive})
"""


@pytest.mark.needs("build systems")
@pytest.mark.parametrize("adaptive", ["", "ADAPTIVE"])
def test_gfsmith_generate(adaptive: str, tmp_path: Path) -> None:
    """CMake passes the option to the generator, whose arguments a stub records."""
    stub = tmp_path / "gfsmith"
    stub.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/words\nexit 1\n')
    stub.chmod(0o755)
    (tmp_path / "CMakeLists.txt").write_text(GENERATE.format(adaptive=adaptive))
    words = (f"-Dgfsmith_ROOT={ROOT}/packaging/cmake", f"-DGFSMITH_EXECUTABLE={stub}")
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", *words)
    subprocess.run(["ninja", "-C", tmp_path / "build"], capture_output=True, check=False)  # the stub fails
    assert ("--adaptive" in (tmp_path / "words").read_text().split()) == bool(adaptive)
