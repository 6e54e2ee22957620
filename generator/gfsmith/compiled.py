"""Proofs of what compilers and assemblers made of gfsmith's own sources: objects, archives, libraries.

gfsmith verify --objects build/aarch64-linux-gnu/libgfsmith.a
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gfsmith import parallel
from gfsmith.isa import Arch, Isa
from gfsmith.prove.machine.architectures import of_machine
from gfsmith.prove.machine.image import Image
from gfsmith.prove.machine.kernel import Report, contract_of, prove_code
from gfsmith.prove.machine.load import LoadError, load, members_with
from gfsmith.spec import KernelSpec

#: Whose machine code is proved, but for scalable vectors -> the name of its processor there.
_MACHINES = {Arch.X86_64: "x86-64", Arch.AARCH64: "AArch64", Arch.POWER: "POWER"}
#: Sets of these processors whose instructions the prover does not know.
_UNKNOWN = frozenset({"vsx_p10"})


class ObjectError(ValueError):
    """A file that has none of the kernels, or that cannot be read; one line."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer about one function of a file. compiler: what the file names; seconds: CPU time."""

    symbol: str
    isa: str
    abi: str
    file: str
    compiler: str
    report: Report
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """One function of a file, and the kernel that it must be. member: None if it is no archive."""

    path: Path
    member: str | None
    spec: KernelSpec
    abi: str | None
    exhaustive: bool


@lru_cache(maxsize=8)
def _image(path: Path, member: str | None) -> Image:
    return load(path, member)


def _default_abi(image: Image) -> str:
    """The calling convention that a file's format goes with."""
    if image.machine == _MACHINES[Arch.X86_64]:
        return "ms" if image.format == "coff" else "sysv"
    return next(iter(of_machine(image.machine).abis))


def _prove(task: Task) -> Proof:
    """Raises ObjectError for a file that cannot be loaded."""
    start = time.process_time()
    try:
        image = _image(task.path, task.member)
    except LoadError as error:
        raise ObjectError(str(error)) from None
    abi = task.abi if task.abi is not None else _default_abi(image)
    report = prove_code(contract_of(task.spec, abi), image, task.spec.symbol, task.exhaustive)
    file = task.path.name if task.member is None else f"{task.path.name}({task.member})"
    seconds = time.process_time() - start
    return Proof(task.spec.symbol, task.spec.isa.name, abi, file, image.producer, report, seconds)


def _is_provable(isa: Isa) -> bool:
    return isa.arch in _MACHINES and not isa.scalable and isa.name not in _UNKNOWN


def find(paths: Sequence[Path], specs: Sequence[KernelSpec], abi: str | None, exhaustive: bool) -> list[Task]:
    """What there is to prove. Raises ObjectError."""
    provable = (spec for spec in specs if _is_provable(spec.isa))
    known: Mapping[str, KernelSpec] = {spec.symbol: spec for spec in provable}
    tasks = []
    for path in paths:
        try:
            members = members_with(path, frozenset(known))
        except LoadError as error:
            raise ObjectError(str(error)) from None
        found = [(member, symbol) for member, symbols in members.items() for symbol in sorted(symbols)]
        if not found:
            raise ObjectError(f"{path}: none of the {len(known)} kernels of the configuration")
        tasks += [Task(path, member, known[symbol], abi, exhaustive) for member, symbol in found]
    return tasks


def prove(tasks: Sequence[Task], jobs: int, advance: Callable[[int], None]) -> list[Proof]:
    """Prove each function, in the order of the tasks. Raises ObjectError."""
    proofs: dict[int, Proof] = {}

    def done(number: int, proof: Proof) -> None:
        proofs[number] = proof
        advance(1)

    parallel.run(_prove, tasks, jobs, done)
    return [proofs[number] for number in range(len(tasks))]
