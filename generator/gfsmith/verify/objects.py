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
from gfsmith.build.checksums import compiled_functions
from gfsmith.ir.folding import Routine
from gfsmith.kernel.spec import KernelSpec
from gfsmith.prove.checksum.machine import prove_machine
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


#: The specification of a function: a kernel, or routines of a checksum.
Goal = KernelSpec | tuple[Routine, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One function of a file, and its goal. member: None unless the file is an archive."""

    path: Path
    member: str | None
    symbol: str
    goal: Goal
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
    if isinstance(task.goal, KernelSpec):
        isa = task.goal.isa.name
        report = prove_code(contract_of(task.goal, abi), image, task.symbol, task.exhaustive)
    else:
        isa = task.goal[0].set
        report = prove_machine(task.symbol, task.goal, image, abi)
    file = task.path.name if task.member is None else f"{task.path.name}({task.member})"
    seconds = time.process_time() - start
    return Proof(task.symbol, isa, abi, file, image.producer, report, seconds)


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
    """Return the kernels to prove. Raises ObjectError."""
    known: dict[str, Goal] = {spec.symbol: spec for spec in specs if is_provable(spec.isa)}
    return _find(paths, known, abi, exhaustive, "kernels of the configuration")


def find_checksums(paths: Sequence[Path], abi: str | None) -> list[Task]:
    """Return the functions of checksums to prove. Raises ObjectError."""
    return _find(paths, dict(compiled_functions()), abi, False, "provable functions of checksums")


def _find(
    paths: Sequence[Path], known: Mapping[str, Goal], abi: str | None, exhaustive: bool, what: str
) -> list[Task]:
    tasks = []
    for path in paths:
        members = _members(path, frozenset(known))
        found = [(member, symbol) for member, symbols in members.items() for symbol in sorted(symbols)]
        if not found:
            raise ObjectError(f"{path}: contains none of the {len(known)} {what}")
        tasks += [Task(path, member, symbol, known[symbol], abi, exhaustive) for member, symbol in found]
    return tasks


def prove(tasks: Sequence[Task], jobs: int, advance: Callable[[int], None]) -> list[Proof]:
    """Prove each function and return the proofs in the order of the tasks. Raises ObjectError."""
    proofs: dict[int, Proof] = {}

    def done(number: int, proof: Proof) -> None:
        proofs[number] = proof
        advance(1)

    parallel.run(_prove, tasks, jobs, done)
    return [proofs[number] for number in range(len(tasks))]
