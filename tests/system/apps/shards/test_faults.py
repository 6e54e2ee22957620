"""A fault at any system call or allocation leaves one complete set, and the program names its generation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.levels import first
from tests.support.mutation import Mutant, plant
from tests.system.apps.shards import test_interrupt
from tests.system.apps.shards.faults import (
    MODES,
    SCENES,
    UNDO,
    AfterKill,
    Folder,
    Force,
    Program,
    Protect,
    Repair,
    Scene,
)
from tests.system.apps.shards.power import check_every_loss
from tests.system.apps.shards.support import FLAGS, INCLUDES, ROOT, Tool, call, content, make_set


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scene", first(SCENES, 4), ids=lambda scene: scene.__name__)
def test_every_call(tool: Tool, preload: Path, tmp_path: Path, scene: type[Scene], mode: str) -> None:
    for _ in scene(Program(tool.program, preload, tmp_path)).runs(mode):
        pass


@pytest.mark.parametrize("mode", UNDO)
@pytest.mark.parametrize("scene", [Protect, Force], ids=lambda scene: scene.__name__)
def test_a_fault_while_renames_are_undone(
    tool: Tool, preload: Path, tmp_path: Path, scene: type[Scene], mode: str
) -> None:
    for _ in scene(Program(tool.program, preload, tmp_path)).runs(mode):
        pass


@pytest.mark.parametrize("scene", [Force, AfterKill], ids=lambda scene: scene.__name__)
def test_a_loss_of_power(tool: Tool, preload: Path, tmp_path: Path, scene: type[Scene]) -> None:
    states = check_every_loss(scene(Program(tool.program, preload, tmp_path)), 1, 2)
    assert states > 30  # for example each subset of the four new names


@dataclass(frozen=True, slots=True)
class Bench:
    """A program with an error, the library of faults, and an empty folder."""

    tool: Tool
    preload: Path
    folder: Path

    def faulty(self, plan: str) -> Tool:
        return Tool(self.tool.program, {"LD_PRELOAD": str(self.preload), "SHARDS_FAULT": plan})


Check = Callable[[Bench], None]


def every(scene: type[Scene], mode: str) -> Check:
    def check(bench: Bench) -> None:
        for _ in scene(Program(bench.tool.program, bench.preload, bench.folder)).runs(mode):
            pass

    return check


def power(bench: Bench) -> None:
    check_every_loss(Force(Program(bench.tool.program, bench.preload, bench.folder)), 1, 2)


def meanwhile(bench: Bench) -> None:
    test_interrupt.test_a_shard_that_appears_meanwhile_is_not_replaced(bench.faulty, bench.folder)


def together(bench: Bench) -> None:
    test_interrupt.test_of_two_concurrent_runs_one_is_refused(
        bench.tool, bench.faulty, bench.folder, "protect --force", "rename:4:STOP"
    )


def race(bench: Bench) -> None:
    test_interrupt.test_two_runs_that_race_for_the_lock(bench.tool, bench.faulty, bench.folder)


def hidden(bench: Bench) -> None:
    test_interrupt.test_a_partial_generation_does_not_hide_a_complete_one(
        bench.tool, bench.faulty, bench.folder
    )


def moved(bench: Bench) -> None:
    copy = test_interrupt.make_stale(bench.tool, bench.folder)
    test_interrupt.test_a_copy_whose_shards_are_renamed_or_missing(bench.tool, copy, "moved", "protect")


def newer(bench: Bench) -> None:
    test_interrupt.test_repair_does_not_replace_a_shard_of_a_newer_set(bench.tool, bench.faulty, bench.folder)


def unjudged(bench: Bench) -> None:
    shards = make_set(bench.tool, bench.folder, content(999))
    test_interrupt.test_repair_does_not_replace_a_shard_that_it_cannot_judge(
        bench.tool, bench.faulty, shards, "EACCES"
    )


MUTANTS: dict[str, tuple[Mutant, Check]] = {
    "renames without a record": (
        Mutant("change_announce(&job->change, &job->header)", "TOOL_OK"),
        every(Force, "call:KILL"),
    ),
    "readers ignore the record": (Mutant("!is_incomplete(set, file)", "true", within="choose"), hidden),
    "a rename replaces": (Mutant("RENAME_NOREPLACE", "0", within="rename_new"), meanwhile),
    "no lock": (Mutant("take_locks(c) == 0", "true"), together),
    "the lock of a removed record": (Mutant("locked ? is_named(c) : -1", "locked ? 1 : -1"), race),
    "old shards are removed first": (
        Mutant(
            "status = change_announce(&job->change, &job->header);",
            "status = change_announce(&job->change, &job->header), walk_folder(job, remove_old);",
        ),
        every(Force, "call:KILL"),
    ),
    "the set is completed before the renames": (
        Mutant(
            "status = output_publish(job->outs, job->shards);",
            "{ change_commit(&job->change); status = output_publish(job->outs, job->shards); }",
        ),
        every(Force, "call:KILL"),
    ),
    "an incomplete set is not removed": (
        Mutant("!c->announced || roll_back(c) >= 0", "true"),
        every(Force, "call:EIO"),
    ),
    "a set that cannot be undone is not reported": (
        Mutant("c->announced && c->named", "false", within="change_end"),
        every(Force, "call:EIO+"),
    ),
    "a set that is undone in part is reported": (
        Mutant("c->named = false;", ";", within="roll_back"),
        every(Force, UNDO[3]),
    ),
    "a record that remains counts as removed": (
        Mutant("remove_record(c) != 0", "remove_record(c) > 0", within="change_commit"),
        every(Force, "call:EIO"),
    ),
    "the record disappears before the shards": (
        Mutant("!failed && flush(c->folder) == 0 && ftruncate(c->record, 0) == 0", "true"),
        every(Force, UNDO[1]),
    ),
    "a set whose shards were moved is removed": (
        Mutant("interrupted ? roll_back(c) : 0", "named < all ? roll_back(c) : 0", within="settle"),
        moved,
    ),
    "a record that cannot be read is removed": (
        Mutant("status != TOOL_OK", "false", within="change_begin"),
        every(AfterKill, "call:EIO"),
    ),
    "an archive without its pipe": (
        Mutant("reason == 0", "true", within="spawn"),
        every(Folder, "alloc:ENOMEM"),
    ),
    "a short write is complete": (
        Mutant("size - done", "size", within="write_at"),
        every(Protect, "call:SHORT"),
    ),
    "shards are not flushed": (Mutant("fsync(fd)", "0", within="flush_file"), power),
    "the record is not flushed": (Mutant("fsync(c->record) != 0 || flush(c->folder) != 0", "false"), power),
    "the new names are not flushed": (
        Mutant("flush(c->folder) != 0", "false", within="change_commit"),
        power,
    ),
    "the removal of the record is not flushed": (
        Mutant("flush(c->folder) == 0", "true", within="change_commit"),
        power,
    ),
    "repair does not name the shards that it has rebuilt": (
        Mutant("out->done = true;", ";", within="publish"),
        every(Repair, "call:EIO"),
    ),
    "repair replaces a shard that it could not open": (
        Mutant("check_judged(&job->set)", "TOOL_OK"),
        unjudged,
    ),
    "repair replaces a newer shard": (
        Mutant("check_unchanged(&job->set)", "TOOL_OK"),
        newer,
    ),
}


@pytest.fixture(scope="session")
def objects(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Compile each source of the program."""
    folder = tmp_path_factory.mktemp("objects")
    return {source.name: compiled(source, folder) for source in sorted((ROOT / "apps/shards").glob("*.c"))}


def compiled(source: Path, folder: Path) -> Path:
    made = folder / f"{source.stem}.o"
    call("cc", *FLAGS, "-Wno-unused", *INCLUDES, "-c", "-o", made, source)
    return made


@pytest.mark.parametrize("name", first(MUTANTS, 4))
def test_mutants(tool: Tool, preload: Path, objects: dict[str, Path], tmp_path: Path, name: str) -> None:
    """Each error in the program is found."""
    mutant, check = MUTANTS[name]
    work, build = tmp_path / "bench", tmp_path / "build"
    work.mkdir()
    build.mkdir()
    source, copy = plant(mutant, sorted((ROOT / "apps/shards").glob("*.c")), build)
    program = build / "gfsmith-shards"
    parts = {**objects, source.name: compiled(copy, build)}
    libraries = (ROOT / "build" / name for name in ("libgfsmith-shards.a", "libgfsmith.a"))
    call("cc", "-o", program, *parts.values(), *libraries, "-lpthread")
    with pytest.raises(AssertionError):
        check(Bench(Tool(program, {}), preload, work))
