"""C programs with the library: sanitizers, memory, threads; the contents of the object files."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.support import needs
from tests.support.compiler import Compiler, run_program
from tests.support.levels import sample
from tests.support.library import OK, X86_ISAS, Api, Arena, cauchy_shards
from tests.support.machines import runtime_sources
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

WRAPPED = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free")
LIBC = {
    *("malloc", "calloc", "free", "getenv", "fprintf", "stderr", "strcmp", "strlen"),
    *("memcmp", "memcpy", "memset", "memmove"),
    *("__fprintf_chk", "__memcpy_chk", "__memset_chk"),  # with _FORTIFY_SOURCE
}
#: Used by thread.c and pool.c only: the pool of threads.
THREADS = {
    *(f"pthread_{name}" for name in ("create", "join", "setcancelstate", "sigmask")),
    *(f"pthread_attr_{name}" for name in ("init", "destroy", "getstacksize", "setstacksize")),
    *(f"pthread_mutex_{name}" for name in ("init", "destroy", "lock", "unlock")),
    *(f"pthread_cond_{name}" for name in ("init", "destroy", "wait", "signal", "broadcast")),
    *("sigfillset", "sigdelset", "sched_getaffinity", "__sched_cpucount", "sysconf", "getpid"),
}
STRICT = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")


PROBE_ERRORS = (
    Mutant("time_of_lines(len, src, inputs) <= MOST_TICKS", "0"),
    Mutant("time_of_lines(len, src, inputs) <= MOST_TICKS", "1"),
    Mutant("len * shards <= GFS_PROBED_ABOVE", "len * shards < GFS_PROBED_ABOVE"),
    Mutant("gfs_path_is_cached(path)", "0", within="gfs_path_probed"),
    Mutant("len / (2 * LINES) * (2 * n + 1)", "len / LINES * (2 * n + 1)"),
    Mutant("inputs * (2 * n + 1) / (2 * LINES)", "inputs * (2 * n + 2) / (2 * LINES)"),
)

STEP_CPUS = ("znver4", "znver5")  #: for one of which steps pay less often

#: Errors of the choice between steps and whole shards (apply.c), which pieces.c must detect.
STEP_ERRORS = (
    Mutant("path == GFS_PATH_bulk && pass->traits.store == GFS_STORE_streaming", "path == GFS_PATH_bulk"),
    Mutant("path == GFS_PATH_bulk && pass->traits.store == GFS_STORE_streaming", "false"),
    Mutant("around ? 0 : pass->outputs", "around ? 0 : map->outputs"),
    Mutant("pass->traits.prefetch > 0", "true", within="steps_pay"),
    Mutant("map->dots == 1", "true", within="steps_pay"),
    Mutant("len < LONG_SHARD", "false", within="steps_pay"),
    Mutant("looks_ahead(map, path, len)", "false", within="steps_pay"),
    Mutant("path == GFS_PATH_distant", "path >= GFS_PATH_distant", within="looks_ahead"),
    Mutant("path == GFS_PATH_distant", "path <= GFS_PATH_distant", within="looks_ahead"),
    Mutant("map->dots == 1", "true", within="looks_ahead"),
    Mutant("map->outputs < MANY_OUTPUTS", "true", within="looks_ahead"),
    Mutant("shards <= WHOLE_SHARDS", "true", within="looks_ahead"),
    Mutant("shards <= WHOLE_SHARDS", "shards < WHOLE_SHARDS", within="looks_ahead"),
    Mutant("len * shards >= gfs_limits_here()->whole_min", "true", within="looks_ahead"),
    Mutant("len * shards >= gfs_limits_here()->whole_min", "false", within="looks_ahead"),
    Mutant(
        "!gfs_path_is_cached(path) && (near_of(map, path) > 0 || steps_pay(map, path, len))",
        "near_of(map, path) > 0 || steps_pay(map, path, len)",
    ),
    Mutant("near > 0", "false", within="fetched"),
    Mutant("path == GFS_PATH_distant && map->dots == 1", "map->dots == 1", within="near_of"),
    Mutant("path == GFS_PATH_distant && map->dots == 1", "path == GFS_PATH_distant", within="near_of"),
)

#: CPUs of which one prefetches wide codes into the first-level cache and stores whole lines, and sets of
#: which one has such stores.
WIDE_CASES = [(cpu, isa) for cpu in STEP_CPUS for isa in ("gfni_avx512", "sse")]

#: Errors of the stores of wide codes (wide_slices.c), which wide_stores.c must detect.
WIDE_ERRORS = (
    Mutant("limits->stream_lines && isa != NULL", "isa != NULL"),
    Mutant("(isa->features & GFSMITH_CPU_AVX512F) != 0", "true"),
    Mutant("lines ? GFS_STREAM_LINES : GFS_STREAM_QUARTERS", "GFS_STREAM_QUARTERS"),
    Mutant("s.fetched ? stores_of(len) : GFS_STREAM_NONE", "stores_of(len)"),
    Mutant("gfs_limits_here()->fetch_first", "false"),
    Mutant("demand->rows * LONG_ROW <= gfs_limits_here()->long_rows", "false"),
    Mutant("demand->rows * LONG_ROW <= gfs_limits_here()->long_rows", "true"),
    Mutant("kept && demand->one_block", "kept"),
    Mutant("!demand->repair && goal == LONG_ROW", "false"),
    Mutant("!demand->repair && goal == LONG_ROW", "goal == LONG_ROW"),
)


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", X86_ISAS)
def test_shapes(compiler: Compiler, api: Api, name: str) -> None:
    if api.set_isa(name) != OK:
        pytest.skip(f"this CPU lacks {name}")
    assert run(compiler.link("shapes"), name) == "ok\n"


def test_memory(compiler: Compiler) -> None:
    """encode, update and check allocate nothing; every failing allocation is reported."""
    program = compiler.link("memory", *(f"-Wl,--wrap={name}" for name in WRAPPED))
    assert run(program) == "ok\n"


def test_the_place_of_large_calls(compiler: Compiler) -> None:
    """Lines in a cache are found to be there, and removed lines not to be, at least once in many attempts."""
    assert run(compiler.link("probed")) == "ok\n"


@pytest.mark.parametrize("mutant", PROBE_ERRORS, ids=str)
def test_errors_of_the_probe_are_detected(compiler: Compiler, mutant: Mutant) -> None:
    wrong = compiler.link_error(compiler.compile("probed"), mutant, runtime_sources())
    assert run_program(wrong, 60).returncode != 0


def test_steps_and_whole_shards(compiler: Compiler) -> None:
    """Maps prefetch the next step of their sources where that pays, and nowhere else."""
    program = compiler.link("pieces")
    assert [run(program, cpu) for cpu in STEP_CPUS] == ["ok\n"] * len(STEP_CPUS)


@pytest.mark.parametrize("mutant", STEP_ERRORS, ids=str)
def test_errors_of_the_steps_are_detected(compiler: Compiler, mutant: Mutant) -> None:
    wrong = compiler.link_error(compiler.compile("pieces"), mutant, runtime_sources())
    assert any(run_program(wrong, 60, cpu).returncode != 0 for cpu in STEP_CPUS)


def test_stores_of_wide_codes(compiler: Compiler) -> None:
    """Calls from memory have the stores, prefetches and rows of the CPU; copies around the cache write all
    bytes and no others."""
    program = compiler.link("wide_stores")
    assert [run(program, *case) for case in WIDE_CASES] == ["ok\n"] * len(WIDE_CASES)


@pytest.mark.parametrize("mutant", WIDE_ERRORS, ids=str)
def test_errors_of_the_stores_of_wide_codes_are_detected(compiler: Compiler, mutant: Mutant) -> None:
    wrong = compiler.link_error(compiler.compile("wide_stores"), mutant, runtime_sources())
    assert any(run_program(wrong, 60, *case).returncode != 0 for case in WIDE_CASES)


def test_calls_in_a_sandbox(compiler: Compiler) -> None:
    """Calls make no system call, and with a hint they read no clock."""
    assert run(compiler.link("sandbox")) == "ok\n"


def test_a_clock_in_the_sandbox_is_detected(compiler: Compiler) -> None:
    mutant = Mutant("hint == GFSMITH_HINT_AUTO && !gfs_path_is_cached(path)", "!gfs_path_is_cached(path)")
    wrong = compiler.link_error(compiler.compile("sandbox"), mutant, runtime_sources())
    assert run_program(wrong, 60).returncode != 0


def test_kernels_for_known_matrices(compiler: Compiler) -> None:
    """A library chooses among known matrices correctly: the source that reads the lists reads fake ones."""
    lists = ("-iquote", "tests/system/runtime/native/fake_set", "-include", "fake_set/kernels.h")
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    flags = ("-Wno-conversion", "-Itests/system/runtime/native", *sanitize, *lists)
    assert run(compiler.link("baked", "runtime/core/src/baked.c", *flags)) == "ok\n"


def test_the_choice_of_pipelined_kernels(compiler: Compiler) -> None:
    """Streaming stores come before a fixed number of inputs, wherever a kernel stands in the list."""
    lists = ("-iquote", "tests/system/runtime/native/choice_set")
    assert run(compiler.link("pipelined_choice", *lists)) == "ok\n"


@pytest.mark.needs("clang")
def test_empty_lists(compiler: Compiler) -> None:
    """A library without known matrices compiles."""
    (compiler.output / "matrices.inc").write_text("")
    (compiler.output / "baked.inc").write_text("")
    lists = ("-iquote", str(compiler.output))
    for name in ("gcc", "clang-19"):
        source = "runtime/core/src/baked.c"
        compiler.run(name, *STRICT, *lists, *compiler.INCLUDES, "-c", source, "-o", "/dev/null")


def test_threads(api: Api, isa: str) -> None:
    """Several threads use one codec; ctypes releases Python's lock during calls."""
    k, m, length = 20, 12, 4099
    codec = api.create("cauchy", k, m)
    shards = cauchy_shards(k, m, length)
    failures: list[object] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(20):
                missing = [int(i) for i in rng.permutation(k + m)[:m]]
                before = shards.copy()
                before[missing] = 0
                arena = Arena(before)
                assert codec.reconstruct(length, arena.pointers(), missing) == OK
                arena.expect(shards)
                parity = arena.pointers(range(k, k + m))
                assert codec.encode(length, arena.pointers(range(k)), parity) == OK
                assert codec.check(length, arena.pointers()) == (OK, True)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_header_from_cpp(compiler: Compiler) -> None:
    program = compiler.output / "interface"
    compiler.run(
        *("g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"),
        *("-Iruntime/core/include", "tests/system/runtime/native/interface.cc"),
        *("build/libgfsmith.a", "-o", str(program)),
    )
    assert run(program) == ""


