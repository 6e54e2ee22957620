"""Parallel execution on all cores, with Ctrl-C and SIGTERM handled by the parent. No worker outlives it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import active_children, parent_process
from threading import Thread
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


#: Signals that stop a command: Ctrl-C, and `kill` or a build system that gives up.
STOPS = (signal.SIGINT, signal.SIGTERM)


def _start_worker() -> None:
    """Prepare a worker: it ignores these signals, because the parent receives them and stops the workers, and
    it ends if the parent does, even if the parent is killed."""
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _kill_workers() -> None:
    """Stop the work that has begun, because a user who waits for it sends another signal."""
    for worker in active_children():
        worker.kill()


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[Task], Result], tasks: Sequence[Task]
) -> dict[Future[Result], int]:
    """Submit all tasks. Signals are blocked until the workers have been forked, since Python loses exceptions
    that are raised in its hooks around a fork."""
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

    An exception of `work` is raised again here, after the workers have stopped.
    """
    if jobs <= 1 or len(tasks) <= 1:
        for number, task in enumerate(tasks):
            done(number, work(task))
        return
    with ProcessPoolExecutor(jobs, initializer=_start_worker) as pool:
        try:
            pending = _submit(pool, work, tasks)
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    done(pending.pop(future), future.result())
        except BaseException:
            _kill_workers()
            raise
