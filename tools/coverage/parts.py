"""The parts of runtime/ that `make coverage` measures: their sources, programs and tests."""

from __future__ import annotations

from dataclasses import dataclass

TARGETS = (95.0, 90.0)  #: percent of the lines and of the branches of each part

#: The fuzz target `api`.
API = ("api", "api_batch", "api_codec", "api_repair", "api_plain", "arena", "model")
#: Files for other CPUs, and for functions that only builds with other options have.
ELSEWHERE = (
    "cpu_aarch64",
    "cpu_loongarch",
    "cpu_power",
    "cpu_riscv",
    "cpu_s390x",
    "cpu_auxv",
    "linked",
    "sha256",
)


@dataclass(frozen=True, slots=True)
class Product:
    """A program or a shared library, linked from the part's objects, `sources` and the kernels.

    sources: patterns below the root. runs: the arguments of each run, with the kernels in C and with those of
    the CPU.
    """

    name: str
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    runs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """runtime/`name`.

    include: folders for `#include`. flags: of its objects. products: linked from its objects. tests:
    arguments of pytest; the tests find the products in the folder GFSMITH_TEST_BUILD, and compile with
    compiler/gcc. elsewhere: files that are not counted.
    """

    name: str
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    products: tuple[Product, ...] = ()
    tests: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


NATIVE = "tests/system/runtime/native"
FUZZ = "tests/system/fuzz"
SHARED = ("-shared", "-Wl,--exclude-libs,ALL")


def program(name: str, *arguments: str, flags: tuple[str, ...] = ()) -> Product:
    return Product(name, (f"{NATIVE}/{name}.c",), flags, (arguments,))


CORE = Part(
    name="core",
    include=("runtime/core/src", "gen_out", NATIVE, FUZZ),
    products=(
        Product("libgfsmith.so", flags=SHARED),
        program("stripes", ""),
        program("batches", "brief"),
        program("parallel", "brief"),
        program("pool"),
        program("algebra"),
        program("checksums"),
        program("short_calls"),
        program("probe"),
        program("features"),
        program("memory", flags=("-Wl,--wrap=malloc", "-Wl,--wrap=free")),
        Product(
            "fuzz",
            tuple(f"{FUZZ}/{name}.c" for name in API),
            ("-fsanitize=fuzzer",),
            (("-runs=0", f"{FUZZ}/corpus/api"),),
        ),
    ),
    tests=(
        *(
            f"tests/system/runtime/test_{name}.py"
            for name in (
                "arguments",
                "checksums",
                "locate",
                "packets",
                "raid",
                "plan",
                "dispatch",
                "correct",
                "linear",
                "recode",
                "wide",
            )
        ),
        *("-k", "not detect_the_error and not klauspost"),
    ),
    elsewhere=ELSEWHERE,
)

ADAPTIVE = Part(
    name="adaptive",
    tests=(
        *("tests/system/adaptive/test_coordinator.py", "tests/system/adaptive/test_counters.py"),
        *("tests/system/adaptive/test_device.py", "tests/system/adaptive/test_pressure.py"),
        *("-k", "not refute and not detected and not compiles and not cost and not threads_under"),
    ),
)

COMPOSE = Part(
    name="compose",
    include=("runtime/compose/include", "runtime/compose/src", FUZZ),
    flags=("-std=c11", "-DGFSMITH_COMPOSE_FAULTS"),  # as the tests have it, so that counts agree
    products=(
        Product(
            "fuzz",
            (f"{FUZZ}/links.c",),
            # Its clock replaces that of timer.c.
            ("-fsanitize=fuzzer", "-Wl,-z,muldefs", "-lfabric", "-lsodium", "-lcrypto", "-lxxhash"),
            (("-runs=0", f"{FUZZ}/corpus/links"),),
        ),
    ),
    tests=(
        *(
            f"tests/system/compose/test_{name}.py"
            for name in ("links", "primitives", "unknown_peers", "graph", "graph_runs", "choices", "seal")
        ),
        *("-k", "not mutant and not threads and not refutes and not noticed"),
    ),
)

ISAL = Part(
    name="isal",
    include=("runtime/core/src", "runtime/isal/src", "runtime/isal/include", "gen_out"),
    flags=("-fvisibility=default",),
    products=(Product("libisal.so.2", flags=("-shared", "-Wl,--version-script=runtime/isal/libisal.map")),),
    tests=("tests/system/isal/test_differential.py", "-k", "agrees"),
)

SHARDS = Part(
    name="shards",
    include=("runtime/shards/include", "runtime/shards/src", "apps/shards", "gen_out", FUZZ),
    products=(
        Product("gfsmith-shards", ("apps/shards/*.c",)),
        Product(
            "library",
            ("tests/system/apps/shards/native/library.c",),
            ("-Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc",),
            ((),),
        ),
        Product("fuzz", (f"{FUZZ}/shard.c",), ("-fsanitize=fuzzer",), (("-runs=0", f"{FUZZ}/corpus/shard"),)),
    ),
    tests=(
        *("tests/system/apps/shards/test_roundtrip.py", "tests/system/apps/shards/test_damage.py"),
        "tests/system/apps/shards/test_refusals.py",
        *("-k", "not file_size_limit and not failed_split"),  # no profile can be written there
    ),
)

PARTS = {part.name: part for part in (CORE, ADAPTIVE, COMPOSE, ISAL, SHARDS)}
