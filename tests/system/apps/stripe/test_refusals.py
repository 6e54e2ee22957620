"""Refusals: one line that names the files, exit status 2, and no change."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.system.apps.stripe.support import DONE, REFUSED, Stripe, content, flip, make_set, shard, snapshot

SET_COMMANDS = ("verify", "repair", "join")


@pytest.fixture(params=SET_COMMANDS)
def refused(request: pytest.FixtureRequest, stripe: Stripe, tmp_path: Path) -> Callable[..., str]:
    """Run one of the commands on shards and return the message. Nothing below tmp_path may change."""

    def run(*paths: Path) -> str:
        before = snapshot(tmp_path)
        output = ("-o", tmp_path / "joined") if request.param == "join" else ()
        line = stripe.refusal(request.param, *paths, *output)
        assert snapshot(tmp_path) == before
        return line

    return run


def test_another_file(stripe: Stripe, shards: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    other = make_set(stripe, tmp_path / "other", content(999, seed=2))
    other_shard = shutil.copy(shard(other, 3), shard(shards, 3))
    assert refused(shards) == (f"{other_shard} belongs to another stripe set than {shard(shards, 0)}")


@pytest.mark.parametrize(
    "shape", [(4, 3, 64, "file"), (3, 2, 64, "file"), (4, 2, 128, "file"), (4, 2, 64, "renamed")]
)
def test_the_same_file_in_another_shape(
    stripe: Stripe,
    shards: Path,
    tmp_path: Path,
    refused: Callable[..., str],
    shape: tuple[int, int, int, str],
) -> None:
    k, m, block, name = shape
    other = make_set(stripe, tmp_path / "other", content(999), k, m, block, name)
    other_shard = shard(other, 1, name)
    assert refused(shard(shards, 0), other_shard) == (
        f"{other_shard} belongs to another stripe set than {shard(shards, 0)}"
    )


def test_the_same_file_in_another_code(
    stripe: Stripe, shards: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    (tmp_path / "other").mkdir()
    shape = ["split", "-c", "vandermonde", "-k", "4", "-m", "2", "-b", "64"]
    stripe.ok(*shape, tmp_path / "file", tmp_path / "other")
    other_shard = shard(tmp_path / "other", 5)
    assert refused(shards, other_shard) == (
        f"{other_shard} belongs to another stripe set than {shard(shards, 0)}"
    )


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
        flip(path, 70)
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


def test_a_fifo_is_not_waited_for(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for command in ("verify", "repair", "info"):
        assert stripe.refusal(command, fifo) == f"{fifo} is not a regular file"
    assert stripe.refusal("split", fifo, shards) == f"{fifo} is not a regular file"


def test_info_of_other_files(stripe: Stripe, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("hello")
    assert stripe.refusal("info", letter) == f"{letter} is not a shard file"
    assert stripe.refusal("info", tmp_path / "x").startswith(f"cannot open {tmp_path / 'x'}: ")


def test_repair_does_not_replace_unnamed_files(stripe: Stripe, shards: Path) -> None:
    before = snapshot(shards)
    some = [shard(shards, index) for index in (0, 1, 3, 4, 5)]
    assert stripe.refusal("repair", *some) == (
        f"{shard(shards, 2)} exists but was not named (name it too, or --force replaces it)"
    )
    flip(shard(shards, 2), -1)
    assert stripe.run("repair", "--force", *some).status == DONE
    assert snapshot(shards) == before


def test_join_does_not_replace(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    joined = tmp_path / "joined"
    joined.write_text("mine")
    before = snapshot(tmp_path)
    line = stripe.refusal("join", shards, "-o", joined)
    assert line == f"{joined} already exists (--force replaces it)"
    assert stripe.refusal("join", "--force", shards, "-o", shard(shards, 1)) == (
        f"{shard(shards, 1)} is one of the shards"
    )
    assert stripe.refusal("join", "--force", shards, "-o", shards) == (f"{shards} is not a regular file")
    nowhere = tmp_path / "nowhere"
    assert stripe.refusal("join", shards, "-o", nowhere / "joined") == (
        f"cannot create a file in {nowhere}: No such file or directory"
    )
    assert snapshot(tmp_path) == before
    stripe.ok("join", "--force", shards, "-o", joined)
    assert joined.read_bytes() == (tmp_path / "file").read_bytes()


SPLITS = {
    "-k 0": "-k 0: must be a whole number from 1 to 254",
    "-k 255": "-k 255: must be a whole number from 1 to 254",
    "-k -1": "-k -1: must be a whole number from 1 to 254",
    "-k 4x": "-k 4x: must be a whole number from 1 to 254",
    "-m 0": "-m 0: must be a whole number from 1 to 254",
    "-m 99999999999999999999": "-m 99999999999999999999: must be a whole number from 1 to 254",
    "-b 63": "-b 63: must be a whole number from 64 to 1048576",
    "-b 1048577": "-b 1048577: must be a whole number from 64 to 1048576",
    "-b 100": "cannot split FILE: block size 100: must be a multiple of 64, at most 1048576",
    "-k 200 -m 56": "cannot split FILE: k = 200 and m = 56: each must be at least 1, together at most 255",
    "-c magic": 'FILE: unknown code "magic" (vandermonde, cauchy)',
    f"-c {'c' * 40}": f'unknown code "{"c" * 40}"',
}


@pytest.mark.parametrize("flags", SPLITS)
def test_split_with_impossible_arguments(stripe: Stripe, tmp_path: Path, flags: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    (tmp_path / "out").mkdir()
    before = snapshot(tmp_path)
    line = stripe.refusal("split", *flags.split(), file, tmp_path / "out")
    assert line == SPLITS[flags].replace("FILE", str(file))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("k", "m"), [(22, 4), (6, 5), (100, 100)])
def test_a_shape_that_is_not_mds(stripe: Stripe, tmp_path: Path, k: int, m: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    (tmp_path / "out").mkdir()
    shape = ("-k", str(k), "-m", str(m), file, tmp_path / "out")
    line = stripe.refusal("split", "-c", "vandermonde", *shape)
    assert line.startswith(f"{file}: code vandermonde with k = {k}, m = {m}: ")
    assert line.endswith(" (cauchy can at every shape)")
    assert snapshot(tmp_path / "out") == {}
    stripe.ok("split", "-c", "cauchy", *shape)


def test_split_does_not_replace(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(999, seed=5))
    before = snapshot(tmp_path)
    shape = ("-k", "4", "-m", "2", file, shards)
    assert stripe.refusal("split", *shape) == (f"{shard(shards, 0)} already exists (--force replaces it)")
    assert stripe.refusal("split", "--force", "-k", "3", "-m", "1", file, shards) == (
        f"{shard(shards, 4)} already exists, of a set with more shards: remove it first"
    )
    assert snapshot(tmp_path) == before
    stripe.ok("split", "--force", *shape)
    stripe.ok("verify", shards)
    stripe.ok("join", shards, "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == content(999, seed=5)


def test_split_from_or_to_the_wrong_place(stripe: Stripe, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    long = tmp_path / ("n" * 248)
    long.write_bytes(b"x")
    before = snapshot(tmp_path)
    missing = tmp_path / "missing"
    no_such = "No such file or directory"
    assert stripe.refusal("split", missing, tmp_path) == f"cannot open {missing}: {no_such}"
    assert stripe.refusal("split", tmp_path, tmp_path) == f"{tmp_path} is not a regular file"
    below = missing / "below"
    assert stripe.refusal("split", file, below) == f"cannot create the folder {below}: {no_such}"
    assert stripe.refusal("split", file, file) == f"cannot write to {file}: it is not a folder"
    # Not even root can create a file in /proc.
    assert stripe.refusal("split", file, "/proc").startswith("cannot create a file in /proc: ")
    assert "1 to 247 bytes" in stripe.refusal("split", long, tmp_path)
    assert snapshot(tmp_path) == before


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


def test_a_file_size_limit_is_an_error_like_a_full_disk(stripe: Stripe, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    (tmp_path / "out").mkdir()
    line = stripe.refusal("split", "-k", "4", file, tmp_path / "out", before=limit_file_size)
    assert line == f"cannot write {shard(tmp_path / 'out', 0)}: File too large"
    assert snapshot(tmp_path / "out") == {}


def test_a_failed_split_removes_the_folder_that_it_created(stripe: Stripe, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content(100_000))
    line = stripe.refusal("split", "-k", "4", file, tmp_path / "out", before=limit_file_size)
    assert line == f"cannot write {shard(tmp_path / 'out', 0)}: File too large"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "merge x",
        "split",
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
def test_wrong_usage(stripe: Stripe, tmp_path: Path, arguments: str) -> None:
    outcome = stripe.run(*arguments.split(), cwd=tmp_path)
    assert outcome.status == REFUSED
    assert outcome.stdout == ""
    assert outcome.stderr
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["split", "--help"]])
def test_help(stripe: Stripe, arguments: list[str]) -> None:
    assert stripe.ok(*arguments).startswith("usage: stripe split ")
