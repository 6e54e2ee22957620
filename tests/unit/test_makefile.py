"""The Makefile of the checkout."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest


def test_help_lists_targets_that_exist(root: Path) -> None:
    """`make help` prints the comment at the top of the Makefile."""
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    rules = "".join(
        path.read_text()
        for path in (
            root / "Makefile",
            *root.glob("runtime/*/*.mk"),
            *root.glob("apps/*/*.mk"),
            *root.glob("bindings/*/*.mk"),
            *root.glob("packaging/make/*.mk"),
        )
    )
    listed = re.findall(r"^make ([a-z-]+)", shown, re.MULTILINE)
    assert {"help", "gen", "lib", "test", "release"} <= set(listed)
    assert [name for name in listed if not re.search(rf"^(.* )?{name}( .*)?:", rules, re.MULTILINE)] == []
    assert "#" not in shown


def test_the_library_reads_the_list_of_kernels_after_gen(root: Path) -> None:
    """`make gen lib` runs one make for `gen` and another one for `lib`, which reads the new list."""
    for goals, separate in ((["gen", "lib"], True), (["lib"], False)):
        done = subprocess.run(
            ["make", "-n", "-B", *goals], cwd=root, capture_output=True, text=True, check=True
        )
        assert ("--no-print-directory lib" in done.stdout) == separate, goals


@pytest.fixture
def with_blanks(root: Path, tmp_path: Path) -> Path:
    """A checkout in a folder with blanks, in which nothing is built."""
    checkout = tmp_path / "with two blanks"
    checkout.mkdir()
    for path in (*root.glob("[!.]*"), root / ".venv"):
        if path.name != "build":
            (checkout / path.name).symlink_to(path)
    return checkout


def test_recipes_in_a_folder_with_blanks(with_blanks: Path) -> None:
    """Each command gets the path of the checkout within one argument."""
    for goal in ("java", "install", "compose", "python"):
        done = subprocess.run(
            ["make", "-n", goal], cwd=with_blanks, capture_output=True, text=True, check=True
        )
        lines = done.stdout.replace("\\\n", " ").splitlines()
        for line in (line for line in lines if str(with_blanks) in line):
            assert line.count(str(with_blanks)) == "\0".join(shlex.split(line)).count(str(with_blanks)), line


def test_maven_fetches_into_a_folder_with_blanks(with_blanks: Path, tmp_path: Path) -> None:
    """The recipe runs with a Maven that writes the artifact into the folder that it is given."""
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(
        "#!/bin/sh -e\n"
        "for word; do\n"
        "  case $word in -DoutputDirectory=*) folder=${word#*=};; -*|*:copy) ;; *) exit 3;; esac\n"
        "done\n"
        'mkdir -p "$folder"\n'
        'printf classes > "$folder/hadoop-common.jar"\n'
    )
    maven.chmod(0o755)
    digest = hashlib.sha256(b"classes").hexdigest()
    command = ["make", "--no-print-directory", f"SHA256={digest}", "hadoop-common"]
    environment = os.environ | {"PATH": f"{maven.parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=with_blanks, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (with_blanks / "build/maven/hadoop-common.jar").read_bytes() == b"classes"


def test_compiled_modules_are_kept(root: Path) -> None:
    """Recipes do not inherit the variable with which containers keep Python from writing them."""
    rule = 'probe:; @echo "[$$PYTHONDONTWRITEBYTECODE]"'
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = ["make", "--no-print-directory", f"--eval={rule}", "probe"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_tune_without_specs_says_what_to_give(root: Path) -> None:
    command = ["make", "--no-print-directory", "tune"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode != 0 and done.stdout == ""
    line = done.stderr.splitlines()[0]
    assert line.startswith(
        'make tune: SPECS is missing; allowed: make tune SPECS="dot:10x4 cauchy:10x4", or '
    )


@pytest.mark.parametrize("built", [False, True])
def test_the_checks_name_what_is_not_built(root: Path, tmp_path: Path, built: bool) -> None:
    """One line, not the traceback of the first check that imports the codec."""
    (tmp_path / "tools").mkdir()
    shutil.copy(root / "tools/check.sh", tmp_path / "tools")
    if built:
        (tmp_path / ".venv/bin").mkdir(parents=True)
        (tmp_path / ".venv/bin/mypy").touch()
    missing = "bindings/python/gfsmith/codec/_native.abi3.so" if built else ".venv/bin/mypy"
    done = subprocess.run(["sh", "tools/check.sh"], cwd=tmp_path, capture_output=True, text=True)
    line = f"tools/check.sh: {missing} is missing; run make check\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


def test_all_users_can_read_pkg_config_files(root: Path, tmp_path: Path) -> None:
    """Also if an administrator installs with umask 077: each recipe writes them in this way."""
    described = tmp_path / "R&D.pc"
    rule = f"probe:; @$(call write_stated,packaging/make/gfsmith.pc.in,{described})"
    command = ["make", "--no-print-directory", f"--eval={rule}", "probe"]
    subprocess.run(command, cwd=root, check=True, umask=0o077)
    assert described.stat().st_mode & 0o777 == 0o644
    assert "Name: gfsmith\n" in described.read_text()
    shown = subprocess.run(
        ["make", "-n", "install-compose", "install-shards"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r">'(\S+\.pc)' && chmod 644 '\1'$", shown.stdout, re.MULTILINE)
    assert sorted(Path(name).stem for name in names) == ["gfsmith", "gfsmith-compose", "gfsmith-shards"]
    assert len(re.findall(r"\.pc'? *$", shown.stdout, re.MULTILINE)) == 3
