"""make verdicts: the contracts of all libraries can be read, the page groups equal answers, a refutation is
executed, and a verdict that is not the expected one is an error.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import machine
from bench.build import RESULTS
from bench.peers import isal_sources
from bench.peers.clients import Unavailable
from bench.verdicts import __main__ as command
from bench.verdicts import libraries, page, results
from bench.verdicts.reproductions import HERE, SKIPPED, reproduce
from bench.verdicts.sources import crates, debian
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.contracts import Task
from gfsmith.verify.functions import ForeignError
from tests.unit.prove.objects import xor_kernels

LIBRARY = """
[library]
name = "Two"
version = "1.0"
origin = "this test"

[defaults]
operation = "xor"
inputs = 2
isa = "sse"
granule = 16
object = "kernels.o"
contract = "own"

[[functions]]
symbol = "xor_2"

[[functions]]
symbol = "wrong_2"
expect = "{expect}"
reproduction = "{program}"
"""
#: Shows that byte 0 of the destination is not that of the second source.
PROGRAM = """
#include <stddef.h>
#include <stdio.h>
void KERNEL(size_t len, size_t k, void *tables, unsigned char **src, unsigned char **dst);
int main(void) {
  unsigned char a[16] = {0}, b[16] = {7}, out[16], *src[] = {a, b}, *dst[] = {out};
  void *tables = 0;
  size_t len = 16, k = 2;
  KERNEL(ARGUMENTS);
  printf("dst[0][0] is %d", out[0]);
  return out[0] == 7;
}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the objects of one library, the only one."""
    xor_kernels(tmp_path)
    (tmp_path / "program.c").write_text(PROGRAM)
    monkeypatch.setattr(command, "BUILDERS", {"two": lambda: tmp_path})
    monkeypatch.setattr(command, "read", lambda key: libraries.read(key, tmp_path))
    (tmp_path / "two.toml").write_text(LIBRARY.format(expect="refuted", program=tmp_path / "program.c"))
    return tmp_path


def _main(folder: Path) -> int:
    return command.main(["--jobs", "1", "--out", str(folder / "verdicts.json")])


def test_a_run_writes_a_record_and_a_page(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(run) == 0
    assert "1 proved, 1 refuted, 0 unsupported: verdicts.json" in capsys.readouterr().out
    ((library,),) = [json.loads((run / "verdicts.json").read_text())]
    assert [each["status"] for each in library["functions"]] == ["proved", "refuted"]
    assert library["functions"][1]["shown"] == "dst[0][0] is 0"
    text = (run / "verdicts.md").read_text()
    assert "| Two | 1.0 | 1 | 1 | 0 |" in text
    contract = "own: xor sse (len,k,tables,src,dst); len a multiple of 16; k = 2"
    assert f"Programs were executed on: {machine.describe()}." in text
    assert f"| `xor_2` | 1 | {contract} | proved |  |" in text
    assert "Executed: dst[0][0] is 0" in text
    assert str(run) not in text + json.dumps(library)


@pytest.mark.parametrize(
    ("expect", "program", "words"),
    [
        ("proved", PROGRAM, "refuted, expected proved: wrong_2: byte "),
        ("refuted", PROGRAM.replace("== 7", "!= 7"), "not shown by"),
        ("refuted", "int main(", "not shown by"),
    ],
)
def test_an_unexpected_verdict_is_an_error(
    run: Path, capsys: pytest.CaptureFixture[str], expect: str, program: str, words: str
) -> None:
    (run / "program.c").write_text(program)
    (run / "two.toml").write_text(LIBRARY.format(expect=expect, program=run / "program.c"))
    assert _main(run) == 1
    assert words in capsys.readouterr().err


def test_a_library_that_cannot_be_fetched_is_listed(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Path:
        raise Unavailable("cargo is missing: install it\nmore")

    monkeypatch.setattr(command, "BUILDERS", {"two": fail})
    assert _main(run) == 0
    text = (run / "verdicts.md").read_text()
    assert "| Two | 1.0 | not available | not available | not available |" in text
    assert "Not available on this machine: cargo is missing: install it\n" in text


def test_a_part_is_not_published(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PARTIAL", run / "part.json")
    assert command.main(["--jobs", "1", "--functions", "xor*"]) == 0
    assert len(json.loads((run / "part.json").read_text())[0]["functions"]) == 1
    assert not (run / "part.md").exists()


def test_an_invalid_description_is_one_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "two.toml").write_text('[library]\nname = "Two"\n')
    assert _main(run) == 2
    assert "[library] needs name, version, origin, and no other key" in capsys.readouterr().err


def test_a_proved_function_is_not_executed(run: Path) -> None:
    (entry,) = [each for each in libraries.read("two", run).entries if each.words.symbol == "wrong_2"]
    task = Task(run / "kernels.o", entry)
    assert reproduce(task, Report(Status.PROVED)) == ""
    assert reproduce(task, Report(Status.REFUTED)) == "dst[0][0] is 0"


@pytest.mark.parametrize("key", libraries.BUILDERS)
def test_every_library_is_described(key: str) -> None:
    library = libraries.read(key)
    for entry in library.entries:
        assert entry.contract
        assert libraries.object_of(Path(), entry).suffix in (".o", ".a", ".so", "")
        program = entry.more.get("reproduction")
        assert program is None or (HERE / program).is_file()
        # An expected refutation names the promise that is broken, or a program that shows it.
        assert entry.expect is not Status.REFUTED or program or entry.contract != "documented"


def test_every_description_and_every_program_is_used() -> None:
    assert {path.stem for path in libraries.CONTRACTS.glob("*")} == set(libraries.BUILDERS)
    entries = [entry for key in libraries.BUILDERS for entry in libraries.read(key).entries]
    programs = {str(entry.more["reproduction"]) for entry in entries if "reproduction" in entry.more}
    assert {path.name for path in HERE.glob("*.c")} == programs


def test_the_published_verdicts_are_the_expected_ones() -> None:
    """bench/results/verdicts.json has every described function, with the verdict that its description
    expects."""
    published = json.loads((RESULTS / "verdicts.json").read_text())
    assert [library["name"] for library in published] == [
        libraries.read(key).name for key in libraries.BUILDERS
    ]
    for key, library in zip(libraries.BUILDERS, published, strict=True):
        expected = [(each.words.symbol, each.expect.value) for each in libraries.read(key).entries]
        assert [(each["symbol"], each["status"]) for each in library["functions"]] == expected


def test_names_that_differ_in_numbers_are_one_pattern() -> None:
    symbols = [f"f{k}x{r}" for k in (1, 2, 3) for r in (2, 4)]
    assert list(page.names([*symbols, "other"])) == ["f{1..3}x{2,4}", "other"]
    assert list(page.names(["f1x2", "f2x1"])) == ["f1x2", "f2x1"]


def test_an_entry_without_object_is_an_error(run: Path) -> None:
    text = LIBRARY.format(expect="refuted", program="").replace('object = "kernels.o"\n', "")
    (run / "two.toml").write_text(text)
    with pytest.raises(ForeignError, match="xor_2: no key 'object'"):
        libraries.object_of(run, libraries.read("two", run).entries[0])


def test_lists_of_repositories_get_source_packages() -> None:
    new = "Types: deb\nURIs: here\nSuites: stable\n\nTypes: deb\nURIs: there\n"
    assert debian.source_lists(new) == new.replace("Types: deb", "Types: deb-src")
    assert debian.source_lists("# deb\ndeb here stable main\n") == "# deb\ndeb-src here stable main\n"
    assert debian.source_lists("deb-src here stable main\n") == "deb-src here stable main\n"


def test_functions_of_rust_lose_path_and_hash() -> None:
    one, two = "_ZN1a3x863mad17h0123456789abcdefE", "_ZN1a3x863mul17h0123456789abcdefE"
    other = "_ZN1b3x863mul17hfedcba9876543210E"
    assert crates.short_names([one, "memcpy"]) == {one: "mad"}
    assert crates.short_names([one, two, other]) == {one: "mad"}
    method = "_ZN30_$LT$a..Field$u20$as$u20$b$GT$3mad17h0123456789abcdefE"
    assert crates.short_names([one, method]) == {one: "mad"}


@pytest.mark.needs("isal sources", "clang")
def test_a_sample_of_isal_has_the_expected_verdicts(tmp_path: Path) -> None:
    """Functions of all processors that ISA-L's sources serve, and their reproductions."""
    out = tmp_path / "verdicts.json"
    words = ["--libraries", "isal", "--functions", "gf_2vect*,gf_vect_mul*", "--jobs", "2", "--out", str(out)]
    assert command.main(words) == 0
    (library,) = json.loads(out.read_text())
    assert "missing" not in library
    assert {each["status"] for each in library["functions"]} == {"proved", "refuted", "unsupported"}
    assert sum("shown" in each for each in library["functions"]) >= 9


