"""Histories of concurrent clients under faults are linearizable with every scheme; mutants are refuted.

GFSMITH_NEMESIS_ROUNDS, _STEPS and _SEED make a longer search, or repeat one (docs/tests.md).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.levels import sample
from tests.support.limits import without_limit
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.stripe_store.conftest import call
from tests.system.apps.stripe_store.history import (
    CHOICES,
    VERBS,
    Client,
    Keys,
    Operation,
    end_calmly,
    verdict,
    work_during,
)
from tests.system.apps.stripe_store.nemesis import DISK_KINDS, KINDS, Step, Victim, schedule, victim
from tests.system.apps.stripe_store.support import EXAMPLE, wait_for
from tests.system.apps.stripe_store.test_disk import mounted
from tests.system.apps.stripe_store.test_schemes import SHAPES, Shape

LONGER = without_limit("GFSMITH_NEMESIS_ROUNDS", "GFSMITH_NEMESIS_STEPS")
pytestmark = [pytest.mark.needs("store", "go"), *LONGER]

ROUNDS, STEPS, SEED = (
    int(os.environ.get(f"GFSMITH_NEMESIS_{name}", default))
    for name, default in (("ROUNDS", 1), ("STEPS", 6), ("SEED", 1))
)
CLIENTS = 5
FEWEST = 500
"""Operations of all clients under faults."""

ALL = {"rs": Shape(3, 2), **SHAPES}


# -- the checker -----------------------------------------------------------------------------------


def op(verb: str, result: str | None, times: tuple[int, int], argument: str = "", **fields: str) -> Operation:
    return Operation(
        key="key",
        verb=verb,
        argument=argument,
        expected=fields.get("expected", ""),
        outcome=fields.get("outcome", "ok"),
        result=result,
        invoke=times[0],
        end=times[1],
    )


def stored(argument: str, *times: int) -> Operation:
    return op("set", "STORED", (times[0], times[1]), argument)


def unanswered(verb: str, argument: str, *times: int, outcome: str = "unknown") -> Operation:
    return op(verb, None, (times[0], times[1]), argument, outcome=outcome)


def got(value: str | None, *times: int) -> Operation:
    return op("get", value, (times[0], times[1]))


REFUTED = {
    "stale read": [stored("a", 1, 2), stored("b", 3, 4), got("a", 5, 6)],
    "lost write": [stored("a", 1, 2), got(None, 3, 4)],
    "resurrected delete": [stored("a", 1, 2), op("delete", "DELETED", (3, 4)), got("a", 5, 6)],
    "value of nobody": [stored("a", 1, 2), got("damaged a", 3, 4)],
    "back and forth": [stored("a", 1, 2), stored("b", 3, 9), got("b", 4, 5), got("a", 6, 7)],
    "unknown write that is undone": [
        stored("a", 1, 2),
        unanswered("set", "b", 3, 4),
        got("b", 5, 6),
        got("a", 7, 8),
    ],
    "refused write that has an effect": [unanswered("set", "a", 1, 2, outcome="fail"), got("a", 3, 4)],
    "cas of an old version": [
        stored("a", 1, 2),
        stored("b", 3, 4),
        op("cas", "STORED", (5, 6), "c", expected="a"),
    ],
    "two cas of one version": [
        stored("a", 1, 2),
        op("cas", "STORED", (3, 6), "b", expected="a"),
        op("cas", "STORED", (4, 7), "c", expected="a"),
    ],
    "add over a value": [stored("a", 1, 2), op("add", "STORED", (3, 4), "b")],
    "add to nothing refused": [op("add", "NOT_STORED", (1, 2), "b")],
    "counter that counts one of two": [
        stored("10", 1, 2),
        op("incr", "11", (3, 6), "1"),
        op("incr", "11", (4, 7), "1"),
    ],
    "delete of nothing": [op("delete", "DELETED", (1, 2))],
}

ACCEPTED = {
    "concurrent write": [stored("a", 1, 2), stored("b", 3, 6), got("a", 4, 5), got("b", 7, 8)],
    "unknown write, later": [
        stored("a", 1, 2),
        unanswered("set", "b", 3, 4),
        got("a", 5, 6),
        got("b", 7, 8),
    ],
    "unknown delete, never": [stored("a", 1, 2), unanswered("delete", "", 3, 4), got("a", 5, 6)],
    "unknown read": [stored("a", 1, 2), unanswered("get", "", 3, 4), got("a", 5, 6)],
    "refused write": [unanswered("set", "a", 1, 2, outcome="fail"), got(None, 3, 4)],
    "cas, add and delete": [
        op("add", "STORED", (1, 2), "a"),
        op("add", "NOT_STORED", (3, 4), "b"),
        op("cas", "STORED", (5, 6), "c", expected="a"),
        op("cas", "EXISTS", (7, 8), "d", expected="a"),
        op("delete", "DELETED", (9, 10)),
        op("cas", "NOT_FOUND", (11, 12), "d", expected="c"),
        op("delete", "NOT_FOUND", (13, 14)),
        op("incr", "NOT_FOUND", (15, 16), "1"),
        got(None, 17, 18),
    ],
    "counter": [
        stored("10", 1, 2),
        op("incr", "15", (3, 6), "3"),
        op("incr", "12", (4, 7), "2"),
        unanswered("incr", "100", 8, 9),
        got("115", 10, 11),
    ],
}


@pytest.mark.parametrize("name", REFUTED)
def test_the_checker_refutes(checker: Path, name: str) -> None:
    assert verdict(checker, REFUTED[name]) == "key: not linearizable\n"


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_checker_accepts(checker: Path, name: str) -> None:
    assert verdict(checker, ACCEPTED[name]) == ""


def test_keys_are_independent(checker: Path) -> None:
    """A history is refuted if one of its keys is, which is named."""
    fine = Operation(key="other", verb="get", outcome="ok", invoke=1, end=2)
    assert verdict(checker, [fine, *REFUTED["lost write"]]) == "key: not linearizable\n"


# -- histories of the store ------------------------------------------------------------------------


def record(store: Victim, seed: int, steps: list[Step], weights: Mapping[str, int]) -> list[Operation]:
    """Return the history of clients that run during the steps, and of a last part without faults."""
    keys = Keys()
    clients = [Client(number, seed, store.address, keys, weights) for number in range(1, CLIENTS + 1)]

    def meanwhile() -> None:
        for step in steps:
            store.play(step)
        wait_for("operations", lambda: sum(len(client.history) for client in clients) >= FEWEST)

    work_during(clients, meanwhile)
    store.wait_writable()
    return end_calmly(clients, keys)


@contextmanager
def store_with(programs: Path, logs: Path, scheme: str) -> Iterator[Victim]:
    options = ("--scheme", scheme, "--deadline", "1000")
    with mounted("128k") as mount, victim(programs, mount.path, logs, ALL[scheme], *options) as store:
        yield store


@pytest.mark.parametrize("scheme", sample(ALL, "rs", "ppr", "lrc"))
def test_histories_are_linearizable(programs: Path, checker: Path, tmp_path: Path, scheme: str) -> None:
    for seed in range(SEED, SEED + ROUNDS):
        print(f"GFSMITH_NEMESIS_SEED={seed} GFSMITH_NEMESIS_STEPS={STEPS} scheme {scheme}")
        logs = tmp_path / str(seed)
        logs.mkdir()
        with store_with(programs, logs, scheme) as store:
            history = record(store, seed, schedule(seed, ALL[scheme], STEPS), CHOICES)
        print(len(history), "operations,", sum(each.outcome == "unknown" for each in history), "unknown")
        (logs / "history").write_text("".join(each.line() + "\n" for each in history))
        assert {each.verb for each in history if each.outcome == "ok"} == set(VERBS)
        refuted = verdict(checker, history)
        assert not refuted, f"seed {seed}, {scheme}, history in {logs}: {refuted}"


def test_histories_on_disks_are_linearizable(programs: Path, checker: Path, tmp_path: Path) -> None:
    """The faults include cuts of the power of all machines."""
    shape = ALL["rs"]
    for seed in range(SEED, SEED + ROUNDS):
        print(f"GFSMITH_NEMESIS_SEED={seed} GFSMITH_NEMESIS_STEPS={STEPS} on disks")
        logs = tmp_path / str(seed)
        logs.mkdir()
        steps = schedule(seed, shape, STEPS, DISK_KINDS)
        options = ("--deadline", "1000")
        with victim(programs, tmp_path, logs, shape, *options, own=("--disk", "10")) as store:
            history = record(store, seed, steps, CHOICES)
        shutil.rmtree(store.folder)
        (logs / "history").write_text("".join(each.line() + "\n" for each in history))
        refuted = verdict(checker, history)
        assert not refuted, f"seed {seed}, history in {logs}: {refuted}"


def test_a_seed_has_one_schedule() -> None:
    for shape in ALL.values():
        assert schedule(5, shape, 40) == schedule(5, shape, 40) != schedule(6, shape, 40)
        assert {fault.kind for step in schedule(5, shape, 40) for fault in step.faults} == set(KINDS)


# -- mutants of the store --------------------------------------------------------------------------

DELETIONS = {"get": 30, "add": 20, "delete": 50}
#: Mutants, with the number of times that the agent is killed, and the weights of the commands.
MUTANTS: dict[str, tuple[Mutant, int, Mapping[str, int]]] = {
    "acknowledges before the records are stored": (
        Mutant(
            '(void)fault_point("set.encoded");',
            "if (r->status == GFSMITH_OK) { on_recorded(w, r); return; }",
        ),
        2,
        CHOICES,
    ),
    "deletes no chunks and no records": (
        Mutant("memcached_delete($$words)", "(*key ? MEMCACHED_SUCCESS : MEMCACHED_NOTFOUND)"),
        2,
        DELETIONS,
    ),
    "cas without a comparison of versions": (
        Mutant("e->record.version != c->request.number", "false"),
        0,
        CHOICES,
    ),
    "add replaces": (Mutant('e != NULL ? "NOT_STORED" : NULL', "NULL", within="condition"), 0, CHOICES),
}


def mutated(programs: Path, mutant: Mutant, folder: Path) -> Path:
    """Return the programs, of which only the mutant's file is compiled again."""
    build, source = folder / "build", folder / "source"
    shutil.copytree(programs.parent, build)
    shutil.copytree(EXAMPLE, source)
    planted, copy = plant(mutant, [*source.glob("agent/*.c"), *source.glob("chunk/*.c")], folder)
    copy.replace(planted)
    paths = (f"BUILD={build}", f"ROOT={ROOT}", f"LIBRARIES={ROOT / 'build'}")
    call("make", "-C", source, *paths, "FAULTS=1", "CFLAGS=-O1 -g")
    return build / "stripe-store"


@pytest.mark.parametrize("name", MUTANTS)
def test_histories_of_mutants_are_refuted(programs: Path, checker: Path, tmp_path: Path, name: str) -> None:
    mutant, kills, weights = MUTANTS[name]
    steps = schedule(1, ALL["rs"], kills, ("kill agent",))
    with store_with(mutated(programs, mutant, tmp_path), tmp_path, "rs") as store:
        history = record(store, 1, steps, weights)
    assert "not linearizable" in verdict(checker, history)
