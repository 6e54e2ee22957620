"""Work on all cores, and Ctrl-C at the worst moments."""

from __future__ import annotations

import subprocess
import sys

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
