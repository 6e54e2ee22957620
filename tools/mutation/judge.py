"""The verdict on a mutant: refuted, unsupported, or proved, and then the reason of its equivalence."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from iced_x86 import Mnemonic

from gfsmith.build.prove_kernels import shipped
from gfsmith.prove.machine.formats.load import raw
from gfsmith.prove.machine.prove import Report, prove_code
from gfsmith.prove.verdict import Status
from tools.mutation.classify import Class, classify, difference
from tools.mutation.mutants import Mutant, without
from tools.mutation.reviewed import reviewed
from tools.mutation.sample import Target

_MARGIN = 1000  #: a mutant may take twice the original's steps plus this number


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one mutant. reason: the prover's, or a traceback. before, after: the difference as
    text."""

    target: str
    isa: str
    kind: str
    at: int
    outcome: Class
    reason: str
    before: str
    after: str


def steps_of(target: Target) -> int:
    """Return the steps of the original's proof. Raises ValueError if it is not proved, since then its mutants
    are meaningless."""
    report = _prove(target, target.code, None)
    if not report:
        raise ValueError(f"{target.name}: {report.reason}")
    return report.steps


def _prove(target: Target, code: bytes, limit: int | None) -> Report:
    contract, image = shipped(target.spec, target.abi.value), raw(target.spec.symbol, code)
    if limit is None:
        return prove_code(contract, image, target.spec.symbol, exhaustive=False)
    return prove_code(contract, image, target.spec.symbol, exhaustive=False, max_steps=limit)


def judge(target: Target, mutant: Mutant, steps: int) -> Verdict:
    """Run the prover on a mutant. steps: those of the original."""
    limit = 2 * steps + _MARGIN
    before, after = difference(target.code, mutant.code)
    try:
        report = _prove(target, mutant.code, limit)
        outcome, reason = _outcome(target, mutant, report, limit), report.reason
    except Exception:  # the prover must report failures only by its verdict
        outcome, reason = Class.CRASH, traceback.format_exc()
    return Verdict(
        target.name,
        target.spec.isa.name,
        mutant.kind,
        mutant.at,
        outcome,
        reason,
        "; ".join(map(str, before)),
        "; ".join(map(str, after)),
    )


def _outcome(target: Target, mutant: Mutant, report: Report, limit: int) -> Class:
    if report.status is Status.REFUTED:
        return Class.REFUTED
    if report.status is Status.UNSUPPORTED:
        return Class.UNSUPPORTED
    found = classify(target.code, mutant.code)
    if found is not Class.OTHER:
        return found
    if reviewed(target.name, target.code, mutant.code):
        return Class.REVIEWED
    before, _ = difference(target.code, mutant.code)
    working = before and before[0].mnemonic != Mnemonic.ENDBR64
    if working and _prove(target, without(target.code, mutant.at), limit):
        return Class.UNNEEDED
    return Class.OTHER


def place(verdict: Verdict) -> str:
    return f"{verdict.target} +{verdict.at} ({verdict.kind})"
