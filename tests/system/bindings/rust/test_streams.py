"""The crate's feature shards: its tests detect faults, and other programs read and write its shards."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gfsmith import streams
from tests.oracle import shard_vectors
from tests.oracle.shard_format import Shape
from tests.support.folders import built, locked
from tests.system.apps.shards.support import HEADER, RECORD, Tool
from tests.system.bindings.rust.support import ALL, BUILD, Project, lay, sources

SHAPES = [
    Shape("cauchy", 4, 2, 4096),
    Shape("backblaze", 10, 4, 65536),
    Shape("vandermonde", 5, 3, 64),
    Shape("cauchy_good", 4, 2, 64),
    Shape("lrc", 6, 4, 64, l=2),
]
each_shape = pytest.mark.parametrize("form", SHAPES, ids=lambda form: f"{form.code}-{form.k}-{form.m}")


@pytest.fixture(scope="session")
def program(project: Project) -> Path:
    """The example streams of the crate."""
    return project.program(*ALL, "--example", "streams")


def _call(program: Path, *arguments: str | Path, memory: int = resource.RLIM_INFINITY) -> str:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

    command = [program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def _refusal(program: Path, *arguments: str | Path) -> str:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    return done.stderr


def _split(program: Path, folder: Path, data: bytes, form: Shape) -> list[Path]:
    folder.mkdir()
    (folder / "file").write_bytes(data)
    numbers = (form.k, form.m, form.l, form.block, form.generation, form.content)
    identity = (form.set_id.hex(), form.name.decode())
    _call(program, "split", folder, folder / "file", form.code, *map(str, numbers), *identity)
    return [folder / str(index) for index in range(form.k + form.m)]


def _flip(path: Path, offset: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 0x40
    path.write_bytes(raw)


def test_all_vectors_are_written_and_read(program: Path, tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = json.loads(shard_vectors.FILE.read_text(encoding="utf-8"))
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        numbers = {name: case[name] for name in ("code", "k", "m", "block", "l", "generation", "content")}
        form = Shape(name=case["name"].encode(), set_id=bytes.fromhex(case["set_id"]), **numbers)
        data = shard_vectors.original(case["length"])
        paths = _split(program, folder, data, form)
        assert len(paths) == len(case["shards"])
        for path, shard in zip(paths, case["shards"], strict=True):
            raw = path.read_bytes()
            assert (len(raw), hashlib.sha256(raw).hexdigest()) == (shard["bytes"], shard["sha256"])
            assert raw.hex() == shard.get("hex", raw.hex())
        paths[0].unlink()
        _call(program, "join", folder, folder / "copy")
        assert (folder / "copy").read_bytes() == data
        shutil.rmtree(folder)
    assert len(cases) > 50


@each_shape
def test_shards_of_rust_are_read_by_the_others(form: Shape, program: Path, tmp_path: Path) -> None:
    data = os.urandom(300_001)
    paths = _split(program, tmp_path / "set", data, form)
    report = streams.verify(paths)
    assert report.intact and (report.code, report.k, report.m) == (form.code, form.k, form.m)
    tool = Tool(built("shards") / "gfsmith-shards", {})
    assert tool.ok("verify", *paths) == f"file: all {len(paths)} shards are intact\n"
    _flip(paths[1], HEADER + RECORD + 8)
    streams.join(paths[1:], tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data


@each_shape
def test_rust_reads_and_repairs_the_shards_of_python(form: Shape, program: Path, tmp_path: Path) -> None:
    data = os.urandom(300_001)
    (tmp_path / "file").write_bytes(data)
    folder, out = tmp_path / "set", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    paths = [folder / str(index) for index in range(form.k + form.m)]
    options: dict[str, Any] = {"code": form.code, "l": form.l, "block": form.block, "name": "file"}
    streams.split(tmp_path / "file", paths, k=form.k, m=form.m, **options)
    assert _call(program, "verify", folder) == "300001 bytes, intact: true, lost stripes: 0\n"
    kept = [path.read_bytes() for path in paths[:2]]
    paths[0].unlink()
    _flip(paths[1], HEADER + RECORD + 8)
    assert _call(program, "verify", folder) == "300001 bytes, intact: false, lost stripes: 0\n"
    _call(program, "join", folder, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data
    _call(program, "repair", folder, out)
    assert [(out / name).read_bytes() for name in ("0", "1")] == kept
    assert len(list(out.iterdir())) == 2


def test_a_set_beyond_repair_leaves_no_file(program: Path, tmp_path: Path) -> None:
    paths = _split(program, tmp_path / "set", b"text" * 999, SHAPES[0])
    for path in paths[:3]:
        path.unlink()
    said = _refusal(program, "join", tmp_path / "set", tmp_path / "copy")
    assert said == "streams: more shards are missing than there are parities\n"
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_memory_does_not_depend_on_the_length(program: Path, tmp_path: Path) -> None:
    """8 MiB of memory suffice for an original of 64 MiB; 1 MiB does not, so the limit has an effect."""
    folder = tmp_path / "set"
    folder.mkdir()
    data = os.urandom(1 << 20) * 64
    (tmp_path / "file").write_bytes(data)
    _call(program, "split", folder, tmp_path / "file", "cauchy", "10", "4", memory=8 << 20)
    (folder / "0").unlink()
    _call(program, "join", folder, tmp_path / "copy", memory=8 << 20)
    assert (tmp_path / "copy").read_bytes() == data
    with pytest.raises(AssertionError):
        _call(program, "join", folder, tmp_path / "copy", memory=1 << 20)


#: A file in src, an expression in it, and its replacement.
MUTANTS = {
    "checksums of records are not compared": (
        "streams/record.rs",
        "(checksum(&bytes[SUM..PREFIX + length], tag) == bytes[..SUM]).then_some(length)",
        "(tag != 1).then_some(length)",
    ),
    "a record of another shard matches": (
        "streams/header.rs",
        "get_u64(raw, AT_SUM)\n",
        "get_u64(raw, AT_SET_ID)",
    ),
    "the checksum of the original is not compared": (
        "streams/decode.rs",
        "!self.lost && self.sum.digest128().to_be_bytes() != end.original",
        "false",
    ),
    "missing stripes are no error": ("streams/decode.rs", "self.number < end.stripes ", "false"),
    "sets are mixed": ("streams/decode.rs", "*known != header", "false"),
    "bytes without a field are ignored": ("streams/header.rs", "header.encode(index) != raw", "false"),
    "the size of a block is not limited": ("streams/header.rs", "self.block > MAX_BLOCK", "false"),
    "an error of a reader is its end": (
        "streams/lane.rs",
        "return Err((done, error)),",
        "break",
    ),
    "an index of another stripe": (
        "batch.rs",
        "self.index(*index)",
        "self.index(changes[0].0.max(*index) - *index)",
    ),
    "shards that are not read are given": ("batch.rs", "present[n % total]", "present[n % total.min(2)]"),
    "the wrong number is expected": (
        "batch.rs",
        'count("shards", number * each, shards)?',
        'count("shards", shards, number * each)?',
    ),
    "lengths of stripes differ": ("shards.rs", "expected == found {\n", "expected <= found"),
}
FAULT = """
fn fault(name: &str) -> bool {
    extern crate std;
    std::env::var("GFSMITH_FAULT").as_deref() == Ok(name)
}
"""


def with_faults(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the crate's files with all mutants; the environment variable GFSMITH_FAULT names the one that a
    program has.
    """
    changed = {"src/lib.rs": files["gfsmith/src/lib.rs"].decode() + FAULT}
    for name, (file, text, other) in MUTANTS.items():
        before = changed.get(f"src/{file}") or files[f"gfsmith/src/{file}"].decode()
        assert before.count(text) == 1, name
        right = text.rstrip(" {,\n")
        switch = f'(if crate::fault("{name}") {{ {other} }} else {{ {right} }})'
        changed[f"src/{file}"] = before.replace(text, switch + text[len(right) :])
    return dict(files) | {f"gfsmith/{path}": text.encode() for path, text in changed.items()}


def test_the_tests_detect_faults(project: Project) -> None:
    """Each mutant fails a test of tests/streams.rs or tests/batch.rs; one build serves all, and without a
    fault it passes.
    """
    mutant = Project(BUILD / "mutant")
    with locked(BUILD / "mutant.lock"):
        # Another version, since cargo regards the same crate in two folders as one in a shared target/.
        manifest = sources()["gfsmith/Cargo.toml"].replace(b'version = "0.1.0"', b'version = "0.1.2"', 1)
        lay(mutant.folder, with_faults(sources() | {"gfsmith/Cargo.toml": manifest}))
        shutil.copy(project.folder / "Cargo.lock", mutant.folder)
        test = ("test", "--quiet", "--package", "gfsmith", "--features", "shards", "--test")
        mutant.cargo(*test, "streams", "--test", "batch")
        for name, (file, _, _) in MUTANTS.items():
            program = "streams" if file.startswith("streams/") else "batch"
            done = mutant.run(*test, program, GFSMITH_FAULT=name)
            assert done.returncode != 0 and "test result: FAILED" in done.stdout, (name, done.stderr)
