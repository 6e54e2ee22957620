"""A Ceph cluster on loopback: one monitor, one manager, OSDs with stores in files, no authentication."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.system.ceph.rados import Client

PLUGINS = Path("/usr/lib/x86_64-linux-gnu/ceph/erasure-code")
PATIENCE = 240  #: seconds after which a state that does not come is a failure

_CONFIGURATION = """\
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{port}
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}
log file = {folder}/$name.log
admin socket = {folder}/$name.asok
pid file = {folder}/$name.pid
mon data = {folder}/mon.$id
mgr data = {folder}/mgr.$id
osd data = {folder}/osd.$id
mon allow pool size one = true
mon allow pool delete = true
osd pool default size = 1
osd pool default min size = 1
mon osd min down reporters = 1
mon data avail crit = 0
mon data avail warn = 0
osd crush chooseleaf type = 0
osd pool default pg autoscale mode = off
ms bind ipv6 = false
public network = 127.0.0.0/8
osd objectstore = bluestore
bluestore block size = 2147483648
osd memory target = 536870912
osd heartbeat interval = 1
osd heartbeat grace = 5
osd recovery sleep = 0
osd max backfills = 8
osd recovery max active = 8
osd scrub sleep = 0
osd scrub min interval = 1000000
osd scrub max interval = 1000000
osd deep scrub interval = 1000000
mgr initial modules =
erasure code dir = {folder}/plugins
[client]
log file = /dev/null
admin socket =
pid file =
"""


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition, and return its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.2)
    raise AssertionError(f"not within {PATIENCE} s: {what}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """`client` runs commands; OSDs are numbered from 0, and can be stopped, killed and replaced."""

    def __init__(self, folder: Path, plugin: Path) -> None:
        self.folder = folder
        self.configuration = folder / "ceph.conf"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("mon.a", "mgr.x", "plugins"):
            (folder / name).mkdir()
        for library in (*PLUGINS.glob("*.so"), plugin):
            shutil.copy(library, folder / "plugins")
        fsid, port = str(uuid.uuid4()), _free_port()
        self.configuration.write_text(_CONFIGURATION.format(fsid=fsid, port=port, folder=folder))
        address = f"[v2:127.0.0.1:{port}]"
        monmap = str(folder / "monmap")
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, monmap)
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap)
        self._start("ceph-mon", "a")
        self._start("ceph-mgr", "x")
        self.client = Client(self.configuration)

    def run(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run a program of Ceph."""
        environment = {**os.environ, "CEPH_CONF": str(self.configuration)}
        done = subprocess.run(command, env=environment, capture_output=True)
        assert done.returncode == 0 or not check, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def _start(self, program: str, name: str) -> None:
        """Start a daemon that dies with this process."""
        command = ["setpriv", "--pdeathsig", "KILL", program]
        command += ["-f", "-i", name, "-c", str(self.configuration)]
        root = ["--setuser", "root", "--setgroup", "root"]
        output = (self.folder / f"{program}.{name}.out").open("ab")
        with output:
            self._daemons[f"{program}.{name}"] = subprocess.Popen(
                [*command, *root], stdout=output, stderr=output, start_new_session=True
            )

    def create_osds(self, numbers: Sequence[int]) -> None:
        """Create empty OSDs, and start them."""
        ids = {number: str(uuid.uuid4()) for number in numbers}
        for number in numbers:
            self.client.command("osd new", uuid=ids[number], id=number)
            shutil.rmtree(self.folder / f"osd.{number}", ignore_errors=True)
            (self.folder / f"osd.{number}").mkdir()

        def make(number: int) -> None:
            self.run("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", ids[number])

        with ThreadPoolExecutor(len(numbers)) as makers:
            list(makers.map(make, numbers))
        self.start(numbers)

    def start(self, numbers: Sequence[int]) -> None:
        """Start OSDs whose stores exist, and wait until they are up."""
        for number in numbers:
            self._start("ceph-osd", str(number))
        until(lambda: set(numbers) <= self.up(), f"OSDs {list(numbers)} up")

    def up(self) -> set[int]:
        """Return the OSDs that the monitor considers up."""
        return {osd["osd"] for osd in self.client.command("osd dump")["osds"] if osd["up"]}

    def stop(self, numbers: Sequence[int], how: signal.Signals = signal.SIGTERM) -> None:
        """End OSDs, and wait for their end."""
        daemons = [self._daemons.pop(f"ceph-osd.{number}") for number in numbers]
        for daemon in daemons:
            daemon.send_signal(how)
        for daemon in daemons:
            daemon.wait(PATIENCE)

    def process(self, number: int) -> int:
        """Return the process of an OSD."""
        return self._daemons[f"ceph-osd.{number}"].pid

    def kill(self, numbers: Sequence[int]) -> None:
        """End OSDs without any warning."""
        self.stop(numbers, signal.SIGKILL)
        until(lambda: not self.up() & set(numbers), f"OSDs {list(numbers)} down")

    def replace(self, numbers: Sequence[int]) -> None:
        """Destroy OSDs that ended, with their stores, and create empty ones in their places."""
        for number in numbers:
            self.client.command("osd destroy-actual", id=number, yes_i_really_mean_it=True)
        self.create_osds(numbers)

    def close(self) -> None:
        self.client.close()
        for daemon in self._daemons.values():
            daemon.kill()
        for daemon in self._daemons.values():
            daemon.wait()

    def clean(self) -> bool:
        """Return whether every placement group has all its chunks."""
        states = self.client.command("status")["pgmap"]
        named = {state["state_name"]: state["count"] for state in states.get("pgs_by_state", [])}
        pools = self.client.command("osd dump")["pools"]
        return sum(named.values()) == named.get("active+clean", 0) == sum(pool["pg_num"] for pool in pools)

    def wait_clean(self) -> None:
        until(self.clean, "all placement groups active and clean")

    def create_pool(self, name: str, groups: int = 4, **profile: str) -> None:
        """Create an erasure-coded pool from a profile, without naming a CRUSH rule."""
        pairs = [f"{key}={value}" for key, value in profile.items()]
        self.client.command("osd erasure-code-profile set", name=name, profile=pairs)
        self.client.command(
            "osd pool create",
            pool=name,
            pg_num=groups,
            pool_type="erasure",
            erasure_code_profile=name,
        )

    def place(self, pool: str, name: str) -> tuple[str, list[int]]:
        """Return the placement group of an object, and the OSD of each of its chunks."""
        found = self.client.command("osd map", pool=pool, object=name)
        return found["pgid"], found["acting"]

    def tool(self, osd: int, *command: str) -> bytes:
        """Run ceph-objectstore-tool for an OSD that is stopped."""
        store = ["ceph-objectstore-tool", "--data-path", str(self.folder / f"osd.{osd}"), "--no-mon-config"]
        return self.run(*store, *command).stdout

    def chunk(self, group: str, index: int, osd: int, name: str) -> bytes:
        """Return a chunk of an object from the store of a stopped OSD."""
        return self.tool(osd, "--pgid", f"{group}s{index}", name, "get-bytes")
