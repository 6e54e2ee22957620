"""The archive: contents, the same bytes each time, how its library is loaded, that for AArch64."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.bindings.java.support import JUDGE, Judge, java_includes, run
from tests.system.docs.pages import fences

VIRTUAL_MACHINE = Path(__file__).parent / "native" / "virtual_machine.c"
SERVICES = {
    f"META-INF/services/org.apache.{package}.rawcoder.RawErasureCoderFactory"
    for package in ("hadoop.io.erasurecode", "ozone.erasurecode")
}
MACHINES = ("x86_64", "aarch64")
CODECS = ("rs", "rs-legacy", "xor")


def test_contents(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 2)}
        texts = [opened.read(name) for name in names]
    assert {f"org/gfsmith/native/linux-{machine}/libgfsmith-java.so" for machine in MACHINES} <= set(names)
    assert {*SERVICES, "META-INF/LICENSE", "org/gfsmith/Codec.class"} <= set(names)
    assert not any(os.fsencode(ROOT) in text for text in texts)


def test_the_size_of_the_page(archive: Path) -> None:
    page = (ROOT / "bindings" / "java" / "README.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"`build/java/gfsmith-VERSION\.jar` \((\d+) KB\)", page)
    assert archive.stat().st_size == pytest.approx(1000 * int(stated), rel=0.05)


def test_the_archive_is_reproducible(archive: Path, tmp_path: Path) -> None:
    """The same bytes, built in another folder, by a user with another language and time zone."""
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
    command = ("make", f"JAVA_BUILD={tmp_path}", "java")
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    assert (tmp_path / archive.name).read_bytes() == archive.read_bytes()


def test_hadoop_finds_the_coders(judge: Judge, tmp_path: Path) -> None:
    said = judge.run("Chosen", "gfsmith", options=[f"-Djava.io.tmpdir={tmp_path}"])
    lines = [line.split() for line in said.splitlines()]
    assert [codec for codec, _, _ in lines] == list(CODECS)
    for codec, known, chosen in lines:
        assert f"{codec}_gfsmith" in known.split(",")
        assert chosen == "GfsmithRawEncoder"
    assert not list(tmp_path.glob("gfsmith*"))  # the library's file is gone


def test_the_configuration_of_the_page(judge: Judge, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "migrate" / "hdfs.md").read_text(encoding="utf-8")
    (text,) = (fence.text for fence in fences(page) if fence.language == "xml")
    (tmp_path / "core-site.xml").write_text(text)
    said = replace(judge, engine=f"{tmp_path}:{judge.engine}").run("Chosen")
    assert [line.split()[-1] for line in said.splitlines()] == ["GfsmithRawEncoder"] * 3


def test_the_command_of_the_page(judge: Judge, tmp_path: Path) -> None:
    """`hdfs ec` prints the coders that the page names."""
    page = (ROOT / "docs" / "migrate" / "hdfs.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"^    hdfs ec (\S+) +# (\w+) is among the coders of RS$", page, re.MULTILINE)
    said = judge.run("Listed", tmp_path, stated[0])
    (coders,) = re.findall(r"^\tRS \[(.*)\]$", said, re.MULTILINE)
    assert stated[1] in coders.split(", ")


def test_the_example(archive: Path) -> None:
    assert run("java", "-cp", archive, ROOT / "examples" / "java" / "Program.java") == "all shards are back\n"


def test_buffers_of_closed_memory(archive: Path) -> None:
    incubator = "jdk.incubator.foreign"
    options = ["--add-modules", incubator] if incubator in run("java", "--list-modules") else []
    assert run("java", *options, "-cp", archive, JUDGE / "Closed.java") == "refused\n"


def test_a_buffer_that_another_thread_moves(archive: Path) -> None:
    """The interpreter, which is slower, leaves the other thread more time between two steps."""
    options = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,org.gfsmith.Shards::*")
    assert run("java", *options, "-cp", archive, JUDGE / "Moved.java") == "0 bytes beyond the buffer\n"


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("-Dos.arch=mips", "no library for this machine (linux-mips); org.gfsmith.library can name one"),
        ("-Djava.io.tmpdir=/nowhere", "cannot write the library to /nowhere"),
        ("-Dorg.gfsmith.library=/nowhere/library.so", "/nowhere/library.so"),
    ],
)
def test_without_its_library_hadoop_takes_the_next_coder(judge: Judge, option: str, reason: str) -> None:
    status, said = judge.call("Api", options=[option])
    assert status != 0 and "UnsatisfiedLinkError" in said and reason in said
    said = judge.run("Chosen", "gfsmith", "java", options=[option])
    assert [line.split()[-1] for line in said.splitlines()] == [
        "RSRawEncoder",
        "RSLegacyRawEncoder",
        "XORRawEncoder",
    ]


@pytest.mark.needs("qemu")
def test_the_library_for_aarch64(archive: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", *java_includes())
    run("aarch64-linux-gnu-gcc", *flags, "-o", program, VIRTUAL_MACHINE, "-ldl")
    library = archive.parent / "aarch64" / "libgfsmith-java.so"
    assert run("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", program, library) == "as defined\n"


def test_memory_accesses(archive: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    flags = (
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        "-fsanitize=address,undefined",
        *java_includes(),
    )
    run("gcc", *flags, "-o", program, VIRTUAL_MACHINE, "-ldl")
    assert run(program, archive.parent / "x86_64" / "libgfsmith-java.so") == "as defined\n"
