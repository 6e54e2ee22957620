"""examples/ceph: the plugin through Ceph's interface, compared with the plugin "isa" of Debian's Ceph.

The headers of the interface are stubs, since Debian ships none. Debian's own libec_isa.so confirms them:
the same program loads it and calls it through them.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bench.build_lock import locked
from tests.support.folders import once
from tests.support.paths import ROOT
from tests.system.isal.support import CLIENTS, run, with_library

COMMON = Path("/usr/lib/x86_64-linux-gnu/ceph/libceph-common.so.2")
PLUGINS = "usr/lib/x86_64-linux-gnu/ceph/erasure-code"


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_host(tmp_path_factory.mktemp("ceph") / "host", ROOT / "examples" / "ceph" / "stub")


def compile_host(program: Path, headers: Path, standard: str = "c++17") -> Path:
    assert COMMON.exists(), "apt-get install libradospp-dev"
    flags = [f"-std={standard}", "-O1", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-Wl,--no-as-needed"]
    libraries = ["-lrados", str(COMMON), f"-Wl,-rpath,{COMMON.parent}", "-ldl"]
    run(["g++", *flags, f"-I{headers}", str(CLIENTS / "ceph_host.cc"), "-o", str(program), *libraries])
    return program


@pytest.fixture(scope="session")
def plugin(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    where = [f"BUILD={folder}", f"LIBGFSMITH={build / 'libgfsmith.a'}"]
    run(["make", "-C", str(ROOT / "examples" / "ceph"), *where])
    return folder / "libec_gfsmith.so"


@pytest.fixture(scope="session")
def isa() -> Path:
    """Ceph's plugin from Debian's ceph-base (4.5 MB), unpacked and not installed."""
    folder = ROOT / "build" / "foreign" / "ceph"
    with locked(folder / "lock"):
        found = folder / "ceph-base" / PLUGINS / "libec_isa.so"
        if not found.exists():
            run(["apt-get", "download", "--quiet", "ceph-base"], cwd=folder)
            (package,) = folder.glob("ceph-base_*.deb")
            run(["dpkg-deb", "-x", str(package), str(folder / "ceph-base")])
    return found


def test_the_plugin_alone(host: Path, plugin: Path) -> None:
    checks = run([str(host), str(plugin)], env=with_library(None))
    assert int(checks.split()[0]) > 3000


def test_the_plugin_agrees_with_cephs_own(host: Path, plugin: Path, isa: Path) -> None:
    """Both plugins give the same chunks, and each reads the other's chunks."""
    checks = run([str(host), str(plugin), str(isa)], env=with_library(None))
    assert int(checks.split()[0]) > 6000


