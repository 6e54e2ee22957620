"""Proofs of compiled and assembled sources of gfsmith: objects, archives, libraries.

gfsmith verify --objects build/aarch64-linux-gnu/libgfsmith.a
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gfsmith.build import parallel
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import LoadError, load, members_with
from gfsmith.prove.machine.prove import Report, contract_of, prove_code
from gfsmith.verify.machines import default_abi, is_provable


class ObjectError(ValueError):
    """An unreadable file, or one without any of the kernels. The message is one line."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict about one function of a file. compiler: the name in the file. seconds: CPU time."""

    symbol: str
    isa: str
    abi: str
    file: str
    compiler: str
    report: Report
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """One function of a file, and the kernel that it must implement. member: None unless the file is an
    archive."""

    path: Path
    member: str | None
    spec: KernelSpec
    abi: str | None
    exhaustive: bool


@lru_cache(maxsize=8)
def _image(path: Path, member: str | None) -> Image:
    return load(path, member)


def _prove(task: Task) -> Proof:
    """Return the proof of one function. Raises ObjectError for a file that cannot be loaded."""
    start = time.process_time()
    try:
        image = _image(task.path, task.member)
    except LoadError as error:
        raise ObjectError(str(error)) from None
    abi = task.abi if task.abi is not None else default_abi(image)
    report = prove_code(contract_of(task.spec, abi), image, task.spec.symbol, task.exhaustive)
    file = task.path.name if task.member is None else f"{task.path.name}({task.member})"
    seconds = time.process_time() - start
    return Proof(task.spec.symbol, task.spec.isa.name, abi, file, image.producer, report, seconds)


def check(paths: Sequence[Path]) -> None:
    """Raises ObjectError for a file that cannot be read."""
    for path in paths:
        _members(path, frozenset())


def _members(path: Path, symbols: frozenset[str]) -> dict[str | None, set[str]]:
    """Return the requested functions of a file, by archive member. Raises ObjectError."""
    try:
        return members_with(path, symbols)
    except LoadError as error:
        raise ObjectError(str(error)) from None


def find(paths: Sequence[Path], specs: Sequence[KernelSpec], abi: str | None, exhaustive: bool) -> list[Task]:
    """Return the functions to prove. Raises ObjectError."""
    provable = (spec for spec in specs if is_provable(spec.isa))
    known: Mapping[str, KernelSpec] = {spec.symbol: spec for spec in provable}
    tasks = []
    for path in paths:
        members = _members(path, frozenset(known))
        found = [(member, symbol) for member, symbols in members.items() for symbol in sorted(symbols)]
        if not found:
            raise ObjectError(f"{path}: contains none of the {len(known)} kernels of the configuration")
        tasks += [Task(path, member, known[symbol], abi, exhaustive) for member, symbol in found]
    return tasks


def prove(tasks: Sequence[Task], jobs: int, advance: Callable[[int], None]) -> list[Proof]:
    """Prove each function and return the proofs in the order of the tasks. Raises ObjectError."""
    proofs: dict[int, Proof] = {}

    def done(number: int, proof: Proof) -> None:
        proofs[number] = proof
        advance(1)

    parallel.run(_prove, tasks, jobs, done)
    return [proofs[number] for number in range(len(tasks))]
