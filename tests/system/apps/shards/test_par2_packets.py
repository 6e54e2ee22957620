"""Packets in any order, several times, damaged or cut; equations that depend on each other."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from tests.oracle.par2_format import CHECKSUMS, DESCRIPTION, MAIN, RECOVERY, Par2
from tests.system.apps.shards.support import DONE, REFUSED, WRONG, Tool, build_tool, content, snapshot

FILES = {b"one": content(1000, 2), b"two": content(333, 3), b"sub/three": content(70, 4)}
BLOCK = 40
COUNT = 25 + 9 + 2


def write_set(folder: Path, parts: list[bytes], files: dict[bytes, bytes] = FILES) -> Path:
    """Write the files and a single file of packets, and return its path."""
    for name, data in files.items():
        path = folder / name.decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "set.par2").write_bytes(b"".join(parts))
    return folder / "set.par2"


def is_whole(folder: Path, files: dict[bytes, bytes] = FILES) -> bool:
    return all((folder / name.decode()).read_bytes() == data for name, data in files.items())


@pytest.fixture(scope="module")
def parts() -> list[bytes]:
    """The packets of a set with 10 recovery blocks, whose exponents are not consecutive."""
    return Par2(FILES, BLOCK, [0, 1, 2, 7, 300, 5000, 32767, 32768, 65533, 65534]).packets()


@pytest.mark.parametrize("seed", range(4))
def test_any_order_with_copies_and_rubbish(
    sanitized: Tool, tmp_path: Path, parts: list[bytes], seed: int
) -> None:
    rng = random.Random(seed)
    mixed = [*parts, *rng.choices(parts, k=8), rng.randbytes(777), b"PAR2\0PKT", b"PAR2"]
    mixed += [each[: rng.randrange(len(each))] for each in rng.choices(parts, k=5)]
    rng.shuffle(mixed)
    index = write_set(tmp_path, mixed)
    sanitized.ok("par2", "verify", "-q", index)
    (tmp_path / "one").write_bytes(FILES[b"one"][: 20 * BLOCK])
    (tmp_path / "two").write_bytes(bytes(2 * BLOCK) + FILES[b"two"][2 * BLOCK :])
    shutil.rmtree(tmp_path / "sub")
    assert "9 of 36 blocks lost, 10 recovery blocks: can be repaired" in (
        sanitized.run("par2", "verify", "-q", index).stdout
    )
    assert sanitized.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path)


def test_each_damaged_byte_of_a_packet(tool: Tool, tmp_path: Path, parts: list[bytes]) -> None:
    """A damaged packet counts as missing, and its copy behind it counts."""
    recovery = next(each for each in parts if each[48:64] == RECOVERY)
    others = [each for each in parts if each[48:64] != RECOVERY]
    for at in range(len(recovery)):
        damaged = bytearray(recovery)
        damaged[at] ^= 0x10
        index = write_set(tmp_path, [*others, bytes(damaged)])
        (tmp_path / "sub/three").unlink()
        assert ", 0 recovery blocks" in tool.run("par2", "verify", "-q", index).stdout, at
        index.write_bytes(b"".join([*others, bytes(damaged), recovery]))
        assert ", 1 recovery blocks" in tool.run("par2", "verify", "-q", index).stdout, at


@pytest.mark.parametrize("cut", [1, 63, 64, 100, 200])
def test_a_cut_file_of_packets(tool: Tool, tmp_path: Path, parts: list[bytes], cut: int) -> None:
    index = write_set(tmp_path, parts)
    index.write_bytes(index.read_bytes()[:-cut])
    tool.ok("par2", "verify", "-q", index)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (MAIN, "no intact Main packet"),
        (DESCRIPTION, "no intact packet describes file 1 of 3"),
    ],
)
def test_a_kind_of_packet_is_missing(
    tool: Tool, tmp_path: Path, parts: list[bytes], kind: bytes, line: str
) -> None:
    index = write_set(tmp_path, [each for each in parts if each[48:64] != kind])
    before = snapshot(tmp_path)
    assert tool.refusal("par2", "repair", "-q", index) == f"{index}: {line}"
    assert snapshot(tmp_path) == before


def test_without_checksums_files_count_as_wholes(tool: Tool, tmp_path: Path, parts: list[bytes]) -> None:
    index = write_set(tmp_path, [each for each in parts if each[48:64] != CHECKSUMS])
    tool.ok("par2", "verify", "-q", index)
    (tmp_path / "two").write_bytes(FILES[b"two"][:-1])
    assert "9 of 36 blocks lost" in tool.run("par2", "verify", "-q", index).stdout
    assert tool.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path)


def test_another_set_in_the_same_file(tool: Tool, tmp_path: Path, parts: list[bytes]) -> None:
    other = Par2({b"else": content(50)}, 8, [0, 1]).packets()
    index = write_set(tmp_path, [*parts[:3], *other, *parts[3:]])
    tool.ok("par2", "verify", "-q", index)


def _lose(folder: Path, indices: list[int], made: Par2) -> None:
    """Overwrite blocks of the only file by bytes that no block has."""
    (name,) = made.names
    data = bytearray(made.files[name])
    for index in indices:
        data[index * BLOCK : (index + 1) * BLOCK] = bytes([255 - index]) * BLOCK
    (folder / name.decode()).write_bytes(data)


@pytest.mark.parametrize("exponents", [[0, 21845], [0, 21845, 43690]])
def test_equations_that_depend_on_each_other(tool: Tool, tmp_path: Path, exponents: list[int]) -> None:
    """The constants of blocks 2 and 3 are 2^4 and 2^7, and 3 * 21845 = 65535: both equations have the same
    ratio of coefficients."""
    files = {b"one": content(12 * BLOCK)}
    made = Par2(files, BLOCK, exponents)
    index = write_set(tmp_path, made.packets(), files)
    _lose(tmp_path, [2, 3], made)
    before = snapshot(tmp_path)
    line = tool.refusal("par2", "repair", "-q", index)
    assert line.endswith("the recovery blocks do not determine the lost blocks; others are needed")
    assert snapshot(tmp_path) == before
    write_set(tmp_path, Par2(files, BLOCK, [*exponents, 60000]).packets(), files)
    _lose(tmp_path, [2, 3], made)
    assert tool.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path, files)


def test_many_equations_that_depend_on_each_other(tool: Tool, tmp_path: Path) -> None:
    """Blocks 0 and 8 have the constants 2 and 2^16, and 15 * 4369 = 65535: of 16 recovery blocks all but the
    last have the same ratio of coefficients."""
    files = {b"one": content(12 * BLOCK)}
    made = Par2(files, BLOCK, [*range(0, 65535, 4369), 65534])
    index = write_set(tmp_path, made.packets(), files)
    _lose(tmp_path, [0, 8], made)
    assert tool.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path, files)


def test_many_lost_blocks(tool: Tool, tmp_path: Path) -> None:
    """All blocks are lost: several groups of kernel calls and tasks of the elimination."""
    files = {b"one": content(300 * 4, 7)}
    (tmp_path / "one").write_bytes(files[b"one"])
    index = tmp_path / "set.par2"
    tool.ok("par2", "create", "-q", "-b", "4", "-r", "100", index, tmp_path / "one")
    (tmp_path / "one").unlink()
    assert tool.run("par2", "repair", "-q", "-t", "3", index).status == DONE
    assert is_whole(tmp_path, files)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 39, 40, 41, 79, 80, 81])
@pytest.mark.parametrize("block", ["4", "12", "40"])
def test_lengths(sanitized: Tool, tmp_path: Path, length: int, block: str) -> None:
    files = {b"a": content(length), b"b": content(100, 8)}
    for name, data in files.items():
        (tmp_path / name.decode()).write_bytes(data)
    index = tmp_path / "set.par2"
    sanitized.ok("par2", "create", "-q", "-b", block, "-r", "100", index, tmp_path / "a", tmp_path / "b")
    (tmp_path / "a").write_bytes(b"\xff" + files[b"a"] + b"behind")
    (tmp_path / "b").unlink()
    assert sanitized.run("par2", "verify", "-q", index).status == WRONG
    assert sanitized.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path, files)


@pytest.mark.parametrize("cut", [1, 150, 200])
def test_a_cut_file_whose_end_was_zeros(sanitized: Tool, tmp_path: Path, cut: int) -> None:
    """Its last block counts as found, since zeros follow the end of a file; another block is lost."""
    files = {b"one": content(3896) + bytes(200), b"two": content(100, 8)}
    index = write_set(tmp_path, Par2(files, 1024, [0]).packets(), files)
    (tmp_path / "one").write_bytes(files[b"one"][:-cut])
    (tmp_path / "two").unlink()
    said = sanitized.run("par2", "verify", "-q", index).stdout
    assert "one: damaged, 4 of 4 blocks found" in said and "can be repaired" in said
    assert sanitized.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path, files)


def test_the_second_name_is_no_folder_of_the_set(sanitized: Tool, tmp_path: Path) -> None:
    """A damaged file "one" is kept, but not as "one.1", which another file needs as its folder."""
    files = {b"one": content(100), b"one.1/two": content(100, 8)}
    index = write_set(tmp_path, Par2(files, BLOCK, range(6)).packets(), files)
    (tmp_path / "one").write_bytes(b"changed" + files[b"one"])
    (tmp_path / "one.1/two").unlink()
    (tmp_path / "one.1").rmdir()
    assert "one: kept as" in sanitized.ok("par2", "repair", "-q", index)
    assert is_whole(tmp_path, files)
    assert (tmp_path / "one.2").read_bytes() == b"changed" + files[b"one"]


OTHERS = {b"other": content(500, 9)}


def two_sets(folder: Path, other: str, files: dict[bytes, bytes] = FILES) -> Path:
    """A set whose index is damaged and which has a volume, next to another set, which is intact."""
    parts = Par2(FILES, BLOCK, range(4)).packets()
    index = write_set(folder, [b"damaged"], {**files, **OTHERS})
    (folder / "set.vol0+4.par2").write_bytes(b"".join(parts))
    (folder / other).write_bytes(b"".join(Par2(OTHERS, BLOCK, range(4)).packets()))
    return index


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("other", ["set.2024.par2", "set.2024.vol0+4.par2", "set.a.par2"])
def test_another_set_whose_name_begins_in_the_same_way(
    tool: Tool, tmp_path: Path, other: str, exists: bool
) -> None:
    """Its files are intact, but they are not those of the set that the command names."""
    index = two_sets(tmp_path, other)
    if not exists:
        index.unlink()
    (tmp_path / "one").unlink()
    assert "one: missing" in tool.run("par2", "verify", "-q", index).stdout
    (tmp_path / "set.vol0+4.par2").unlink()
    for command in ("verify", "repair"):
        line = tool.refusal("par2", command, "-q", index)
        assert line.startswith(f"{index}: no ")
    assert tool.ok("par2", "verify", "-q", tmp_path / other).endswith("1 of 1 files intact\n")


def test_packets_of_the_set_in_files_with_other_names(tool: Tool, tmp_path: Path) -> None:
    """They count, although these files do not tell which set it is."""
    parts = Par2(FILES, BLOCK, range(40)).packets()
    index = write_set(tmp_path, parts[:7])
    (tmp_path / "set.more.par2").write_bytes(b"".join(parts[7:]))
    (tmp_path / "one").unlink()
    assert tool.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path)


def test_volumes_of_several_sets(tool: Tool, tmp_path: Path) -> None:
    """An index is lost, and volumes of an older set remain: the user must name one of them."""
    index = two_sets(tmp_path, "set.vol00+4.par2")
    line = tool.refusal("par2", "verify", "-q", index)
    assert line.endswith("its volumes are those of several sets: name one of them instead")
    assert tool.ok("par2", "verify", "-q", tmp_path / "set.vol0+4.par2").endswith("3 of 3 files intact\n")


def two_versions(folder: Path, old: str) -> tuple[Path, bytes]:
    """A set of a file, and packets of an older version of the file in `old`. The file's head and length are
    the same, so the id of the set is, too. Return the index and the content."""
    new = content(17_000)
    before = new[:16_384] + content(616, 2)
    made, former = Par2({b"one": new}, 1000, [2]), Par2({b"one": before}, 1000, [1])
    assert made.set_id == former.set_id
    index = write_set(folder, made.packets(), {b"one": b"x" + new[1:]})
    (folder / old).write_bytes(b"".join(former.packets()))
    return index, new


@pytest.mark.parametrize("old", ["set.old.par2", "set.vol1+1.par2"])
def test_recovery_blocks_of_another_version(sanitized: Tool, tmp_path: Path, old: str) -> None:
    """They cannot repair the file, although their exponent is lower."""
    index, data = two_versions(tmp_path, old)
    assert f"{old}: ignored, another version of the set" in sanitized.ok("par2", "repair", "-q", index)
    assert (tmp_path / "one").read_bytes() == data


def test_another_version_tells_nothing_about_lost_packets(tool: Tool, tmp_path: Path) -> None:
    """The description of the second file is damaged, so that only the older version has one."""
    one, two = content(17_000), content(17_000, 3)
    made = Par2({b"one": one, b"two": two}, 1000, [])
    former = Par2({b"one": one[:-1] + b"x", b"two": two[:-1] + b"x"}, 1000, [])
    parts = [part for part in made.packets() if part[-4:] != b"two\0"]
    index = write_set(tmp_path, parts, dict(made.files))
    (tmp_path / "set.old.par2").write_bytes(b"".join(former.packets()))
    assert re.search(r"no intact packet describes file \d of 2", tool.refusal("par2", "verify", "-q", index))


def test_volumes_of_several_versions(tool: Tool, tmp_path: Path) -> None:
    """The index is lost, so nothing tells which version the set is."""
    index, data = two_versions(tmp_path, "set.vol1+1.par2")
    named = index.rename(tmp_path / "set.vol2+1.par2")
    line = tool.refusal("par2", "verify", "-q", index)
    assert line.endswith("its volumes are those of several versions of the set: name one of them instead")
    assert tool.run("par2", "repair", "-q", named).status == DONE
    assert (tmp_path / "one").read_bytes() == data


@pytest.mark.parametrize("letter", ["n", "\u00e4"])
def test_the_second_names_of_long_names(sanitized: Tool, tmp_path: Path, letter: str) -> None:
    """The longest names of a file system are cut, at a whole character, and both damaged files are kept."""
    long = letter * (252 // len(letter.encode()))
    files = {(long + end).encode(): content(100, n) for n, end in enumerate(("xyz", "xzz"))}
    index = write_set(tmp_path, Par2(files, BLOCK, range(6)).packets(), files)
    damaged = {b"changed" + data for data in files.values()}
    for name, data in files.items():
        (tmp_path / name.decode()).write_bytes(b"changed" + data)
    assert sanitized.ok("par2", "repair", "-q", index).count(": kept as") == 2
    assert is_whole(tmp_path, files)
    kept = [path for path in tmp_path.iterdir() if path.name.encode() not in files and path != index]
    assert {path.read_bytes() for path in kept} == damaged
    assert all(path.name.startswith(long[:-4]) for path in kept)  # so each is UTF-8


def test_a_name_that_this_file_system_refuses(sanitized: Tool, tmp_path: Path) -> None:
    """Such a file is missing, and no other one is replaced."""
    name = "\u00e9" * 200
    parts = Par2({**FILES, name.encode(): content(50)}, BLOCK, list(range(10))).packets()
    index = write_set(tmp_path, parts)
    (tmp_path / "one").write_bytes(FILES[b"one"][:-1])
    before = snapshot(tmp_path)
    verified = sanitized.run("par2", "verify", "-q", index)
    assert verified.status == WRONG, verified
    assert verified.stdout.splitlines()[-1].endswith(
        "2 of 4 files intact, 3 of 38 blocks lost, 10 recovery blocks: can be repaired"
    )
    for words in ([index], [index, tmp_path / name]):
        repaired = sanitized.run("par2", "repair", "-q", *words)
        assert repaired.status == REFUSED and repaired.stderr == (
            f"gfsmith-shards: cannot create {name}: File name too long\n"
        )
    assert snapshot(tmp_path) == before


def test_an_empty_file_of_another_program(tool: Tool, tmp_path: Path) -> None:
    """gfsmith-shards leaves empty files out of its sets, and rebuilds those of others."""
    files = FILES | {b"empty": b""}
    index = write_set(tmp_path, Par2(files, BLOCK, [0]).packets(), files)
    tool.ok("par2", "verify", "-q", index)
    (tmp_path / "empty").unlink()
    assert "empty: missing, 0 of 0 blocks found" in tool.run("par2", "verify", "-q", index).stdout
    assert tool.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path, files)


@pytest.mark.parametrize("protected", [True, False])
def test_an_empty_folder_of_multipar(sanitized: Tool, tmp_path: Path, protected: bool) -> None:
    """A set can list it among its files or among those without recovery blocks; the files are repaired."""
    folders = {b"sub/empty/": b"", b"other/": b""}
    files, listed = (FILES | folders, {}) if protected else (FILES, folders)
    index = write_set(tmp_path, Par2(files, BLOCK, [0, 1], listed).packets())
    assert "sub/empty/: left out, because it is a folder\n" in sanitized.ok("par2", "verify", "-q", index)
    (tmp_path / "sub/three").unlink()
    assert sanitized.run("par2", "repair", "-q", index).status == DONE
    assert is_whole(tmp_path)


@pytest.mark.parametrize("lost", [True, False])
def test_a_file_without_recovery_blocks(sanitized: Tool, tmp_path: Path, lost: bool) -> None:
    """Other programs can list files that no recovery block protects; the other files can be repaired."""
    listed = {b"notes": content(90, 5)}
    index = write_set(tmp_path, Par2(FILES, BLOCK, [0, 1], listed).packets(), FILES | listed)
    sanitized.ok("par2", "verify", "-q", index)
    (tmp_path / "notes").unlink()
    if lost:
        (tmp_path / "sub/three").unlink()
    found = sanitized.run("par2", "verify", "-q", index)
    assert found.status == WRONG
    assert "notes: missing, and the set cannot rebuild it\n" in found.stdout
    assert ("can be repaired in part\n" if lost else "cannot be repaired\n") in found.stdout
    done = sanitized.run("par2", "repair", "-q", index)
    assert done.status == REFUSED
    assert f"{index}: damaged or missing files without recovery blocks: 1\n" in done.stderr
    assert ("three: rebuilt" in done.stdout) == lost
    assert is_whole(tmp_path) and not (tmp_path / "notes").exists()


def test_a_build_without_md5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.system.apps.shards.support.NETTLE", ())
    build_tool(tmp_path / "gfsmith-shards", "-O0")
    (tmp_path / "one").write_bytes(b"one")
    for words in (("create", tmp_path / "s.par2", tmp_path / "one"), ("verify", tmp_path / "s.par2")):
        line = Tool(tmp_path / "gfsmith-shards", {}).refusal("par2", *words)
        assert line == "this build has no MD5, which par2 needs: build it with Nettle (nettle-dev)"
    assert not list(tmp_path.glob("*.par2"))


def test_refused_arguments(tool: Tool, tmp_path: Path) -> None:
    index, one = tmp_path / "s" / "s.par2", tmp_path / "s" / "one"
    (tmp_path / "s").mkdir()
    one.write_bytes(b"one")
    (tmp_path / "outside").write_bytes(b"outside")
    (tmp_path / "s" / "link").symlink_to("one")
    (tmp_path / "s" / "empty").touch()
    before = snapshot(tmp_path)
    cases = {
        ("create", index): "1 argument",
        ("create", "-", one): "not written to standard output; allowed: a name, such as ./-",
        ("create", "-b", "6", index, one): "must be a multiple of 4",
        ("create", "-b", "8", "--blocks", "2", index, one): "exclude each other",
        ("create", "-r", "101", index, one): "must be a whole number from 1 to 100",
        ("create", "-k", "2", index, one): "par2 create has no option -k",
        ("create", "--blocks", "1", index, one, index.parent / "none"): "No such file",
        ("create", index, tmp_path / "outside"): "is not below",
        ("create", index, tmp_path / "s" / "link"): "is a symbolic link",
        ("create", index, "/dev/null"): "is not a regular file",
        ("verify", index): "no such file, and no volume of it",
        ("verify", one): "no intact packet of PAR2",
        ("verify", index.parent): f"{index.parent} is a folder; allowed: a file SET.par2 of a set, such as ",
        ("repair", index.parent): f"{index.parent} is a folder; allowed: a file SET.par2 of a set, such as ",
        ("create", f"{index.parent}/", one): "/s/ is a folder; allowed: a file SET.par2 of a set",
        ("verify", f"{index.parent}/"): "/s/ is a folder; allowed: a file SET.par2 of a set",
        ("verify", "/dev/null"): "/dev/null is not a regular file; allowed: a file SET.par2 of a set",
        ("remove", index): "par2: unknown command remove; allowed: create, verify, repair (see --help)",
        ("-q",): "par2: the command is missing; allowed: create, verify, repair (see --help)",
    }
    for words, line in cases.items():
        assert line in tool.refusal("par2", *words), words
    done = tool.run("par2", "create", index, index.parent / "empty")
    assert done.status == REFUSED and "no file has a byte to protect" in done.stderr
    assert snapshot(tmp_path) == before
    assert f"{index}: 1 file, " in tool.ok("par2", "create", "-q", index, one)
    assert "s.par2: 1 of 1 files intact" in tool.ok("par2", "verify", index)
    assert tool.refusal("par2", "create", index, one) == f"{index} already exists"
