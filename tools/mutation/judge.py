"""What becomes of a mutant: refuted, unsupported, or proved, and then in which way it is equivalent."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from iced_x86 import Mnemonic

from gfsmith.prove.machine.kernel import Report, contract_of, prove_code
from gfsmith.prove.machine.load import raw
from gfsmith.prove.verdict import Status
from mutation.classify import Class, classify, difference
from mutation.mutants import Mutant, without
from mutation.reviewed import reviewed
from mutation.sample import Target

_MARGIN = 1000  #: a mutant may take twice the original's steps and this many


@dataclass(frozen=True, slots=True)
class Verdict:
    """One mutant judged. reason: the prover's, or a traceback. before, after: what differs, as text."""

    target: str
    isa: str
    kind: str
    at: int
    outcome: Class
    reason: str
    before: str
    after: str


def steps_of(target: Target) -> int:
    """Steps of the original's proof. Raises ValueError if it is not proved: then mutants say nothing."""
    report = _prove(target, target.code, None)
    if not report:
        raise ValueError(f"{target.name}: {report.reason}")
    return report.steps


def _prove(target: Target, code: bytes, limit: int | None) -> Report:
    contract, image = contract_of(target.spec, target.abi.value), raw(target.spec.symbol, code)
    if limit is None:
        return prove_code(contract, image, target.spec.symbol, exhaustive=False)
    return prove_code(contract, image, target.spec.symbol, exhaustive=False, max_steps=limit)


def judge(target: Target, mutant: Mutant, steps: int) -> Verdict:
    """Run a mutant through the prover. steps: those of the original."""
    limit = 2 * steps + _MARGIN
    before, after = difference(target.code, mutant.code)
    try:
        report = _prove(target, mutant.code, limit)
        outcome, reason = _outcome(target, mutant, report, limit), report.reason
    except Exception:  # the prover must never fail in any other way than by its verdict
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
