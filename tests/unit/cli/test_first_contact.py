"""The first commands of a user in an empty folder: one line for every mistake, and no unexpected files."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith.build import config, stages
from gfsmith.cli import console, main
from tests.support.configurations import known_proofs
from tests.support.paths import ROOT
from tests.support.progress import without_progress

SMALL = '[generator]\nisas = ["scalar"]\n[[kernels]]\noperation = "xor"\nshapes = ["2x1"]\n'
COMMAND = (sys.executable, "-m", "gfsmith")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main.main, arguments, catch_exceptions=False)


def _refusal(*arguments: str) -> str:
    """Check that a command refuses with one line and status 2 and writes no file; return the line."""
    before = sorted(Path().iterdir())
    result = _run(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("gfsmith: ") and result.stderr.count("\n") == 1
    assert sorted(Path().iterdir()) == before
    return result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bogus"], "No such option '--bogus'. See `gfsmith --help`."),
        (["generate"], "No such command 'generate'"),
        (["gen", "--job", "x"], "See `gfsmith gen --help`."),
        (["gen", "--jobs", "0"], "0 is not in the range 1<=x<=256. See `gfsmith gen --help`."),
        (["codes", "cauchy", "more"], "unexpected extra argument (more)"),
        (["explain"], "Missing argument 'SYMBOL'"),
        (["where"], "Choose from: bazel, cmake, make. See `gfsmith where --help`."),
        (["verify", "nosuch.o"], "'nosuch.o' does not exist"),
        (["verify", "nosuch.o", "--symbol", "f"], "'nosuch.o' does not exist"),
        (["verify", "--objects", "nosuch.o"], "'nosuch.o' does not exist"),
        (["verify", "--objects", __file__], f"{__file__}: neither ELF nor Mach-O"),
        (["tune", "dot:3x2", "--lengths", ""], "--lengths: '' is not a shard length; allowed: 64 .. 16m"),
        (["list", "--summary", "--json"], "--summary and --json exclude each other"),
        (["list", "--code", "nosuch", "--k", "4", "--m", "2"], "= zfec; or lrc\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors_take_one_line(arguments: list[str], words: str) -> None:
    assert words in _refusal(*arguments)


def test_no_arguments_show_the_help() -> None:
    result = _run()
    assert result.exit_code == 2 and "Commands:" in result.output


@pytest.mark.parametrize(
    "command", [("gen",), ("list",), ("explain", "x"), ("export", "-o", "out")], ids=" ".join
)
def test_an_empty_folder_gets_a_hint(command: tuple[str, ...]) -> None:
    said = _refusal(*command)
    assert "gfsmith.toml: no such file" in said
    assert "`gfsmith init`" in said and "--code cauchy --k 10 --m 4" in said


@pytest.mark.parametrize("name", ["lib.zip", "lib.tar.gz", "lib.tgz", "lib.tar"])
def test_an_archive_of_another_kind_is_no_folder(name: str) -> None:
    words = ("--code", "cauchy", "--k", "4", "--m", "2", "--isa", "scalar", "-o", f"out/{name}")
    assert "allowed: a folder, or a file that ends in .tar.xz" in _refusal("export", *words)


@pytest.mark.parametrize("output", ["file", "file/below"])
def test_an_output_folder_that_is_a_file(output: str) -> None:
    Path("file").touch()
    words = ("--code", "cauchy", "--k", "4", "--m", "2", "--isa", "scalar", "-o", output)
    for command in ("gen", "export"):
        assert _refusal(command, *words) == f"gfsmith: {output}/MANIFEST.json: file is not a folder\n"


def test_portable_c_alone_has_a_build() -> None:
    """No kernel of portable C is for a code: the library encodes with coefficients at run time."""
    listed = _run("list", "--code", "cauchy", "--k", "10", "--m", "4", "--isa", "scalar", "--json")
    assert listed.exit_code == 0
    assert {kernel["isa"] for kernel in json.loads(listed.stdout)["kernels"]} == {"scalar"}


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--prefix", "a b"), "--prefix: prefix 'a b' is not a C identifier"),
        (("--isa", "avx3"), "--isa: 'avx3' is not an instruction set; allowed: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize("file", [True, False])
def test_a_message_names_the_option_and_no_file(
    option: tuple[str, ...], words: str, file: bool, folder: Path
) -> None:
    if file:
        (folder / "gfsmith.toml").write_text(SMALL)
    assert _refusal("list", "--code", "cauchy", "--k", "4", "--m", "2", *option).startswith(
        f"gfsmith: {words}"
    )


def test_another_missing_configuration_gets_no_hint() -> None:
    assert _refusal("list", "-c", "other.toml") == "gfsmith: other.toml: no such file\n"


def test_init_writes_the_default_set() -> None:
    assert _run("init").exit_code == 0
    assert [path.name for path in Path().iterdir()] == ["gfsmith.toml"]
    written = Path("gfsmith.toml").read_text(encoding="utf-8")
    assert written.startswith("# The default set")
    assert config.parse(written, "written") == config.load(ROOT / "gfsmith.toml")
    assert _run("list", "--isa", "scalar", "--json").exit_code == 0


@pytest.mark.parametrize("dangling", [False, True])
def test_init_overwrites_nothing(dangling: bool, folder: Path) -> None:
    if dangling:
        (folder / "gfsmith.toml").symlink_to("nowhere")
    else:
        (folder / "gfsmith.toml").write_text("mine")
    assert "gfsmith.toml: exists already" in _refusal("init")
    assert (folder / "gfsmith.toml").is_symlink() or (folder / "gfsmith.toml").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments",
    [
        ("gen", "-o", "-"),
        ("export", "-o", "-"),
        ("export", "-o", "out", "--depfile", "-"),
        ("tune", "cauchy:4x2", "-o", "-"),
        ("tune", "cauchy:4x2", "--study", "-"),
        ("tune", "cauchy:4x2", "--report", "-"),
    ],
    ids=" ".join,
)
def test_a_dash_and_an_empty_path_are_no_output(arguments: tuple[str, ...], folder: Path) -> None:
    (folder / "gfsmith.toml").write_text(SMALL)
    assert "'-' (standard output) is not supported; allowed: a path" in _refusal(*arguments)
    assert "'' is empty; allowed: a path, such as ." in _refusal(*arguments[:-1], "")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("list -c -", SMALL),
        ("plan --code cauchy --k 4 --m 2 --lost 1 -c -", "no configuration"),
        ("adapt --trace -", ""),
        ("adapt --device -", "no device"),
        ("graph --prove -", "no graph"),
        ("tune --report out --recorded -", "no study"),
        ("verify - --isa avx2 --symbol f --operation xor --inputs 2", "no object"),
        ("verify --objects - -c kernels.toml", "no object"),
        ("verify no.o --contracts -", "no contracts"),
    ],
)
def test_a_dash_is_standard_input(words: str, text: str, folder: Path) -> None:
    """The result is that of a file with the same bytes, and no file of this name is read."""
    (folder / "kernels.toml").write_text(SMALL)
    (folder / "no.o").write_text("no object")
    (folder / "file").write_text(text)
    told = []
    for name in ("-", "file"):
        arguments = [name if word == "-" else word for word in words.split()]
        done = subprocess.run([*COMMAND, *arguments], input=text, capture_output=True, text=True)
        told.append((done.returncode, done.stdout, done.stderr.replace("/dev/stdin", "file")))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", ["kernels.inc", "PROOFS.json"])
def test_gen_writes_over_no_file_of_the_user(name: str, folder: Path) -> None:
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    (folder / "out").mkdir()
    (folder / "out" / name).write_text("mine")
    line = f"gfsmith: out/{name}: exists and is not from gfsmith; name another folder, or move the file\n"
    assert _refusal("gen", "-j", "1", "-o", "out") == line
    assert [(path.name, path.read_text()) for path in (folder / "out").iterdir()] == [(name, "mine")]


def test_gen_does_not_wait_for_a_pipe_in_its_way(folder: Path) -> None:
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    (folder / "out").mkdir()
    os.mkfifo(folder / "out" / "kernels.inc")
    line = "gfsmith: out/kernels.inc: is in the way, and no file; name another folder, or move it\n"
    assert _refusal("gen", "-j", "1", "-o", "out") == line
    assert [path.name for path in (folder / "out").iterdir()] == ["kernels.inc"]


def test_gen_replaces_its_own_files_without_a_manifest(folder: Path) -> None:
    """As after a run that was killed between two files, or in a folder whose manifest was deleted."""
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    assert _run("gen", "-j", "1", "-o", "out").exit_code == 0
    (folder / "out" / "MANIFEST.json").unlink()
    (folder / "gfsmith.toml").write_text(SMALL.replace("2x1", "3x1"))
    assert _run("gen", "-j", "1", "-o", "out").exit_code == 0


@pytest.mark.parametrize("arguments", [("codes",), ("codes", "cauchy", "--k", "10", "--m", "4"), ("--help",)])
def test_a_closed_pipe_is_no_refutation(arguments: tuple[str, ...]) -> None:
    """Exit status 1 would mean that the code is not MDS."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "gfsmith", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_gen_keeps_copies_of_generated_files(folder: Path) -> None:
    """Of another build, in a folder of the user, or in the output folder before the first run."""
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    copies = [folder / "old.h", folder / "vendor" / "gfsmith_asm.h"]
    copies[1].parent.mkdir()
    for path in copies:
        path.write_text('/* Generated by "gfsmith gen" from templates/gfsmith_asm.h.j2. Do not edit. */\n')
    assert _run("gen", "-j", "1", "-o", ".").exit_code == 0
    assert all(path.is_file() for path in copies)
    assert _run("gen", "-j", "1", "-o", ".").exit_code == 0
    assert copies[1].is_file()


