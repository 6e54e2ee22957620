"""Completion by shells: click's mechanism for bash, zsh and fish, and gfsmith's own words."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from gfsmith.cli import main
from gfsmith.cli.completion import SHELLS, VARIABLE
from gfsmith.codes.names import NAMES
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.operation import BUTTERFLIES, Operation
from tests.support import needs
from tests.support.configurations import known_proofs
from tests.support.paths import ROOT

LIBRARY = "/usr/lib/x86_64-linux-gnu/libisal.so.2"

#: Commands with which each shell parses a script without running it.
CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


def _words(*typed: str) -> list[str]:
    """Return the words that Tab offers after these words, the last of which is incomplete."""
    *before, last = typed
    shell = ShellComplete(main.main, {}, "gfsmith", VARIABLE)
    return [item.value for item in shell.get_completions(list(before), last)]


def test_commands_and_options() -> None:
    assert set(_words("")) == set(main.main.commands)
    assert "--exhaustive" in _words("verify", "--ex")


@pytest.mark.parametrize("command", ["gen", "list", "verify", "explain", "plan"])
def test_instruction_sets(command: str) -> None:
    assert _words(command, "--isa", "") == list(BY_NAME)
    assert _words(command, "--isa", "gfni_a") == ["gfni_avx512", "gfni_avx2"]


@pytest.mark.parametrize(
    "typed",
    [("codes",), ("codes", "--code"), ("gen", "--code"), ("plan", "--code"), ("graph", "--code")],
    ids=" ".join,
)
def test_codes(typed: tuple[str, ...]) -> None:
    assert _words(*typed, "") == list(NAMES)
    assert _words(*typed, "cauchy_") == ["cauchy_orig", "cauchy_good"]
    assert _words(*typed, "mini") == ["minio"]


def test_kernels_of_the_output_folder(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    names = ["gfs_dot_nx1__sse_u1", "gfs_dot_nx2__sse_u1", "gfs_mul__sse_u1"]
    record = {"kernels": [{"symbol": name} for name in names], "files": {}}
    (tmp_path / "there" / "MANIFEST.json").write_text(json.dumps(record))
    (tmp_path / "a.toml").write_text(
        '[generator]\noutput = "there"\nisas = ["sse"]\n[[kernels]]\noperation = "xor"\nshapes = ["2x1"]\n'
    )
    config = ("--config", str(tmp_path / "a.toml"))
    assert _words("explain", *config, "gfs_dot") == names[:2]
    assert _words("explain", "--output", str(tmp_path / "there"), "gfs_m") == names[2:]
    assert _words("explain", "--output", str(tmp_path / "nowhere"), "") == []
    (tmp_path / "there" / "MANIFEST.json").write_text("[]")
    assert _words("explain", *config, "") == []
    (tmp_path / "a.toml").write_text("no configuration")
    assert _words("explain", *config, "") == []


def test_kernels_of_a_code_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _words("explain", "gfs_") == []
    code = ("--code", "cauchy", "--k", "4", "--m", "2", "--isa", "scalar")
    known_proofs(tmp_path / ".gfsmith-cache")
    assert CliRunner().invoke(main.main, ["gen", *code]).exit_code == 0
    assert _words("explain", *code, "gfs_mul_") == ["gfs_mul_nx1__scalar_u1"]


def test_functions_of_an_object(tmp_path: Path) -> None:
    offered = _words("verify", LIBRARY, "--symbol", "gf_4vect_dot_prod_")
    assert "gf_4vect_dot_prod_avx2" in offered
    assert all(word.startswith("gf_4vect_dot_prod_") for word in offered)
    (tmp_path / "text").write_text("no object")
    for path in (tmp_path / "text", tmp_path / "nothing"):
        assert _words("verify", str(path), "--symbol", "") == []
    assert _words("verify", "--symbol", "") == []


def test_words_of_a_contract() -> None:
    assert _words("verify", "--tables", "isal-") == ["isal-nibble", "isal-affine"]
    assert _words("verify", "--operation", "") == [
        each.value for each in Operation if each not in BUTTERFLIES
    ]


def test_schemes() -> None:
    assert _words("graph", "--scheme", "") == ["rs", "lrc", "ppr", "ecpipe", "triec"]
    assert _words("graph", "--scheme", "p") == ["ppr"]


def test_cores_with_commas_between() -> None:
    assert _words("tune", "--model", "znver4,znver3,skylake-") == ["znver4,znver3,skylake-avx512"]
    assert "znver4" in _words("explain", "--cpu", "zn")


@pytest.mark.parametrize("shell", needs.params(SHELLS))
def test_scripts_are_the_shells(shell: str, tmp_path: Path) -> None:
    """Each shell parses its script; the same check refuses half of it."""
    done = CliRunner().invoke(main.main, ["completion", shell], catch_exceptions=False)
    assert done.exit_code == 0 and VARIABLE in done.stdout
    for text, good in ((done.stdout, True), (done.stdout[: len(done.stdout) // 2], False)):
        script = tmp_path / "script"
        script.write_text(text)
        read = subprocess.run([*CHECKS[shell], script], capture_output=True, text=True)
        assert (read.returncode == 0) is good, read.stderr


def _in_a_shell(command: list[str], typed: Callable[[Path], str], folder: Path) -> list[str]:
    """Return the words that a real shell offers after reading the script."""
    shell = command[0]
    source = CliRunner().invoke(main.main, ["completion", shell], catch_exceptions=False).stdout
    script = folder / f"gfsmith.{shell}"
    script.write_text(source)
    path = f"{ROOT / '.venv/bin'}:/usr/bin:/bin"
    done = subprocess.run(
        [*command, typed(script)],
        capture_output=True,
        text=True,
        env={"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        check=True,
    )
    return done.stdout.split()


def test_bash_completes(tmp_path: Path) -> None:
    def lines(script: Path) -> str:
        return (
            f"source {script}; COMP_WORDS=(gfsmith gen --isa gfni_a); COMP_CWORD=3;"
            " _gfsmith_completion gfsmith gfni_a --isa; printf '%s\\n' \"${COMPREPLY[@]}\""
        )

    offered = _in_a_shell(["bash", "--norc", "-c"], lines, tmp_path)
    assert offered == ["gfni_avx512", "gfni_avx2"]


@pytest.mark.needs("shells")
def test_fish_completes(tmp_path: Path) -> None:
    offered = _in_a_shell(
        ["fish", "--no-config", "-c"],
        lambda script: f"source {script}; complete --do-complete 'gfsmith codes cauchy_'",
        tmp_path,
    )
    assert sorted(offered) == ["cauchy_good", "cauchy_orig"]


def test_an_unknown_shell_is_refused() -> None:
    done = CliRunner().invoke(main.main, ["completion", "tcsh"])
    assert done.exit_code == click.UsageError.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in done.stderr