COMPILERS = ("gcc", "clang-14", "clang-19", "x86_64-w64-mingw32-gcc")


@pytest.mark.parametrize("name", sample(needs.params(COMPILERS), "gcc", "clang-19", "x86_64-w64-mingw32-gcc"))
def test_compiles_without_warnings(compiler: Compiler, name: str) -> None:
    for source in runtime_sources():
        compiler.run(name, *STRICT, *compiler.INCLUDES, "-c", str(source), "-o", "/dev/null")


def test_x32_is_refused() -> None:
    """Its pointers have 32 bits, and the kernels for x86-64 read pointers of 64 bits from their arrays."""
    command = ["gcc", "-mx32", "-E", "-x", "c", "gen_out/isas.inc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "x32 is not supported" in done.stderr


@pytest.mark.needs("clang")
def test_checked_types_before_the_code_are_refused(compiler: Compiler) -> None:
    """Kernels in machine code have none, so the first call would end the program."""
    source = ROOT / "runtime/core/src/apply.c"
    command = ["clang-19", *compiler.INCLUDES, "-fsyntax-only", "-fsanitize=kcfi", source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "-fno-sanitize=kcfi" in done.stderr
    subprocess.run([*command, "-fno-sanitize=kcfi"], cwd=ROOT, check=True)


@pytest.fixture
def objects(compiler: Compiler) -> dict[str, ELFFile]:
    """Return the hand-written part of the static library, by file name."""
    compiler.run("ar", "x", "--output", str(compiler.output), str(compiler.build / "libgfsmith.a"))
    stems = [source.stem for source in runtime_sources()]
    paths = {stem: path for stem in stems for path in compiler.output.glob(f"{stem}.*o")}
    assert sorted(paths) == sorted(stems)
    return {stem: ELFFile(path.open("rb")) for stem, path in paths.items()}


def test_no_constructors_and_few_variables(objects: dict[str, ELFFile]) -> None:
    """The variables are the current set with its functions for short checksums and for short calls of RAID,
    the CPU, the routines of checksums for each set, and raid.c's cached kernels: atomic pointers and lengths,
    a few pages."""
    variables = {}
    for name, elf in objects.items():
        for section in elf.iter_sections():
            assert not section.name.startswith((".init", ".ctors", ".preinit", ".tdata", ".tbss"))
            writable = section.name.startswith((".data", ".bss"))
            if writable and not section.name.startswith(".data.rel.ro") and section["sh_size"]:
                variables[name] = section["sh_size"]
    assert variables.keys() == {"crc_kernels", "dispatch", "tuned", "raid"}
    short_sums = 3 * 256 * 16  # a length and a kernel for each number of parities and of data shards
    assert (variables["dispatch"], variables["tuned"]) == (16 + short_sums, 8)
    assert variables["crc_kernels"] % 8 == 0 and variables["crc_kernels"] <= 256
    assert variables["raid"] % 8 == 0 and variables["raid"] <= 24 << 10


def test_needs_little_of_the_c_library(objects: dict[str, ELFFile]) -> None:
    defined, needed = set(), set()
    for name, elf in objects.items():
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            if symbol["st_info"]["bind"] == "STB_GLOBAL":
                (needed if symbol["st_shndx"] == "SHN_UNDEF" else defined).add(symbol.name)
                assert symbol.name not in THREADS or name in ("thread", "pool")
    kernels = {name for name in needed if "__" in name and name.startswith("gfs_")}
    assert needed - defined - kernels - {"_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"} <= LIBC | THREADS
    assert all(name.startswith(("gfs_", "gfsmith_")) for name in defined)


def test_stack_is_not_executable(build: Path) -> None:
    with (build / "libgfsmith.so").open("rb") as file:
        segments = [s for s in ELFFile(file).iter_segments() if s["p_type"] == "PT_GNU_STACK"]
    assert [segment["p_flags"] & 1 for segment in segments] == [0]
