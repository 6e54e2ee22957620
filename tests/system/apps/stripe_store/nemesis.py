"""A seeded schedule of faults, and a store run by stripe-store that suffers them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pymemcache.client.base import Client as Inspector
from pymemcache.exceptions import MemcacheError

from tests.system.apps.stripe_store.support import CLOCK, DEADLINE, QUICK, wait_for
from tests.system.apps.stripe_store.test_run import children
from tests.system.apps.stripe_store.test_schemes import Shape

PAGE = 4096


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    ranks: tuple[int, ...] = ()
    seconds: int = 0
    """Of a clock: the shift."""
    point: str = ""
    """At which the processes are killed (common/fault.h)."""


@dataclass(frozen=True, slots=True)
class Step:
    """Faults that begin together, last for a while, and end together."""

    faults: tuple[Fault, ...]
    duration: float
    calm: float
    """Seconds before the faults."""
    repaired: bool
    """Is the store repaired before the faults? Else they hit a store that is repairing itself."""

    @property
    def forgets(self) -> bool:
        return any(fault.kind == "kill memcached" for fault in self.faults)


KINDS = (
    "kill agent",
    "kill chunk",
    "kill memcached",
    "kill both",
    "strike agent",
    "strike chunk",
    "pause agent",
    "pause chunk",
    "pause memcached",
    "unplug",
    "isolate",
    "fill disk",
    "shift clock",
)

CUT = "cut power"
"""Kills all processes at once, which a store with disks survives."""
DISK_KINDS = (*(kind for kind in KINDS if "memcached" not in kind and kind != "fill disk"), CUT)


#: Faults of links: a command before and behind the link's name, and its last word at the begin and end.
LINKS = {
    "unplug": (("ip", "link", "set"), (), ("down", "up")),
    "isolate": (("bridge", "link", "set", "dev"), ("isolated",), ("on", "off")),
}

AGENT_POINTS = ("set.asked", "set.encoded", "set.recorded", "set.freed", "delete.asked", "delete.removed")
CHUNK_POINTS = ("write.stored", "meta.command", "meta.stored", "unmeta.command", "rebuild.stored")


def schedule(seed: int, shape: Shape, steps: int, kinds: tuple[str, ...] = KINDS) -> list[Step]:
    """Return the steps of a seed. Every kind occurs if there are enough steps."""
    draw = random.Random(seed)
    deck: list[str] = []
    drawn: list[Step] = []
    for _ in range(steps):
        if len(deck) < 2:
            deck += draw.sample(kinds, len(kinds))
        chosen = [deck.pop(0) for _ in range(draw.choice((1, 2, 2)) if len(kinds) > 1 else 1)]
        faults = [_fault(draw, kind, shape) for kind in chosen]
        if any(fault.kind == "fill disk" for fault in faults):
            faults.append(_fault(draw, "kill agent", shape))  # which writes to the disk when it starts
        repaired = not drawn or drawn[-1].forgets or draw.random() < 0.6
        drawn.append(Step(tuple(faults), draw.uniform(0.05, 1.2), draw.uniform(0.1, 0.5), repaired))
    return drawn


def _fault(draw: random.Random, kind: str, shape: Shape) -> Fault:
    ranks = range(1, shape.k + shape.m + 1)
    if kind in ("kill agent", "pause agent", "fill disk", CUT):
        return Fault(kind)
    if kind == "shift clock":
        return Fault(kind, seconds=draw.randrange(-3600, 3600))
    if kind == "kill both":  # the agent and one of its chunk servers
        return Fault(kind, (draw.choice(ranks),))
    if kind == "strike agent":
        return Fault(kind, point=draw.choice(AGENT_POINTS))
    few = draw.randrange(1, shape.bearable + 1)
    chosen = tuple(sorted(draw.sample(ranks, 2 if kind == "isolate" else few)))
    return Fault(kind, chosen, point=draw.choice(CHUNK_POINTS) if kind == "strike chunk" else "")


@dataclass(slots=True)
class Victim:
    """A store that runs under stripe-store, which restarts killed processes after a second."""

    run: subprocess.Popen[bytes]
    folder: Path
    clock: Path
    space: int
    """A descriptor of the network namespace of the agent, which has the switch."""

    def address(self) -> tuple[str, int]:
        host, _, port = (self.folder / "client").read_text().strip().rpartition(":")
        return host, int(port)

    def play(self, step: Step) -> None:
        if step.repaired:
            self.wait_writable()
        time.sleep(step.calm)
        for fault in step.faults:
            self._begin(fault)
        time.sleep(step.duration)
        for fault in step.faults:
            self._end(fault)

    def wait_writable(self) -> None:
        wait_for("the store to be writable", self._writable)

    def _writable(self) -> bool:
        try:
            inspector = Inspector(self.address(), timeout=DEADLINE, connect_timeout=DEADLINE)
            state = inspector.stats().get(b"state")
            inspector.close()
        except (OSError, MemcacheError):
            return False
        return bool(state == b"read-write")

    def _begin(self, fault: Fault) -> None:
        what, _, target = fault.kind.partition(" ")
        if fault.kind == CUT:
            self._signal(list(children(self.run.pid)), signal.SIGKILL)
        elif what in ("kill", "pause"):
            number = signal.SIGKILL if what == "kill" else signal.SIGSTOP
            self._signal(self._names(target, fault.ranks), number)
        elif what == "strike":
            for name in self._names(target, fault.ranks):
                plan = self.folder / f"plan.{name}"
                with suppress(OSError):  # a full disk
                    plan.write_text(f"kill {fault.point}\n")
                    plan.rename(self.folder / f"fault.{name}")
        elif what in LINKS:
            self._set_links(fault, begins=True)
        elif fault.kind == "fill disk":
            with (self.folder.parent / "rest").open("wb") as rest, suppress(OSError):
                while True:
                    os.write(rest.fileno(), bytes(PAGE))
        else:
            self.clock.write_text(str(fault.seconds))

    def _end(self, fault: Fault) -> None:
        what, _, target = fault.kind.partition(" ")
        if what == "pause":
            self._signal(self._names(target, fault.ranks), signal.SIGCONT)
        elif what == "strike":
            for name in self._names(target, fault.ranks):
                (self.folder / f"fault.{name}").unlink(missing_ok=True)
        elif what in LINKS:
            self._set_links(fault, begins=False)
        elif fault.kind == "fill disk":
            (self.folder.parent / "rest").unlink()

    @staticmethod
    def _names(target: str, ranks: tuple[int, ...]) -> list[str]:
        if target == "agent":
            return ["agent"]
        if target == "both":
            return ["agent", *(f"chunk-{rank}" for rank in ranks)]
        return [f"{target}-{rank}" for rank in ranks]

    def _signal(self, names: list[str], number: int) -> None:
        running = children(self.run.pid)
        for name in names:
            if name in running:  # else another fault has killed it
                with suppress(ProcessLookupError):
                    os.kill(running[name], number)

    def _set_links(self, fault: Fault, *, begins: bool) -> None:
        """Change the chunk servers' links at the switch."""
        before, between, words = LINKS[fault.kind]
        where = f"--net=/proc/self/fd/{self.space}"
        for rank in fault.ranks:
            command = ["nsenter", where, *before, f"node{rank}", *between, words[not begins]]
            subprocess.run(command, check=True, pass_fds=(self.space,))


