"""stripe-store: one command that starts, watches and stops; refusals; every scheme with it."""

from __future__ import annotations

import fcntl
import os
import random
import resource
import select
import shutil
import signal
import socket
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from pymemcache.client.base import Client

from gfsmith.cli import sizes
from tests.system.apps.stripe_store.support import (
    COUNT_SLEEPS,
    DEADLINE,
    NO_FORK,
    OTHER_STREAM,
    PATIENT,
    SLOW_EXEC,
    certify,
    environment,
    wait_for,
)

SCHEMES = {
    "rs": ("-k", "3", "-m", "2"),
    "lrc": ("-k", "4", "--groups", "2", "--global", "2"),
    "ppr": ("-k", "6", "-m", "3"),
    "ecpipe": ("-k", "6", "-m", "3", "--slice", "1000"),
    "triec": ("-k", "3", "-m", "2"),
}


def children(pid: int) -> dict[str, int]:
    """Return the processes that a run has started, named as in support.Store."""
    found = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if len(words) < 3:
            continue  # it is ending
        program = Path(words[0].decode()).name
        name = {"stripe-agent": "agent", "stripe-chunk": f"chunk-{words[1].decode()}"}.get(program)
        found[name or Path(words[2].decode()).name] = int(child)
    return found


@contextmanager
def running(
    programs: Path,
    folder: Path,
    *options: str,
    own: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    log: int | None = None,
) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """Run a store with options of the agent, and of stripe-store itself.

    log: the descriptor for its messages; None: FOLDER.log."""
    patient = () if "--deadline" in options else ("--deadline", PATIENT)
    command = [programs / "stripe-store", "run", *own, folder, *patient, *options]
    said, messages = folder.with_suffix(".out"), folder.with_suffix(".log")
    with said.open("w") as out, messages.open("w") as err:
        variables = environment(programs, *preload)
        errors = err if log is None else log
        run = subprocess.Popen(command, stdout=out, stderr=errors, cwd=folder.parent, env=variables)
    try:
        wait_for("it to be ready", lambda: "\n" in said.read_text() or run.poll() is not None)
        assert said.read_text().startswith("ready "), messages.read_text()
        host, _, port = said.read_text().split()[1].rpartition(":")
        client = Client((host, int(port)), timeout=DEADLINE, connect_timeout=DEADLINE, default_noreply=False)
        yield run, client
        client.close()
    finally:
        if run.poll() is None:
            run.terminate()
        run.wait(DEADLINE)


