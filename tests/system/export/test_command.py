"""`gfsmith export` and `make dist` from the command line: archives, refusals, unchanged files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith import __version__
from gfsmith.build.output import OutputError
from gfsmith.cli import export, main
from tests.support.paths import ROOT
from tests.support.progress import without_progress
from tests.system.export.support import CACHE, run

SMALL = """
[generator]
isas = ["avx2", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx1", "nx2", "10x4"]
[[kernels]]
operation = "xor"
shapes = ["nx1"]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def _export(config: Path, *arguments: str | Path) -> Result:
    words = ["export", "-c", config, "--cache", CACHE, "-j", "1", *arguments]
    return CliRunner().invoke(main.main, [str(word) for word in words], catch_exceptions=False)


def _refusal(result: Result) -> str:
    """Check for a single line and status 2; return the line."""
    assert result.exit_code == 2
    line = without_progress(result.stderr)
    assert line.count("\n") == 1 and line.startswith("gfsmith: ")
    return line


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_holds_the_files_of_its_manifest(config: Path, tmp_path: Path) -> None:
    for form, prefix in (("tree", "acme"), ("amalgamation", "gfs")):
        folder = tmp_path / form
        assert _export(config, "--form", form, "--prefix", prefix, "-o", folder).exit_code == 0
        there = _files(folder)
        manifest = json.loads((folder / "MANIFEST.json").read_text())
        del there["MANIFEST.json"]
        assert manifest["files"] == there
        listed = {kernel["symbol"] for kernel in manifest["kernels"]}
        proofs = "gen_out/PROOFS.json" if form == "tree" else "PROOFS.json"
        proved = {kernel["symbol"] for kernel in json.loads((folder / proofs).read_text())["kernels"]}
        assert listed == proved and len(listed) == 8
        assert all(symbol.startswith(f"{prefix}_") for symbol in listed)
    assert sorted(_files(tmp_path / "amalgamation")) == [
        "MANIFEST.json", "PROOFS.json", "check_linked.py", "gfsmith.c", "gfsmith.h",
    ]  # fmt: skip


@pytest.mark.campaign
def test_dist_is_the_same_every_time_and_of_no_place(config: Path, tmp_path: Path) -> None:
    names = [f"gfsmith-{__version__}.tar.xz", f"gfsmith-amalgamation-{__version__}.tar.xz"]
    for build in ("one", "two"):
        flags = f"DIST_FLAGS=-c {config} --cache {CACHE} -j 1"
        run("make", "--no-print-directory", "dist", f"BUILD={tmp_path / build}", flags, cwd=ROOT)
        assert sorted(path.name for path in (tmp_path / build).iterdir()) == sorted(names)
        time.sleep(1.1)  # a second, so that a changed time would show
    foreign = [str(tmp_path), str(ROOT), socket.gethostname(), time.strftime("%Y-%m-%d")]
    for name in names:
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes()
        with tarfile.open(tmp_path / "one" / name) as archive:
            entries = archive.getmembers()
            for entry in entries:
                assert entry.name.startswith(name.removesuffix(".tar.xz") + "/")
                assert (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, 0, "", "")
                assert entry.mode == 0o644 and entry.isreg()
                file = archive.extractfile(entry)
                assert file is not None
                text = file.read().decode()
                assert not [word for word in foreign if re.search(rf"\b{re.escape(word)}\b", text)], (
                    entry.name
                )
            inside = {entry.name.split("/", 1)[1] for entry in entries}
        assert {
            "README.md",
            "LICENSE",
            "SOUNDNESS.md",
            "MANIFEST.json",
            "docs/sources.md",
            "docs/threads.md",
        } <= inside
        tree = {
            "CMakeLists.txt",
            "gen_out/PROOFS.json",
            "runtime/core/include/gfsmith.h",
            "gen_out/sources.mk",
        }
        assert (tree if "amalgamation" not in name else {"gfsmith.c", "gfsmith.h", "PROOFS.json"}) <= inside
        run("tar", "-C", tmp_path, "-xf", tmp_path / "one" / name)


def test_links_of_the_pages_have_targets(config: Path, tmp_path: Path) -> None:
    assert _export(config, "--form", "tree", "-o", tmp_path / "tree").exit_code == 0
    readme = (tmp_path / "tree" / "README.md").read_text()
    links = re.findall(r"\]\(([\w./-]+)\)", readme)
    assert len(links) > 5
    assert [link for link in links if not (tmp_path / "tree" / link).is_file()] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "-o is missing; allowed: a folder, or a file that ends in .tar.xz"),
        (["-o", "{}/.tar.xz"], "needs a name before .tar.xz"),
        (["-o", "{}/out", "--prefix", "gfsmith"], "prefix 'gfsmith': .*allowed: gfs, or any without gfs"),
        (["-o", "{}/out", "--prefix", "string"], "prefix 'string': string.h would hide the system's header"),
        (["-o", "{}/out", "--prefix", "2x"], "'2x' is not a C identifier"),
        (["-o", "{}/out", "--prefix", "x" * 300], "File name too long"),
        (["-o", "{}/small.toml/out"], "small.toml"),
        (["-o", "{}/small.toml"], "small.toml"),
    ],
)
def test_refusals(arguments: list[str], message: str, config: Path, tmp_path: Path) -> None:
    result = _export(config, *(word.format(tmp_path) for word in arguments))
    assert re.search(message, _refusal(result))
    assert [path.name for path in tmp_path.iterdir() if path.name != "out"] == ["small.toml"]
    assert not any((tmp_path / "out").rglob("*"))


