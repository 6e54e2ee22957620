"""The command line: outputs, refusals, and no partly written files."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gfsmith.build import generate, requirements
from gfsmith.build.output import OF_GEN
from gfsmith.build.packages import System
from gfsmith.build.requirements import Level
from gfsmith.cli import main
from gfsmith.emit.x86 import listing
from gfsmith.emit.x86.listing import MachineKernel
from gfsmith.ir import Op, Program
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes import pipeline
from tests.support.configurations import known_proofs
from tests.support.progress import without_progress
from tests.unit.prove.objects import xor_kernels

SMALL = """
[generator]
isas = ["avx2", "scalar"]
[[kernels]]
operation = "dot"
shapes = ["nx2", "3x2"]
[[kernels]]
operation = "xor"
shapes = ["nx1"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "gfsmith.toml").write_text(SMALL)
    return tmp_path


def _run(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        main.main, [*arguments, "--config", str(project / "gfsmith.toml")], catch_exceptions=False
    )


def _snapshot(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def _gen(project: Path, *arguments: str) -> Result:
    """Run `gfsmith gen` with existing proofs, which are most of the work."""
    known_proofs(project / ".gfsmith-cache")
    return _run(project, "gen", "--jobs", "1", *arguments)


def test_gen_writes_the_reported_files(project: Path) -> None:
    """With existing proofs of checksums, which every build needs, and none of kernels."""
    known_proofs(project / ".gfsmith-cache", "algebra", "checksums")
    result = _run(project, "gen", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert "6 kernels, all proved" in result.output
    manifest = json.loads((project / "gen_out" / "MANIFEST.json").read_text())
    written = _snapshot(project / "gen_out")
    del written["MANIFEST.json"]
    assert manifest["files"] == written
    proofs = json.loads((project / "gen_out" / "PROOFS.json").read_text())["kernels"]
    assert {(p["isa"], p["abi"]) for p in proofs} == {("avx2", "sysv"), ("avx2", "ms"), ("scalar", "c")}
    assert {p["status"] for p in proofs} == {"proved"}
    methods = {p["isa"]: p["method"] for p in proofs}
    assert methods == {"avx2": ["program", "machine"], "scalar": ["program"]}


@pytest.mark.campaign
def test_output_is_the_same_every_time(project: Path) -> None:
    """With one order of hashes and no proofs of kernels, with another one, and taken from the cache."""
    made = []
    for seed, name in (("1", "a"), ("2", "b"), ("3", "a")):
        known_proofs(project / name / ".gfsmith-cache", "algebra", "checksums")
        folder = Path(shutil.copy(project / "gfsmith.toml", project / name)).parent
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "gfsmith", "gen", "-j", "2", "-o", str(project / seed)]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        made.append(_snapshot(project / seed))
    assert len(made[0]) > 10 and made[0] == made[1] == made[2]


def test_output_names_no_date_and_no_place(project: Path) -> None:
    _gen(project)
    forbidden = re.compile(r"\b20\d\d-\d\d|/home/|/root/|/work/|/tmp/")
    texts = [p.read_text() for p in (project / "gen_out").rglob("*") if p.is_file()]
    assert len(texts) > 10
    assert not [found for text in texts for found in forbidden.findall(text)]
    assert forbidden.search(f"made on {time.strftime('%Y-%m-%d')}")


def test_stale_kernels_go_and_foreign_files_stay(project: Path) -> None:
    _gen(project)
    mine = project / "gen_out" / "notes.txt"
    mine.write_text("mine")
    stale = project / "gen_out" / "x86" / "gfs_xor_nx1__avx2_u4.S"
    assert stale.exists()
    text = SMALL.replace('[[kernels]]\noperation = "xor"\nshapes = ["nx1"]\n', "")
    (project / "gfsmith.toml").write_text(text)
    assert _gen(project).exit_code == 0
    assert not stale.exists()
    assert mine.read_text() == "mine"


def test_stale_files_go_that_no_manifest_names(project: Path) -> None:
    """A pull replaces the manifest, which is tracked, and leaves the files of the earlier version."""
    _gen(project)
    folder = project / "gen_out"
    old, mine = folder / "old.inc", folder / "mine.inc"
    old.write_text((folder / "kernels.inc").read_text())
    mine.write_text("/* by hand */\n" + old.read_text())
    assert _gen(project).exit_code == 0
    assert not old.exists() and mine.exists()


def test_unchanged_files_keep_their_time(project: Path) -> None:
    _gen(project)
    path = project / "gen_out" / "kernels.inc"
    os.utime(path, (1, 1))
    _gen(project)
    assert path.stat().st_mtime == 1


def _break(kind: Op) -> Callable[[Program, KernelSpec], Program]:
    """Return a pass with a bug: it drops the last operation of a kind in every loop's first section."""

    def wrong(program: Program, spec: KernelSpec) -> Program:
        loop = program.loops[0]
        number = max(n for n, i in enumerate(loop.head) if i.op is kind)
        head = list(loop.head)
        head[number] = replace(head[number], args=(head[number].args[0],) * len(head[number].args))
        return replace(program, loops=(replace(loop, head=tuple(head)), *program.loops[1:]))

    return wrong


def test_a_refuted_kernel_stops_gen_and_leaves_the_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _gen(project)
    before = _snapshot(project / "gen_out")

    def broken(spec: KernelSpec) -> Program:
        program = pipeline.run(generate.lower(spec), spec)
        return _break(Op.XOR)(program, spec) if spec.symbol.startswith("gfs_dot_3x2__avx2") else program

    monkeypatch.setattr(generate, "program", broken)
    (project / "gfsmith.toml").write_text(SMALL.replace("nx2", "nx3"))
    result = _gen(project, "--no-cache")
    assert result.exit_code == 1
    assert "refuted: gfs_dot_3x2__avx2_u2_steps" in result.stderr
    assert "dst[1]" in result.stderr and "counterexample: " in result.stderr
    assert _snapshot(project / "gen_out") == before


def test_check_names_differences(project: Path) -> None:
    _gen(project)
    assert _gen(project, "--check").exit_code == 0
    folder = project / "gen_out"
    kernel = folder / "x86" / "gfs_dot_nx2__avx2_u2_steps.S"
    kernel.write_text(kernel.read_text().replace("0xc5", "0xc4", 1))
    (folder / "kernels.inc").unlink()
    (folder / "x86" / "extra.S").write_text("")
    shutil.copy(folder / "matrices.inc", folder / "old.inc")
    before = _snapshot(folder)
    result = _gen(project, "--check")
    assert result.exit_code == 1
    assert "gfs_dot_nx2__avx2_u2_steps.S: differs" in result.output
    assert "kernels.inc: missing" in result.output
    assert "x86/extra.S: not an output of the generator" in result.output
    assert "old.inc: not an output of the generator" in result.output
    assert _snapshot(folder) == before


def test_check_names_files_that_are_no_text(project: Path) -> None:
    """Of another user or a failing disk; a pipe is not read."""
    _gen(project)
    folder = project / "gen_out"
    (folder / "kernels.inc").write_bytes(b"\xff\xfe")
    (folder / "matrices.inc").unlink()
    os.mkfifo(folder / "matrices.inc")
    result = _gen(project, "--check")
    assert result.exit_code == 1
    assert "kernels.inc: differs" in result.output and "matrices.inc: differs" in result.output


def test_check_ignores_the_users_files(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output folder may be the folder of a project."""
    monkeypatch.chdir(project)
    (project / "src").mkdir()
    for name in ("main.c", "src/main.c"):
        (project / name).write_text("int main(void) { return 0; }\n")
    assert _gen(project, "-o", ".").exit_code == 0
    done = _gen(project, "-o", ".", "--check")
    assert done.exit_code == 0, done.output


def test_list_summary_has_bytes_of_generated_kernels_only(project: Path) -> None:
    rows = _run(project, "list", "--summary").output.splitlines()
    assert [row.split(" | ")[-1] for row in rows[2:]] == ["not generated |", "C source |", "not generated |"]
    _gen(project)
    rows = _run(project, "list", "--summary").output.splitlines()
    assert re.fullmatch(r"[1-9][\d,]+ \|", rows[2].split(" | ")[-1]) and rows[3].endswith("| C source |")
    assert rows[4].split(" | ")[-1] == rows[2].split(" | ")[-1]
    rows = _run(project, "list", "--summary", "--adaptive").output.splitlines()
    assert rows[2].endswith("| not generated |") and rows[-1].endswith("| not generated |")


def test_list_json_has_the_fixed_keys(project: Path) -> None:
    result = _run(project, "list", "--json")
    kernels = json.loads(result.output)["kernels"]
    assert len(kernels) == 6
    wanted = {"symbol", "operation", "isa", "inputs", "outputs", "code"}
    assert all(wanted <= set(kernel) for kernel in kernels)
    by_symbol = {kernel["symbol"]: kernel for kernel in kernels}
    assert by_symbol["gfs_dot_nx2__avx2_u2_steps"]["inputs"] is None
    assert by_symbol["gfs_dot_3x2__scalar_u1"]["inputs"] == 3


def test_flags_override_the_file(project: Path) -> None:
    result = _run(project, "list", "--json", "--isa", "scalar", "--prefix", "my")
    kernels = json.loads(result.output)["kernels"]
    assert {kernel["isa"] for kernel in kernels} == {"scalar"}
    assert all(kernel["symbol"].startswith("my_") for kernel in kernels)


def test_explain_shows_formula_program_and_bytes(project: Path) -> None:
    result = _run(project, "explain", "gfs_dot_3x2__avx2_u2_steps")
    assert "dst[i] = sum over j < 3 of c[i][j] * src[j], i < 2" in result.output
    assert re.search(r"c4[0-9a-f]+ +vpshufb ymm.* = lookup v", result.output)
    missing = _run(project, "explain", "gfs_nothing")
    assert missing.exit_code == 2
    assert "no kernel 'gfs_nothing'" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gen", "--isa", "avx3"], "'avx3' is not an instruction set; allowed: gfni_avx512"),
        (["gen", "--polynomial", "0x11a"], "gfsmith: --polynomial: polynomial 0x11a is reducible"),
        (["gen", "--polynomial", "-0x11d"], "gfsmith: --polynomial: polynomial -0x11d is negative"),
        (["gen", "--polynomial", "x"], "'x' is not a number"),
        (["gen", "--prefix", "a-b"], "prefix 'a-b' is not a C identifier"),
        (["list", "--isa", "avx2", "--isa", "avx2"], "named twice"),
        (["gen", "--code", "minoi", "--k", "12", "--m", "4"], "'minoi' is unknown; allowed: vandermonde"),
        (["gen", "--code", "minio", "--m", "4"], "--k missing; allowed: k >= 1, m >= 1"),
        (["gen", "--code", "minio"], "--k and --m missing"),
        (["gen", "--k", "12"], "--k and --m need --code"),
        (["gen", "--packets"], "--k and --m need --code (--packets too)"),
        (["gen", "--code", "minio", "--k", "252", "--m", "4"], "backblaze has no shape 252+4"),
        (["gen", "--code", "zfs", "--k", "4", "--m", "4"], "raidz has no shape 4+4; allowed: k >= 1, 1 <= m"),
        (["gen", "--code", "vandermonde", "--k", "6", "--m", "5"], "losing shards 0, 3, 5, 8, 9 cannot be"),
    ],
)
def test_bad_flags_get_one_line_and_status_2(project: Path, arguments: list[str], words: str) -> None:
    result = _run(project, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (project / "gen_out").exists()


@pytest.mark.parametrize("command", ["gen", "export", "list"])
def test_a_build_without_kernels_is_refused(project: Path, command: str) -> None:
    """Its tables are for other instruction sets than the option names."""
    text = (project / "gfsmith.toml").read_text()
    (project / "gfsmith.toml").write_text(text.replace("[[kernels]]", '[[kernels]]\nisas = ["scalar"]'))
    output = ("-o", str(project / "out")) if command != "list" else ()
    result = _run(project, command, "--isa", "avx2", *output)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "gfsmith.toml: no table [[kernels]] has kernels for these instruction sets: avx2" in result.stderr
    assert not (project / "out").exists()


def test_a_missing_or_broken_file_gets_one_line(tmp_path: Path) -> None:
    for text, words in ((None, "no such file"), (b"\xff\xfe", "not UTF-8"), (b"[", "not valid TOML")):
        if text is not None:
            (tmp_path / "gfsmith.toml").write_bytes(text)
        result = _run(tmp_path, "list")
        assert result.exit_code == 2
        assert words in result.stderr and "gfsmith.toml" in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_gets_one_line(project: Path) -> None:
    (project / "file").write_text("")
    result = _gen(project, "--output", str(project / "file" / "below"))
    assert result.exit_code == 2
    assert "file" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["[]", "[" * 300_000, r'{"files": {"a\u0000b": "x"}}'], ids=lambda text: text[:20]
)
def test_a_manifest_of_something_else_is_left_alone(text: str, project: Path) -> None:
    folder = project / "gen_out"
    folder.mkdir()
    (folder / "MANIFEST.json").write_text(text)
    result = _gen(project)
    assert result.exit_code == 2
    assert "MANIFEST.json: not a manifest of gfsmith; name another folder, or move the file" in result.stderr
    assert (folder / "MANIFEST.json").read_text() == text


def test_a_pipe_as_manifest_is_not_read(project: Path) -> None:
    folder = project / "gen_out"
    folder.mkdir()
    os.mkfifo(folder / "MANIFEST.json")
    result = _gen(project)
    assert result.exit_code == 2 and "MANIFEST.json: not a manifest of gfsmith" in result.stderr


@pytest.mark.parametrize("form", ["amalgamation", "tree"])
def test_gen_leaves_the_folder_of_an_export(form: str, project: Path) -> None:
    """`gen` would remove the exported sources, which are no files of its output."""
    known_proofs(project / ".gfsmith-cache")
    lib = project / "lib"
    flags = ("--isa", "scalar", "--output", str(lib))
    assert _run(project, "export", "--form", form, *flags).exit_code == 0
    before = {path: path.read_bytes() for path in lib.rglob("*") if path.is_file()}
    result = _run(project, "gen", *flags)
    assert result.exit_code == 2
    assert result.stderr == f"gfsmith: {lib}: holds the output of `gfsmith export`; name another folder\n"
    assert {path: path.read_bytes() for path in lib.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("outside", ["../mine", "x86/../../mine", "{project}/mine"])
def test_a_manifest_that_names_files_outside_is_refused(project: Path, outside: str) -> None:
    """The files of a manifest that a build does not write any more are removed."""
    folder, mine = project / "gen_out", project / "mine"
    folder.mkdir()
    mine.touch()
    manifest = json.dumps({"files": {outside.format(project=project): ""}})
    (folder / "MANIFEST.json").write_text(manifest)
    result = _gen(project)
    assert result.exit_code == 2 and "MANIFEST.json: not a manifest of gfsmith" in result.stderr
    assert mine.exists() and (folder / "MANIFEST.json").read_text() == manifest


def test_no_file_behind_a_link_out_of_the_folder_is_removed(project: Path) -> None:
    folder, mine = project / "gen_out", project / "elsewhere" / "mine"
    mine.parent.mkdir()
    mine.touch()
    folder.mkdir()
    (folder / "link").symlink_to(mine.parent)
    own = folder / "old"
    own.symlink_to(mine)
    (folder / "MANIFEST.json").write_text(json.dumps({"files": {OF_GEN: "", "link/mine": "", "old": ""}}))
    assert _gen(project).exit_code == 0
    assert mine.exists() and not own.is_symlink()


@pytest.mark.parametrize("command", [("gen",), ("export", "--form", "tree")])
def test_no_file_behind_a_link_out_of_the_folder_is_written(project: Path, command: tuple[str, ...]) -> None:
    """The manifest, which another user can have written, names the file as one that the build may replace."""
    known_proofs(project / ".gfsmith-cache")
    folder, mine = project / "lib", project / "elsewhere"
    flags = (*command, "--isa", "scalar", "--output", str(folder))
    assert _run(project, *flags).exit_code == 0
    link = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    link.rename(mine)
    link.symlink_to(mine)
    for path in mine.rglob("*"):
        if path.is_file():
            path.write_text("mine")
    before = {path: path.is_file() and path.read_bytes() for path in mine.rglob("*")}
    result = _run(project, *flags)
    assert result.exit_code == 2
    assert result.stderr.endswith(f": is behind a symbolic link that leads out of {folder}\n"), result.stderr
    assert {path: path.is_file() and path.read_bytes() for path in mine.rglob("*")} == before


def test_a_link_to_itself_in_the_folder_stays(project: Path) -> None:
    folder = project / "gen_out"
    folder.mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "MANIFEST.json").write_text(json.dumps({"files": {OF_GEN: "", "loop/old": ""}}))
    assert _gen(project).exit_code == 0
    assert (folder / "loop").is_symlink()


@pytest.mark.parametrize(("number", "whom"), [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)])
def test_ctrl_c_and_kill_leave_things_as_they_were(
    project: Path, number: int, whom: Callable[[int, int], None]
) -> None:
    """An interrupt during work on a terminal: the bar appears, nothing is written and no process remains."""
    shapes = ", ".join(f'"{k}x4"' for k in range(4, 44))
    isas = '["gfni_avx512", "gfni_avx2", "avx2", "sse"]'
    text = f'[generator]\nisas = {isas}\n[[kernels]]\noperation = "dot"\nshapes = [{shapes}]\n'
    (project / "gfsmith.toml").write_text(text)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gfsmith", "gen", "-j", "2"],
        cwd=project,
        stderr=slave,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(slave)
    seen = b""
    while b"/160" not in seen:
        seen += os.read(master, 1024)
        assert process.poll() is None, seen
    whom(process.pid, number)
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        try:
            seen += os.read(master, 1024)
        except OSError:
            break
    assert process.wait(300) == 130
    assert sorted(p.name for p in project.iterdir()) == ["gfsmith.toml"]
    assert b"interrupted; nothing was written" in seen
    assert b"Traceback" not in seen
    with pytest.raises(ProcessLookupError):  # workers belonged to its process group
        os.killpg(process.pid, 0)


def test_a_pipe_gets_no_bar(project: Path) -> None:
    known_proofs(project / ".gfsmith-cache")
    command = [sys.executable, "-m", "gfsmith", "gen", "-j", "2"]
    done = subprocess.run(command, cwd=project, capture_output=True, check=True, text=True)
    assert without_progress(done.stderr) == ""
    assert done.stdout.count("\n") == 1


def test_codes_and_doctor_print_json() -> None:
    runner = CliRunner()
    families = json.loads(runner.invoke(main.main, ["codes", "--json"]).output)["codes"]
    named = {"vandermonde", "cauchy", "reed_sol_van", "reed_sol_r6_op", "cauchy_orig", "cauchy_good"}
    named |= {"backblaze", "hdfs", "raid6", "raidz", "snapraid", "zfec", "lch", "lrc", "plank_vandermonde"}
    named |= {"zerasure", "cerasure"}
    assert {family["code"] for family in families} == named
    report = json.loads(runner.invoke(main.main, ["doctor", "--json"]).output)
    assert all(set(r) >= {"name", "present", "command"} for r in report["requirements"])


def _codes(*arguments: str) -> Result:
    return CliRunner().invoke(main.main, ["codes", *arguments])


def test_codes_shows_families_and_shapes() -> None:
    listed = _codes().output
    assert "= minio" in listed and "SnapRAID" in listed
    family = json.loads(_codes("vandermonde", "--json").output)
    assert family["safe"] == "m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3"
    rows = [(r["first_m"], r["last_m"], r["bound"], r["limit"], r["proof"]) for r in family["staircase"]]
    assert (2, 2, "k + m", 255, "cauchy") in rows and (3, 3, "k + m", 255, "conic") in rows
    assert (4, 4, "k", 21, "minors") in rows and (22, 251, "k", 3, "conic") in rows
    assert "22 .. 251" in _codes("vandermonde").output
    assert "code:   backblaze, klauspost, minio" in _codes("minio").output


@pytest.mark.parametrize("rest", [(), ("--k", "4", "--m", "2"), ("--json",)])
def test_codes_takes_the_option_of_other_commands(rest: tuple[str, ...]) -> None:
    named, option = _codes("minio", *rest), _codes("--code", "minio", *rest)
    assert named.exit_code == 0 and (option.exit_code, option.output) == (0, named.output)


def test_codes_shows_matrices_and_why_they_are_mds() -> None:
    raid = _codes("raid6", "--k", "4")
    assert raid.exit_code == 0
    assert raid.output.startswith("01 01 01 01\n01 02 04 08\nraid6 4+2: MDS by certificate 'cauchy'")
    shown = json.loads(_codes("zfs", "--k", "3", "--m", "3", "--json").output)
    assert shown["mds"] and shown["matrix"] == [[1, 1, 1], [4, 2, 1], [16, 4, 1]]
    assert shown["certificate"]["kind"] == "conic" and shown["certificate"]["points"] == [4, 2, 1]
    bad = _codes("vandermonde", "--k", "22", "--m", "4")
    assert bad.exit_code == 1
    assert "not MDS: losing shards 0, 10, 21, 24 cannot be repaired" in bad.output
    record = json.loads(_codes("vandermonde", "--k", "22", "--m", "4", "--json").output)
    assert record["counterexample"] == {"rows": [0, 1, 3], "columns": [0, 10, 21], "lost": [0, 10, 21, 24]}


def test_codes_shows_local_codes() -> None:
    shown = _codes("lrc", "--k", "6", "--l", "2", "--r", "1")
    assert shown.exit_code == 0
    assert shown.output.startswith("01 01 01 00 00 00\n00 00 00 01 01 01\n")
    assert "lrc(6, 2, 1) repairs every loss" in shown.output
    record = json.loads(_codes("lrc", "--k", "6", "--l", "2", "--r", "1", "--json").output)
    assert (record["m"], record["mds"], record["maximally_recoverable"]) == (3, False, True)
    assert "MDS:    no, local: any r + 1 losses" in _codes("lrc").output


@pytest.mark.parametrize("name", ["zerasure", "cerasure"])
def test_codes_describes_searches_without_searching(name: str) -> None:
    shown = _codes(name).output
    assert f"code:   {name}\n" in shown and "MDS:    always" in shown and "certificate" not in shown
    record = json.loads(_codes(name, "--json").output)
    assert record["code"] == name and "staircase" not in record
    assert "MDS by certificate" in _codes(name, "--k", "3", "--m", "2").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "code 'nothing' is unknown; allowed: vandermonde, "),
        (["raid6", "--k", "4", "--m", "3"], "raid6 has no shape 4+3; allowed: k >= 1, m = 2"),
        (["raid6", "--m", "2"], "--k missing"),
        (["cauchy", "--k", "4"], "--m missing"),
        (["snapraid", "--k", "0", "--m", "1"], "allowed: 1 <= k <= 251"),
        (["--k", "4"], "needs the NAME of a code"),
        (["lrc", "--k", "12", "--m", "4"], "lrc takes --k, --l (groups) and --r"),
        (["lrc", "--k", "2", "--l", "3", "--r", "1"], "allowed: 1 <= l <= k"),
        (["cauchy", "--k", "4", "--m", "2", "--l", "2"], "--l and --r are for lrc"),
        (["--code", "nothing"], "code 'nothing' is unknown; allowed: vandermonde, "),
        (
            ["cauchy", "--code", "cauchy"],
            "two codes: cauchy and --code cauchy; allowed: one of NAME and --code",
        ),
    ],
)
def test_codes_refuses_in_one_line(arguments: list[str], words: str) -> None:
    result = _codes(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr and result.stderr.count("\n") == 1


def test_a_code_is_added_to_those_of_the_file(project: Path) -> None:
    """The code appears under its own name, also if an alias was given; a code that the file lists is not
    repeated.
    """
    wanted = ("--code", "zfs", "--k", "3", "--m", "2", "--json")
    before = json.loads(_run(project, "list", "--json").output)["kernels"]
    after = json.loads(_run(project, "list", *wanted).output)["kernels"]
    assert [row for row in after if row not in before] == [
        row for row in after if (row["code"], row["isa"], row["inputs"]) == ("raidz", "avx2", 3)
    ]
    assert len(after) == len(before) + 1
    group = '[[kernels]]\noperation = "dot"\ncode = "openzfs"\nshapes = ["3x2"]\n'
    (project / "gfsmith.toml").write_text(SMALL + group)
    assert json.loads(_run(project, "list", *wanted).output)["kernels"] == after


def test_doctor_names_missing_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.shutil, "which", lambda name: None)
    monkeypatch.setattr(requirements, "this_system", lambda: System.FEDORA)
    result = CliRunner().invoke(main.main, ["doctor"])
    assert result.exit_code == 1
    line = next(x for x in result.output.splitlines() if "clang-19" in x)
    assert line.endswith("dnf install -y clang19")


def test_doctor_of_an_installation_has_no_requirements_of_the_checkout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would name tools/setup.sh, which a wheel does not have."""
    monkeypatch.setattr(import_module("gfsmith.cli.doctor"), "installed", lambda: True)
    rows = json.loads(CliRunner().invoke(main.main, ["doctor", "--json"]).stdout)["requirements"]
    names = [row["name"] for row in rows]
    assert "peachpy" in names and not any("qemu" in name for name in names)


def test_doctor_names_a_module_that_only_the_system_s_python_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a virtual environment without the system's packages, where a wheel may be installed."""
    doctor = import_module("gfsmith.cli.doctor")
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "present", lambda needed: True)
    result = CliRunner().invoke(main.main, ["doctor"])
    assert result.exit_code == 1
    assert result.output.startswith("missing for gen: peachpy (encodes x86 instructions): install Debian's ")
    assert result.output.count("\n") == 1


def test_levels_of_set_up_build_upon_others(root: Path) -> None:
    """`make test-all` needs everything that is not optional; other levels do not need each other's packages.

    The Makefile has the levels of the enumeration, except the optional ones.
    """
    optional = {Level.PEERS, Level.YCSB, Level.FOREIGN}
    needed = {level: {r.name for r in requirements.requirements(level)} for level in Level}
    branches = [needed[level] for level in (Level.COMPOSE, Level.PYTHON, Level.JAVA, Level.WASM)]
    assert needed[Level.GEN] < needed[Level.LIB]
    for one, other in itertools.combinations(branches, 2):
        assert one & other == needed[Level.LIB] != one
    assert needed[Level.COMPOSE] | needed[Level.PYTHON] < needed[Level.TEST]
    required = set().union(*(names for level, names in needed.items() if level not in optional))
    assert required == needed[Level.TEST_ALL] != needed[Level.TEST]
    (line,) = re.findall(r"^SETUPS := .*setup-,(.*)\)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert sorted(line.split()) == sorted(level.value for level in Level if level not in optional)


def test_verify_reads_the_listings_alone(project: Path) -> None:
    """`verify` reads no Program and no manifest, only the bytes in the .S files, one of which is changed."""
    _gen(project)
    done = _run(project, "verify", "--json", "--jobs", "1")
    assert done.exit_code == 0
    kernels = json.loads(done.output)["kernels"]
    assert {(k["abi"], k["status"]) for k in kernels} == {("sysv", "proved"), ("ms", "proved")}
    assert all(k["covered"] == k["instructions"] > 30 for k in kernels)
    path = project / "gen_out" / "x86" / "gfs_xor_nx1__avx2_u4.S"
    text = path.read_text()
    line = next(x for x in text.splitlines() if "# vpxor ymm" in x and "[r11+rax" in x)
    byte = line.split(".byte ")[1].split()[0]
    path.write_text(text.replace(byte, byte.replace("0xef", "0xdb"), 1))
    wrong = _run(project, "verify", "--jobs", "1")
    assert wrong.exit_code == 1
    assert "refuted: gfs_xor_nx1__avx2_u4" in wrong.stderr or "unsupported" in wrong.stderr


def test_verify_says_that_kernels_in_c_have_no_machine_code(project: Path) -> None:
    done = _run(project, "verify", "--isa", "scalar")
    assert (done.exit_code, done.output.count("\n")) == (0, 1)
    assert re.search(r"gen_out: no machine code to prove: \d+ kernels in C, ", done.output)


def test_gen_refuses_machine_code_that_is_wrong(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug after the Program (here: in the emitter) is found before any file is written."""
    _gen(project)
    before = _snapshot(project / "gen_out")
    sound = listing.build

    def careless(spec: KernelSpec, program: Program) -> MachineKernel:
        tail = program.loops[-1]
        return sound(
            spec, replace(program, loops=(*program.loops[:-1], replace(tail, close=tail.close[:-1])))
        )

    monkeypatch.setattr(listing, "build", careless)
    result = _gen(project, "--no-cache")
    assert result.exit_code == 1
    # The emitter is wrong for every kernel; the order of the workers decides which refutation is first.
    assert re.search(r"refuted: gfs_dot_\w+__avx2_u2(_steps)?: .* are written", result.stderr)
    assert _snapshot(project / "gen_out") == before


def test_foreign_objects_need_a_description(project: Path, tmp_path: Path) -> None:
    (tmp_path / "none.o").write_text("no object")
    words = ["verify", str(tmp_path / "none.o")]
    cases = [
        ([*words], "needs --symbol"),
        ([*words, "--symbol", "f", "--operation", "dot", "--inputs", "2", "--isa", "avx2"], "none.o"),
        ([*words, "--symbol", "f", "--operation", "dt", "--inputs", "2", "--isa", "avx2"], "allowed: dot"),
        ([*words, "--symbol", "f", "--operation", "dot", "--inputs", "x", "--isa", "avx2"], "inputs 'x'"),
        ([*words, "--symbol", "f", "--operation", "dot", "--inputs", "2", "--isa", "lasx"], "allowed: gfni"),
    ]
    for arguments, expected in cases:
        result = _run(project, *arguments)
        assert result.exit_code == 2
        assert expected in result.stderr
        assert result.stderr.count("\n") == 1


def test_contracts_in_a_file_determine_the_exit_status(project: Path, tmp_path: Path) -> None:
    path, contracts = xor_kernels(tmp_path / "objects"), tmp_path / "kernels.toml"
    text = """
[defaults]
operation = "xor"
inputs = 2
isa = "sse"
[[functions]]
symbol = "xor_2"
granule = {}
[[functions]]
symbol = "wrong_2"
expect = "{}"
"""
    for granule, expect, status in ((16, "refuted", 0), (16, "proved", 1), (1, "unsupported", 1)):
        contracts.write_text(text.format(granule, expect))
        done = _run(project, "verify", str(path), "--contracts", str(contracts), "--jobs", "1")
        assert done.exit_code == status, done.output
        assert done.output.count("xor_2") == done.output.count("wrong_2") == 1
    contracts.write_text(text.format(16, "refuted"))
    done = _run(project, "verify", str(path), "--contracts", str(contracts), "--jobs", "1", "--json")
    found = json.loads(done.output)["functions"]
    assert [(each["symbol"], each["status"]) for each in found] == [
        ("xor_2", "proved"),
        ("wrong_2", "refuted"),
    ]
    done = _run(project, "verify", "--contracts", str(contracts))
    assert (done.exit_code, "--contracts needs OBJECT_FILE" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", main.ERRORS)
def test_errors_are_known_by_the_names_that_they_have(name: str) -> None:
    module, kind = name.rsplit(".", 1)
    found = getattr(import_module(module), kind)
    assert f"{found.__module__}.{found.__qualname__}" == name
