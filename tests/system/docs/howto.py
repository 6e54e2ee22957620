"""The how-to pages as programs: the tests apply a reader's edits and commands to a copy of the repository.

A page states actions in three forms; everything else is prose:

    Create `path`:     the fenced block is the file
    In `path`:         a ```diff block: the lines with " " and "-" occur in the file once and become the
                       lines with " " and "+"
    ```sh              commands; a ```text block that follows is their output, with `...` for text that may
                       differ
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.configurations import known_proofs
from tests.support.paths import ROOT
from tests.support.progress import without_progress

_PROGRAMS = ROOT / ".venv" / "bin"
_LEAD = re.compile(r"^(?P<verb>Create|In) `(?P<path>[^`]+)`:$")


class StepError(AssertionError):
    """A step of a page that cannot be followed."""


@dataclass(frozen=True, slots=True)
class Create:
    """A file that the reader writes."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines of a file, which occur in it once, and the lines that replace them."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Run:
    """Commands and their output; None if the page does not show it."""

    commands: str
    printed: str | None


Step = Create | Edit | Run


def steps(text: str) -> Iterator[Step]:
    """The steps of a page, in order. Raises StepError for an edit without a block."""
    blocks = list(_blocks(text))
    for number, (lead, language, content) in enumerate(blocks):
        found = _LEAD.match(lead)
        if found and found["verb"] == "Create":
            yield Create(found["path"], content)
        elif found:
            yield _edit(found["path"], content)
        elif language == "sh":
            follows = blocks[number + 1] if number + 1 < len(blocks) else ("", "", "")
            yield Run(content, follows[2] if follows[1] == "text" else None)


def _edit(path: str, diff: str) -> Edit:
    lines = diff.splitlines(keepends=True)
    old, new = ("".join(line[1:] or "\n" for line in lines if line[0] in f" {sign}\n") for sign in "-+")
    return Edit(path, old, new)


def _blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (the line of prose before it, language, content) of every fenced block."""
    lead, lines = "", iter(text.splitlines())
    for line in lines:
        if line.startswith("```"):
            content = []
            for inner in lines:
                if inner == "```":
                    break
                content.append(inner)
            yield lead, line[3:].strip(), "".join(f"{each}\n" for each in content)
            lead = ""
        elif line.strip():
            lead = line.strip()


def copy_of_the_repository(folder: Path) -> Path:
    """Copy all files that git tracks into a repository, with the generated kernels, the proofs for the
    configurations of the pages, and links to the parts of the virtual environment, so that no step makes one.
    """
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT)
    for name in done.stdout.split("\n"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    shutil.copytree(ROOT / "gen_out", folder / "gen_out", dirs_exist_ok=True)
    for place in (folder, folder / "build" / "howto"):
        known_proofs(place / ".gfsmith-cache")
    (folder / ".venv").mkdir()
    for part in (ROOT / ".venv").iterdir():
        (folder / ".venv" / part.name).symlink_to(part)
    subprocess.run("git init -q && git add -A", shell=True, check=True, cwd=folder)
    return folder


def path_without_environment() -> str:
    """Return PATH without the virtual environment, as in a new shell of a reader."""
    folders = os.environ["PATH"].split(":")
    return ":".join(folder for folder in folders if Path(folder) != _PROGRAMS)


def follow(step: Step, root: Path, path: str = f"{_PROGRAMS}:{os.environ['PATH']}") -> str:
    """Execute a step with a value of PATH, and return the value that the step leaves. Raises StepError if the
    step is impossible or the output differs.
    """
    match step:
        case Create(name, text):
            if (root / name).exists():
                raise StepError(f"Create `{name}`: it exists")
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        case Edit(name, old, new):
            text = (root / name).read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise StepError(f"In `{name}`: {text.count(old)} times\n{old}")
            (root / name).write_text(text.replace(old, new), encoding="utf-8")
        case Run(commands, printed):
            return _run(root, commands, printed, path)
    return path


def _run(root: Path, commands: str, printed: str | None, path: str) -> str:
    """Run commands in bash with a Python that imports the package of `root`, and return the last PATH.
    Libraries of a copy are built without optimisations, which take most of the time.
    """
    flags = {} if root == ROOT else {"CFLAGS": "-O0"}
    python = ":".join(map(str, (root / "generator", root)))
    last, result = os.pipe()
    with os.fdopen(last) as reader:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f'{commands}\nprintf "%s\\n" "$PATH" >&{result}'],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=root, check=False,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", "PYTHONPATH": python, **flags},
            pass_fds=(result,),
        )  # fmt: skip
        os.close(result)
        left = reader.readline().rstrip("\n")
    output = without_progress(done.stdout)
    if done.returncode != 0:
        raise StepError(f"{commands}prints\n{output}and exits with status {done.returncode}")
    if printed is not None and not matches(output, printed):
        raise StepError(f"{commands}prints\n{output}instead of\n{printed}")
    return left


def matches(printed: str, expected: str) -> bool:
    """Return True if a text is the expected one, in which `...` matches any text."""
    pattern = ".*".join(re.escape(part) for part in expected.rstrip("\n").split("..."))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None
