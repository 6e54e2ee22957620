"""Parallel execution on all cores, with Ctrl-C and SIGTERM handled by the parent. No worker outlives it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, parent_process
from threading import Thread
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class KilledError(Exception):
    """A worker was killed, for example by the system because memory ended."""


#: Signals that stop a command: Ctrl-C, and `kill` or a build system that gives up.
STOPS = (signal.SIGINT, signal.SIGTERM)


#: In a worker: the function and all tasks.
_work: Callable[[Any], Any]
_tasks: Sequence[Any]


def _start_worker(work: Callable[[Task], Result], tasks: Sequence[Task]) -> None:
    """Prepare a worker: it ignores these signals, because the parent receives them and stops the workers, and
    it ends if the parent does, even if the parent is killed."""
    global _work, _tasks
    _work, _tasks = work, tasks
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _perform(number: int) -> Any:
    return _work(_tasks[number])


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _kill_workers() -> None:
    """Stop the work that has begun, because a user who waits for it sends another signal. One that comes
    meanwhile is delivered when all workers are killed."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        for worker in active_children():
            worker.kill()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def _submit(pool: ProcessPoolExecutor, count: int) -> dict[Future[Any], int]:
    """Submit the numbers of all tasks. Signals are blocked until the workers have been forked, since Python
    loses exceptions that are raised in its hooks around a fork.

    Numbers never fill the pipe to the workers. Tasks could, and CPython before 3.11.5 then waits without end
    for a killed worker to read the rest.
    """
    old = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        return {pool.submit(_perform, number): number for number in range(count)}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def _start(
    work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> tuple[ProcessPoolExecutor, dict[Future[Any], int]]:
    """Return the pool and its pending tasks. An error leaves no worker."""
    pool = ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(work, tasks))
    try:
        return pool, _submit(pool, len(tasks))
    except BaseException:
        _kill_workers()
        for worker in active_children():  # they count as processes until then
            worker.join()
        pool.shutdown(wait=False)  # its thread may not have started
        raise


def run(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    jobs: int,
    done: Callable[[int, Result], None],
) -> None:
    """Call done(n, work(tasks[n])) for every task, in the order in which they finish.

    If the system does not start so many workers, half of them are tried and so on; this process alone needs
    neither semaphores, for which some sandboxes lack /dev/shm, nor further processes. An exception of `work`
    is raised again here, after the workers have stopped.
    """
    if jobs <= 1 or len(tasks) <= 1:
        for number, task in enumerate(tasks):
            done(number, work(task))
        return
    try:
        started, pending = _start(work, tasks, jobs)
    except (ImportError, OSError, RuntimeError):
        run(work, tasks, jobs // 2, done)
        return
    with started:
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    done(pending.pop(future), future.result())
        except BrokenProcessPool:
            raise KilledError(
                f"one of {jobs} processes was killed, perhaps because memory ended; -j sets a smaller number"
            ) from None
        except BaseException:
            _kill_workers()
            raise
