"""spec -> lower -> passes -> prove -> emit, for one kernel and for many at once."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

from gfsmith import passes
from gfsmith.emit import c, runtime
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.listing import build as build_x86
from gfsmith.ir import Program
from gfsmith.lower import lower
from gfsmith.prove.program import prove
from gfsmith.prove.verdict import Verdict
from gfsmith.spec import KernelSpec

METHOD_PROGRAM = "program"
ABI_C = "c"


class Refuted(Exception):
    """A kernel that does not compute its spec, with the verdict's reason as its message."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is written for one spec. code: the machine code per ABI; none for C."""

    spec: KernelSpec
    path: str
    text: str
    code: dict[Abi, bytes]
    verdict: Verdict

    @property
    def digest(self) -> str:
        """SHA-256 of the machine code of all ABIs, or of the C source."""
        content = b"".join(self.code[abi] for abi in Abi if abi in self.code)
        return hashlib.sha256(content or self.text.encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of machine code (System V); 0 for C."""
        return len(self.code.get(Abi.SYSV, b""))

    @property
    def abis(self) -> tuple[str, ...]:
        return tuple(abi.value for abi in self.code) or (ABI_C,)


def program(spec: KernelSpec) -> Program:
    """The Program of a spec, after all passes. Raises SpecError if registers do not suffice."""
    return passes.run(lower(spec), spec)


def generate_one(spec: KernelSpec) -> Kernel:
    """Raises SpecError for a kernel that does not fit, Refuted for one that is wrong."""
    lowered = program(spec)
    verdict = prove(spec, lowered)
    if not verdict:
        raise Refuted(verdict.reason)
    path = runtime.source_path(spec)
    if spec.machine_code:
        machine = build_x86(spec, lowered)
        return Kernel(spec, path, machine.source, machine.code, verdict)
    return Kernel(spec, path, c.build(spec, lowered), {}, verdict)


def _ignore_interrupt() -> None:
    """Workers leave Ctrl-C to the parent, which stops them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _chunks(specs: Sequence[KernelSpec], size: int) -> Iterable[Sequence[KernelSpec]]:
    return (specs[i : i + size] for i in range(0, len(specs), size))


def _generate_chunk(specs: Sequence[KernelSpec]) -> list[Kernel]:
    return [generate_one(spec) for spec in specs]


def generate(specs: Sequence[KernelSpec], jobs: int, advance: Callable[[int], None]) -> list[Kernel]:
    """All kernels, in the order of `specs`, on `jobs` processes; `advance(n)` as n more are done.

    Raises what generate_one raises, for the first failure seen; nothing has been written then.
    """
    if jobs <= 1:
        kernels = []
        for spec in specs:
            kernels.append(generate_one(spec))
            advance(1)
        return kernels
    with ProcessPoolExecutor(jobs, initializer=_ignore_interrupt) as pool:
        futures = [pool.submit(_generate_chunk, chunk) for chunk in _chunks(specs, 4)]
        try:
            _await(futures, advance)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        return [kernel for future in futures for kernel in future.result()]


def _await(futures: list[Future[list[Kernel]]], advance: Callable[[int], None]) -> None:
    pending = set(futures)
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            advance(len(future.result()))
