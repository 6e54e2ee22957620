"""Hostile PAR2 packets, with correct hashes, under AddressSanitizer and UBSan: a clear error, nothing outside
the folder changes, and no file is lost. Failing system calls leave everything as it was."""

from __future__ import annotations

import functools
import operator
import os
import random
import resource
import signal
import struct
import subprocess
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.oracle.par2_format import CHECKSUMS, DESCRIPTION, MAIN, RECOVERY, Par2, md5, packet
from tests.support.levels import first, sample
from tests.system.apps.shards.support import (
    DONE,
    REFUSED,
    WRONG,
    Outcome,
    Stopped,
    Tool,
    content,
    snapshot,
    temporaries,
)
from tests.system.apps.shards.test_par2_packets import BLOCK, FILES, is_whole, write_set

NAMES = {
    b"../x": 'has a part "." or ".."',
    b"sub/../../x": 'has a part "." or ".."',
    b"..": 'has a part "." or ".."',
    b".": 'has a part "." or ".."',
    b"./x": 'has a part "." or ".."',
    b"sub/.": 'has a part "." or ".."',
    b"/etc/passwd": "is an absolute path",
    b"/": "is an absolute path",
    b"sub//x": "has an empty part",
    b"sub/": "has an empty part",
    b"\0x": "is empty",
}


def check(outcome: Outcome) -> None:
    assert outcome.status in (DONE, WRONG, REFUSED), outcome
    assert "Sanitizer" not in outcome.stderr and "runtime error" not in outcome.stderr, outcome.stderr


class Named(Par2):
    """A set in which the file "one" has another name in its description."""

    name = b""

    def description(self, name: bytes) -> bytes:
        body = super().description(name)
        return body[:56] + self.name + bytes(-len(self.name) % 4) if name == b"one" else body

    def file_id(self, name: bytes) -> bytes:
        if name != b"one":
            return super().file_id(name)
        data = self.files[name]
        text = self.name.split(b"\0")[0]
        return md5(md5(data[:16384]) + struct.pack("<Q", len(data)) + text)


def named(name: bytes) -> list[bytes]:
    kind = type("Kind", (Named,), {"name": name})
    return kind(FILES, BLOCK, range(30)).packets()


@pytest.mark.parametrize("command", ["verify", "repair"])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_leave_the_folder(sanitized: Tool, tmp_path: Path, name: bytes, command: str) -> None:
    index = write_set(tmp_path / "in", named(name))
    (tmp_path / "in" / "one").unlink()
    before = snapshot(tmp_path)
    line = sanitized.refusal("par2", command, "-q", index)
    assert f"the name of a file {NAMES[name]}" in line
    assert snapshot(tmp_path) == before


def test_the_changed_names_would_be_accepted(sanitized: Tool, tmp_path: Path) -> None:
    """So the refusals above are those of the names."""
    index = write_set(tmp_path, named(b"sub/...x"))
    assert sanitized.run("par2", "repair", "-q", index).status == DONE
    assert (tmp_path / "sub/...x").read_bytes() == FILES[b"one"]


@pytest.mark.parametrize("command", ["verify", "repair"])
@pytest.mark.parametrize("link", ["sub", "one"])
@pytest.mark.parametrize("exists", [True, False])
def test_symbolic_links(sanitized: Tool, tmp_path: Path, command: str, link: str, exists: bool) -> None:
    """Neither a file nor a folder around it may be a link, even a broken one."""
    index = write_set(tmp_path / "in", Par2(FILES, BLOCK, range(30)).packets())
    target = tmp_path / "outside"
    (tmp_path / "in" / link).rename(tmp_path / "away")
    (tmp_path / "in" / link).symlink_to(target)
    if exists and link == "sub":
        target.mkdir()
    elif exists:
        target.write_bytes(b"outside")
    before = snapshot(tmp_path)
    line = sanitized.refusal("par2", command, "-q", index)
    name = "sub/three" if link == "sub" else "one"
    assert f"{name} is or is below a symbolic link" in line
    assert snapshot(tmp_path) == before and (tmp_path / "in" / link).is_symlink()


