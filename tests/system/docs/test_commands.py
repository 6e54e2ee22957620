"""The commands of pages print the output that the pages show; tests/system/docs/howto.py has the form."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bench.build_lock import locked
from tests.support.configurations import known_proofs
from tests.support.paths import ROOT
from tests.system.docs import howto

PAGES = ("how-a-proof-is-read.md",)


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_the_output_of_the_page(page: str, build: Path) -> None:
    """With existing proofs of checksums; those of the page's kernels are new."""
    shutil.rmtree(build / "proof", ignore_errors=True)
    known_proofs(build / "proof" / ".gfsmith-cache", "algebra", "checksums")
    steps = list(howto.steps((ROOT / "docs" / page).read_text(encoding="utf-8")))
    assert steps and all(isinstance(step, howto.Run) for step in steps)
    for step in steps:
        howto.follow(step, ROOT)


def test_the_readme_starts_a_program_a_file_and_kernels(build: Path) -> None:
    """README's program, its commands on a file and its export work in order, in this checkout. `make` names
    the files that it builds, so it runs before."""
    shutil.rmtree(build / "readme", ignore_errors=True)
    known_proofs(build / "readme" / ".gfsmith-cache")
    steps = list(howto.steps((ROOT / "README.md").read_text(encoding="utf-8")))
    assert [type(step) for step in steps] == [howto.Create, howto.Run, howto.Run, howto.Run]
    with locked(ROOT / "Makefile"):
        subprocess.run(["make", "lib", "shards"], cwd=ROOT, check=True, capture_output=True)
        for step in steps:
            howto.follow(step, ROOT)


def test_another_answer_is_detected() -> None:
    assert howto.matches("a 12 c\nd\n", "a ... c\n...\n")
    assert not howto.matches("a 12 c\n", "a ... d\n")
    with pytest.raises(howto.StepError, match="status 1"):
        howto.follow(howto.Run("false\n", None), ROOT)