@pytest.fixture(scope="session")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Headers as of a newer release: rules without sizes, and one more function in the interface."""
    folder = Path(shutil.copytree(ROOT / "examples/ceph/stub", tmp_path_factory.mktemp("headers") / "src"))
    crush = folder / "crush" / "CrushWrapper.h"
    text = crush.read_text()
    crush.write_text(text[: text.index("  void set_rule_mask_max_size")] + text[text.index("private:") :])
    interface = folder / "erasure-code" / "ErasureCodeInterface.h"
    text = interface.read_text()
    before = "  virtual int decode_concat("
    assert text.count(before) == 1
    more = f"{before}const std::set<int> &, const std::map<int, bufferlist> &, bufferlist *) = 0;\n"
    interface.write_text("#define WANTED_CHUNKS\n" + text.replace(before, more + before))
    (folder / "ceph_ver.h").write_text('#define CEPH_GIT_NICE_VER "19.0.0"\n')
    return folder


def test_the_source_compiles_against_headers_of_the_user(headers: Path, build: Path, tmp_path: Path) -> None:
    where = [f"BUILD={tmp_path}", f"LIBGFSMITH={build / 'libgfsmith.a'}", f"HEADERS={headers}"]
    run(["make", "-C", str(ROOT / "examples" / "ceph"), *where])
    plugin = tmp_path / "libec_gfsmith.so"
    assert b"19.0.0\0" in plugin.read_bytes()
    program = compile_host(tmp_path / "host", headers)
    assert int(run([str(program), str(plugin)], env=with_library(None)).split()[0]) > 3000


@pytest.fixture(scope="session")
def release_20(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Headers as of release 20: chunks have numbers of the type shard_id_t; deltas write parts of them."""
    folder = Path(shutil.copytree(ROOT / "examples/ceph/stub", tmp_path_factory.mktemp("headers") / "src"))
    shutil.copytree(CLIENTS / "ceph_20", folder, dirs_exist_ok=True)
    interface = folder / "erasure-code" / "ErasureCodeInterface.h"
    text = interface.read_text()
    for old, new in (
        ("std::vector<int> &get_chunk_mapping", "std::vector<shard_id_t> &get_chunk_mapping"),
        ("#include <rados/buffer.h>", '#include "common/mini_flat_map.h"\n#include <rados/buffer.h>'),
        ("};\n\ntypedef std::shared_ptr", '#include "functions.inc"\n};\n\ntypedef std::shared_ptr'),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    interface.write_text(text)
    (folder / "ceph_ver.h").write_text('#define CEPH_GIT_NICE_VER "20.2.0"\n')
    return folder


@pytest.fixture(scope="session")
def host_20(release_20: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_host(tmp_path_factory.mktemp("ceph_20") / "host", release_20, "c++20")


def _with_partial_writes(example: Path, headers: Path, build: Path, folder: Path) -> Path:
    """Build the plugin against headers of release 20."""
    where = [f"BUILD={folder}", f"LIBGFSMITH={build / 'libgfsmith.a'}", f"HEADERS={headers}"]
    run(["make", "-C", str(example), *where, f"CHECKOUT={ROOT}", "STANDARD=c++20"])
    return folder / "libec_gfsmith.so"


def _called(host: Path, plugin: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = with_library(None, **variables)
    return subprocess.run([str(host), str(plugin)], env=environment, capture_output=True, text=True)


def test_partial_writes(release_20: Path, host_20: Path, build: Path, tmp_path: Path) -> None:
    """Chunks numbered by shard_id_t equal those numbered by int, and deltas change parities like new data."""
    plugin = _with_partial_writes(ROOT / "examples" / "ceph", release_20, build, tmp_path)
    done = _called(host_20, plugin)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[0]) > 20_000


#: A fault in shard_numbers.h -> the right text, and the one with the fault under the condition FAULT.
WRONG = {
    "the old parity": (
        "std::memcpy(parities[i], old, size)",
        "FAULT ? (void)old : (void)std::memcpy(parities[i], old, size)",
    ),
    "the chunk of a delta": ("size, j, bytes(in, j, room)", "size, FAULT ? 0 : j, bytes(in, j, room)"),
    "the old data": (
        "std::memcpy(delta->c_str(), before.c_str(), before.length())",
        "FAULT ? (void)0 : (void)std::memcpy(delta->c_str(), before.c_str(), before.length())",
    ),
    "the place of a chunk": (
        "shard_id_t n(chunk_of(shard))",
        "shard_id_t n(FAULT ? int(shard) : int(chunk_of(shard)))",
    ),
    "the present chunks": (
        "present[i] = in.contains(shard_id_t(chunk_of(i)))",
        "present[i] = FAULT ? i > 0 : in.contains(shard_id_t(chunk_of(i)))",
    ),
}
SWITCH = """#include <cstdlib>
#include <cstring>
static inline bool fault(const char *name) {
  const char *chosen = std::getenv("GFSMITH_FAULT");
  return chosen != nullptr && std::strcmp(chosen, name) == 0;
}
"""


@pytest.fixture(scope="session")
def wrong_plugin(release_20: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin with all faults: the environment variable GFSMITH_FAULT names the one that it has."""

    def make(folder: Path) -> None:
        example = Path(shutil.copytree(ROOT / "examples" / "ceph", folder / "example"))
        source = example / "shard_numbers.h"
        text = source.read_text()
        for name, (right, wrong) in WRONG.items():
            assert text.count(right) == 1
            text = text.replace(right, wrong.replace("FAULT", f'fault("{name}")'))
        source.write_text(SWITCH + text)
        _with_partial_writes(example, release_20, build, folder)

    return once(tmp_path_factory, "ceph_wrong", make) / "libec_gfsmith.so"


def test_the_plugin_with_faults_passes_without_one(host_20: Path, wrong_plugin: Path) -> None:
    assert _called(host_20, wrong_plugin).returncode == 0


@pytest.mark.parametrize("name", WRONG)
def test_wrong_partial_writes_are_detected(name: str, host_20: Path, wrong_plugin: Path) -> None:
    done = _called(host_20, wrong_plugin, GFSMITH_FAULT=name)
    assert done.returncode != 0


def test_a_folder_without_headers_is_refused(tmp_path: Path) -> None:
    command = ["make", "-C", str(ROOT / "examples" / "ceph"), f"HEADERS={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and f"HEADERS={tmp_path} begins with a folder without" in done.stderr


def test_a_wrong_matrix_is_detected(host: Path, build: Path, isa: Path, tmp_path: Path) -> None:
    example = ROOT / "examples" / "ceph"
    text = (example / "ErasureCodePluginGfsmith.cc").read_text()
    assert '? "cauchy" : "vandermonde"' in text
    mutant = tmp_path / "mutant.cc"
    mutant.write_text(text.replace('? "cauchy" : "vandermonde"', '? "vandermonde" : "cauchy"'))
    library = tmp_path / "libec_gfsmith.so"
    includes = [f"-I{example / 'stub'}", f"-I{ROOT / 'runtime/core/include'}"]
    flags = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", *includes]
    run([*flags, "-o", str(library), str(mutant), "-Wl,--exclude-libs,ALL", str(build / "libgfsmith.a")])
    done = subprocess.run([str(host), str(library), str(isa)], capture_output=True, text=True)
    assert done.returncode == 1 and "written" in done.stdout
