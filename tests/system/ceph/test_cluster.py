"""examples/ceph on a real cluster: Ceph 16 of Debian's packages, eight OSDs with BlueStore.

One test, because the start of a cluster takes a third of its time: each step leaves it with all its OSDs and
placement groups in order.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.ceph.cluster import Cluster, until

OSDS = range(8)
DOMAIN = {"crush-failure-domain": "osd"}
TECHNIQUES = ("cauchy", "reed_sol_van")
LAYERS = [
    ["_cDD_cDD", "plugin=gfsmith technique=cauchy"],
    ["cDDD____", "plugin=gfsmith"],
    ["____cDDD", "plugin=gfsmith"],
]
#: Pools with our plugin; any two chunks of the first three may be lost.
MDS_POOLS = ("ours-cauchy", "ours-reed_sol_van", "mapped")
POOLS = (*MDS_POOLS, "lrc")
SIZES = (1, 4096, 1_000_003)


@pytest.fixture
def cluster(build: Path, tmp_path: Path) -> Iterator[Cluster]:
    where = [f"BUILD={tmp_path}", f"LIBGFSMITH={build / 'libgfsmith.a'}"]
    subprocess.run(["make", "-s", "-C", str(ROOT / "examples" / "ceph"), *where], check=True)
    made = Cluster(tmp_path, tmp_path / "libec_gfsmith.so")
    try:
        made.create_osds(OSDS)
        _create_pools(made)
        yield made
    finally:
        made.close()


def _create_pools(cluster: Cluster) -> None:
    for technique in TECHNIQUES:
        for name, plugin in (("ours", "gfsmith"), ("isa", "isa")):
            shape = {"k": "4", "m": "2", "technique": technique, **DOMAIN}
            cluster.create_pool(f"{name}-{technique}", plugin=plugin, **shape)
    cluster.create_pool("mapped", plugin="gfsmith", k="5", m="3", mapping="_DDD_DD_", **DOMAIN)
    steps = {"crush-steps": json.dumps([["choose", "osd", 0]])}
    cluster.create_pool("lrc", plugin="lrc", mapping="__DD__DD", layers=json.dumps(LAYERS), **steps)
    cluster.wait_clean()


def test_a_cluster(cluster: Cluster) -> None:
    check_the_rules_and_profiles_of_pools(cluster)
    check_chunks_and_scrubs(cluster)
    check_that_an_osd_dies_under_load(cluster)
    check_that_two_osds_die_under_load(cluster)


def _object(name: str, size: int) -> bytes:
    return random.Random(name).randbytes(size)


def check_the_rules_and_profiles_of_pools(cluster: Cluster) -> None:
    """`osd pool create` made a rule for each pool; profiles have the keys of Ceph's own plugin.

    An OSD has our library in its memory.
    """
    assert "/plugins/libec_gfsmith.so" in Path(f"/proc/{cluster.process(0)}/maps").read_text()
    rules = {rule["rule_name"]: rule for rule in cluster.client.command("osd crush rule dump")}
    for technique in TECHNIQUES:
        ours, isa = rules[f"ours-{technique}"], rules[f"isa-{technique}"]
        differing = {key for key in ours if ours[key] != isa[key]}
        assert differing <= {"rule_id", "ruleset", "rule_name"}
        assert ours["max_size"] == 6
        profiles = [
            cluster.client.command("osd erasure-code-profile get", name=f"{name}-{technique}")
            for name in ("ours", "isa")
        ]
        assert [profile.pop("plugin") for profile in profiles] == ["gfsmith", "isa"]
        assert profiles[0] == profiles[1]
    assert rules["mapped"]["max_size"] == 8


def _put(
    cluster: Cluster, pools: Sequence[str], sizes: Sequence[int], name: str
) -> dict[tuple[str, str], str]:
    """Write objects, and return their digests."""
    written = {}
    for pool in pools:
        for size in sizes:
            data = _object(f"{name}-{size}", size)
            cluster.client.write(pool, f"{name}-{size}", data)
            written[pool, f"{name}-{size}"] = hashlib.sha256(data).hexdigest()
    return written


def _read_all(cluster: Cluster, written: dict[tuple[str, str], str]) -> None:
    for (pool, name), digest in written.items():
        assert hashlib.sha256(cluster.client.read(pool, name)).hexdigest() == digest, (pool, name)


def check_chunks_and_scrubs(cluster: Cluster) -> None:
    """Chunks on OSDs equal those of plugin isa. A deep scrub finds a flipped bit, a repair corrects it."""
    pools = [f"{name}-{technique}" for technique in TECHNIQUES for name in ("ours", "isa")]
    size = 300_001
    written = _put(cluster, pools, [size], "object")
    places = {pool: cluster.place(pool, f"object-{size}") for pool in pools}
    cluster.stop(OSDS)

    def chunk(place: tuple[str, int]) -> bytes:
        group, osds = places[place[0]]
        return cluster.chunk(group, place[1], osds[place[1]], f"object-{size}")

    wanted = [(pool, index) for pool in pools for index in range(6)]
    by_osd: dict[int, list[tuple[str, int]]] = {}
    for pool, index in wanted:
        by_osd.setdefault(places[pool][1][index], []).append((pool, index))
    with ThreadPoolExecutor(4) as readers:  # a store has one reader at a time
        found = list(readers.map(lambda osd: [(place, chunk(place)) for place in by_osd[osd]], by_osd))
    chunks = {place: data for part in found for place, data in part}
    for technique in TECHNIQUES:
        for index in range(6):
            ours = chunks[f"ours-{technique}", index]
            assert ours == chunks[f"isa-{technique}", index] and len(ours) >= size // 4
    pool, index = "ours-cauchy", 5
    group, osds = places[pool]
    damaged = bytearray(chunks[pool, index])
    damaged[1000] ^= 0x10
    replacement = cluster.folder / "damaged"
    replacement.write_bytes(damaged)
    cluster.tool(osds[index], "--pgid", f"{group}s{index}", f"object-{size}", "set-bytes", str(replacement))
    cluster.start(OSDS)
    cluster.wait_clean()
    assert _scrub(cluster, group) == [(f"object-{size}", [index])]
    cluster.client.command("pg repair", to="mgr", pgid=group)
    until(lambda: not _inconsistent(cluster, group) and cluster.clean(), "the repair")
    assert _scrub(cluster, group) == []
    _read_all(cluster, written)


def _scrub(cluster: Cluster, group: str) -> list[tuple[str, list[int]]]:
    """Scrub a placement group deeply. Return the objects with errors, and the shards that have them."""

    def stamp() -> str:
        query = cluster.run("ceph", "pg", group, "query", "--format=json").stdout
        return str(json.loads(query)["info"]["history"]["last_deep_scrub_stamp"])

    before = stamp()
    cluster.client.command("pg deep-scrub", to="mgr", pgid=group)
    until(lambda: stamp() != before, f"the deep scrub of {group}")
    return _inconsistent(cluster, group)


def _inconsistent(cluster: Cluster, group: str) -> list[tuple[str, list[int]]]:
    done = cluster.run("rados", "list-inconsistent-obj", group, "--format=json", check=False)
    if done.returncode != 0:
        return []
    return [
        (found["object"]["name"], [shard["shard"] for shard in found["shards"] if shard["errors"]])
        for found in json.loads(done.stdout)["inconsistents"]
    ]


class _Load:
    """Writes objects to pools, and reads them, until it is left. `written`: the digests of all objects."""

    def __init__(self, cluster: Cluster, pools: Sequence[str]) -> None:
        self._cluster = cluster
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(len(pools))
        self._running = [self._threads.submit(self._work, pool) for pool in pools]
        self.written: dict[tuple[str, str], str] = {}

    def __enter__(self) -> _Load:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop.set()
        self._threads.shutdown()
        for running in self._running if kind is None else ():
            assert len(running.result()) >= 10  # or raises the error of a read or write that failed
            self.written |= running.result()

    def _work(self, pool: str) -> dict[tuple[str, str], str]:
        written: dict[tuple[str, str], str] = {}
        pick = random.Random(pool)
        while not self._stop.wait(0.1):
            written |= _put(self._cluster, [pool], [pick.randint(1, 200_000)], f"load{len(written)}")
            name = pick.choice(list(written))
            _read_all(self._cluster, {name: written[name]})
        return written


def check_that_an_osd_dies_under_load(cluster: Cluster) -> None:
    """An OSD is killed while clients write and read; a new, empty one gets all its chunks."""
    written = _put(cluster, POOLS, SIZES, "first")
    with _Load(cluster, POOLS) as load:
        cluster.kill([4])
        written |= _put(cluster, POOLS, [65_537], "degraded")
        _read_all(cluster, written)
        cluster.replace([4])
        cluster.wait_clean()
    _read_all(cluster, written | load.written)


def check_that_two_osds_die_under_load(cluster: Cluster) -> None:
    """The same with two, the most that our pools bear; then two others die, so reads need recovered chunks.

    Ceph's plugin lrc cannot repair all chunks after every loss of two, whichever plugin computes its layers.
    """
    cluster.client.command("osd pool delete", pool="lrc", pool2="lrc", yes_i_really_really_mean_it=True)
    for pool in MDS_POOLS:
        least = cluster.client.command("osd pool get", pool=pool, var="min_size")["min_size"] - 1
        cluster.client.command("osd pool set", pool=pool, var="min_size", val=str(least))
    written = _put(cluster, MDS_POOLS, SIZES, "second")
    with _Load(cluster, MDS_POOLS) as load:
        cluster.kill([2, 5])
        written |= _put(cluster, MDS_POOLS, [65_537], "twice degraded")
        _read_all(cluster, written)
        cluster.replace([2, 5])
        cluster.wait_clean()
    cluster.kill([0, 7])
    _read_all(cluster, written | load.written)
