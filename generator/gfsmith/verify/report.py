"""Reports about proofs of functions and objects, as tables and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import METHOD_MACHINE, Status
from gfsmith.verify.contracts import Answer, Entry
from gfsmith.verify.objects import Proof


def outcome(proof: Report) -> dict[str, Any]:
    """Return the record of a foreign function in `gfsmith verify OBJECT --json`."""
    return {
        "status": proof.status.value,
        "reason": proof.reason,
        "instructions": proof.instructions,
        "covered": proof.covered,
        "established": list(proof.checks),
        **({"vector_bytes": list(proof.vector_bytes)} if proof.vector_bytes else {}),
    }


def compiled(proof: Proof) -> dict[str, Any]:
    """Return the record of one function in `gfsmith verify --objects --json`."""
    return {
        "symbol": proof.symbol,
        "isa": proof.isa,
        "abi": proof.abi,
        "file": proof.file,
        "compiler": proof.compiler,
        "method": [METHOD_MACHINE],
        **outcome(proof.report),
        "seconds": round(proof.seconds, 3),
    }


def described(entry: Entry, answer: Answer) -> dict[str, Any]:
    """Return the record of one function in `gfsmith verify OBJECT --contracts --json`."""
    return {
        "symbol": entry.words.symbol,
        "contract": entry.contract,
        "expected": entry.expect.value,
        **outcome(answer.report),
        "seconds": round(answer.seconds, 3),
    }


def line(entry: Entry, answer: Answer) -> str:
    """Return the line about one function in `gfsmith verify OBJECT --contracts`."""
    report = answer.report
    text = report.reason if not report else f"{entry.words.symbol}: {established(report)}"
    unlike = "" if report.status is entry.expect else f" (expected: {entry.expect.value})"
    contract = f" [{entry.contract}]" if entry.contract else ""
    return f"{report.status.value}{unlike}{contract}: {text}"


def unexpected(entry: Entry, answer: Answer) -> Status:
    """Return proved for the expected verdict; otherwise the verdict, refuted if a proof was not expected."""
    if answer.report.status is entry.expect:
        return Status.PROVED
    return Status.REFUTED if answer.report else answer.report.status


def compiled_table(proofs: Sequence[Proof]) -> Table:
    """Return the table of proofs of objects per instruction set, ABI and compiler."""
    table = Table("isa", "abi", "compiler", "functions", "proved", "instructions", "reached")
    groups = Counter((proof.isa, proof.abi, proof.compiler) for proof in proofs)
    for group, count in groups.items():
        mine = [proof.report for proof in proofs if (proof.isa, proof.abi, proof.compiler) == group]
        proved = sum(bool(each) for each in mine)
        sums = sum(each.instructions for each in mine), sum(each.covered for each in mine)
        table.add_row(*group, *(str(figure) for figure in (count, proved, *sums)))
    return table


def established(proof: Report) -> str:
    lengths = [8 * size for size in proof.vector_bytes]
    vectors = (
        f" for vectors of {lengths[0]} to {lengths[-1]} bits ({len(lengths)} lengths)" if lengths else ""
    )
    reached = f"{proof.covered} of {proof.instructions} instructions reached"
    return f"{', '.join(proof.checks)}{vectors}; {reached}"
