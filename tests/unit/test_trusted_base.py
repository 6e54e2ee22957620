"""SOUNDNESS.md states the size of the trusted base, within a tenth."""

from __future__ import annotations

import pytest

from tests.support.paths import ROOT
from tools import trusted_base

#: Lets the prover change by some lines without an edit of the page.
TOLERANCE = 0.1


def test_the_page_states_the_size() -> None:
    stated = trusted_base.stated((ROOT / "SOUNDNESS.md").read_text(encoding="utf-8"))
    sizes = {part: lines for part, (_, lines) in trusted_base.sizes().items()}
    sizes["together"] = sum(sizes.values())
    sizes[trusted_base.JUDGE] = trusted_base.judge_size()[1]
    message = "run python -m tools.trusted_base --write"
    assert stated == pytest.approx(sizes, rel=TOLERANCE), message


def test_the_provers_count_and_the_generator_does_not() -> None:
    modules = trusted_base.modules()
    assert {
        "gfsmith.field.gf256",
        "gfsmith.prove.machine.explore",
        "gfsmith.prove.machine.x86.seh",
    } <= modules
    judged = ("gfsmith.lower", "gfsmith.passes", "gfsmith.emit", "gfsmith.kernel.tables")
    assert [module for module in modules if module.startswith(judged)] == []


def test_only_code_counts() -> None:
    source = '"""Title.\n\nText.\n"""\n\n# comment\ndef f() -> int:\n    """One."""\n    return 1  # here\n'
    assert trusted_base.code_lines(source) == 2