def status(programs: Path, folder: Path) -> tuple[int, str]:
    command = [programs / "stripe-store", "status", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_degraded(programs: Path, tmp_path: Path, scheme: str) -> None:
    """All reads are degraded, at every shard that can be lost."""
    options = ("--scheme", scheme, *SCHEMES[scheme], "--degraded", "weibull:0.75:1")
    values = {f"key-{length}": random.Random(length).randbytes(length) for length in (1, 100, 4096, 50_000)}
    with running(programs, tmp_path / "store", *options) as (_, client):
        for key, value in values.items():
            assert client.set(key, value)
        for _ in range(10):
            for key, value in values.items():
                assert client.get(key) == value
        assert client.stats()[b"reads_degraded"] == 40


def test_killed_processes_are_restarted(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with running(programs, folder) as (run, client):
        before = children(run.pid)
        names = {"agent", *(f"{kind}-{rank}" for kind in ("chunk", "memcached") for rank in range(1, 6))}
        assert set(before) == names
        assert client.set("key", b"value")
        assert status(programs, folder)[0] == 0
        for name in ("chunk-2", "memcached-2", "memcached-4"):
            os.kill(before[name], signal.SIGKILL)
        assert client.get("key") == b"value"
        wait_for(
            "all processes to be up",
            lambda: set(children(run.pid)) == names and status(programs, folder)[0] == 0,
        )
        assert children(run.pid)["agent"] == before["agent"]
        assert client.get("key") == b"value"
        os.kill(before["agent"], signal.SIGKILL)
        wait_for(
            "all processes to be up",
            lambda: set(children(run.pid)) == names and status(programs, folder)[0] == 0,
        )
        host, _, port = (folder / "client").read_text().strip().rpartition(":")
        again = Client((host, int(port)), timeout=DEADLINE)
        assert again.get("key") == b"value"
        again.close()


def survives(run: subprocess.Popen[bytes], client: Client) -> bool:
    """Kill a chunk server, whose message the store then prints; return whether all goes on."""
    assert client.set("key", b"value")
    killed = children(run.pid)["chunk-2"]
    os.kill(killed, signal.SIGKILL)
    wait_for("it to be started again", lambda: children(run.pid).get("chunk-2", killed) != killed)
    return client.get("key") == b"value" and client.stats()[b"curr_items"] == 1


def bound(taker: socket.socket, address: tuple[str, int]) -> bool:
    """Bind a socket, unless another one has the address."""
    try:
        taker.bind(address)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("taken", [False, True])
def test_an_agent_that_is_started_again_keeps_its_port(programs: Path, tmp_path: Path, taken: bool) -> None:
    """Clients know the address that was printed. If another program has taken the port, the agent takes one
    that is free.
    """
    folder = tmp_path / "store"
    with running(programs, folder) as (run, client), socket.socket() as other:
        address = folder.joinpath("client").read_text()
        assert client.set("key", b"value")
        client.close()
        agent = children(run.pid)["agent"]
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        os.kill(run.pid, signal.SIGSTOP)  # so that it does not start the agent before the port is taken
        os.kill(agent, signal.SIGKILL)
        if taken:
            wait_for("the port", lambda: bound(other, client.server))
            other.listen()
        os.kill(run.pid, signal.SIGCONT)
        wait_for("its end", lambda: children(run.pid).get("agent") != agent)
        wait_for("the agent", lambda: status(programs, folder)[0] == 0)
        assert (folder.joinpath("client").read_text() != address) == taken
        assert taken or client.get("key") == b"value"


def test_a_log_at_the_limit_of_its_size(programs: Path, tmp_path: Path) -> None:
    """It takes no further messages, and no process ends."""
    with running(programs, tmp_path / "store") as (run, client):
        size = (tmp_path / "store.log").stat().st_size
        for pid in (run.pid, *children(run.pid).values()):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        assert survives(run, client)


@pytest.mark.parametrize("reader", ["ends", "stops"])
def test_a_pipe_for_messages(programs: Path, tmp_path: Path, reader: str) -> None:
    """If its reader ends, or stops while the pipe is full, messages are lost, and nothing else."""
    read, write = os.pipe()
    with running(programs, tmp_path / "store", log=write) as (run, client):
        if reader == "ends":
            os.close(write)
            os.close(read)
        else:
            fill(write)
        assert survives(run, client)
    assert run.returncode == 0


def test_a_terminal_for_messages(programs: Path, tmp_path: Path) -> None:
    """If it is not read, messages are lost. It has room for a byte, but not for a message, at some time."""
    read, write = os.openpty()
    command = [programs / "stripe-store", "stop", tmp_path / "none"]
    rounds = 0
    while select.select([], [write], [], 0)[1]:
        assert subprocess.run(command, stderr=write, timeout=DEADLINE).returncode == 2
        rounds += 1
    assert rounds > 10 and b"none: no store runs in it" in os.read(read, 1000)
    os.close(read)
    os.close(write)


def test_a_terminal_that_stops_processes_in_the_background(programs: Path, tmp_path: Path) -> None:
    """Agent and chunk servers are no foreground processes: with `stty tostop`, each message stopped one."""
    folder = tmp_path / "store"
    read, write = os.openpty()
    modes = termios.tcgetattr(write)
    modes[3] |= termios.TOSTOP
    termios.tcsetattr(write, termios.TCSANOW, modes)
    run = subprocess.Popen(
        [programs / "stripe-store", "run", folder],
        stdout=write,
        stderr=write,
        env=environment(programs),
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(write, termios.TIOCSCTTY, 0),
    )
    try:
        wait_for("it to be ready", lambda: status(programs, folder)[0] == 0)
        said = b""
        while b"stripe-agent: listening on 127.0.0.1:" not in said:
            said += os.read(read, 1000)
    finally:
        run.terminate()
        assert run.wait(DEADLINE) == 0
        os.close(read)
        os.close(write)


def test_another_file_at_the_path_of_standard_output(programs: Path, tmp_path: Path) -> None:
    """As where a program has renamed its output to /dev/stdout: `ready` comes through the pipe."""
    other, folder = tmp_path / "other", tmp_path / "store"
    other.touch()
    run = subprocess.Popen(
        [programs / "stripe-store", "run", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment(programs, OTHER_STREAM), "OTHER_STREAM": str(other)},
    )
    try:
        ready = ([run.stdout], [], [], 0)
        wait_for("it to be ready", lambda: b"ready" in other.read_bytes() or select.select(*ready)[0] != [])
    finally:
        run.terminate()
        said, told = run.communicate(timeout=DEADLINE)
    assert run.returncode == 0
    assert said.startswith(b"ready 127.0.0.1:") and b"stripe-agent: listening on 127.0.0.1:" in told
    assert other.read_bytes() == b""


@contextmanager
def handled(number: signal.Signals, how: signal.Handlers) -> Iterator[None]:
    """Start processes with a signal ignored, or not ignored."""
    before = signal.signal(number, how)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_an_ignored_signal_stays_ignored(programs: Path, tmp_path: Path, number: signal.Signals) -> None:
    """A store that is started by nohup goes on after the end of the terminal, and one that is started by a
    script with `&` goes on after Ctrl-C.
    """
    with (
        handled(number, signal.SIG_IGN),
        running(programs, tmp_path / "store") as (run, client),
    ):
        run.send_signal(number)
        assert survives(run, client)
    with (
        handled(number, signal.SIG_DFL),
        running(programs, tmp_path / "store") as (run, _),
    ):
        run.send_signal(number)
        assert run.wait(DEADLINE) == 0


def test_signals_that_are_blocked_at_the_start(programs: Path, tmp_path: Path) -> None:
    """A program that blocks signals in its threads may start a store, which ends, and restarts processes."""
    ends = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        with running(programs, tmp_path / "store") as (run, client):
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            assert survives(run, client)
        assert run.returncode == 0
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)
        test_a_chunk_server_alone_ends(programs, tmp_path, signal.SIGTERM)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def fill(stream: int) -> None:
    """Write to a pipe or terminal that is not read until it takes no byte more."""
    os.set_blocking(stream, False)
    while select.select([], [stream], [], 0.1)[1]:  # a terminal has room again a moment later
        for size in (1000, 1):
            with suppress(BlockingIOError):
                while True:
                    os.write(stream, bytes(size))
    os.set_blocking(stream, True)


@pytest.mark.parametrize("open_both", [os.pipe, os.openpty])
def test_output_that_is_not_read(
    programs: Path, tmp_path: Path, open_both: Callable[[], tuple[int, int]]
) -> None:
    """The store restarts processes and stops, although nothing reads its line; it is not lost."""
    folder = tmp_path / "store"
    read, write = open_both()
    fill(write)
    command = [programs / "stripe-store", "run", folder]
    run = subprocess.Popen(command, stdout=write, env=environment(programs))
    try:
        wait_for("it to be ready", lambda: status(programs, folder)[0] == 0)
        time.sleep(0.5)  # it finds out a tenth of a second later at most
        os.kill(children(run.pid)["chunk-2"], signal.SIGKILL)
        wait_for("the loss", lambda: "chunk_server_2       gone" in status(programs, folder)[1])
        wait_for("it to be up", lambda: status(programs, folder)[0] == 0)
        said = b""
        while b"\n" not in said.replace(b"\0", b""):
            said += os.read(read, 1000)
        assert said.strip(b"\0").startswith(b"ready 127.0.0.1:")
    finally:
        run.terminate()
        assert run.wait(DEADLINE) == 0
        os.close(read)
        os.close(write)


def test_a_process_that_cannot_be_started_again(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again."""
    folder, switch = tmp_path / "store", tmp_path / "switch"
    monkeypatch.setenv("NO_FORK", str(switch))
    with running(programs, folder, preload=(NO_FORK,)) as (run, _):
        switch.touch()
        os.kill(children(run.pid)["chunk-2"], signal.SIGKILL)
        line = "stripe-store: cannot start chunk server 2: Resource temporarily unavailable\n"
        wait_for("a failure", lambda: line in folder.with_suffix(".log").read_text())
        switch.unlink()
        wait_for("it to be up", lambda: status(programs, folder)[0] == 0)


def test_a_refused_run_ends_processes_that_are_starting(programs: Path, tmp_path: Path) -> None:
    """They have no handlers of stripe-store, which would take the signal: it waited 10 s for each of them."""
    line = refusal(programs, "stripe-store", "run", tmp_path / "s", "--auth", preload=(SLOW_EXEC,))
    assert line == f"stripe-agent: cannot read {tmp_path / 's'}/passwords: No such file or directory"


OWN_MEMCACHED = """#!/bin/sh
{memcached} "$@" & mine=$!
trap 'for p in $(cat /proc/$PPID/task/$PPID/children); do cat /proc/$p/comm >> {log}; done; kill $mine' TERM
wait; wait
"""


def test_chunk_servers_end_before_their_memcacheds(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk server reported that its memcached had gone, while the store stopped."""
    folder, log, own = tmp_path / "store", tmp_path / "alive", tmp_path / "memcached"
    own.write_text(OWN_MEMCACHED.format(memcached=shutil.which("memcached"), log=log))
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with running(programs, folder, "-k", "6", "-m", "3"):
        pass
    assert "memcached" in log.read_text() and "stripe-chunk" not in log.read_text()
    assert "does not answer" not in folder.with_suffix(".log").read_text()


STUBBORN_MEMCACHED = """#!/bin/sh
trap '' TERM
{memcached} "$@" &
wait; wait; while :; do sleep 1; done
"""
STOP_STEPS = 1000  #: sleeps until a process is killed (run/process.c)


def test_processes_that_hang_are_killed_at_the_same_time(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them cost 10 s more, so a store with many did not stop for minutes."""
    count, own = tmp_path / "count", tmp_path / "memcached"
    own.write_text(STUBBORN_MEMCACHED.format(memcached=shutil.which("memcached")))
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("COUNT_SLEEPS", str(count))
    with running(programs, tmp_path / "store", preload=(COUNT_SLEEPS,)) as (run, _):
        count.write_text("")
        started = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    for pid in map(int, started):
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # the memcacheds of the scripts
    assert len(started) == 11 and not any(Path(f"/proc/{pid}").exists() for pid in started)
    assert STOP_STEPS <= count.stat().st_size < 4 * STOP_STEPS  # one stage of three, or each of them


@contextmanager
def starting(programs: Path, folder: Path, *own: str, closed: int | None = None) -> Iterator[Started]:
    """Run a store that need not become ready; `closed` is a standard stream that it does not have."""
    said, log = folder.with_suffix(".out"), folder.with_suffix(".log")
    with said.open("w") as out, log.open("w") as err:
        run = subprocess.Popen(
            [programs / "stripe-store", "run", *own, folder],
            stdout=out,
            stderr=err,
            env=environment(programs),
            preexec_fn=None if closed is None else lambda: os.close(closed),
        )
    try:
        yield Started(run, said, log)
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGCONT)
            run.terminate()
        run.wait(DEADLINE)


@dataclass(frozen=True, slots=True)
class Started:
    run: subprocess.Popen[bytes]
    said: Path
    log: Path

    def ready(self) -> bool:
        """Wait until the store is ready or has ended."""
        wait_for("a result", lambda: self.said.read_text() != "" or self.run.poll() is not None)
        return self.said.read_text().startswith("ready ")


@pytest.mark.parametrize("restart", [True, False])
def test_a_process_that_is_killed_while_the_store_starts(
    programs: Path, tmp_path: Path, restart: bool
) -> None:
    """It is started again; with --no-restart the store ends. The stopped agent keeps it from being ready."""
    with starting(programs, tmp_path / "store", *([] if restart else ["--no-restart"])) as store:
        wait_for("the agent", lambda: "agent" in children(store.run.pid))
        agent = children(store.run.pid)["agent"]
        os.kill(agent, signal.SIGSTOP)
        wait_for("a chunk server", lambda: "chunk-2" in children(store.run.pid))
        os.kill(children(store.run.pid)["chunk-2"], signal.SIGKILL)
        line = "stripe-store: chunk server 2 was ended by signal 9"
        wait_for("the message", lambda: line in store.log.read_text())
        if restart:
            os.kill(agent, signal.SIGCONT)
        assert store.ready() == restart
        assert restart or store.run.wait(DEADLINE) == 2


def test_closed_streams(programs: Path, tmp_path: Path) -> None:
    """No message gets into a file that has the number of a closed standard stream."""
    folder = tmp_path / "store"
    with starting(programs, folder, closed=2) as store:
        assert store.ready()
        os.kill(children(store.run.pid)["chunk-2"], signal.SIGKILL)
        wait_for("the loss", lambda: "chunk_server_2       gone" in status(programs, folder)[1])
        wait_for("it to be up", lambda: status(programs, folder)[0] == 0)
        assert (folder / "store.lock").read_text() == f"{store.run.pid}\n"


def test_stop_ends_no_other_process(programs: Path, tmp_path: Path) -> None:
    """The number of an earlier run is that of another process now, and another program looks at the file."""
    with subprocess.Popen(["sleep", "1000"]) as other, (tmp_path / "store.lock").open("w+") as lock:
        lock.write(f"{other.pid}\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (
            refusal(programs, "stripe-store", "stop", tmp_path)
            == f"stripe-store: {tmp_path}: no store runs in it"
        )
        assert other.poll() is None
        other.kill()


def test_a_stopped_supervisor_is_stopped(programs: Path, tmp_path: Path) -> None:
    """`stop` continues a process that SIGSTOP has stopped."""
    folder = tmp_path / "store"
    with starting(programs, folder) as store:
        assert store.ready()
        store.run.send_signal(signal.SIGSTOP)
        subprocess.run([programs / "stripe-store", "stop", folder], check=True, timeout=DEADLINE)
        assert store.run.wait(DEADLINE) == 0


def test_clients_with_tls_and_login(programs: Path, tmp_path: Path) -> None:
    """stripe-store asks the agent at a socket of its user, and so needs neither TLS nor a password."""
    folder = tmp_path / "store"
    folder.mkdir()
    certify(folder)
    passwords = folder / "passwords"
    passwords.touch(0o600)
    passwords.write_text("alice:secret\n")
    with running(programs, folder, "--tls", "--auth") as (run, _):
        assert (folder / "local").stat().st_mode & 0o777 == 0o600
        before = children(run.pid)["chunk-2"]
        assert status(programs, folder)[0] == 0
        os.kill(before, signal.SIGKILL)
        wait_for("the loss", lambda: "chunk_server_2       gone" in status(programs, folder)[1])
        wait_for("a new process", lambda: children(run.pid).get("chunk-2", before) != before)
        wait_for("it to be up", lambda: status(programs, folder)[0] == 0)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, "stop"])
def test_nothing_is_left(programs: Path, tmp_path: Path, how: signal.Signals | str) -> None:
    folder = tmp_path / "store"
    with handled(signal.SIGINT, signal.SIG_DFL), running(programs, folder) as (run, client):
        client.set("key", b"value")
        started = children(run.pid)
        os.kill(started["chunk-3"], signal.SIGSTOP)  # a stopped process is ended, too
        if isinstance(how, str):
            subprocess.run([programs / "stripe-store", "stop", folder], check=True, timeout=DEADLINE)
        else:
            run.send_signal(how)
        assert run.wait(DEADLINE) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in started.values())
    assert sorted(path.name for path in folder.iterdir()) == ["key", "store.lock"]
    assert status(programs, folder) == (2, f"stripe-store: {folder}: no store runs in it\n")


def test_the_one_that_watches_is_killed(programs: Path, tmp_path: Path) -> None:
    """The processes of a killed stripe-store end with it; the next run reports that the values are lost, and
    starts empty.
    """
    folder = tmp_path / "store"
    with running(programs, folder) as (run, client):
        assert client.set("key", b"value")
        kill_with_all(run)
    assert (folder / "group").exists()
    with running(programs, folder) as (_, client):
        assert client.get("key") is None
        assert client.set("key", b"value")
    line = f"stripe-store: {folder}: the last run was not stopped in order; its values are lost"
    assert line in folder.with_suffix(".log").read_text().splitlines()


def kill_with_all(run: subprocess.Popen[bytes]) -> None:
    started = children(run.pid)
    assert len(started) == 11
    run.kill()
    run.wait(DEADLINE)
    wait_for("all to end", lambda: not any(Path(f"/proc/{pid}").exists() for pid in started.values()))


def test_one_store_in_a_folder(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with running(programs, folder):
        line = refusal(programs, "stripe-store", "run", folder)
        assert line == f"stripe-store: {folder}: a store runs in it already"
        line = refusal(programs, "stripe-agent", folder)
        assert line == f"stripe-agent: {folder}/agent.lock: another agent runs"
    assert refusal(programs, "stripe-store", "stop", folder) == f"stripe-store: {folder}: no store runs in it"


def test_an_agent_in_the_folder(programs: Path, tmp_path: Path) -> None:
    """The agent of a killed run has not ended: another run does not remove its lock and its group.

    The test holds the lock in the agent's place, because the kernel continues a stopped agent when the run
    ends.
    """
    folder = tmp_path / "store"
    with running(programs, folder) as (run, client):
        client.close()
        started, group = children(run.pid), (folder / "group").read_text()
        run.kill()
        run.wait(DEADLINE)
    wait_for("all to end", lambda: not any(Path(f"/proc/{pid}").exists() for pid in started.values()))
    (folder / "group").write_text(group)
    with (folder / "agent.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        line = refusal(programs, "stripe-store", "run", folder)
        assert line == f"stripe-store: {folder}: an agent runs in it already"
        assert (folder / "group").read_text() == group and (folder / "agent.lock").exists()
    with running(programs, folder):
        pass


def refusal(programs: Path, program: str, *arguments: str | Path, preload: tuple[str, ...] = ()) -> str:
    command, variables = [programs / program, *arguments], environment(programs, *preload)
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=variables)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1, done
    return done.stderr.rstrip("\n")


@pytest.mark.parametrize("words", [[], ["runn"]], ids=" ".join)
def test_wrong_commands(programs: Path, words: list[str]) -> None:
    said = refusal(programs, "stripe-store", *words)
    allowed = "run FOLDER, status FOLDER, stop FOLDER (see --help)"
    assert said == f"stripe-store: {words[0] if words else 'no command'}; allowed: {allowed}"


@pytest.mark.parametrize("words", [["run"], ["status"], ["stop", "a", "b"]], ids=" ".join)
def test_commands_with_another_number_of_folders(programs: Path, words: list[str]) -> None:
    expected = f"{words[0]}: {len(words) - 1} arguments; allowed: {words[0]} FOLDER (see --help)"
    assert refusal(programs, "stripe-store", *words) == f"stripe-store: {expected}"


BYTES = "bytes, such as 4096, 64K or 1M"


@pytest.mark.parametrize(("text", "own"), [("5m", "--keep"), ("3m", "--disk")])
def test_bytes_have_the_units_of_gfsmith(programs: Path, tmp_path: Path, text: str, own: str) -> None:
    """memcached refuses to start with items of most other sizes than multiples of 512 KiB."""
    options = ("--value-max", text, "--memory", "2g", "--slice", "1K")
    with running(programs, tmp_path / "store", *options, own=(own, "1G")) as (_, client):
        assert client.stats()[b"limit_item"] == sizes.parse(text)
        assert client.set("largest", bytes(sizes.parse(text)))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--scheme", "xor"), "scheme xor: must be rs, lrc, ppr, ecpipe or triec"),
        (("-k", "0"), "-k 0: must be a whole number from 1 to 62"),
        (("-k", "60", "-m", "10"), "k = 60, m = 10: both at least 1, together at most 63"),
        (
            ("--scheme", "lrc", "-k", "2", "--groups", "3", "--global", "1"),
            "scheme lrc with k = 2, m = 4, 3 groups, 1 global: groups must be from 1 to k",
        ),
        (("--groups", "2"), "k = 3, m = 2, 2 groups, 0 global: groups and global are for the scheme lrc"),
        (("--port", "1"), "--port: no such option (see --help)"),
        (("-x",), "-x: no such option (see --help)"),
        (("--tls=1",), "--tls takes no value (see --help)"),
        (("--trace", ""), "--trace: the value is empty (see --help)"),
        (("-k", ""), "-k: the value is empty (see --help)"),
        (("--deadline", "1"), "--deadline 1: must be a whole number from 100 to 600000"),
        (("--listen", "localhost"), "--listen localhost: must be HOST:PORT"),
        (("--listen", "localhost:0"), "localhost:0: must be a numeric address and a port"),
        (("--value-max", "2G"), f"--value-max 2G: must be from 1 to 1073741824 {BYTES}"),
        (("--memory", "1023K"), f"--memory 1023K: must be from 1048576 to 1099511627776 {BYTES}"),
        (("--slice", "K"), f"--slice K: must be from 0 to 1073741824 {BYTES}"),
        (("--slice", "5"), "--slice 5: must be 0 or at least 6 for values of 1048576 bytes (--value-max)"),
        (("--slice", "18446744073709551616"), "--slice 18446744073709551616: must be from 0 to "),
        (("--memory", "17179869184G"), "--memory 17179869184G: must be from 1048576 to "),
        (("--degraded", "often"), "--degraded often: must be weibull:SHAPE:RATE or"),
        (("--provider", "none"), "cannot take part: "),
    ],
)
def test_the_agent_refuses(programs: Path, tmp_path: Path, arguments: tuple[str, ...], line: str) -> None:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text("00" * 32)
    assert refusal(programs, "stripe-agent", *arguments, tmp_path).startswith(f"stripe-agent: {line}")


MEGABYTES = "must be from 1 to 16777216 MB, such as 512 or 10G"
EMPTY = "FOLDER is empty: must be the path of a folder (see --help)"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("stripe-agent", "-k"), "-k: the value is missing (see --help)"),
        (("stripe-agent", "x", "--trace"), "--trace: the value is missing (see --help)"),
        (("stripe-chunk", "--bogus", "1", "x"), "--bogus: no such option (see --help)"),
        (("stripe-chunk", "--disk", "", "1", "x"), "--disk: the value is empty (see --help)"),
        (("stripe-chunk", "--disk-max", "512K", "1", "x"), f"--disk-max 512K: {MEGABYTES}"),
        (("stripe-store", "run", "--disk", "17T", "x"), f"--disk 17T: {MEGABYTES}"),
        (
            ("stripe-store", "run", "--keep", "3M", "x"),
            "--keep 3M: must be from 4 to 1048576 MB, such as 512 or 10G",
        ),
        (("stripe-store", "run", "--disk"), "run: --disk: the value is missing (see --help)"),
        (
            ("stripe-store", "run", "--bogus"),
            "run: unknown option --bogus; those of stripe-agent come after FOLDER",
        ),
        (("stripe-agent", "nosuch"), "nosuch/agent.lock: No such file or directory"),
        (("stripe-agent", ""), EMPTY),
        (("stripe-chunk", "1", ""), EMPTY),
        (("stripe-store", "run", ""), EMPTY),
        (("stripe-store", "status", ""), EMPTY),
        (("stripe-store", "stop", ""), EMPTY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_arguments(programs: Path, command: tuple[str, ...], line: str) -> None:
    assert refusal(programs, *command) == f"{command[0]}: {line}"


@pytest.mark.parametrize(
    ("own", "arguments", "line"),
    [
        ((), ("--scheme", "foo"), "stripe-store: scheme foo: must be rs, lrc, ppr, ecpipe or triec"),
        (("--stripes", "2"), ("-k", "60", "-m", "10"), "stripe-store: k = 60, m = 10: both at least 1, "),
        ((), ("--degraded", "often"), "stripe-agent: --degraded often: must be weibull:SHAPE:RATE or "),
    ],
)
def test_a_refused_run_leaves_nothing(
    programs: Path, tmp_path: Path, own: tuple[str, ...], arguments: tuple[str, ...], line: str
) -> None:
    folder = tmp_path / "store"
    assert refusal(programs, "stripe-store", "run", *own, folder, *arguments).startswith(line)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_run_of_stripes_leaves_nothing(programs: Path, tmp_path: Path) -> None:
    """Every agent that is refused prints its line."""
    command = [programs / "stripe-store", "run", "--stripes", "2", tmp_path / "s", "--provider", "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 2 and 1 <= done.stderr.count("stripe-agent: cannot take part: ") <= 2
    assert list(tmp_path.iterdir()) == []


def test_memcached_is_missing(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    monkeypatch.setenv("PATH", f"{tmp_path}::/nowhere")
    line = refusal(programs, "stripe-store", "run", folder)
    assert line == (
        "stripe-store: memcached is not in PATH; install it, for example by apt-get install memcached"
    )
    assert not folder.exists()


def test_a_refused_run_keeps_a_folder_of_the_user(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "key").touch(0o600)
    (folder / "key").write_text("00" * 32)
    refusal(programs, "stripe-store", "run", folder, "--degraded", "often")
    assert (folder / "key").read_text() == "00" * 32


def test_a_folder_that_others_can_change(programs: Path, tmp_path: Path) -> None:
    """They could choose the passwords, and have other files overwritten by links."""
    folder, other = tmp_path / "store", tmp_path / "other"
    folder.mkdir()
    other.write_text("a file of the user\n")
    (folder / "store.lock").symlink_to(other)
    (folder / "key").touch(0o600)
    (folder / "key").write_text("00" * 32)
    folder.chmod(0o777)
    cases = [f"{folder}: all users can write to it: chmod o-w it"]
    if os.geteuid() == 0:
        cases.append(f"{folder}: belongs to another user")
    for line in cases:
        assert refusal(programs, "stripe-store", "run", folder) == f"stripe-store: {line}"
        assert refusal(programs, "stripe-store", "stop", folder) == f"stripe-store: {line}"
        assert refusal(programs, "stripe-agent", folder) == f"stripe-agent: {line}"
        assert refusal(programs, "stripe-chunk", "1", folder) == f"stripe-chunk: {line}"
        os.chown(folder, 12345 if os.geteuid() == 0 else -1, -1)
    assert other.read_text() == "a file of the user\n"


def test_other_users_do_not_read_the_values_on_disk(programs: Path, tmp_path: Path) -> None:
    """The folder of a disk may be a mount point that all users can enter."""
    folder = tmp_path / "store"
    disk = folder / "disk-1"
    disk.mkdir(parents=True)
    disk.chmod(0o777)
    line = refusal(programs, "stripe-store", "run", "--disk", "64M", folder)
    assert line == f"stripe-store: {disk}: all users can write to it: chmod o-w it"
    disk.chmod(0o755)
    (disk / "chunks").touch(0o644)  # of an earlier release, or of the operator
    with running(programs, folder, own=("--disk", "64M")):
        files = [path for path in folder.glob("disk-*/*") if path.name.startswith("chunks")]
        assert len(files) == 10
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_keys_that_are_refused(programs: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    agent = ("stripe-agent", tmp_path)
    assert refusal(programs, *agent) == f"stripe-agent: cannot read {key}: No such file or directory"
    key.touch(0o644)
    assert refusal(programs, *agent) == f"stripe-agent: {key} is readable by others: chmod 600 it"
    key.chmod(0o600)
    for text in ("", "00" * 15, "00" * 65, "zz" * 32):
        key.write_text(text)
        allowed = "one line, or two with the previous key, of 16 to 64 bytes as hexadecimal digits"
        assert refusal(programs, *agent) == f"stripe-agent: {key}: must be {allowed}"


def test_another_code_than_the_values_have(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("00" * 32)
    nodes = "".join(f"node {rank} {'ab' * 16}\n" for rank in range(1, 6))
    (tmp_path / "group").write_text(
        f"stripe-store group 1\nid {'cd' * 16}\nepoch 3\ncode cauchy 3 2\n{nodes}"
    )
    line = refusal(programs, "stripe-agent", "-k", "2", "-m", "3", tmp_path)
    assert line == f"stripe-agent: {tmp_path} has values in the code cauchy 3 2, not cauchy 2 3"
    (tmp_path / "group").write_text("stripe-store group 1\nid x\n")
    line = refusal(programs, "stripe-agent", tmp_path)
    assert line == f"stripe-agent: {tmp_path}/group is damaged, or has another number of chunk servers than 5"


def test_a_memcached_that_evicts(programs: Path, tmp_path: Path) -> None:
    """The chunk server refuses such a memcached and states the reason."""
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("00" * 32)
    user = ["-u", "root"] if os.geteuid() == 0 else []
    socket = tmp_path / "memcached-1"
    log = tmp_path / "log"
    processes = [subprocess.Popen(["memcached", "-s", socket, "-t", "1", *user])]
    try:
        wait_for("memcached", socket.exists)
        with log.open("w") as to:
            command = [programs / "stripe-chunk", "1", tmp_path]
            processes.append(subprocess.Popen(command, stderr=to, cwd=tmp_path))
        wait_for("the message", lambda: "\n" in log.read_text())
        assert log.read_text() == "stripe-chunk 1: memcached may evict chunks; start it with -M\n"
    finally:
        for process in processes:
            process.terminate()
            process.wait(DEADLINE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_chunk_server_alone_ends(programs: Path, tmp_path: Path, number: int) -> None:
    """It ends before any contact with an agent, at any time, and also if the signal was ignored before."""
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("00" * 32)

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    log = tmp_path / "log"
    with log.open("w") as to:
        command = [programs / "stripe-chunk", "1", tmp_path]
        chunk = subprocess.Popen(command, stderr=to, cwd=tmp_path, preexec_fn=ignore)
    try:
        wait_for("its loop to run", lambda: "memcached does not answer" in log.read_text())
        chunk.send_signal(number)
        assert chunk.wait(DEADLINE) == 0
    finally:
        chunk.kill()