def test_create_does_not_follow_links(sanitized: Tool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "outside").write_bytes(b"outside")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "outside")
    line = sanitized.refusal("par2", "create", "-q", tmp_path / "in" / "s.par2", tmp_path / "in")
    assert line == f"{tmp_path}/in/link is a symbolic link"
    assert not list((tmp_path / "in").glob("*.par2"))


def _main(block: int, count: int, ids: list[bytes], extra: bytes = b"") -> bytes:
    return struct.pack("<QI", block, count) + b"".join(ids) + extra


def _bodies(change: Callable[[Par2], list[tuple[bytes, bytes]]]) -> list[bytes]:
    """Return the packets of a set with other bodies, and with the id that its Main packet has."""
    bodies = change(Par2(FILES, BLOCK, range(3)))
    set_id = md5(next((body for kind, body in bodies if kind == MAIN), b""))
    return [packet(set_id, kind, body) for kind, body in bodies]


def _with_main(make: Callable[[list[bytes]], bytes]) -> Callable[[Par2], list[tuple[bytes, bytes]]]:
    def change(made: Par2) -> list[tuple[bytes, bytes]]:
        ids = [made.file_id(name) for name in made.names]
        return [(MAIN, make(ids)), *made.bodies()[1:]]

    return change


def _with_description(change: Callable[[bytes], bytes]) -> Callable[[Par2], list[tuple[bytes, bytes]]]:
    return lambda made: [
        (kind, change(body) if kind == DESCRIPTION else body) for kind, body in made.bodies()
    ]


def _renamed(names: dict[bytes, bytes]) -> Callable[[Par2], list[tuple[bytes, bytes]]]:
    """A consistent set of other files."""
    return lambda made: Par2(names, BLOCK, range(3)).bodies()


class Twin(Par2):
    """A set with two files of different content and the same name."""

    def file_id(self, name: bytes) -> bytes:
        data = self.files[name]
        return md5(md5(data[:16384]) + struct.pack("<Q", len(data)) + b"one")

    def description(self, name: bytes) -> bytes:
        return super().description(name)[:56] + b"one\0"


HOSTILE: dict[str, tuple[Callable[[Par2], list[tuple[bytes, bytes]]], str]] = {
    "main short": (_with_main(lambda ids: b"\1" * 8), "the Main packet has a wrong length"),
    "main odd": (_with_main(lambda ids: _main(BLOCK, 3, ids, b"1234")), "the Main packet has a wrong length"),
    "block 0": (_with_main(lambda ids: _main(0, 3, ids)), "the block size must be"),
    "block 6": (_with_main(lambda ids: _main(6, 3, ids)), "the block size must be"),
    "block huge": (_with_main(lambda ids: _main(2**64 - 4, 3, ids)), "the block size must be"),
    "block 8G": (_with_main(lambda ids: _main(2**33, 3, ids)), "the block size must be"),
    "files": (_with_main(lambda ids: _main(BLOCK, 4, ids)), "the number of files is wrong"),
    "files wrap": (_with_main(lambda ids: _main(BLOCK, 2**32 - 1, ids)), "the number of files is wrong"),
    "file twice": (_with_main(lambda ids: _main(BLOCK, 4, [*ids, ids[0]])), "lists a file twice"),
    "unknown file": (
        _with_main(lambda ids: _main(BLOCK, 4, [*ids, b"0" * 16])),
        "no intact packet describes file 4 of 4",
    ),
    "length": (
        _with_description(lambda body: body[:48] + struct.pack("<Q", 2**63) + body[56:]),
        "does not match its id",
    ),
    "name": (_with_description(lambda body: body[:56] + b"evil"), "does not match its id"),
    "no name": (_with_description(lambda body: body[:56]), "a FileDesc packet has a wrong length"),
    "short": (_with_description(lambda body: body[:20]), "a FileDesc packet has a wrong length"),
    "below a file": (_renamed({b"one": b"1" * 9, b"one/two": b"2" * 9}), '"one/two" is below another file'),
    "same name": (
        lambda made: Twin({b"one": b"1" * 9, b"two": b"2" * 9}, BLOCK, range(3)).bodies(),
        'two files have the name "one"',
    ),
}


