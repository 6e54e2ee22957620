"""The same work on many things, on all cores, with Ctrl-C handled by the parent."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def _ignore_interrupt() -> None:
    """Workers leave Ctrl-C to the parent, which stops them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    jobs: int,
    done: Callable[[int, Result], None],
) -> None:
    """Call done(n, work(tasks[n])) for every task, in the order in which they finish.

    Whatever `work` raises is raised here, once the workers have stopped.
    """
    if jobs <= 1 or len(tasks) <= 1:
        for number, task in enumerate(tasks):
            done(number, work(task))
        return
    with ProcessPoolExecutor(jobs, initializer=_ignore_interrupt) as pool:
        pending = {pool.submit(work, task): number for number, task in enumerate(tasks)}
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    done(pending.pop(future), future.result())
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
