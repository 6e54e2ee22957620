"""The wheel in users' conditions: installed into clean environments and used in clean folders."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from tests.oracle.codec import random_data
from tests.support.configurations import known_proofs
from tests.support.paths import ROOT
from tests.system.docs.pages import fences

EXAMPLE = ROOT / "examples" / "python"
DOT, FOLDER = "gfsmith/codec/_native.abi3.so", Path(__file__).parent


def run(*command: str | Path, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GFSMITH"))}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=clean)
    assert done.returncode == status, done.stdout + done.stderr
    return done


class Environment:
    """A virtual environment without access to the system's packages and to this project."""

    def __init__(self, folder: Path, interpreter: str = sys.executable, pip: bool = False) -> None:
        run(interpreter, "-m", "venv", *(() if pip else ("--without-pip",)), folder, folder=folder.parent)
        self.python = folder / "bin" / "python"
        self.packages = next(folder.glob("lib/python3*/site-packages"))

    def install(self, *what: str | Path, links: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check", "--quiet"]
        run(*pip, "install", "--no-index", "--find-links", links, *what, folder=links)

    def bash(self, commands: str, folder: Path, **variables: str) -> str:
        """Run a user's commands in the activated environment and return their output."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        settings = [f"{name}={value}" for name, value in {**variables, "PATH": path}.items()]
        return run("env", *settings, "bash", "-ec", commands, folder=folder).stdout

    def add_numpy(self) -> None:
        """Add .venv's NumPy."""
        found = Path(np.__file__).parent
        for folder in (found, found.with_name("numpy.libs")):
            (self.packages / folder.name).symlink_to(folder)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("clean") / "venv")
    made.install("gfsmith", links=wheel.parent)
    return made