@pytest.mark.parametrize("command", ["verify", "repair"])
@pytest.mark.parametrize("case", HOSTILE)
def test_fields_out_of_range(sanitized: Tool, tmp_path: Path, case: str, command: str) -> None:
    change, line = HOSTILE[case]
    index = write_set(tmp_path, _bodies(change))
    before = snapshot(tmp_path)
    assert line in sanitized.refusal("par2", command, "-q", index)
    assert snapshot(tmp_path) == before


def test_more_blocks_than_constants(sanitized: Tool, tmp_path: Path) -> None:
    made = Par2({b"one": bytes(4 * 32769)}, 4, [])
    index = write_set(tmp_path, [packet(made.set_id, *body) for body in made.bodies()[:2]])
    assert sanitized.refusal("par2", "verify", "-q", index).endswith("more than 32768 blocks")


def test_wrong_recovery_blocks_replace_nothing(sanitized: Tool, tmp_path: Path) -> None:
    """Their packets have correct hashes, so only the MD5 of the rebuilt file tells."""
    made = Par2(FILES, BLOCK, range(30))
    bodies = [(kind, body[:4] + bytes(BLOCK) if kind == RECOVERY else body) for kind, body in made.bodies()]
    index = write_set(tmp_path, [packet(made.set_id, *body) for body in bodies])
    (tmp_path / "one").write_bytes(FILES[b"one"][:700])
    (tmp_path / "sub/three").unlink()
    (tmp_path / "sub").rmdir()
    before = snapshot(tmp_path)
    line = sanitized.refusal("par2", "repair", "-q", index)
    assert "the rebuilt file does not have its MD5" in line
    assert snapshot(tmp_path) == before


def test_wrong_checksums_of_blocks(sanitized: Tool, tmp_path: Path) -> None:
    """The checksums say that other blocks are right than the MD5 of the file: nothing is replaced."""
    made = Par2(FILES, BLOCK, range(30))
    other = Par2({name: data[::-1] for name, data in FILES.items()}, BLOCK, [])
    bodies = [
        (kind, body[:16] + other.checksums(b"one")[16:] if body[:16] == made.file_id(b"one") else body)
        if kind == CHECKSUMS
        else (kind, body)
        for kind, body in made.bodies()
    ]
    index = write_set(tmp_path, [packet(made.set_id, *body) for body in bodies])
    sanitized.ok("par2", "verify", "-q", index)  # the MD5 of the file is right
    (tmp_path / "one").write_bytes(FILES[b"one"][::-1])
    before = snapshot(tmp_path)
    assert "does not have its MD5" in sanitized.refusal("par2", "repair", "-q", index)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("kind", [RECOVERY, CHECKSUMS])
def test_bodies_of_wrong_lengths_count_as_missing(sanitized: Tool, tmp_path: Path, kind: bytes) -> None:
    made = Par2(FILES, BLOCK, range(3))
    for size in (0, 4, 16, 36, 40, 48):
        bodies = [(each, body[:size] if each == kind else body) for each, body in made.bodies()]
        index = write_set(tmp_path, [packet(made.set_id, *body) for body in bodies])
        sanitized.ok("par2", "verify", "-q", index)


@pytest.mark.parametrize("exponent", [65535, 65536, 2**32 - 1])
def test_exponents_out_of_range_do_not_count(sanitized: Tool, tmp_path: Path, exponent: int) -> None:
    made = Par2(FILES, BLOCK, [])
    body = struct.pack("<I", exponent) + bytes(BLOCK)
    index = write_set(tmp_path, [*made.packets(), packet(made.set_id, RECOVERY, body)])
    (tmp_path / "two").unlink()
    assert ", 0 recovery blocks" in sanitized.run("par2", "verify", "-q", index).stdout


@pytest.mark.parametrize("length", [0, 1, 60, 63, 64, 65, 2**31, 2**63, 2**64 - 1])
def test_lengths_of_packets(sanitized: Tool, tmp_path: Path, length: int) -> None:
    made = Par2(FILES, BLOCK, [0])
    wrong = packet(made.set_id, RECOVERY, bytes(44), length)
    index = write_set(tmp_path, [wrong, *made.packets(), wrong])
    assert "2 damaged packets" in sanitized.ok("par2", "verify", "-q", index)


