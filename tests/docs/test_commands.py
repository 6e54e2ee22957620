"""The commands of pages do what the pages say.

A fenced block `sh` is run, from the top of the repository; a block `text` behind it is what it prints, where
`...` stands for anything.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from pages import ROOT, fences

PAGES = ("how-a-proof-is-read.md", "instruction-set-howto.md")


def _run(script: str) -> str:
    """What a script prints, both outputs together. A command that fails ends it, and is printed."""
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"set -eu\n{script}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, check=False,
        env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else f"{done.stdout}exit status {done.returncode}\n"


def _matches(printed: str, expected: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.rstrip("\n").split("..."))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_says(page: str) -> None:
    blocks = fences((ROOT / "docs" / page).read_text(encoding="utf-8"))
    scripts = [n for n, block in enumerate(blocks) if block.language == "sh"]
    assert scripts
    for n in scripts:
        printed = _run(blocks[n].text)
        follows = blocks[n + 1] if n + 1 < len(blocks) else None
        if follows is not None and follows.language == "text":
            assert _matches(printed, follows.text), f"{blocks[n].text}\nprints\n{printed}"
        else:
            assert "exit status" not in printed, printed


def test_another_answer_is_noticed() -> None:
    assert _matches("a 12 c\nd\n", "a ... c\n...\n")
    assert not _matches("a 12 c\n", "a ... d\n")
    assert _run("false") == "exit status 1\n"
