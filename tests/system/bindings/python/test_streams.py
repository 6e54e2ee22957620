"""gfsmith.streams: the bytes of the test vectors, damage, errors of streams, and the file tool's files."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gfsmith
from gfsmith import streams
from gfsmith.codec import _native
from tests.oracle import shard_vectors
from tests.support.folders import built
from tests.support.paths import ROOT
from tests.system.apps.shards.support import Tool

CASES: list[dict[str, Any]] = json.loads(shard_vectors.FILE.read_text(encoding="utf-8"))


def split(data: bytes, k: int = 4, m: int = 2, **options: Any) -> list[io.BytesIO]:
    shards = [io.BytesIO() for _ in range(k + m)]
    options = {"block": 64, "name": "file", **options}
    assert streams.split(io.BytesIO(data), shards, k=k, m=m, **options) == len(data)
    return rewound(shards)


def rewound(shards: list[io.BytesIO]) -> list[io.BytesIO]:
    for shard in shards:
        shard.seek(0)
    return shards


def damaged(shard: io.BytesIO, offset: int) -> io.BytesIO:
    raw = bytearray(shard.getvalue())
    raw[offset] ^= 1
    return io.BytesIO(bytes(raw))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['code']}-{case['k']}-{case['length']}")
def test_vectors(case: dict[str, Any]) -> None:
    data = shard_vectors.original(case["length"])
    names = ("code", "l", "block", "generation", "content", "name")
    shards = split(
        data, case["k"], case["m"], **{n: case[n] for n in names}, set_id=bytes.fromhex(case["set_id"])
    )
    found = [hashlib.sha256(shard.getvalue()).hexdigest() for shard in shards]
    assert found == [shard["sha256"] for shard in case["shards"]]
    report = streams.verify(shards)
    assert report.intact and report.length == case["length"]
    assert report.checksum.hex() == case["original"]
    out = io.BytesIO()
    streams.join(rewound(shards)[1:], out)
    assert out.getvalue() == data


def test_every_shard_damaged() -> None:
    data = os.urandom(999)
    shards = split(data)
    bad = [damaged(shard, 512 + (i % 3) * 96 + 40) for i, shard in enumerate(shards)]
    report = streams.verify(bad)
    assert not report.intact and report.lost_stripes == 0
    assert [state.bad_blocks for state in report.shards] == [1] * 6
    rebuilt = {i: io.BytesIO() for i in range(6)}
    streams.repair(rewound(bad), rebuilt)
    assert [rebuilt[i].getvalue() for i in range(6)] == [shard.getvalue() for shard in shards]


def test_parities_are_read_only_if_they_are_needed() -> None:
    """391 stripes are several batches. Damage in a late one starts the reading of the parities there."""
    data = os.urandom(100_000)
    shards = split(data)
    out = io.BytesIO()
    report = streams.join(shards, out)
    assert out.getvalue() == data
    assert [state.read for state in report.shards] == [True] * 4 + [False] * 2
    assert shards[5].tell() == 512
    for stripe in (0, 63, 64, 300, 390):
        bad = [damaged(shards[0], 512 + stripe * 96 + 40), *rewound(shards)[1:]]
        out = io.BytesIO()
        report = streams.join(bad, out)
        assert out.getvalue() == data
        assert report.shards[0].bad_blocks == 1 and report.shards[5].read


def test_many_bad_blocks_in_every_shard() -> None:
    """Two bad blocks in each of 391 stripes, in changing shards."""
    data = os.urandom(100_000)
    bad = [bytearray(shard.getvalue()) for shard in split(data)]
    for stripe in range(390):
        for shard in (stripe % 6, (stripe * 5 + 1) % 6):
            bad[shard][512 + stripe * 96 + 32 + stripe % 64] ^= 0x10
    out = io.BytesIO()
    streams.join([io.BytesIO(bytes(raw)) for raw in bad], out)
    assert out.getvalue() == data


@pytest.mark.parametrize("stripes", [1, 63, 64, 65, 128])
def test_junk_after_every_trailer(stripes: int) -> None:
    """The last block is complete but padded, also as the last one of a batch of 64."""
    data = os.urandom(stripes * 4 * 64 - 1)
    for bad in (False, True):
        shards = [io.BytesIO(shard.getvalue() + os.urandom(100)) for shard in split(data)]
        if bad:
            shards[0] = damaged(shards[0], 512 + (stripes - 1) * 96 + 40)
        out = io.BytesIO()
        report = streams.join(shards, out)
        assert out.getvalue() == data
        assert report.shards[0].too_long and report.shards[0].bad_blocks == bad


def test_too_many_losses() -> None:
    shards = split(b"x" * 999)
    assert streams.verify(shards[3:]).lost_stripes == 4
    with pytest.raises(gfsmith.TooManyLostError):
        streams.join(rewound(shards)[3:], io.BytesIO())


def test_sets_are_not_mixed() -> None:
    one, other = split(b"one" * 99), split(b"one" * 99, generation=2)
    with pytest.raises(gfsmith.MixedShardsError, match=r"shards\[0\] and shards\[1\]"):
        streams.verify([one[0], other[1]])
    with pytest.raises(gfsmith.ShardFormatError):
        streams.verify([io.BytesIO(b"no shard")])
    with pytest.raises(gfsmith.ShardFormatError):
        streams.verify([])


def test_paths_are_the_file_tool_s(tmp_path: Path) -> None:
    tool = Tool(built("shards") / "gfsmith-shards", {})
    data = os.urandom(100_000)
    (tmp_path / "file").write_bytes(data)
    paths = [tmp_path / f"file.g1.{i:03d}.gfs" for i in range(6)]
    streams.split(tmp_path / "file", paths, k=4, m=2, block=4096, name="file")
    assert tool.ok("verify", *paths) == "file: all 6 shards are intact\n"
    raw = bytearray(paths[0].read_bytes())
    raw[3] ^= 1  # the index of the shard is in the name of its file
    paths[0].write_bytes(raw)
    assert streams.verify(paths).shards[0].header_damaged
    streams.join(paths, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == data
    assert sorted(tmp_path.iterdir()) == sorted([*paths, tmp_path / "file", tmp_path / "copy"])


def test_the_command_of_a_checkout_is_the_built_tool(tmp_path: Path) -> None:
    """It runs build/gfsmith-shards; without that, status 2, since 1 means damaged shards."""
    module = "bindings/python/gfsmith/codec/shards_tool.py"
    (tmp_path / module).parent.mkdir(parents=True)
    shutil.copy(ROOT / module, tmp_path / module)
    code = "import runpy, sys; runpy.run_path(sys.argv.pop(1))['main']()"
    command = [sys.executable, "-c", code, str(tmp_path / module), "--version"]
    missing = subprocess.run(command, capture_output=True, text=True, check=False)
    line = "gfsmith-shards: the program is missing; in a checkout, `make shards` builds it\n"
    assert (missing.returncode, missing.stderr) == (2, line)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/gfsmith-shards").symlink_to(built("shards") / "gfsmith-shards")
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"gfsmith-shards ")


def test_a_failure_leaves_no_file(tmp_path: Path) -> None:
    shards = split(os.urandom(999))
    (tmp_path / "copy").write_bytes(b"old")
    with pytest.raises(gfsmith.TooManyLostError):
        streams.join(shards[:3], tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    assert (tmp_path / "copy").read_bytes() == b"old"


def test_a_shard_without_its_path_leaves_no_new_shard(tmp_path: Path) -> None:
    """The path of one shard is a folder, which a file cannot replace."""
    paths = [tmp_path / str(index) for index in range(6)]
    paths[3].mkdir()
    with pytest.raises(IsADirectoryError):
        streams.split(io.BytesIO(b"text"), paths, k=4, m=2)
    assert list(tmp_path.iterdir()) == [paths[3]]


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    """A rename would replace a device or pipe by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(gfsmith.InvalidError, match="a device or pipe; allowed: a file"):
        streams.join(split(b"text"), pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_missing_folder_is_named_by_the_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder of this path does not exist: '.*/none/copy'$"):
        streams.join(split(b"text"), tmp_path / "none" / "copy")


def test_an_output_gets_one_shard(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    path, again, file = tmp_path / "x", tmp_path / "link" / "x", io.BytesIO()
    for pair in ([path, str(path)], [path, again], [file, file]):
        with pytest.raises(gfsmith.InvalidError, match="named for two shards"):
            streams.split(io.BytesIO(b"text"), pair, k=1, m=1)
        with pytest.raises(gfsmith.InvalidError, match="named for two shards"):
            streams.repair(split(b"text"), dict(enumerate(pair)))
    assert [path.name for path in tmp_path.iterdir()] == ["link"]
    assert file.getvalue() == b""


def test_an_output_does_not_replace_what_the_call_reads(tmp_path: Path) -> None:
    original, link = tmp_path / "original", tmp_path / "link"
    original.write_bytes(b"text" * 100)
    link.symlink_to(tmp_path)
    paths = [tmp_path / f"shard{index}" for index in range(6)]
    streams.split(original, paths, k=4, m=2, block=64)
    before = {path: path.read_bytes() for path in [original, *paths]}
    with pytest.raises(gfsmith.InvalidError, match=r"shard0.\): is read by this call; allowed: another out"):
        streams.join(paths, link / "shard0")
    with pytest.raises(gfsmith.InvalidError, match=r"shard1'\): is read by this call"):
        streams.repair(paths[1:], {0: link / "shard1"})
    with pytest.raises(gfsmith.InvalidError, match=r"original'\): is read by this call"):
        streams.split(original, [link / "original", *paths[1:]], k=4, m=2)
    assert {path: path.read_bytes() for path in before} == before
    assert {path.name for path in tmp_path.iterdir()} == {"link", *(path.name for path in before)}


def test_a_file_object_is_not_read_and_written(tmp_path: Path) -> None:
    paths = [tmp_path / f"shard{index}" for index in range(6)]
    streams.split(io.BytesIO(b"text" * 1000), paths, k=4, m=2, block=64)
    before = [path.read_bytes() for path in paths]
    memory = io.BytesIO(before[0])
    with paths[0].open("r+b") as file:
        for shards, original in (([memory, *paths[1:]], memory), ([file, *paths[1:]], file), (paths, file)):
            with pytest.raises(gfsmith.InvalidError, match="is read by this call; allowed: another output"):
                streams.join(shards, original)
        with pytest.raises(gfsmith.InvalidError, match="is read by this call"):
            streams.split(paths[0], [file, *paths[1:]], k=4, m=2)
        with pytest.raises(gfsmith.InvalidError, match="is read by this call"):
            streams.repair([*paths[1:], file], {1: file})
    assert memory.getvalue() == before[0]
    assert [path.read_bytes() for path in paths] == before


def test_a_pipe_may_be_read_and_written() -> None:
    first, second = socket.socketpair()
    with first, second, first.makefile("rwb", 0) as both:
        second.sendall(b"text")
        second.shutdown(socket.SHUT_WR)
        streams.split(both, [both, io.BytesIO()], k=1, m=1, block=64)
        assert second.recv(10)


@pytest.mark.parametrize("offset", [0, 1200], ids=["header", "block"])
def test_a_damaged_shard_is_repaired_in_place(offset: int, tmp_path: Path) -> None:
    paths = [tmp_path / f"shard{index}" for index in range(6)]
    streams.split(io.BytesIO(b"text" * 1000), paths, k=4, m=2)
    right = paths[0].read_bytes()
    paths[0].write_bytes(right[:offset] + bytes([right[offset] ^ 1]) + right[offset + 1 :])
    streams.repair(paths, {0: paths[0]})
    assert paths[0].read_bytes() == right


def test_a_shard_outside_of_the_set_is_not_rebuilt(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    for index in (6, 254):
        with pytest.raises(gfsmith.InvalidError, match=f"^rebuilt: shard {index}; the set has .* 0 to 5$"):
            streams.repair(split(b"text"), {0: io.BytesIO(), index: out})
    assert out.read_bytes() == b"old"


def test_all_shards_are_on_disk_before_the_first_gets_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    flush, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        flush(descriptor)

    def rename(old: str, new: str) -> None:
        calls.append("rename")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    streams.split(io.BytesIO(b"text"), [tmp_path / str(index) for index in range(6)], k=4, m=2)
    assert calls == 6 * ["file"] + 6 * ["rename"] + ["folder"]


class Broken(io.RawIOBase):
    """A file whose reads and writes raise an exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def readinto(self, buffer: Any) -> int:
        raise self.error

    def write(self, data: Any) -> int:
        raise self.error


def test_exceptions_of_streams() -> None:
    """An unreadable shard is damage; all other failures end the call with their exception."""
    data = os.urandom(999)
    shards = split(data)
    out = io.BytesIO()
    with pytest.raises(OSError, match="reason"):
        streams.split(Broken(OSError("reason")), shards, k=4, m=2)
    with pytest.raises(OSError, match="reason"):
        streams.join(rewound(split(data)), Broken(OSError("reason")))
    with pytest.raises(KeyError):
        streams.verify([Broken(KeyError("bug")), *split(data)])
    streams.join([Broken(OSError("gone")), *split(data)[1:]], out)
    assert out.getvalue() == data


def test_progress_and_cancellation() -> None:
    seen: list[int] = []
    split(b"x" * 100_000, progress=seen.append)
    assert seen[-1] == 100_000 and seen == sorted(seen)

    def cancel(done: int) -> None:
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError):
        split(b"x" * 100_000, progress=cancel)


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    """Return the ends of a pipe that does not block."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return io.FileIO(ends[0]), io.FileIO(ends[1], "w")


def test_a_stream_that_is_not_ready_has_not_ended() -> None:
    from_pipe, to_pipe = _pipe()
    with from_pipe, to_pipe:
        to_pipe.write(b"first part")
        with pytest.raises(BlockingIOError, match="not ready; allowed: a file object that blocks"):
            streams.split(from_pipe, [io.BytesIO(), io.BytesIO()], k=1, m=1)


def test_bytes_that_a_stream_does_not_take_are_not_lost() -> None:
    from_pipe, to_pipe = _pipe()
    with from_pipe, to_pipe, pytest.raises(BlockingIOError, match="not ready; allowed: a file object"):
        streams.split(io.BytesIO(bytes(1 << 20)), [to_pipe, io.BytesIO()], k=1, m=1)


def test_new_files_have_the_permissions_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if another thread creates one at the same time: the umask never changes."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail(f"umask({mask})"))
    (tmp_path / "plain").touch()
    streams.split(io.BytesIO(b"x"), [tmp_path / "0", tmp_path / "1"], k=1, m=1)
    assert (tmp_path / "0").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_view_ends_with_its_callback() -> None:
    """Memory of the library is not accessible after the call."""
    kept: list[memoryview] = []

    class Keeper(io.BytesIO):
        def write(self, data: Any) -> int:
            kept.append(data)
            return len(data)

    streams.split(io.BytesIO(b"abc"), [Keeper() for _ in range(3)], k=2, m=1, block=64)
    for view in kept:
        with pytest.raises(ValueError, match="released"):
            len(view)


KEEPER = """
import io
from gfsmith import streams
kept = []
class Keeper(io.BytesIO):
    def readinto(self, buffer):
        kept.append(memoryview(buffer))
        return super().readinto(buffer)
    def write(self, data):
        kept.append(memoryview(data))
        return super().write(data)
data = bytes(range(256)) * 1000
streams.split(Keeper(data), [Keeper() for _ in range(6)], k=4, m=2)
print(data[:2] in {view.tobytes()[:2] for view in kept if not view.readonly}, len(kept) > 6)
"""


def test_a_copy_of_a_view_stays_valid() -> None:
    """In a process of its own, because an access to freed memory may crash."""
    done = subprocess.run([sys.executable, "-c", KEEPER], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_a_stream_that_resizes_the_buffer() -> None:
    class Shrinking(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            whole, read = buffer.obj, len(buffer)
            buffer.release()
            whole.clear()
            return read

    with pytest.raises(BufferError, match="has changed the size of the buffer"):
        streams.split(Shrinking(b"abc"), [io.BytesIO() for _ in range(3)], k=2, m=1)


@pytest.mark.parametrize("count", [-1, 1 << 40])
def test_a_stream_that_reports_a_wrong_number(count: int) -> None:
    class Wrong(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            return count

    with pytest.raises(OSError, match=f"a stream has read {count} bytes into a buffer of"):
        streams.split(Wrong(), [io.BytesIO() for _ in range(3)], k=2, m=1)
    report = streams.verify([Wrong(), *split(b"abc")[1:]])
    assert not report.shards[0].intact and all(shard.intact for shard in report.shards[1:])


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
made = interpreters.create()
interpreters.run_string(made, '''
import io, _xxsubinterpreters as interpreters
from gfsmith import streams
seen = set()
class Asking(io.BytesIO):
    def readinto(self, buffer):
        seen.add(interpreters.get_current())
        return super().readinto(buffer)
streams.split(Asking(b"abc"), [io.BytesIO() for _ in range(3)], k=2, m=1)
print(seen == {interpreters.get_current()})
''')
interpreters.destroy(made)
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module has another name")
def test_callbacks_run_in_the_interpreter_of_the_call() -> None:
    done = subprocess.run([sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_none_is_a_missing_shard() -> None:
    shards: list[io.BytesIO | None] = [*split(b"text"), *split(b"text")[:1]]
    shards[1] = None
    with pytest.raises(gfsmith.codec.errors.MixedShardsError, match=r"shards\[0\] and shards\[6\]"):
        streams.verify(shards)
    shards = [None, *split(b"text")[1:]]
    assert [shard.source for shard in streams.verify(shards).shards] == [None, 1, 2, 3, 4, 5]
    with pytest.raises(gfsmith.codec.errors.ShardFormatError):
        streams.verify([None] * 6)


def test_one_path_is_no_sequence_of_streams(tmp_path: Path) -> None:
    original = tmp_path / "file"
    original.write_bytes(b"text")
    for path in ("folder", tmp_path):
        with pytest.raises(TypeError, match="allowed: a sequence"):
            streams.split(original, path, k=4, m=2)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="allowed: a sequence"):
            streams.join(path, tmp_path / "out")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [original]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"block": 100}, "^block = 100, .*: the block size must be a multiple of 64, at most 1048576$"),
        ({"block": -1}, r"^block = -1: must be 0 to 2\^32 - 1$"),
        ({"content": 2**32}, r"^content = 4294967296: must be 0 to 2\^32 - 1$"),
        ({"k": 0}, "^k = 0, m = 2: each must be 1 or more, and "),
        ({"k": -1}, "^k = -1, m = 2: each must be 1 or more, and "),
        ({"k": 2**32 + 4}, "^k = 4294967300, m = 2: .* at most 255$"),
        ({"generation": 0}, "generation = 0, .*the generation must be 1"),
        ({"generation": 2**53}, r"^generation = 9007199254740992: must be 0 to 2\^53 - 1$"),
        ({"name": "a/b"}, "name = 'a/b': .* must be a file name"),
        ({"name": "n" * 300}, "name = 'n+': .*at most 229"),
        ({"set_id": b"short"}, "16 bytes"),
        ({"code": "magic"}, "code 'magic': must be one of vandermonde, cauchy, "),
        ({"code": "raid6", "m": 3}, "raid6.*no such shape; allowed: k >= 1, m = 2, "),
        ({"l": 2}, "^l = 2: must be 0, since cauchy has no groups; lrc has$"),
        ({"code": "lrc"}, "^l = 0: with lrc the number of groups, 1 or more and less than m = 2$"),
        ({"code": "lrc", "l": 2}, "^l = 2: with lrc the number of groups, 1 or more and less than m = 2$"),
        ({"code": "lrc", "k": 2, "m": 5, "l": 3}, "^l = 3: must be at most k = 2$"),
        ({"m": 3}, "6 shards, must be k"),
    ],
)
def test_invalid_arguments(options: dict[str, Any], why: str) -> None:
    shards = [io.BytesIO() for _ in range(6)]
    with pytest.raises(gfsmith.InvalidError, match=why):
        streams.split(io.BytesIO(b"x"), shards, **{"k": 4, "m": 2, "block": 64, **options})
    assert all(shard.getvalue() == b"" for shard in shards)


def test_an_object_that_is_no_stream_is_named() -> None:
    shards = split(b"text")
    with pytest.raises(TypeError, match=r"^5: must be a path or a file object with read\(\)$"):
        streams.verify([*shards[:5], 5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^5: must be a path or a file object with write\(\)$"):
        streams.join(shards, 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^shards: 5; allowed: a sequence"):
        streams.verify(5)  # type: ignore[arg-type]
    text: Any = io.StringIO("x")
    with pytest.raises(TypeError, match=r"text; allowed: a path or a file object of bytes$"):
        streams.split(text, [io.BytesIO() for _ in range(6)], k=4, m=2)
    with pytest.raises(TypeError, match=r"text; allowed: a path or a file object of bytes$"):
        streams.join(shards, text)


@pytest.mark.parametrize(
    ("rebuilt", "kind", "why"),
    [
        (None, TypeError, "^rebuilt: None; allowed: a mapping of indices to paths or file objects$"),
        ([io.BytesIO()], TypeError, "^rebuilt: .*; allowed: a mapping of indices"),
        ({"0": io.BytesIO()}, TypeError, "^rebuilt: index = '0': must be an integer, not str$"),
        ({-1: io.BytesIO()}, gfsmith.InvalidError, "^rebuilt: index -1: must be from 0 to 254$"),
    ],
)
def test_wrong_outputs_of_a_repair_are_named(rebuilt: Any, kind: type[Exception], why: str) -> None:
    with pytest.raises(kind, match=why):
        streams.repair([io.BytesIO(shard.getvalue()) for shard in split(b"text")], rebuilt)


def test_a_status_that_is_no_number() -> None:
    status: Any = "x"
    with pytest.raises(TypeError, match=r"must be real number|an integer"):
        _native.streams_strerror(status)