def test_the_file_tool(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text" * 999)
    commands = """
        gfsmith-shards protect -k 4 -m 2 file shards
        rm shards/file.g1.000.gfs
        gfsmith-shards restore shards -o copy
    """
    assert environment.bash(commands, tmp_path).endswith("copy: 3996 bytes, checksum as recorded\n")
    assert (tmp_path / "copy").read_bytes() == b"text" * 999


def test_the_page_installs_it_with_debians_python(wheel: Path, tmp_path: Path) -> None:
    """Debian's pip refuses to install outside of virtual environments."""
    page = (ROOT / "docs" / "python.md").read_text()
    make, *commands = (line.strip() for line in page.split("\n\n")[2].splitlines())
    assert make == "make python"
    (tmp_path / "dist").symlink_to(wheel.parent)
    (tmp_path / "use.py").write_text(USE)
    debian = (
        "env",
        f"HOME={tmp_path}",
        "PATH=/usr/bin:/bin",
        "PIP_NO_INDEX=1",
        "PIP_DISABLE_PIP_VERSION_CHECK=1",
    )
    said = run(*debian, "bash", "-ec", "\n".join([*commands, "python use.py"]), folder=tmp_path).stdout
    assert said.splitlines()[-1] == "False"


@pytest.fixture(scope="module")
def numeric(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that also has NumPy."""
    made = Environment(tmp_path_factory.mktemp("numeric") / "venv")
    made.install("gfsmith", links=wheel.parent)
    made.add_numpy()
    return made


USE = """
import sys, gfsmith
assert gfsmith.__file__.startswith(sys.prefix), gfsmith.__file__
codec = gfsmith.Codec(code="cauchy", k=10, m=4)
data = codec.split(bytes(range(256)) * 40)
shards = codec.reconstruct([None] * 4 + data[4:] + codec.encode(data))
assert codec.join(shards, 10240) == bytes(range(256)) * 40
print("numpy" in sys.modules)
"""


def test_it_works_without_numpy_and_with_it(
    environment: Environment, numeric: Environment, tmp_path: Path
) -> None:
    assert run(environment.python, "-c", USE, folder=tmp_path).stdout == "False\n"
    failed = run(environment.python, "-c", "import numpy", folder=tmp_path, status=1)
    assert "No module named 'numpy'" in failed.stderr
    assert run(numeric.python, "-c", "import numpy\n" + USE, folder=tmp_path).stdout == "True\n"


MYPY = (sys.executable, "-m", "mypy", "--strict", "--config-file=")


def test_types_are_known_without_numpy(environment: Environment, tmp_path: Path) -> None:
    options = (f"--cache-dir={tmp_path}", "--python-executable", environment.python)
    run(*MYPY, *options, FOLDER / "typed_use.py", folder=tmp_path)


@pytest.mark.parametrize("version", ["3.11", "3.14"])
def test_types(version: str, numeric: Environment, tmp_path: Path) -> None:
    """A user's files. Wrong lines carry `type: ignore`, which mypy reports if it finds no error there."""
    options = (
        f"--python-version={version}",
        f"--cache-dir={tmp_path}",
        "--python-executable",
        numeric.python,
    )
    files = (FOLDER / "typed_use.py", FOLDER / "typed_numpy.py", EXAMPLE / "src" / "scatter.py")
    run(*MYPY, *options, *files, folder=tmp_path)


def test_the_generator_names_missing_packages(environment: Environment, tmp_path: Path) -> None:
    done = run(environment.python.with_name("gfsmith"), "gen", folder=tmp_path, status=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("gfsmith: the command needs the Python package click: ")
    assert "pip install 'WHEEL[generator]'" in done.stderr and "peachpy" not in done.stderr
    assert not list(tmp_path.iterdir())


def interpreters() -> list[str]:
    """Return the Python of the tests, and one of every other supported version in PATH."""
    found = {sys.version_info[:2]: sys.executable}
    for minor in range(11, 20):
        command = shutil.which(f"python3.{minor}")
        if command and subprocess.run([command, "-c", "import venv"], capture_output=True).returncode == 0:
            found.setdefault((3, minor), command)
    return list(found.values())


def declared(wheel: Path) -> list[metadata.Distribution]:
    """Return the packages of .venv that the extra `generator` of the wheel names, with their requirements."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    todo = re.findall(r"^Requires-Dist: ([\w-]+).*extra == .generator.$", text, re.MULTILINE)
    found: dict[str, metadata.Distribution] = {}
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = metadata.distribution(name)
            needed = (line for line in found[name].requires or () if ";" not in line)  # unconditional
            todo += [re.split(r"[^\w-]", line)[0] for line in needed]
    assert {"click", "sympy"} <= set(found) and "peachpy" not in {name.lower() for name in found}
    return list(found.values())


@pytest.fixture(scope="module", params=interpreters(), ids=lambda path: Path(path).name)
def generator(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """An environment without PeachPy: the wheel, installed by the command of docs/python.md, and the declared
    packages of .venv.
    """
    made = Environment(tmp_path_factory.mktemp("generator") / "venv", request.param, pip=True)
    install = page_commands().splitlines()[0]
    assert install.startswith("pip install ")
    made.bash(install, ROOT, PIP_NO_INDEX="1", PIP_NO_DEPS="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    for each in declared(wheel):
        for top in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            (made.packages / top).symlink_to(Path(each.locate_file(top)))
    return made


def page_commands() -> str:
    """Return the commands of docs/python.md that install the generator and call it."""
    (fence,) = (f for f in fences((ROOT / "docs/python.md").read_text()) if f.language == "sh")
    return fence.text


@pytest.mark.campaign
def test_commands_need_no_peachpy(generator: Environment, tmp_path: Path) -> None:
    run(generator.python, "-c", "import peachpy", folder=tmp_path, status=1)
    commands = page_commands().split("\n", 1)[1]
    assert {"gfsmith --version", "gfsmith codes", "gfsmith where cmake"} == set(commands.splitlines())
    said = generator.bash(commands, tmp_path)
    assert said.startswith("gfsmith, version 0.") and "vandermonde" in said
    assert Path(said.splitlines()[-1]).is_relative_to(generator.packages)
    generator.bash("gfsmith init", tmp_path)
    assert (tmp_path / "gfsmith.toml").read_bytes() == (ROOT / "gfsmith.toml").read_bytes()


def test_kernels_for_x86_name_peachpy(wheel: Path, tmp_path: Path) -> None:
    """The generator uses .venv's packages, among which PeachPy is hidden."""
    (tmp_path / "gfsmith.toml").write_text(
        '[generator]\nisas = ["sse"]\n[[kernels]]\noperation = "xor"\nshapes = ["2x1"]\n'
    )
    program = """
import sys
sys.modules["peachpy"] = None
sys.argv = ["gfsmith", "gen", "-j", "1"]
from gfsmith.__main__ import main
main()
"""
    done = run(sys.executable, "-c", program, folder=tmp_path, status=2)
    assert done.stderr.count("\n") == 1
    assert "needs the Python package peachpy: install Debian's python3-peachpy, or build it" in done.stderr


def test_the_generator_works_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """The generator uses .venv's packages and the wheel's files."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel, folder=tmp_path)
    (tmp_path / "gfsmith.toml").write_text(
        '[generator]\nisas = ["scalar"]\ntuned = ["znver4"]\n'
        '[[kernels]]\noperation = "dot"\nshapes = ["2x1"]\n'
    )
    known_proofs(tmp_path / ".gfsmith-cache", "checksums")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
from gfsmith.emit.files import share
assert str(share("templates")).startswith(sys.path[0]), share("templates")
sys.argv = ["gfsmith", "gen", "-j", "1"]
from gfsmith.__main__ import main
main()
"""
    done = run(sys.executable, "-c", program, folder=tmp_path)
    assert "1 kernel, all proved" in done.stdout
    assert (tmp_path / "gen_out" / "MANIFEST.json").is_file()


def test_commands_call_the_library_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Planner, graph layouts and the reader of device files are in the compiled module."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel, folder=tmp_path)
    device = tmp_path / "site/gfsmith/share/tuned/devices/dram.toml"
    commands = {
        ("plan", "--code", "cauchy", "--k", "2", "--m", "1", "--lost", "0"): "reads    1, 2 (2 shards;",
        ("graph", "--scheme", "ppr", "--k", "2", "--m", "1", "--lost", "0"): "proved for all data",
        ("adapt", "--device", str(device)): "dram: line 64",
    }
    for command, words in commands.items():
        program = f"""
import sys
sys.path.insert(0, {str(tmp_path / "site")!r})
sys.argv = {["gfsmith", *command]!r}
from gfsmith.codec import _native
assert _native.__file__.startswith(sys.path[0]), _native.__file__
from gfsmith.__main__ import main
main()
"""
        assert words in run(sys.executable, "-c", program, folder=tmp_path).stdout


def test_without_a_library_it_is_the_generator_alone(tmp_path: Path) -> None:
    """As tools/setup.sh installs it before there are kernels; the build calls no compiler."""
    tracked = run("git", "ls-files", "-z", folder=ROOT).stdout.split("\0")
    for name in tracked:
        if name and not name.startswith(("tests/", "examples/", "bench/", "gen_out/")):
            (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "copy" / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps"]
    links = tmp_path / "links"
    build = ["env", "CC=/bin/false", *pip, "--no-build-isolation", "--wheel-dir", links, tmp_path / "copy"]
    run(*build, folder=tmp_path)
    assert [path.name.split("-", 2)[2] for path in links.iterdir()] == ["py3-none-any.whl"]
    environment = Environment(tmp_path / "venv")
    environment.install("gfsmith", links=links)
    program = "import gfsmith; print(gfsmith.__version__); gfsmith.Codec"
    done = run(environment.python, "-c", program, folder=tmp_path, status=1)
    assert done.stdout.startswith("0.")
    last = done.stderr.splitlines()[-1]
    assert (
        last.startswith("ImportError: gfsmith: this installation contains the generator only")
        and "make python" in last
    )


def test_the_wheel_is_one_for_all_pythons(wheel: Path) -> None:
    """Its C library may be that of any Linux since 2012: native/glibc.c."""
    name = re.fullmatch(r"gfsmith-[\d.]+-cp311-abi3-manylinux\w+\.manylinux_2_(\d+)_x86_64\.whl", wheel.name)
    assert name is not None and int(name[1]) <= 17
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
    assert {"gfsmith/py.typed", "gfsmith/codec/_native.pyi", DOT} <= set(names)
    assert (
        "gfsmith/share/runtime/core/include/gfsmith.h" in names
        and "gfsmith/share/templates/isas.inc.j2" in names
    )
    assert not [name for name in names if name.endswith(".c") and "/codec/" in name]
    required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    assert required and all("extra ==" in line for line in required), "the codec itself has no dependencies"


def test_the_extension_shows_nothing_and_needs_only_libc(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        library = Path(archive.extract(DOT, tmp_path))
    symbols = run("nm", "--dynamic", "--defined-only", "--format=posix", library, folder=tmp_path).stdout
    assert [line.split()[0] for line in symbols.splitlines()] == ["PyInit__native"]
    needed = run("readelf", "--dynamic", "--program-headers", "--wide", library, folder=tmp_path).stdout
    assert re.findall(r"NEEDED.*\[(.*)\]", needed) == ["libc.so.6"]
    (stack,) = [line for line in needed.splitlines() if "GNU_STACK" in line]
    assert stack.split()[-2] == "RW", "the stack is not executable"
    notes = run("readelf", "--notes", "--wide", library, folder=tmp_path).stdout
    assert "x86 feature: IBT, SHSTK" in notes


def test_the_stable_abi_check_can_fail(wheel: Path, tmp_path: Path) -> None:
    """abi3audit, which `make python` runs, refuses functions outside 3.11's stable ABI."""
    (tmp_path / "bad.c").write_text(
        "#include <Python.h>\nvoid *PyInit_bad(void) { return PyUnicode_New(1, 127); }\n"
    )
    flags = run("python3-config", "--includes", folder=tmp_path).stdout.split()
    bad = tmp_path / "bad.abi3.so"
    run("gcc", "-shared", "-fPIC", *flags, "-o", bad, tmp_path / "bad.c", folder=tmp_path)
    audit = Path(sys.executable).with_name("abi3audit")
    run(audit, "--strict", "--assume-minimum-abi3", "3.11", bad, folder=tmp_path, status=1)
    run(audit, "--strict", wheel, folder=tmp_path)


def test_the_example_runs_from_a_clean_folder(wheel: Path, tmp_path: Path) -> None:
    """The example's wheel is built from a copy, installed with the required wheel of gfsmith, and used."""
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    links = tmp_path / "links"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps"]
    run(*pip, "--no-build-isolation", "--wheel-dir", links, tmp_path / "example", folder=tmp_path)
    shutil.copy(wheel, links)
    environment = Environment(tmp_path / "venv")
    environment.install("scatter", links=links)
    scatter = environment.python.with_name("scatter")
    for size in (0, 1, 100_003):
        folder, again = tmp_path / f"shards{size}", tmp_path / f"again{size}"
        original = random_data(1, size).tobytes()
        (tmp_path / "file").write_bytes(original)
        run(scatter, "split", "file", folder, "--k", "6", "--m", "3", folder=tmp_path)
        whole = {path.name: path.read_bytes() for path in folder.iterdir()}
        for shard in (0, 4, 7):
            (folder / f"shard.{shard:03}").unlink()
        run(scatter, "join", folder, again, folder=tmp_path)
        assert again.read_bytes() == original
        again.write_bytes(b"mine")
        refused = run(scatter, "join", folder, again, folder=tmp_path, status=1)
        assert refused.stderr == f"scatter: {again}: exists; allowed: a new file\n"
        assert again.read_bytes() == b"mine"
        done = run(scatter, "repair", folder, folder=tmp_path)
        assert done.stdout == "".join(f"shard.{i:03} rebuilt\n" for i in (0, 4, 7))
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
        (tmp_path / "file").write_bytes(b"another file")
        refused = run(scatter, "split", "file", folder, folder=tmp_path, status=1)
        assert refused.stderr.count("\n") == 1 and "allowed: a new or empty folder" in refused.stderr
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
    for shard in range(4):
        (folder / f"shard.{shard:03}").unlink()
    failed = run(scatter, "join", folder, "new", folder=tmp_path, status=1)
    assert failed.stderr == "scatter: reconstruct: more shards are missing than there are parities\n"
    failed = run(scatter, "split", "nosuch", tmp_path / "new", folder=tmp_path, status=1)
    assert failed.stderr == "scatter: nosuch: No such file or directory\n"
    assert not (tmp_path / "new").exists()
    for damaged in ("{", "{}", "[]"):
        (folder / "scatter.json").write_text(damaged)
        failed = run(scatter, "repair", folder, folder=tmp_path, status=1)
        reason = "scatter.json is damaged: not a record of `scatter split`"
        assert failed.stderr == f"scatter: {folder}/{reason}\n"