def test_files_of_the_user_stay(config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "main.c").write_text("int main;\n")
    assert _export(config, "-o", folder).exit_code == 0
    assert _export(config, "-o", folder, "--prefix", "acme").exit_code == 0
    assert sorted(_files(folder)) == [
        "MANIFEST.json",
        "PROOFS.json",
        "acme.c",
        "acme.h",
        "check_linked.py",
        "main.c",
    ]
    (folder / "acme.c").write_text("edited\n")
    assert _export(config, "-o", folder, "--prefix", "acme").exit_code == 0
    assert "edited" not in (folder / "acme.c").read_text()


@pytest.mark.parametrize("form", ["tree", "amalgamation"])
def test_a_file_of_the_users_is_not_written_over(form: str, config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    mine = folder / {"tree": "CMakeLists.txt", "amalgamation": "gfsmith.c"}[form]
    mine.write_text("mine\n")
    assert f"{mine}: exists and is not from gfsmith" in _refusal(
        _export(config, "--form", form, "-o", folder)
    )
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(mine.name, "mine\n")]


def test_the_output_of_gen_is_not_written_over(config: Path, tmp_path: Path) -> None:
    (tmp_path / "MANIFEST.json").write_text('{"files": {"kernels.inc": ""}}')
    assert "holds the output of `gfsmith gen`" in _refusal(_export(config, "-o", tmp_path))


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    with pytest.raises(OutputError, match="No space left on device"):
        export.pack(tmp_path / "a.tar.xz", {"a": "text"})
    assert list(tmp_path.iterdir()) == []


def test_long_names_are_packed(tmp_path: Path) -> None:
    name = "gen_out/x86/" + "k" * 180 + ".S"
    export.pack(tmp_path / "a.tar.xz", {name: "text"})
    with tarfile.open(tmp_path / "a.tar.xz") as archive:
        assert archive.getnames() == [f"a/{name}"]


def test_interrupted(config: Path, tmp_path: Path) -> None:
    """Ctrl-C during the work: status 130, and no files remain."""
    program = [
        sys.executable,
        "-m",
        "gfsmith",
        "export",
        "-c",
        str(config),
        "-o",
        str(tmp_path / "x.tar.xz"),
    ]
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from gfsmith.cli.main import main; main()"
    )
    program = [sys.executable, "-c", code, *program[3:], "--cache", str(tmp_path / "cache"), "-j", "1"]
    process = subprocess.Popen(program, stderr=subprocess.PIPE, text=True, env=os.environ)
    while not (tmp_path / "cache").exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors and errors.count("\n") <= 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == ["small.toml"]


@pytest.mark.parametrize("words", [("-o", "mine.tar.xz"), ("-o", "out", "--depfile", "mine.tar.xz")])
def test_a_file_of_the_user_is_not_replaced(
    words: tuple[str, ...], config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(config.parent)
    mine = Path("mine.tar.xz")
    mine.write_text("mine")
    line = "gfsmith: mine.tar.xz: exists and is not from gfsmith; name another file, or move this one\n"
    assert _refusal(_export(config, *words)) == line
    assert mine.read_text() == "mine" and not Path("out").exists()
    with tarfile.open(mine, "w:xz") as archive:  # an archive of the user
        archive.add(config)
    packed = mine.read_bytes()
    assert _refusal(_export(config, *words)) == line
    assert mine.read_bytes() == packed


def test_archives_and_rules_of_earlier_runs_are_replaced(config: Path) -> None:
    target, rule = config.parent / "out.tar.xz", config.parent / "out.d"
    rule.touch()  # the empty file of a build system
    assert _export(config, "-o", target, "--depfile", rule).exit_code == 0
    packed, dependencies = target.read_bytes(), rule.read_text()
    renamed = target.rename(config.parent / "renamed.tar.xz")
    for output in (renamed, target):
        assert _export(config, "-o", output, "--depfile", rule).exit_code == 0
    assert target.read_bytes() == packed and rule.read_text() == dependencies
