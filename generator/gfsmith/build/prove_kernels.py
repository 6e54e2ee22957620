"""Machine-code proofs of generated kernels, in parallel and cached by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gfsmith.build import certificates, parallel
from gfsmith.build.cache import Cache, key
from gfsmith.build.generate import Kernel, Refuted
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.prove import Report, contract_of, prove_bytes
from gfsmith.prove.machine.x86.registers import MS, SYSV
from gfsmith.prove.verdict import Status

#: The prover. A verdict depends on contract, code, this module and its imports.
_PROVER = (prove_bytes.__module__,)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of the machine code of one kernel under one ABI. covered: instructions reached. seconds: CPU
    time of the proof, also for a cached one."""

    symbol: str
    abi: str
    status: Status
    instructions: int
    covered: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Task:
    symbol: str
    abi: str
    code: bytes
    contract: Contract
    exhaustive: bool
    kernel: KernelSpec

    @property
    def key(self) -> str:
        """With the symbol: kernels of equal code and contract have a certificate each, for the judge."""
        return key(_PROVER, self.symbol, self.contract, self.exhaustive, self.code)


def _prove(task: _Task) -> tuple[Report, float]:
    start = time.process_time()
    report = prove_bytes(task.contract, task.code, task.symbol, task.exhaustive)
    return report, time.process_time() - start


def shipped(spec: KernelSpec, abi: str) -> Contract:
    """Return the contract of a kernel that ships as machine code. Those that C calls on x86 return 0."""
    return replace(contract_of(spec, abi), returns_zero=abi in (SYSV.name, MS.name))


def tasks_of(kernels: Sequence[Kernel]) -> list[tuple[KernelSpec, str, bytes]]:
    """Return spec, ABI and code of all functions that ship as machine code."""
    return [(kernel.spec, abi, code) for kernel in kernels for abi, code in kernel.code.items()]


def prove_all(
    work: Sequence[tuple[KernelSpec, str, bytes]],
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
    exhaustive: bool = False,
) -> dict[tuple[str, str], Certificate]:
    """Prove each function for every length; returns (symbol, abi) -> certificate.

    Known verdicts come from the cache file, and new ones are added to it, also after an interruption. Raises
    Refuted for the first function that is refuted or unsupported.
    """
    tasks = [_Task(spec.symbol, abi, code, shipped(spec, abi), exhaustive, spec) for spec, abi, code in work]
    store = Cache(cache)
    found: dict[str, dict[str, Any]] = {}
    for task in tasks:
        if task.key in store.known():
            found[task.key] = store.known()[task.key]
            advance(1)
    # The longest code first, so that all cores finish at about the same time.
    todo = sorted((t for t in tasks if t.key not in found), key=lambda t: len(t.code), reverse=True)

    def done(number: int, answer: tuple[Report, float]) -> None:
        report, seconds = answer
        if not report:
            raise Refuted(f"{report.reason} ({todo[number].abi}, {report.status.value})")
        found[todo[number].key] = _record(todo[number], report, seconds)
        advance(1)

    try:
        parallel.run(_prove, todo, jobs, done)
    finally:
        store.save(found)
    return {(task.symbol, task.abi): _certificate(task, found[task.key]) for task in tasks}


def _record(task: _Task, report: Report, seconds: float) -> dict[str, Any]:
    """Return the cache record of a proved function."""
    return {
        "instructions": report.instructions,
        "covered": report.covered,
        "seconds": round(seconds, 3),
        **certificates.record(task.kernel, task.abi, task.code, report.certificate),
    }


def _certificate(task: _Task, record: Mapping[str, Any]) -> Certificate:
    """Return the certificate of a cache record. Only proved functions have a record."""
    counts = int(record["instructions"]), int(record["covered"])
    return Certificate(task.symbol, task.abi, Status.PROVED, *counts, float(record["seconds"]))
