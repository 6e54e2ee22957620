"""Parallel calls and the pool; deliberate errors in them, which the two C programs detect.

tests/system/hardening/test_sanitizers.py runs the same programs under sanitizers.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.compiler import Compiler, detects, run_program
from tests.support.machines import runtime_sources
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

#: Programs, and seconds after which one with an error that does not end is detected.
PROGRAMS = {"parallel": 10, "pool": 5}

#: The program that detects the error, and the error.
MUTANTS = (
    # Wrong cuts.
    ("parallel", Mutant("call->src[j] + begin", "call->src[j]")),
    ("parallel", Mutant("call->dst[i] + begin", "call->dst[i] + begin + 1")),
    ("parallel", Mutant("task_begin(call, index + 1) - begin", "task_begin(call, index + 1) - begin + 1")),
    ("parallel", Mutant("(size_t)(-(uintptr_t)first % GFS_CACHE_LINE)", "0")),
    ("parallel", Mutant("GFS_PACKETS * packets->packet", "packets->packet", within="cut_tasks")),
    ("parallel", Mutant("return call->len;", "return call->len - 1;")),
    # Arguments that are checked late or not at all, and calls that are shared though they are short.
    ("parallel", Mutant("!gfs_encode_valid($$all)", "false", within="gfsmith_encode_parallel")),
    ("parallel", Mutant("!gfs_check_valid($$all)", "false", within="gfsmith_check_parallel")),
    ("parallel", Mutant("gfs_change_check($$all)", "GFSMITH_OK", within="share_change")),
    ("parallel", Mutant("!gfs_plan_select($$all)", "!gfs_plan_select($$all) && false")),
    ("parallel", Mutant("(uint64_t)len * shards >= least_shared(executor)", "len > 0")),
    ("parallel", Mutant("executor->workers > 1", "true", within="gfs_is_shared")),
    # Wrong parameters of the tasks.
    ("parallel", Mutant("all->index + done", "all->index")),
    ("parallel", Mutant("change.sources = src;", "(void)src;")),
    # A check that does not report, or does not stop.
    ("parallel", Mutant("!atomic_load_explicit($$all)", "true", within="gfsmith_check_parallel")),
    ("parallel", Mutant("atomic_load_explicit($$all)", "false", within="check_in_task")),
    # The pool: a missing barrier, a task too many, another process, cancellation, signals, stacks, busy
    # waiting.
    ("pool", Mutant("job->ended < job->tasks", "false")),
    ("pool", Mutant("++job->ended == job->tasks", "++job->ended > 0 && job->ended == job->tasks - 1")),
    ("pool", Mutant("job->begun < job->tasks", "job->begun <= job->tasks", within="share_job")),
    ("pool", Mutant("pool->process == gfs_threads_process()", "true", within="run_in_pool")),
    ("pool", Mutant("pool->process == gfs_threads_process()", "true", within="gfsmith_pool_destroy")),
    ("pool", Mutant("gfs_cancel_forbid()", "0", within="run_in_pool")),
    ("pool", Mutant("gfs_cancel_restore(cancel);", "(void)cancel;", within="run_in_pool")),
    ("pool", Mutant("sigfillset(mask)", "sigemptyset(mask)")),
    ("pool", Mutant("sigdelset(mask, own[n])", "(void)own[n]")),
    ("pool", Mutant("stack >= STACK_LEAST", "true")),
    ("pool", Mutant("stack >= STACK_LEAST", "false")),
    ("pool", Mutant("gfs_condition_wait(&pool->added, &pool->lock);", ";", within="serve_pool")),
    ("pool", Mutant("(unsigned)CPU_COUNT(&set)", "1u + (unsigned)CPU_COUNT(&set)")),
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(compiler: Compiler, name: str) -> None:
    done = run_program(compiler.link(name), 300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.fixture(scope="session")
def objects(build: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the compiled programs, without the library."""
    compiler = Compiler(build, tmp_path_factory.mktemp("parallel"))
    return {name: compiler.compile(name) for name in PROGRAMS}


@pytest.mark.parametrize(("name", "mutant"), MUTANTS, ids=str)
def test_the_program_detects_the_error(
    name: str, mutant: Mutant, compiler: Compiler, objects: dict[str, Path]
) -> None:
    sources = [ROOT / path for path in runtime_sources() if path.stem in ("parallel", "pool", "thread")]
    wrong = compiler.link_error(objects[name], mutant, sources)
    assert detects(wrong, PROGRAMS[name], cpu=4)


def test_a_build_without_threads(compiler: Compiler) -> None:
    """With GFSMITH_NO_THREADS the library has the functions, and a pool is not supported."""
    source = compiler.output / "none.c"
    source.write_text("""#include <gfsmith_parallel.h>
int main(void) {
  gfsmith_pool *pool = (gfsmith_pool *)&pool;
  gfsmith_pool_destroy(NULL);
  return gfsmith_pool_create(NULL, 0) != GFSMITH_EINVAL ||
         gfsmith_pool_create(&pool, GFSMITH_POOL_MAX + 1) != GFSMITH_EINVAL ||
         gfsmith_pool_create(&pool, 2) != GFSMITH_EUNSUPPORTED || pool != NULL ||
         gfsmith_pool_executor(pool) != NULL;
}
""")
    sources = ["runtime/core/src/pool.c", "runtime/core/src/thread.c"]
    program = compiler.output / "none"
    flags = (*compiler.FLAGS, *compiler.INCLUDES, "-DGFSMITH_NO_THREADS")
    compiler.run("gcc", *flags, str(source), *sources, "-o", str(program))
    assert run_program(program, 60).returncode == 0
    undefined = subprocess.run(["nm", "-u", program], capture_output=True, text=True, check=True).stdout
    assert "pthread" not in undefined