def test_packets_that_claim_the_rest_of_the_file(sanitized: Tool, tmp_path: Path) -> None:
    """Hashing each of them to its end would take hours."""
    count, size = 200_000, 64
    claims = b"".join(b"PAR2\0PKT" + struct.pack("<Q", (count - n) * size) + bytes(48) for n in range(count))
    index = write_set(tmp_path, [claims])
    line = sanitized.refusal("par2", "verify", "-q", index)
    assert line == f"{index}: too many damaged packets overlap each other"


def test_a_crc_that_matches_everywhere(tool: Tool, tmp_path: Path) -> None:
    """A block's CRC-32 is that of zeros, and its MD5 is another: each position of zeros would be hashed."""
    size = 1 << 20
    made = Par2({b"one": bytes(size)}, size, [])
    checksums = made.file_id(b"one") + bytes(16) + made.checksums(b"one")[-4:]
    bodies = [(kind, checksums if kind == CHECKSUMS else body) for kind, body in made.bodies()]
    index = write_set(tmp_path, [packet(made.set_id, *body) for body in bodies], {b"one": bytes(3 * size)})
    line = tool.refusal("par2", "verify", "-q", index)
    assert line == "cannot read one: too many positions have the CRC-32 of a block, not its MD5"


class Lies(Par2):
    """Checksums with the CRC-32 of each block, and a wrong MD5 of all but every sixteenth."""

    def checksums(self, name: bytes) -> bytes:
        blocks = enumerate(self.blocks_of(name))
        sums = (
            (md5(block) if n % 16 == 0 else bytes(16)) + struct.pack("<I", zlib.crc32(block))
            for n, block in blocks
        )
        return self.file_id(name) + b"".join(sums)


def test_a_crc_that_matches_between_intact_blocks(tool: Tool, tmp_path: Path) -> None:
    """The bytes that may be hashed in vain are those of the set, not of each gap."""
    size = 2048
    data = b"".join(content(size, n) if n % 16 == 0 else bytes(size) for n in range(1024))
    made = Lies({b"one": data}, size, [])
    index = write_set(tmp_path, made.packets(), {b"one": data + b"changed"})
    line = tool.refusal("par2", "verify", "-q", index)
    assert line == "cannot read one: too many positions have the CRC-32 of a block, not its MD5"