@pytest.mark.needs("isal sources")
@pytest.mark.parametrize("program", sorted(HERE.glob("*.c")), ids=lambda path: path.stem)
def test_a_reproduction_does_what_its_comment_states(program: Path, tmp_path: Path) -> None:
    """The commands of the comment, in an empty folder with ISA-L's sources, print the quoted line."""
    for name in ("include", "erasure_code"):
        (tmp_path / name).symlink_to(isal_sources.sources() / name)
    shutil.copy(program, tmp_path)
    lines = [line.removeprefix("//") for line in program.read_text().partition("#include")[0].splitlines()]
    commands = [line.strip() for line in lines if line.startswith("     ")]
    expected = re.search(r'prints "([^"]*)"', " ".join(map(str.strip, lines)))
    assert commands and expected
    done = subprocess.run(["sh", "-ec", "\n".join(commands)], cwd=tmp_path, capture_output=True, text=True)
    if done.returncode == SKIPPED:
        pytest.skip("this CPU lacks the instructions")
    assert (done.returncode, done.stdout.strip()) == (0, expected[1]), done.stderr


def test_counters_of_the_prover_do_not_reach_the_record() -> None:
    assert results.settled("byte 1: overwritten in place #4711 [0]") == "byte 1: overwritten in place [0]"
    assert results.settled("imul r15,60h: at -1*r17") == "imul r15,60h: at -1*r0"
