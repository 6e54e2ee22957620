"""Checks of the prover that no other test of x86 kernels needs: each refuses a kernel for its own reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from gfsmith.prove.verdict import Status
from tests.system.adversarial.attacks import X86, x86
from tests.system.adversarial.test_attacks import judge

_AGAIN = "testq %rdi, %rdi\njz 7f\nmovdqu (%r9), %xmm3\n7:"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (x86(after="movq -8(%rsp), %rax"), "has put nothing"),
        (x86(before="subq $12288, %rsp\nmovq %rdi, (%rsp)\naddq $12288, %rsp"), "guard page"),
        (x86(before="movq %rbx, -8(%rsp)", inside="movq -8(%rsp), %xmm2"), "saved general register"),
        (x86(after=_AGAIN), "read back"),
    ],
)
def test_refused(text: str, reason: str, tmp_path: Path) -> None:
    report = judge(X86, text, tmp_path)
    assert report.status is not Status.PROVED
    assert reason in report.reason