@contextmanager
def victim(
    programs: Path, root: Path, logs: Path, shape: Shape, *options: str, own: tuple[str, ...] = ()
) -> Iterator[Victim]:
    """Run a store in `root`, a small file system, with each chunk server in its own network namespace."""
    clock, out, log = (logs / name for name in ("clock", "out", "log"))
    clock.write_text("0")
    folder = root / "s"
    size = ("-k", str(shape.k), "-m", str(shape.m))
    command = [programs / "stripe-store", "run", "--netns", *own, folder, *size, *options, *shape.options]
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{programs / QUICK}:{programs / CLOCK}",
        "STORE_CLOCK": str(clock),
    }
    with out.open("w") as to, log.open("w") as errors:
        run = subprocess.Popen(command, stdout=to, stderr=errors, cwd=logs, env=environment)
    space = -1
    try:
        wait_for("it to be ready", lambda: "\n" in out.read_text() or run.poll() is not None)
        assert out.read_text().startswith("ready "), log.read_text()
        space = os.open(f"/proc/{children(run.pid)['agent']}/ns/net", os.O_RDONLY)
        yield Victim(run, folder, clock, space)
    finally:
        if space >= 0:
            os.close(space)
        if run.poll() is None:
            run.terminate()
        run.wait(DEADLINE)
