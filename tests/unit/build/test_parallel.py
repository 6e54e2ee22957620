"""Work on all cores, and signals at the worst moments."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

INTERRUPTED = """
import os, signal
from gfsmith.build import parallel

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

os.register_at_fork(after_in_parent=interrupt)
try:
    parallel.run(abs, range(-50, 0), 2, lambda number, result: None)
except KeyboardInterrupt:
    print("interrupted")
else:
    print("went on")
"""


def test_ctrl_c_while_workers_are_forked_is_not_lost() -> None:
    """Python discards exceptions raised in the hooks around a fork."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr


BUSY = """
import os, time
from gfsmith.build import parallel

def work(task):
    os.write(1, f"{os.getpid()}\\n".encode())  # in one call, since two workers write
    time.sleep(3600)

parallel.run(work, range(9), 2, lambda number, result: None)
"""


#: The same, with a second Ctrl-C before the first worker is killed.
TWICE = f"""
import signal
from gfsmith.build import parallel
found = parallel.active_children
parallel.active_children = lambda: signal.raise_signal(signal.SIGINT) or found()
{BUSY}"""


@contextmanager
def busy(program: str = BUSY) -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    """Yield a process that waits for two busy workers, and the workers' folders in /proc."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            workers = [Path("/proc", process.stdout.readline().strip()) for _ in range(2)]
            assert all(worker.exists() for worker in workers)
            yield process, workers
        finally:
            process.kill()


def _end(workers: list[Path]) -> bool:
    """Return whether all workers end within a minute."""
    deadline = time.monotonic() + 60
    while any(worker.exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(worker.exists() for worker in workers)


@pytest.mark.parametrize("signals", [1, 3])
def test_ctrl_c_does_not_wait_for_work_that_has_begun(signals: int) -> None:
    """Nor does a second one, as of a user without patience or of `make`, leave workers without a parent."""
    with busy() as (process, workers):
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        process.wait(60)
        assert _end(workers)


def test_a_second_ctrl_c_leaves_no_worker() -> None:
    with busy(TWICE) as (process, workers):
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert _end(workers)


def test_workers_end_with_a_parent_that_is_killed() -> None:
    with busy() as (process, workers):
        process.kill()
        assert _end(workers)


REFUSED = """
from gfsmith.build import parallel

def work(task):
    raise SystemError("refused")

try:
    parallel.run(work, [bytes(100000 + n) for n in range(50)], 2, lambda number, result: None)
except SystemError as error:
    print(error)
"""


def test_an_error_ends_the_work_on_long_tasks() -> None:
    """With CPython before 3.11.5, killed workers that leave a full pipe behind hang the parent."""
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, timeout=60)
    assert done.stdout == "refused\n", done.stderr


KILLED = """
import os
from gfsmith.build import parallel
from gfsmith.cli.main import main

def work(task):
    os.kill(os.getpid(), 9)

def command(jobs):
    parallel.run(work, range(9), jobs, lambda number, result: None)

main.commands["list"].callback = lambda **options: command(3)
main(["list"])
"""


def test_a_worker_that_the_system_kills_is_one_line() -> None:
    """As when memory ends: no traceback, and no worker stays."""
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=60)
    line = "one of 3 processes was killed, perhaps because memory ended; -j sets a smaller number"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"gfsmith: {line}\n")


#: Three tasks for four workers, on a system with at most so many processes, or one that makes no semaphores.
FEW = """
import errno, multiprocessing.popen_fork, os, sys
from gfsmith.build import parallel

most = int(sys.argv[1])
started = 0

class Popen(multiprocessing.popen_fork.Popen):
    def _launch(self, process):
        global started
        started += 1
        if len(parallel.active_children()) >= most:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        super()._launch(process)

multiprocessing.popen_fork.Popen = Popen
found = {}
parallel.run(abs, [-5, -6, -7], 4, found.__setitem__)
print(sorted(found.items()), len(parallel.active_children()), started)
"""
WITHOUT_SEMAPHORES = """
import _multiprocessing
from gfsmith.build import parallel

class Refused(_multiprocessing.SemLock):
    def __new__(cls, *arguments):
        raise FileNotFoundError(2, "No such file or directory")

_multiprocessing.SemLock = Refused
found = {}
parallel.run(abs, [-5, -6, -7], 4, found.__setitem__)
print(sorted(found.items()), len(parallel.active_children()))
"""
FOUND = "[(0, 5), (1, 6), (2, 7)] 0"


@pytest.mark.parametrize(("most", "started"), [(4, 4), (3, 6), (1, 4)])
def test_fewer_workers_than_requested(most: int, started: int) -> None:
    """As in a container with a limit of processes: four workers, then two, then none beside this process."""
    command = [sys.executable, "-c", FEW, str(most)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{FOUND} {started}\n", done.stderr


def test_a_system_without_semaphores() -> None:
    """As in a sandbox without /dev/shm: this process does the work."""
    command = [sys.executable, "-c", WITHOUT_SEMAPHORES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{FOUND}\n", done.stderr