def cpu_seconds(tool: Tool, index: Path, status: int = WRONG) -> float:
    """Return the CPU time of a verification."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert tool.run("par2", "verify", "-q", index).status == status
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.parametrize("kind", [Par2, Lies])
def test_blocks_with_the_same_crc(tool: Tool, tmp_path: Path, kind: type[Par2]) -> None:
    """They are not all compared at each position: that would take minutes."""
    made = kind({b"one": bytes(4 * 32767) + b"last"}, 4, [])
    index = write_set(tmp_path, made.packets(), {b"one": b"x" + bytes(1 << 20)})
    assert cpu_seconds(tool, index) < 20


def crc_of_padded(data: bytes, block: int) -> int:
    """Return the CRC-32 of data and zeros up to a block: a zero changes the register linearly."""

    def after(register: int) -> int:
        return sum_of(step[n] for n in range(32) if register >> n & 1)

    def sum_of(terms: Iterable[int]) -> int:
        return functools.reduce(operator.xor, terms, 0)

    step = [zlib.crc32(b"\0", (1 << n) ^ 0xFFFFFFFF) ^ 0xFFFFFFFF for n in range(32)]
    register = zlib.crc32(data) ^ 0xFFFFFFFF
    for bit in range(block.bit_length()):
        register = after(register) if (block - len(data)) >> bit & 1 else register
        step = [after(image) for image in step]
    return register ^ 0xFFFFFFFF


def test_crc_of_padded() -> None:
    assert crc_of_padded(b"abc", 100_000) == zlib.crc32(b"abc" + bytes(99_997))


class Padded(Par2):
    """Short blocks with their CRC-32 and a wrong MD5, because that of much padding takes hours."""

    def checksums(self, name: bytes) -> bytes:
        return self.file_id(name) + bytes(16) + struct.pack("<I", crc_of_padded(self.files[name], self.block))


@pytest.mark.parametrize("end", [b"", b"appended"])
def test_small_files_with_large_blocks(tool: Tool, tmp_path: Path, end: bytes) -> None:
    """2 GiB of zeros are hashed, and not for every file, which would take a minute or two."""
    files = {bytes([name]): bytes([name, 1]) for name in range(65, 97)}
    made = Padded(files, 1 << 30, [])
    index = write_set(tmp_path, made.packets(), {name: data + end for name, data in files.items()})
    assert cpu_seconds(tool, index, WRONG if end else DONE) < (40 if end else 5)


def test_a_file_of_magics(tool: Tool, tmp_path: Path) -> None:
    """The bytes behind a magic are not read again for the next one: 8000 times as many would be read."""
    made = Par2({b"one": b"1234", b"two": b"lost"}, 4, [])
    index = write_set(tmp_path, [*made.packets(), b"PAR2\0PKT" * (1 << 20)], {b"one": b"1234"})
    assert cpu_seconds(tool, index) < 10


def test_long_names(sanitized: Tool, tmp_path: Path) -> None:
    """Each part of a name is compared, so the time of a long one would be quadratic."""
    for parts, accepted in ((2048, True), (2049, False)):
        files = {b"/".join([b"a"] * parts): b"1234"}
        index = write_set(tmp_path, Par2(files, 4, [0]).packets(), {})
        outcome = sanitized.run("par2", "verify", "-q", index)
        check(outcome)
        assert ("a FileDesc packet has a wrong length" in outcome.stderr) != accepted, outcome


def test_many_long_packets_need_no_memory(tool: Tool, tmp_path: Path) -> None:
    """Sparse Main packets of 16 MiB with correct hashes: they stay in their file."""
    made = Par2(FILES, BLOCK, [0])
    index = write_set(tmp_path, made.packets())
    long = packet(made.set_id, MAIN, bytes(16 << 20))[:64]
    with index.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        for _ in range(12):
            file.write(long)
            file.truncate(file.seek(16 << 20, os.SEEK_CUR))
    script = 'ulimit -v 120000; exec "$@"'
    command = ["sh", "-c", script, "sh", tool.program, "par2", "verify", "-q", "-t", "1", index]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (DONE, "")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("\x1b[2Jname\n", "?[2Jname?"),
        ("\x9b2Jname\x80\x9f\xa0\xc0", "??2Jname????\xa0\xc0"),  # CSI and others in UTF-8: two bytes each
        ("name\xc2\x80", "name\xc2??"),
    ],
)
def test_control_bytes_in_names_are_not_printed(
    sanitized: Tool, tmp_path: Path, name: str, printed: str
) -> None:
    files = {name.encode(): b"1" * 9}
    index = write_set(tmp_path, Par2(files, BLOCK, [0]).packets(), files)
    (tmp_path / name).unlink()
    said = sanitized.run("par2", "verify", "-q", index).stdout
    assert said.startswith(f"{printed}: missing")


BATCHES = 6
CASES = 40


@pytest.mark.parametrize("batch", sample(first(range(BATCHES)), *range(3)))
def test_mutated_packets(sanitized: Tool, tmp_path: Path, batch: int) -> None:
    """Bodies with random changes, mostly with correct hashes: no crash, and no content is lost."""
    rng = random.Random(batch)
    made = Par2(FILES, BLOCK, range(12))
    for case in range(CASES):
        folder = tmp_path / f"case{case}"
        bodies = made.bodies()
        for _ in range(rng.randint(1, 3)):
            n = rng.randrange(len(bodies))
            kind, body = bodies[n][0], bytearray(bodies[n][1])
            at = rng.randrange(len(body))
            if rng.random() < 0.4:
                body[at] = rng.choice((0, 1, 255, 47, 46, rng.randrange(256)))
            elif rng.random() < 0.5:
                del body[at - at % 4 : at - at % 4 + 4 * rng.randrange(1, 9)]
            else:
                body[at:at] = rng.randbytes(4 * rng.randrange(1, 9))
            bodies[n] = kind, bytes(body)
        set_id = md5(bodies[0][1]) if rng.random() < 0.8 else made.set_id
        index = write_set(folder, [packet(set_id, *body) for body in bodies])
        (folder / "one").write_bytes(FILES[b"one"][:600] + b"changed" + FILES[b"one"][650:])
        if rng.random() < 0.5:
            (folder / "two").unlink()
        before, outside = snapshot(folder), {path.name for path in tmp_path.iterdir()}
        check(sanitized.run("par2", "verify", "-q", index))
        assert snapshot(folder) == before
        outcome = sanitized.run("par2", "repair", "-q", index)
        check(outcome)
        after = snapshot(folder)
        assert set(before.values()) <= set(after.values()), outcome
        assert outcome.status == DONE or after == before, outcome
        assert {path.name for path in tmp_path.iterdir()} == outside


@pytest.mark.parametrize("call", ["pwrite", "pread", "fsync"])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_failing_calls_of_create(faulty: Callable[[str], Tool], tmp_path: Path, call: str, n: int) -> None:
    (tmp_path / "one").write_bytes(content(5000))
    before = snapshot(tmp_path)
    words = ("par2", "create", "-q", "-r", "100", "-b", "1000", tmp_path / "s.par2", tmp_path / "one")
    onward = "+" if call == "pread" else ""  # a read is repeated once
    done = faulty(f"{call}:{n}{onward}:EIO").run(*words)
    if done.status == REFUSED:
        assert done.stderr.count("\n") == 1 and "Input/output error" in done.stderr, done
        created = {line.partition(": ")[0] for line in done.stdout.splitlines()}
        assert {str(tmp_path / name) for name in snapshot(tmp_path).keys() - before} == created
        assert not created or (call, n) == ("fsync", 5)  # that of the folder, after all renames
    else:
        assert (done.status, call) == (DONE, "fsync"), done  # there are fewer calls
    assert not temporaries(tmp_path)


@pytest.mark.parametrize("plan", ["pwrite:1", "pwrite:3", "pread:9", "pread:14", "pread:20", "fsync:1"])
def test_failing_calls_of_repair(faulty: Callable[[str], Tool], tmp_path: Path, plan: str) -> None:
    index = write_set(tmp_path, Par2(FILES, BLOCK, range(12)).packets())
    (tmp_path / "one").write_bytes(FILES[b"one"][:700])
    (tmp_path / "sub/three").unlink()
    (tmp_path / "sub").rmdir()
    before = snapshot(tmp_path)
    done = faulty(f"{plan}:EIO").run("par2", "repair", "-q", index)
    if done.status == REFUSED:
        assert snapshot(tmp_path) == before, done
    else:
        assert is_whole(tmp_path), done  # the damage of a read is repaired
    assert not temporaries(tmp_path)


def _lost(tmp_path: Path) -> Path:
    """Write a set without the folder sub, whose file is lost, and with a damaged file."""
    index = write_set(tmp_path, Par2(FILES, BLOCK, range(12)).packets())
    (tmp_path / "one").write_bytes(FILES[b"one"][:700])
    (tmp_path / "sub/three").unlink()
    (tmp_path / "sub").rmdir()
    return index


@pytest.mark.parametrize(
    "plan", ["create:1", "create:2", "pwrite:1", "fsync:1", "link:1", "rename:1", "rename:2"]
)
@pytest.mark.parametrize("damaged", [False, True])
def test_a_folder_that_is_exchanged_for_a_link(
    faulty: Callable[[str], Tool], tmp_path: Path, plan: str, damaged: bool
) -> None:
    """At any moment after it was opened: no file is written, replaced or removed outside."""
    index = _lost(tmp_path / "in")
    if damaged:
        (tmp_path / "in/sub").mkdir()
        (tmp_path / "in/sub/three").write_bytes(b"damaged")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "three").write_bytes(b"outside")
    run = Stopped(faulty(f"{plan}:STOP"), "par2", "repair", "-q", index)
    (tmp_path / "in/sub").rename(tmp_path / "moved")
    (tmp_path / "in/sub").symlink_to(outside)
    outcome = run.resume()
    assert outcome.status == DONE, outcome
    assert (tmp_path / "moved/three").read_bytes() == FILES[b"sub/three"]
    assert not temporaries(tmp_path / "moved")
    assert snapshot(outside).keys() == {"three"} and (outside / "three").read_bytes() == b"outside"


def test_every_failing_allocation_of_repair(faulty: Callable[[str], Tool], tmp_path: Path) -> None:
    """A refused run leaves nothing, not even an empty folder; some allocations are not necessary."""
    refused = 0
    for n in range(1, 120):
        folder = tmp_path / str(n)
        index = _lost(folder)
        before = snapshot(folder)
        done = faulty(f"alloc:{n}:ENOMEM").run("par2", "repair", "-q", "-t", "1", index)
        assert is_whole(folder) if done.status == DONE else snapshot(folder) == before, (n, done)
        refused += done.status == REFUSED
    assert 70 < refused < 110, refused  # so each allocation has failed once


def test_no_folder_is_left_if_nothing_can_be_opened_any_more(
    faulty: Callable[[str], Tool], tmp_path: Path
) -> None:
    """From some call on, no file and no folder can be opened, as on a failing disk."""
    for n in range(1, 60):
        index = _lost(folder := tmp_path / str(n))
        before = snapshot(folder)
        done = faulty(f"open:{n}+:EIO").run("par2", "repair", "-q", "-t", "1", index)
        assert done.status == REFUSED and snapshot(folder) == before, (n, done)


def test_fewer_descriptors_than_lost_files(tool: Tool, tmp_path: Path) -> None:
    """With a hard limit, the files that are written are not all open at once."""
    contents = {f"{n}".encode(): content(600 + n) for n in range(100)}
    index = write_set(tmp_path, Par2(contents, 1000, range(100)).packets(), {})
    (tmp_path / "7").write_bytes(contents[b"7"][:500])
    (tmp_path / "7").chmod(0o440)
    outcome = tool.run(
        *("par2", "repair", "-q", "-t", "4", index),
        before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)),
    )
    assert outcome.status == DONE, outcome
    assert all((tmp_path / name.decode()).read_bytes() == data for name, data in contents.items())
    assert (tmp_path / "7").stat().st_mode & 0o777 == 0o440
    assert not temporaries(tmp_path)


def test_a_read_that_fails_once_is_no_damage(faulty: Callable[[str], Tool], tmp_path: Path) -> None:
    index = write_set(tmp_path, Par2(FILES, BLOCK, range(12)).packets())
    for n in range(1, 60):
        done = faulty(f"pread:{n}:EIO").run("par2", "verify", "-q", "-t", "1", index)
        assert done.status == (REFUSED if str(index) in done.stderr else DONE), (n, done)


@pytest.mark.parametrize("n", [1, 4, 12])
@pytest.mark.parametrize("kind", ["TERM", "INT"])
def test_signals(faulty: Callable[[str], Tool], tmp_path: Path, n: int, kind: str) -> None:
    (tmp_path / "one").write_bytes(content(50_000))
    before = snapshot(tmp_path)
    words = ("par2", "create", "-q", "-t", "1", "-r", "100", tmp_path / "s.par2", tmp_path / "one")
    done = faulty(f"pwrite:{n}:{kind}").run(*words)
    assert done.status < 0 and done.stderr == "", done
    assert snapshot(tmp_path) == before


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_signal_while_many_blocks_are_computed(tool: Tool, tmp_path: Path) -> None:
    """The matrix of 6000 lost blocks is inverted in minutes of CPU time, which a signal ends at once. All
    limits are CPU times of the process, which do not depend on other processes.
    """
    (tmp_path / "one").write_bytes(content(24_000))
    index = tmp_path / "s.par2"
    tool.ok("par2", "create", "-q", "-r", "100", "-b", "4", index, tmp_path / "one")
    (tmp_path / "one").unlink()
    before = snapshot(tmp_path)
    words = [tool.program, "par2", "repair", "-q", "-t", "1", index]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while _cpu_seconds(process.pid) < 2:
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            while process.poll() is None:
                assert _cpu_seconds(process.pid) < 10
                time.sleep(0.05)
        finally:
            process.kill()
        assert process.returncode == -signal.SIGINT
        assert process.stderr is not None and process.stderr.read() == b""
    assert snapshot(tmp_path) == before