def test_gen_keeps_outputs_in_folders_below(folder: Path) -> None:
    """Another configuration's output, which has a manifest of its own, and an exported library."""
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    assert _run("gen", "-j", "1").exit_code == 0
    assert _run("export", "-j", "1", "--form", "tree", "-o", "third_party/acme").exit_code == 0
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert _run("gen", "-j", "1", "-o", ".").exit_code == 0
    assert [path for path in kept if path.parent != folder and not path.is_file()] == []


@pytest.mark.parametrize("command", ["gen", "export"])
def test_an_output_may_be_a_mount_point(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a volume of a container: a rename into it must begin in it."""
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")
    out, rename = folder / "out", Path.replace

    def within(source: Path, target: Path) -> Path:
        if source.is_relative_to(out) != target.is_relative_to(out):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(source, target)

    monkeypatch.setattr(Path, "replace", within)
    assert _run(command, "-j", "1", "-o", "out").exit_code == 0
    assert _run(command, "-j", "1", "-o", str(out)).exit_code == 0
    assert not list(out.glob(".*"))


@pytest.mark.parametrize("command", ["gen", "export"])
@pytest.mark.parametrize("target", ["file/below", "file", "file/below.tar.xz"])
def test_an_unwritable_output_gets_one_line(command: str, target: str, folder: Path) -> None:
    (folder / "gfsmith.toml").write_text(SMALL)
    (folder / "file").write_text("")
    known_proofs(folder / ".gfsmith-cache")
    said = _refusal(command, "-j", "1", "-o", target)
    assert target in said and "Errno" not in said and ".file" not in said and ".below" not in said


@pytest.mark.parametrize("command", ["gen", "export"])
@pytest.mark.parametrize("target", ["/proc/x", "/proc/x/y.tar.xz"])
def test_an_unwritable_output_is_refused_before_the_work(
    command: str, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gfsmith.toml").write_text(SMALL)
    monkeypatch.setattr(stages, "make", None)
    assert re.fullmatch(f"gfsmith: cannot write {target}: .+\n", _refusal(command, "-o", target))


@pytest.mark.parametrize("command", [("gen",), ("export", "-o", "out.tar.xz")], ids=" ".join)
def test_a_full_disk_gets_one_line(command: tuple[str, ...], folder: Path) -> None:
    """A limit for the size of files takes the place of a full disk."""
    (folder / "gfsmith.toml").write_text(SMALL)
    known_proofs(folder / ".gfsmith-cache")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run([*COMMAND, *command, "-j", "1"], preexec_fn=limit, capture_output=True, text=True)
    target = command[-1] if len(command) > 1 else "gen_out"
    line = f"gfsmith: cannot write {target}: File too large\n"
    assert (done.returncode, without_progress(done.stderr)) == (2, line)
    assert {path.name for path in folder.iterdir()} == {"gfsmith.toml", ".gfsmith-cache"}


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("command", [("where", "cmake"), ("codes",), ("--version",)], ids=" ".join)
def test_a_full_disk_for_standard_output_gets_one_line(command: tuple[str, ...], buffered: bool) -> None:
    with Path("/dev/full").open("w") as full:
        interpreter = [sys.executable] if buffered else [sys.executable, "-u"]
        done = subprocess.run(
            [*interpreter, "-m", "gfsmith", *command], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "gfsmith: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("command", [("export",), ("tune",)], ids=" ".join)
def test_machines_with_many_processors(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without -j, the command comes to its next mistake."""
    monkeypatch.setattr(os, "cpu_count", lambda: 768)
    assert "--jobs" not in _refusal(*command)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), "Cannot allocate memory"),
        (OSError("kernels.so: failed to map segment"), "kernels.so: failed to map segment"),
        (MemoryError(), "out of memory"),
    ],
    ids=["a mapping", "a library", "an object"],
)
def test_a_refusal_of_the_system_is_not_one_of_standard_output(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a mapping, or of a library in a folder of temporary files that is mounted with noexec."""

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("gfsmith.cli.where.share", refuse)
    assert _refusal("where", "cmake") == f"gfsmith: {line}\n"


@pytest.mark.parametrize("command", [("codes",), ("--version",)], ids=" ".join)
def test_closed_standard_streams(command: tuple[str, ...]) -> None:
    """Without standard output one line; without standard error the results."""
    script = '"$0" -m gfsmith "$@"'
    line = b"gfsmith: cannot write to standard output: Bad file descriptor\n"
    for closed, status, said in ((">&-", 2, line), (">&- 2>&-", 2, b""), ("2>&- <&-", 0, b"")):
        words = ["sh", "-c", f"exec {script} {closed}", sys.executable, *command]
        done = subprocess.run(words, capture_output=True)
        assert (done.returncode, done.stderr, done.stdout != b"") == (status, said, status == 0)


@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_leaves_early_is_noticed(buffered: bool) -> None:
    """Without a buffer, Python drops the rest of a write that the reader has taken in part."""
    interpreter = [sys.executable] if buffered else [sys.executable, "-u"]
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    command = [*interpreter, "-m", "gfsmith", "codes"]
    with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE) as run:
        os.close(writing)
        assert os.read(reading, 1)
        os.close(reading)
        assert run.communicate()[1] == b"" and run.returncode == console.CLOSED_PIPE


def test_a_pipe_gets_lines_of_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also during a single long step."""
    assert console.PIPE_INTERVAL <= 15
    monkeypatch.setattr(console, "PIPE_INTERVAL", 0.05)
    seen = ""
    with console.progress("prove all", 3) as advance:
        advance(2)
        deadline = time.monotonic() + 60
        while seen.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            seen += capsys.readouterr().err
    assert set(seen.splitlines()) == {"gfsmith: prove all: 2 of 3"}
    assert without_progress(seen) == "" and without_progress("gfsmith: 2 of 3\n") != ""


def test_short_work_in_a_pipe_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("prove all", 1) as advance:
        advance(1)
    assert capsys.readouterr().err == ""
