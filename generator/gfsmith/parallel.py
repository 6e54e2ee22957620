"""The same work on many things, on all cores, with Ctrl-C and SIGTERM handled by the parent."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


#: What asks a command to stop: Ctrl-C, and `kill` or a build system that gives up.
STOPS = (signal.SIGINT, signal.SIGTERM)


def _ignore_stops() -> None:
    """Workers leave them to the parent, which stops the workers."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> dict[Future[Result], int]:
    """Hand out all tasks. Ctrl-C waits until the workers have been forked: what is raised in the hooks that
    Python runs around a fork is lost."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        return {pool.submit(work, task): number for number, task in enumerate(tasks)}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


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
    with ProcessPoolExecutor(jobs, initializer=_ignore_stops) as pool:
        try:
            pending = _submit(pool, work, tasks)
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    done(pending.pop(future), future.result())
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
