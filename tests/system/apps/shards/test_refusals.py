"""Refusals: one line that names the files, exit status 2, and no change."""

from __future__ import annotations

import itertools
import os
import resource
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gfsmith.codes.names import CODES, LRC, SEARCHED
from tests.support.paths import ROOT
from tests.system.apps.shards.support import (
    DEADLINE,
    DONE,
    REFUSED,
    Tool,
    content,
    flip,
    make_set,
    shard,
    snapshot,
)

SET_COMMANDS = ("verify", "repair", "restore")


@pytest.fixture(params=SET_COMMANDS)
def refused(request: pytest.FixtureRequest, tool: Tool, tmp_path: Path) -> Callable[..., str]:
    """Run one of the commands on shards and return the message. Nothing below tmp_path may change."""

    def run(*paths: Path) -> str:
        before = snapshot(tmp_path)
        output = ("-o", tmp_path / "restored") if request.param == "restore" else ()
        line = tool.refusal(request.param, *paths, *output)
        assert snapshot(tmp_path) == before
        return line

    return run


def another(other: Path, shards: Path) -> str:
    return f"{other} belongs to another set than {shard(shards, 0)}: name the shards of one set"


def test_another_file(tool: Tool, shards: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    other = make_set(tool, tmp_path / "other", content(999, seed=2))
    other_shard = shutil.copy(shard(other, 3), shard(shards, 3))
    assert refused(shards) == another(other_shard, shards)


@pytest.mark.parametrize(
    "shape", [(4, 3, 64, "file"), (3, 2, 64, "file"), (4, 2, 128, "file"), (4, 2, 64, "renamed")]
)
def test_the_same_file_in_another_shape(
    tool: Tool,
    shards: Path,
    tmp_path: Path,
    refused: Callable[..., str],
    shape: tuple[int, int, int, str],
) -> None:
    k, m, block, name = shape
    other = make_set(tool, tmp_path / "other", content(999), k, m, block, name)
    other_shard = shard(other, 1, name)
    line = refused(shard(shards, 0), other_shard)
    if name == "file":
        assert line == another(other_shard, shards)
    else:
        assert line.startswith(f"{other_shard} belongs to another original than {shard(shards, 0)}: ")


def test_the_same_file_in_another_code(
    tool: Tool, shards: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    shape = ["protect", "-c", "vandermonde", "-k", "4", "-m", "2", "-b", "64"]
    tool.ok(*shape, tmp_path / "file", tmp_path / "other")
    other_shard = shard(tmp_path / "other", 5)
    assert refused(shards, other_shard) == another(other_shard, shards)


def test_two_originals_in_a_folder(
    tool: Tool, shards: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    """The message names the files that a command can read, and with these it works."""
    (tmp_path / "other").write_bytes(content(999, seed=2))
    tool.ok("protect", "-k", "4", "-m", "2", tmp_path / "other", shards)
    line = refused(shards)
    assert line == (
        f"{shard(shards, 0, 'other')} belongs to another original than {shard(shards, 0)}: "
        f"name the shards of one, such as {shards}/file.g*.gfs"
    )
    tool.ok("verify", *shards.glob(line.rpartition("/")[2]))


def test_two_shards_with_one_index(shards: Path, refused: Callable[..., str]) -> None:
    twin = shutil.copy(shard(shards, 3), shards / "twin.gfs")
    assert refused(shards) == f"{shard(shards, 3)} and {twin} are both shard 3"


def test_a_shard_named_twice(shards: Path, refused: Callable[..., str]) -> None:
    path = shard(shards, 2)
    assert refused(shards, path) == f"{path} and {path} are both shard 2"


@pytest.mark.parametrize("data", [b"", b"hello\n", content(20_000)])
def test_a_file_that_is_no_shard(shards: Path, refused: Callable[..., str], data: bytes) -> None:
    foreign = shards / "letter.gfs"
    foreign.write_bytes(data)
    assert refused(shards) == f"{foreign} is not a shard file"
    assert refused(foreign) == f"{foreign} is not a shard file"


def test_no_intact_header(shards: Path, refused: Callable[..., str]) -> None:
    for path in shards.iterdir():
        flip(path, 80)
    assert refused(shards) == (
        f"no shard with an intact header; {shard(shards, 0)}: checksum mismatch in the header"
    )


def test_paths_that_are_no_files(shards: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty) == f"{empty} holds no shard files (*.gfs)"
    nothing = tmp_path / "nothing"
    assert refused(nothing) == f"cannot open {nothing}: No such file or directory"
    assert refused(shards, nothing) == f"cannot open {nothing}: No such file or directory"
    assert refused(Path("/dev/null")) == "/dev/null is not a regular file"


def without_privileges() -> None:
    """Permissions do not bind root."""
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 65534)


@pytest.mark.parametrize("command", ["verify", "repair", "info"])
def test_a_folder_that_cannot_be_entered(tool: Tool, shards: Path, tmp_path: Path, command: str) -> None:
    """The message names the folder, not the change record in it, unless the record alone cannot be read."""
    tmp_path.chmod(0o755)
    program = shutil.copy(tool.program, tmp_path)  # the checkout may be in a folder that is closed to others

    def refusal(named: Path) -> str:
        # This user may not write the profile of a run that measures coverage.
        quiet = {**tool.environment, "LLVM_PROFILE_FILE": "/dev/null"}
        return Tool(Path(program), quiet).refusal(command, named, before=without_privileges)

    shards.chmod(0o644)
    for named in (shards, shard(shards, 0)):
        assert refusal(named) == f"cannot read {shards}: Permission denied"
    shards.chmod(0o755)
    record = shards / ".gfsmith-shards.change"
    record.touch(0)
    assert refusal(shards) == f"cannot read {record}: Permission denied"


def test_a_fifo_is_not_waited_for(tool: Tool, shards: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for command in ("verify", "repair", "info"):
        assert tool.refusal(command, fifo) == f"{fifo} is not a regular file"
    assert tool.refusal("protect", fifo, shards) == (
        f"{fifo} is neither a regular file nor a folder (- protects standard input)"
    )


COMMANDS = "protect, verify, repair, restore, info, par2 create, par2 verify, par2 repair"
FOR_VERIFY = "--threads, --json, --quiet, --help"
WORDS = {
    "protect": "protect: 0 arguments; allowed: FILE|FOLDER|- SHARDS",
    "protect a": "protect: 1 argument; allowed: FILE|FOLDER|- SHARDS",
    "verify": "verify: 0 arguments; allowed: SHARD...|SHARDS",
    "verify --forse x": f"verify has no option --forse; allowed: {FOR_VERIFY}",
    "--forse=1 verify x": f"verify has no option --forse; allowed: {FOR_VERIFY}",
    "verify --quiet -zq x": f"verify has no option -z; allowed: {FOR_VERIFY}",
    "verify -k 3 x": f"verify has no option -k; allowed: {FOR_VERIFY}",
    "--data 3 verify x": f"verify has no option --data; allowed: {FOR_VERIFY}",
    "info -t 1 x": "info has no option -t; allowed: --quiet, --help",
    "verify --quiet=1 x": "--quiet takes no value (see --help)",
    "protect a b --data": "--data: the value is missing (see --help)",
    "protect a b -qk": "-k: the value is missing (see --help)",
    "-k 4 -- -m": f"unknown command -m: allowed commands: {COMMANDS} (see --help)",
    "protect '' b": "protect: argument 1 is empty; allowed: FILE|FOLDER|- SHARDS",
    "protect a ''": "protect: argument 2 is empty; allowed: FILE|FOLDER|- SHARDS",
    "protect /dev/null/x -": "cannot open /dev/null/x: Not a directory",
    "protect . -": "shards are not written to standard output; allowed: a folder, such as ./-",
    "verify ''": "verify: argument 1 is empty; allowed: SHARD...|SHARDS",
    "repair a ''": "repair: argument 2 is empty; allowed: SHARD...|SHARDS",
    "restore '' -o x": "restore: argument 1 is empty; allowed: SHARD...|SHARDS -o FILE|FOLDER|-",
    "restore x": "restore: -o PATH is missing",
    "restore x -o ''": "restore: -o PATH is empty",
    "-k 4": f"no command: allowed commands: {COMMANDS} (see --help)",
}


@pytest.mark.parametrize("words", WORDS)
def test_wrong_words(tool: Tool, words: str) -> None:
    assert tool.refusal(*shlex.split(words)) == WORDS[words]


def test_info_of_a_folder(tool: Tool, shards: Path) -> None:
    folder, files = tool.ok("info", shards), tool.ok("info", *sorted(shards.iterdir()))
    assert folder == files


def test_info_reads_only_headers_that_exist(tool: Tool, shards: Path) -> None:
    """The exit status of `info` is that of its help: a missing shard does not change it."""
    assert "1 verify found damage or something missing, or info a damaged header;" in tool.ok("--help")
    shard(shards, 0).unlink()
    tool.ok("info", shards)
    with shard(shards, 1).open("r+b") as file:
        file.seek(60)
        file.write(b"?")
    found = tool.run("info", shards)
    assert found.status == 1
    assert f"{shard(shards, 1)}: checksum mismatch in the header" in found.stdout


def test_info_of_other_files(tool: Tool, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("hello")
    assert tool.refusal("info", letter) == f"{letter} is not a shard file"
    assert tool.refusal("info", tmp_path / "x").startswith(f"cannot open {tmp_path / 'x'}: ")


def test_repair_does_not_replace_unnamed_files(tool: Tool, shards: Path) -> None:
    before = snapshot(shards)
    some = [shard(shards, index) for index in (0, 1, 3, 4, 5)]
    assert tool.refusal("repair", *some) == f"{shard(shards, 2)} exists but was not named: name it too"
    assert tool.refusal("repair", "--force", *some) == (
        f"repair has no option --force; allowed: {FOR_VERIFY}"
    )
    assert snapshot(shards) == before


def test_names_that_are_too_long(tool: Tool, shards: Path, tmp_path: Path) -> None:
    """The set would get its first file, and its volumes have too long names. A folder is not extracted."""
    (tmp_path / "folder").mkdir()
    tool.ok("protect", "-q", tmp_path / "folder", tmp_path / "of_folder")
    before = snapshot(tmp_path)
    index, long = tmp_path / ("n" * 245 + ".par2"), tmp_path / ("n" * 256)
    volume = index.with_suffix(".vol00+01.par2")
    said = tool.refusal("par2", "create", "-q", index, tmp_path / "file")
    assert said == f"cannot create {volume}: File name too long"
    for source in (shards, tmp_path / "of_folder"):
        said = tool.refusal("restore", "-q", source, "-o", long)
        assert said == f"cannot create {long}: File name too long"
    assert snapshot(tmp_path) == before


def test_join_does_not_replace(tool: Tool, shards: Path, tmp_path: Path) -> None:
    joined = tmp_path / "restored"
    joined.write_text("mine")
    before = snapshot(tmp_path)
    line = tool.refusal("restore", shards, "-o", joined)
    assert line == f"{joined} already exists (--force replaces it)"
    assert tool.refusal("restore", "--force", shards, "-o", shard(shards, 1)) == (
        f"{shard(shards, 1)} is one of the shards"
    )
    assert tool.refusal("restore", "--force", shards, "-o", shards) == (
        f"{shards} is a folder; -o names the file to write"
    )
    nowhere = tmp_path / "nowhere"
    assert tool.refusal("restore", shards, "-o", nowhere / "restored") == (
        f"cannot create a file in {nowhere}: No such file or directory"
    )
    assert snapshot(tmp_path) == before
    tool.ok("restore", "--force", shards, "-o", joined)
    assert joined.read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("target", ["mine", "nowhere", "shards/file.g1.000.gfs"])
def test_join_does_not_replace_a_link(tool: Tool, shards: Path, tmp_path: Path, target: str) -> None:
    """The user means the file behind it; /dev/stdout is a link, too."""
    (tmp_path / "mine").write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(target)
    before = snapshot(tmp_path)
    line = f"{link} is a symbolic link; -o names the file itself"
    assert tool.refusal("restore", "--force", shards, "-o", link) == line
    assert link.is_symlink() and snapshot(tmp_path) == before


@pytest.mark.parametrize("posix", [(), ("POSIXLY_CORRECT",)])
@pytest.mark.parametrize(
    "words",
    [
        "-k 4 --parity=2 protect -b 64 SOURCE",
        "--quiet -k 4 -m 2 -b 64 -- protect SOURCE",
        "protect -k 4 -m 2 -b 64 -- SOURCE",
    ],
)
def test_options_may_precede_the_command(
    tool: Tool, tmp_path: Path, words: str, posix: tuple[str, ...]
) -> None:
    source, folder = tmp_path / "protect", tmp_path / "shards"
    source.write_bytes(b"x")
    obeying = Tool(tool.program, {**tool.environment, **dict.fromkeys(posix, "1")})
    obeying.ok(*words.replace("SOURCE", str(source)).split(), folder)
    assert len(snapshot(folder)) == 6
    assert "  block       64 bytes\n" in obeying.ok("--quiet", "info", folder)


NAMES = [name for code in (*CODES, LRC) for name in (code.name, *code.aliases)]
ALL = "k >= 1, m >= 1, k + m <= 255"
LRC_SHAPES = "1 <= l <= k, r >= 1, k + l + r <= 255, where m = l + r; such as -c lrc -k 12 -m 4 -l 2"
NAME = "the name of the original must be a file name of at most 229 bytes (-n NAME gives another)"


def not_a_number(most: int) -> str:
    return f"must be a whole number from 1 to {most}"


BLOCKS = "must be a multiple of 64 from 64 to 1048576, such as 4096, 64K or 1M"
SPLITS = {
    "-k 0": f"-k 0: {not_a_number(254)}",
    "-k 255": f"-k 255: {not_a_number(254)}",
    "--data=-1": f"--data -1: {not_a_number(254)}",
    "--dat 4x": f"--data 4x: {not_a_number(254)}",
    "-m0": f"-m 0: {not_a_number(254)}",
    "-m 99999999999999999999": f"-m 99999999999999999999: {not_a_number(254)}",
    "--parity 0": f"--parity 0: {not_a_number(254)}",
    "--groups 0": f"--groups 0: {not_a_number(254)}",
    "-t 0": f"-t 0: {not_a_number(256)}",
    "--threads 0": f"--threads 0: {not_a_number(256)}",
    "--threads=257": f"--threads 257: {not_a_number(256)}",
    "-b 0": f"-b 0: {BLOCKS}",
    "-b 63": f"-b 63: {BLOCKS}",
    "-b 100": f"-b 100: {BLOCKS}",
    "-b 1048577": f"-b 1048577: {BLOCKS}",
    "--block 2M": f"--block 2M: {BLOCKS}",
    "-b K": f"-b K: {BLOCKS}",
    "-k 200 -m 56": f"code cauchy has no shape k = 200, m = 56; allowed: {ALL}",
    "-c magic": 'code "magic" is unknown; allowed: ' + ", ".join(NAMES),
    f"-c {'c' * 40}": f'code "{"c" * 40}" is unknown; allowed: ' + ", ".join(NAMES),
    "-c raid6": "code raid6 has no shape k = 10, m = 4; allowed: k >= 1, m = 2, k + m <= 255",
    "-c zfs": "code zfs has no shape k = 10, m = 4; allowed: k >= 1, 1 <= m <= 3, k + m <= 255",
    "-l 2": "code cauchy has no groups: only lrc takes -l, such as -c lrc -k 12 -m 4 -l 2",
    "-c lrc": "code lrc needs -l L, the number of its groups; such as -c lrc -k 12 -m 4 -l 2",
    "-c lrc -l 4": f"code lrc has no shape k = 10, m = 4, l = 4; allowed: {LRC_SHAPES}",
    "-c lrc -k 2 -m 5 -l 3": f"code lrc has no shape k = 2, m = 5, l = 3; allowed: {LRC_SHAPES}",
    "-c lrc -k 250 -m 6 -l 2": f"code lrc has no shape k = 250, m = 6, l = 2; allowed: {LRC_SHAPES}",
    "-n a/b": f'cannot protect FILE as "a/b": {NAME}',
    "-n ..": f'cannot protect FILE as "..": {NAME}',
}


@pytest.mark.parametrize(
    ("flags", "allowed"),
    [
        *(
            (f"--memory {text}", "must be from 1 to 1048576 MiB, such as 256 or 2G")
            for text in ("0", "9K", "1T")
        ),
        ("-b 2G", "must be a multiple of 4 from 4 to 1073741824, such as 4096, 64K or 1M"),
    ],
)
def test_par2_with_impossible_sizes(tool: Tool, tmp_path: Path, flags: str, allowed: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    line = tool.refusal("par2", "create", *flags.split(), tmp_path / "set.par2", tmp_path / "file")
    assert line == f"{flags}: {allowed}"
    assert snapshot(tmp_path).keys() == {"file"}


@pytest.mark.parametrize("flags", SPLITS)
def test_split_with_impossible_arguments(tool: Tool, tmp_path: Path, flags: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    (tmp_path / "out").mkdir()
    before = snapshot(tmp_path)
    line = tool.refusal("protect", *flags.split(), file, tmp_path / "out")
    assert line == SPLITS[flags].replace("FILE", str(file))
    assert snapshot(tmp_path) == before


MDS = {
    "vandermonde": "m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3",
    "plank_vandermonde": "m <= 3; k <= 2",
}


@pytest.mark.parametrize("code", MDS)
@pytest.mark.parametrize(("k", "m"), [(22, 4), (6, 5), (100, 100)])
def test_a_shape_that_is_not_mds(tool: Tool, tmp_path: Path, code: str, k: int, m: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    (tmp_path / "out").mkdir()
    shape = ("-k", str(k), "-m", str(m), file, tmp_path / "out")
    assert tool.refusal("protect", "-c", code, *shape) == (
        f"code {code} cannot repair every loss with k = {k}, m = {m}; "
        f"allowed: {ALL}, and one of: {MDS[code]}; cauchy can at every shape"
    )
    assert snapshot(tmp_path / "out") == {}
    tool.ok("protect", "-c", "cauchy", *shape)


def test_an_example_in_a_message_works(tool: Tool, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    line = tool.refusal("protect", "-c", "lrc", file, tmp_path / "out")
    tool.ok("protect", *line.partition("such as ")[2].split(), file, tmp_path / "out")


def test_protect_does_not_replace(tool: Tool, shards: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    before = snapshot(tmp_path)
    assert tool.refusal("protect", "-k", "4", "-m", "2", file, shards) == (
        f"{shards} already has shards of file (--force protects the next generation)"
    )
    assert snapshot(tmp_path) == before


def test_split_from_or_to_the_wrong_place(tool: Tool, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    long = tmp_path / ("n" * 230)
    long.write_bytes(b"x")
    before = snapshot(tmp_path)
    missing = tmp_path / "missing"
    no_such = "No such file or directory"
    assert tool.refusal("protect", missing, tmp_path) == f"cannot open {missing}: {no_such}"
    for inside in (tmp_path, tmp_path / "new"):
        assert tool.refusal("protect", tmp_path, inside) == f"{inside} is inside {tmp_path}: choose another"
    below = missing / "below"
    assert tool.refusal("protect", file, below) == (
        f"cannot create the folder {below}: {no_such} (its parent folder must exist)"
    )
    assert tool.refusal("protect", file, file) == f"cannot write to {file}: it is not a folder"
    # Not even root can create a file in /proc.
    assert tool.refusal("protect", file, "/proc").startswith("cannot create a file in /proc: ")
    assert "at most 229 bytes" in tool.refusal("protect", long, tmp_path)
    assert snapshot(tmp_path) == before


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


def test_a_file_size_limit_is_an_error_like_a_full_disk(tool: Tool, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    (tmp_path / "out").mkdir()
    line = tool.refusal("protect", "-k", "4", file, tmp_path / "out", before=limit_file_size)
    assert line == f"cannot write {shard(tmp_path / 'out', 0)}: File too large"
    assert snapshot(tmp_path / "out") == {}


def test_a_failed_split_removes_the_folder_that_it_created(tool: Tool, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    line = tool.refusal("protect", "-k", "4", file, tmp_path / "out", before=limit_file_size)
    assert line == f"cannot write {shard(tmp_path / 'out', 0)}: File too large"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "merge x",
        "protect",
        "split file",
        "split file out more",
        "verify",
        "verify --force x",
        "verify -k 3 x",
        "repair",
        "join x",
        "join -o y",
        "info",
        "info -o y x",
        "split -x file out",
    ],
)
def test_wrong_usage(tool: Tool, tmp_path: Path, arguments: str) -> None:
    outcome = tool.run(*arguments.split(), cwd=tmp_path)
    assert outcome.status == REFUSED
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["split", "--help"]])
def test_help(tool: Tool, arguments: list[str]) -> None:
    assert tool.ok(*arguments).startswith("usage: gfsmith-shards protect ")


def test_the_help_and_the_man_page_except_the_codes_that_are_not_allowed(tool: Tool) -> None:
    searched = " and ".join(code.name for code in SEARCHED)
    assert f"a code of `gfsmith codes` but {searched} (default cauchy)" in tool.ok("--help")
    page = (ROOT / "apps/shards/gfsmith-shards.1").read_text()
    assert f"A code of \\fBgfsmith codes\\fR but {searched} (default cauchy)." in page


@pytest.mark.parametrize("words", ["--version", "--quiet --version", "verify --version"])
def test_version(tool: Tool, words: str) -> None:
    assert tool.ok(*words.split()).startswith("gfsmith-shards ")


def test_a_full_disk(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, content(5000))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [tool.program, "restore", folder, "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=DEADLINE,
        )
    line = b"gfsmith-shards: cannot write standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (REFUSED, line)


def test_a_file_that_is_not_written_at_its_end(tool: Tool, preload: Path, shards: Path) -> None:
    """As in NFS without room: the error comes when standard output is closed."""
    faulty = Tool(tool.program, {"LD_PRELOAD": str(preload), "SHARDS_FAULT": "close:1+:EDQUOT"})
    for command in (("restore", shards, "-o", "-"), ("verify", shards)):
        assert "cannot write to standard output: Disk quota exceeded" in faulty.refusal(*command)


def test_a_closed_pipe(tool: Tool, tmp_path: Path) -> None:
    folder = make_set(tool, tmp_path, content(2_000_000), block=65536)
    with subprocess.Popen(
        [tool.program, "restore", folder, "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b"gfsmith-shards: cannot write standard output: Broken pipe\n"
    assert process.returncode == REFUSED


def test_json_and_bytes_cannot_share_stdout(tool: Tool, shards: Path) -> None:
    line = "restore: --json needs standard output, which -o - uses"
    assert tool.refusal("restore", "--json", shards, "-o", "-") == line


CLOSED = [streams for count in (1, 2, 3) for streams in itertools.combinations(range(3), count)]


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_closed_streams(tool: Tool, shards: Path, tmp_path: Path, closed: tuple[int, ...]) -> None:
    """A file does not get the number of a closed standard stream: no output is lost without an error, no
    message gets into a file, and a read of standard input ends."""

    def run(*arguments: str | Path) -> int:
        return tool.run(*arguments, before=lambda: [os.close(stream) for stream in closed] and None).status

    silent = REFUSED if 1 in closed else DONE
    shard(shards, 1).unlink()
    flip(shard(shards, 4), 600)
    assert run("repair", shards) == silent
    assert run("restore", shards, "-o", "-") == silent
    assert run("restore", shards, "-o", tmp_path / "restored") == silent
    assert (tmp_path / "restored").read_bytes() == (tmp_path / "file").read_bytes()
    assert run("protect", "--force", "-k", "4", "-m", "2", tmp_path / "file", shards) == silent
    assert run("protect", "-", tmp_path / "input") == (REFUSED if {0, 1} & set(closed) else DONE)
    assert (tmp_path / "input").exists() == (0 not in closed)
    assert run("verify", tmp_path / "nowhere") == REFUSED
    tool.ok("verify", shards)


def limit_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))


def test_too_few_descriptors(tool: Tool, tmp_path: Path) -> None:
    """Shards that this run cannot open are not damaged; a folder that it cannot restore leaves nothing."""
    folder, shards = tmp_path / "folder", tmp_path / "shards"
    folder.mkdir()
    (folder / "file").write_bytes(content(100_000))
    tool.ok("protect", "-q", "-k", "50", "-m", "50", "-b", "64", folder, shards)
    before = snapshot(tmp_path)
    line = tool.refusal("verify", "-q", shards, before=limit_descriptors)
    assert line.startswith("cannot read ") and line.endswith(": Too many open files; it may be intact")
    tool.refusal("restore", "-q", shards, "-o", tmp_path / "again", before=limit_descriptors)
    assert snapshot(tmp_path) == before
