"""The agent and the chunk servers in one process, with virtual time, links and memcacheds, and faults from a
seed (simulation/main.c). Every seed is replayable; mutants of the store are refuted.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.folders import built, once
from tests.support.levels import sample
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import HERE, call
from tests.system.apps.stripe_store.support import EXAMPLE

PARTS, PART = 3, 334
"""Seeds, in parts: `make test-all` runs the first, `make test-long` the others."""

pytestmark = pytest.mark.needs("store")


def build(folder: Path, store: Path = EXAMPLE) -> Path:
    paths = (f"BUILD={folder}", f"STORE={store}", f"ROOT={ROOT}", f"LIBRARIES={ROOT / 'build'}")
    call("make", "-j2", "-C", HERE / "simulation", *paths, "CFLAGS=-O1 -g")
    return folder / "stripe-simulation" / "simulation" / "run"


@pytest.fixture(scope="session")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built("lib", "compose")
    folder = once(tmp_path_factory, "store-simulation", lambda folder: (build(folder), None)[1])
    return folder / "stripe-simulation" / "simulation" / "run"


def run(program: Path, *arguments: str | int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("part", sample(range(PARTS), 0))
def test_no_seed_fails(simulation: Path, part: int) -> None:
    done = run(simulation, "--seeds", part * PART, PART)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


WIDE = 167000
"""The first seed with all commands, times of expiry and `flush_all` (simulation/world.c)."""


def test_no_seed_with_all_commands_fails(simulation: Path) -> None:
    done = run(simulation, "--seeds", WIDE, PART)
    assert done.returncode == 0, done.stdout + done.stderr


CORRECTED = {
    "a value that a recovery had chosen was deleted by the next one": (22003, 26032),
    "a value that was never acknowledged was reported as lost": (20702, 20907, 25644),
    "a value that was given up as lost during a read had another length": (51122,),
    "chunk servers that did not reach each other made a read fail": (12130, 21370, 30448),
    "the model: a memcached that is down may still have chunks": (18404, 28484),
    "the model: a failed deletion may remove the last record of a lost value late": (78709,),
    "the model: clients whose writes are refused change to another key more often": (84558,),
    "the next agent deleted all values, because the group noted a flush_all that had been refused": (
        *(167052, 167145, 167230),
    ),
    "a chunk server that could not delete its values had the incarnation of one that has": (167345,),
    "a flush_all that failed during a recovery made it wait without end": (168890,),
    "the model: a value may expire while a command changes it": (168289, 168467),
}
"""Seeds that have failed."""


@pytest.mark.parametrize("why", CORRECTED)
def test_a_seed_that_has_failed(simulation: Path, why: str) -> None:
    for seed in CORRECTED[why]:
        done = run(simulation, "--seeds", seed, 1)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("seed", [1878, 3412])
def test_a_damaged_chunk_does_not_decide_a_recovery(simulation: Path, seed: int) -> None:
    """A chunk of an unacknowledged version is damaged, and the agent restarts: it keeps the older version."""
    done = run(simulation, "--seeds", seed, 1)
    assert done.returncode == 0, done.stdout
    assert "reads of lost values" in done.stdout and " 0 reads" in done.stdout


def test_a_seed_has_one_trace(simulation: Path) -> None:
    hashes = run(simulation, "--hashes", 0, 12).stdout.splitlines()[:12]
    assert hashes == run(simulation, "--hashes", 0, 12).stdout.splitlines()[:12]
    assert len({line.split()[-1] for line in hashes}) == 12
    first = run(simulation, "--trace", 3).stdout
    assert first == run(simulation, "--trace", 3).stdout
    assert first != run(simulation, "--trace", 9).stdout


SEEDS = 1000
"""Seeds in which a mutant must be found."""

MUTANTS = {
    "acknowledges before the records are stored": Mutant(
        '(void)fault_point("set.encoded");', "if (r->status == GFSMITH_OK) { on_recorded(w, r); return; }"
    ),
    "acknowledges before the chunks are stored": Mutant("c->ours", "c != NULL", within="on_over"),
    "cas without a comparison of versions": Mutant("e->record.version != c->request.number", "false"),
    "grants a lock that is held": Mutant("grant(a, l);", "granted(owner);", within="lock_take"),
    "recovers the oldest version": Mutant(
        "(a->record.version > b->record.version) - (a->record.version < b->record.version)",
        "(a->record.version < b->record.version) - (a->record.version > b->record.version)",
    ),
    "deletes no chunks and no records": Mutant(
        "memcached_delete($$words)", "(*key ? MEMCACHED_SUCCESS : MEMCACHED_NOTFOUND)"
    ),
    "admits a chunk server whose rebuild has failed": Mutant("s->failed || !admit(s)", "!admit(s)"),
    "does not greet again after a lack of memory": Mutant("s->greeted = false;", ";", within="welcome"),
    "waits too long for an answer": Mutant("ms / 1000", "ms", within="call_begin"),
    "loses messages silently": Mutant("put_note(context, rank, LETTER_LOST);", ";", within="on_message"),
    "reads only versions that replace others": Mutant("!may_count(r, c)", "r == NULL", within="is_doubtful"),
    "counts missing chunks of all chunk servers": Mutant("listed & ~a->group.behind", "listed"),
    "reads only through the scheme's graph": Mutant("r->tries > 0", "false"),
    "always tries to rebuild a lost value": Mutant("index_beyond_repair(a, e)", "false", within="rebuild"),
    "does not record that a value is lost": Mutant("index_lose(a, e);", ";", within="give_up"),
    "acknowledges a deletion before the chunks are deleted": Mutant(
        "rank <= agent_nodes(c->agent)", "rank <= 1", within="call_ask_all"
    ),
    "deletes a record before the replaced version": Mutant("e->old == 0", "true", within="remove_begin"),
    "accepts a damaged chunk": Mutant("item_chunk(*item, bytes, version)", "true"),
    "takes values for expired a second early": Mutant(
        "e->record.expires <= (int64_t)time(NULL)", "e->record.expires <= (int64_t)time(NULL) + 1"
    ),
    "touch does not change the time": Mutant(
        "store(c, old, flags, expires(c->request.exptime));", "store(c, old, flags, when);"
    ),
    "flush_all keeps the index": Mutant("index_clear(a);", ";", within="begin_without_values"),
    "takes a group that was perhaps written for the old one": Mutant(
        "fresh->flushing && written == FILES_DOUBTFUL", "false"
    ),
}

FIRST = {
    "reads only versions that replace others": 6900,
    "counts missing chunks of all chunk servers": 22003,
    "reads only through the scheme's graph": 2980,
    "deletes a record before the replaced version": 100610,
    "recovers the oldest version": 1866,
    "takes values for expired a second early": WIDE,
    "touch does not change the time": WIDE,
    "flush_all keeps the index": WIDE,
    "takes a group that was perhaps written for the old one": WIDE,
}
"""Seeds at which the search begins, if it is not 0: these mutants are found in one of thousands, or need all
commands.
"""


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_refuted(simulation: Path, tmp_path: Path, name: str) -> None:
    source = tmp_path / "source"
    shutil.copytree(EXAMPLE, source)
    shutil.copytree(simulation.parent.parent, tmp_path / "stripe-simulation")
    files = [*source.glob("agent/*.c"), *source.glob("chunk/*.c"), source / "common/net.c"]
    planted, copy = plant(MUTANTS[name], files, tmp_path)
    copy.replace(planted)
    done = run(build(tmp_path, source), "--find", FIRST.get(name, 0), SEEDS)
    print(done.stdout)
    assert done.returncode == 1, done.stdout + done.stderr
