"""Machine-code proofs of generated kernels: all cores, cached by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gfsmith import parallel
from gfsmith.cache import PACKAGE, Cache, key
from gfsmith.generate import Kernel, Refuted
from gfsmith.prove.machine import listing
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.kernel import Report, contract_of, prove_code
from gfsmith.prove.machine.load import raw
from gfsmith.prove.verdict import Status
from gfsmith.spec import KernelSpec

METHOD_MACHINE = "machine"

#: What the answer depends on besides contract and code.
_READS = ("prove", "field.py", "isa.py", "ir", "operation.py", "schedule.py", "technique.py", "spec.py")
_PROVER = tuple(PACKAGE / name for name in _READS)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of the machine code of one kernel under one ABI. covered: instructions reached; seconds:
    CPU time of the proof, also if it was made earlier."""

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

    @property
    def key(self) -> str:
        return key(_PROVER, self.contract, self.exhaustive, self.code)


def _prove(task: _Task) -> tuple[Report, float]:
    start = time.process_time()
    report = prove_code(task.contract, raw(task.symbol, task.code), task.symbol, task.exhaustive)
    return report, time.process_time() - start


class FolderError(ValueError):
    """An output folder whose kernels cannot be read back."""


def read_folder(folder: Path, specs: Sequence[KernelSpec]) -> list[tuple[KernelSpec, str, bytes]]:
    """Spec, ABI and code of every x86 kernel, from its .S file alone. Raises FolderError."""
    found = []
    for spec in specs:
        if not spec.machine_code:
            continue
        path = folder / "x86" / f"{spec.symbol}.S"
        try:
            code = listing.read(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise FolderError(f"{path}: {error.strerror}; run `gfsmith gen`") from None
        except listing.ListingError as error:
            raise FolderError(f"{path}: {error}") from None
        found += [(spec, abi, data) for abi, data in code.items()]
    return found


def tasks_of(kernels: Sequence[Kernel]) -> list[tuple[KernelSpec, str, bytes]]:
    """Spec, ABI and code of everything that ships as machine code."""
    return [(kernel.spec, abi.value, code) for kernel in kernels for abi, code in kernel.code.items()]


def certify(
    work: Sequence[tuple[KernelSpec, str, bytes]],
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
    exhaustive: bool = False,
) -> dict[tuple[str, str], Certificate]:
    """Prove each function for every length; (symbol, abi) -> certificate.

    Known verdicts are taken from the cache file, new ones are kept there, also when interrupted.
    Raises Refuted for the first one that is not proved: refuted, or outside of what the prover knows.
    """
    tasks = [_Task(spec.symbol, abi, code, contract_of(spec, abi), exhaustive) for spec, abi, code in work]
    store = Cache(cache)
    found: dict[str, dict[str, Any]] = {}
    for task in tasks:
        if task.key in store.known():
            found[task.key] = store.known()[task.key]
            advance(1)
    todo = [task for task in tasks if task.key not in found]

    def done(number: int, answer: tuple[Report, float]) -> None:
        report, seconds = answer
        if not report:
            raise Refuted(f"{report.reason} ({todo[number].abi}, {report.status.value})")
        found[todo[number].key] = {
            "instructions": report.instructions,
            "covered": report.covered,
            "seconds": round(seconds, 3),
        }
        advance(1)

    try:
        parallel.run(_prove, todo, jobs, done)
    finally:
        store.save(found)
    return {(task.symbol, task.abi): _certificate(task, found[task.key]) for task in tasks}


def _certificate(task: _Task, record: Mapping[str, Any]) -> Certificate:
    """Only proved functions have a record."""
    counts = int(record["instructions"]), int(record["covered"])
    return Certificate(task.symbol, task.abi, Status.PROVED, *counts, float(record["seconds"]))
