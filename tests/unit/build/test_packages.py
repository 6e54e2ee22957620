"""Package names by system: os-release files lead to the right command, and no system lacks an entry."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gfsmith.build import packages, requirements
from gfsmith.build.packages import PEACHPY, System, Unpackaged, detect, in_system, install_command
from gfsmith.build.requirements import Level
from tests.support.paths import ROOT

#: System -> the lines of its os-release that matter, and the command for the headers of xxHash, for root.
SAMPLES = {
    "Debian 13": ('NAME="Debian GNU/Linux"\nID=debian\n', "apt-get install -y --no-install-recommends"),
    "Ubuntu": ("ID=ubuntu\nID_LIKE=debian\n", "apt-get install -y --no-install-recommends"),
    "Linux Mint": ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt-get install -y --no-install-recommends"),
    "Fedora": ('NAME="Fedora Linux"\nID=fedora\nVERSION_ID=42\n', "dnf install -y"),
    "Rocky Linux": ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install -y"),
    "Alpine": ('NAME="Alpine Linux"\nID=alpine\n', "apk add"),
    "postmarketOS": ('ID="postmarketos"\nID_LIKE="alpine"\n', "apk add"),
    "Arch": ("NAME='Arch Linux'\n\n# no version\nID=arch\n", "pacman -S --needed"),
    "EndeavourOS": ("ID='endeavouros'\nID_LIKE='arch'\n", "pacman -S --needed"),
}
XXHASH = {
    "apt-get install -y --no-install-recommends": "libxxhash-dev",
    "dnf install -y": "xxhash-devel",
    "apk add": "xxhash-dev",
    "pacman -S --needed": "xxhash",
}
UNKNOWN = ("", "ID=nixos\n", "ID=slackware\nID_LIKE=\n", 'NAME="debian"\nVARIANT_ID=fedora\n')


def _user(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(packages.os, "geteuid", lambda: number)


@pytest.mark.parametrize("name", SAMPLES)
def test_os_release_leads_to_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _user(monkeypatch, 0)
    text, command = SAMPLES[name]
    assert install_command("libxxhash-dev", detect("linux", text)) == f"{command} {XXHASH[command]}"


def test_macos_has_no_os_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Homebrew refuses to run as root; other commands get the system's program for rights."""
    _user(monkeypatch, 1000)
    assert install_command("libxxhash-dev", detect("darwin", "")) == "brew install xxhash"
    assert install_command("libxxhash-dev", System.FEDORA) == "sudo dnf install -y xxhash-devel"
    assert install_command("libxxhash-dev", System.ALPINE) == "doas apk add xxhash-dev"


@pytest.mark.parametrize("text", UNKNOWN)
def test_an_unknown_system_gets_the_name_in_debian(text: str) -> None:
    assert detect("linux", text) is None
    line = install_command("libxxhash-dev", None)
    assert line.startswith("install libxxhash-dev (Debian's name") and "unknown" in line


@pytest.mark.parametrize("system", System)
def test_every_requirement_has_an_entry(system: System) -> None:
    """A name without spaces, or an explanation."""
    every = {each.package for level in Level for each in requirements.requirements(level)}
    assert len(every) > 70
    for package in every:
        found = in_system(package, system)
        if isinstance(found, Unpackaged):
            assert system is not System.DEBIAN and " " in found.advice
        else:
            assert re.fullmatch(r"[a-z][a-z0-9+.@/-]*", found), (package, found)
    if system is not System.DEBIAN:
        assert set(packages._NAMES) == every, "names of packages that no requirement has"


def test_peachpy_comes_from_its_repository_outside_debian() -> None:
    for system in set(System) - {System.DEBIAN}:
        assert f"pip install --user --break-system-packages {PEACHPY}" in install_command(
            "python3-peachpy", system
        )
    assert f"pip install {PEACHPY}" in (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def test_this_system_reads_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (tmp_path / "etc", tmp_path / "usr")
    monkeypatch.setattr(packages, "OS_RELEASES", files)
    monkeypatch.setattr(packages.sys, "platform", "linux")
    assert packages.this_system() is None
    files[1].write_text("ID=alpine\n")
    assert packages.this_system() is System.ALPINE
    files[0].write_text("ID=arch\n")
    assert packages.this_system() is System.ARCH


def test_set_up_lists_missing_tools_of_another_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only on Debian, as root, does it print names for tools/setup.sh to install."""
    (tmp_path / "os-release").write_text("ID=fedora\n")
    monkeypatch.setattr(packages, "OS_RELEASES", (tmp_path / "os-release",))
    _user(monkeypatch, 0)
    monkeypatch.setattr(requirements, "present", lambda requirement: requirement.name != "g++")
    assert requirements.main(["test"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == ("missing: g++ (checks the header as C++); get it with: dnf install -y gcc-c++\n")
    (tmp_path / "os-release").write_text("ID=debian\n")
    assert requirements.main(["test"]) == 0
    assert capsys.readouterr().out == "g++\n"


def test_programs_of_another_suite_are_unpacked_and_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "os-release").write_text("ID=debian\n")
    monkeypatch.setattr(packages, "OS_RELEASES", (tmp_path / "os-release",))
    monkeypatch.setattr(requirements, "UNPACKED", tmp_path)
    _user(monkeypatch, 0)
    needed = [each for each in requirements.requirements(Level.TEST_ALL) if "/" in each.package]
    assert len(needed) > 1 and not any(map(requirements.present, needed))
    assert {requirements.remedy(each) for each in needed} == {"tools/setup.sh test-all, as root"}
    monkeypatch.setattr(requirements, "missing", lambda level: needed)
    assert requirements.main(["test-all"]) == 0
    assert capsys.readouterr().out == "".join(f"{each.package}:{each.name}\n" for each in needed)
    (tmp_path / needed[0].name).touch()
    assert [each for each in needed if requirements.present(each)] == needed[:1]


@pytest.mark.parametrize(
    ("levels", "said"), [((), "missing"), (("nosuch",), "'nosuch'"), (("gen", "lib"), "'gen', 'lib'")]
)
def test_a_wrong_level_is_one_line(levels: tuple[str, ...], said: str) -> None:
    """The script of the set-up passes its arguments on, and installs nothing."""
    done = subprocess.run([ROOT / "tools" / "setup.sh", *levels], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"setup: LEVEL: {said}; allowed: one of gen, lib, packages, ")
