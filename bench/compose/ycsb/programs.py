"""The stripe store's programs, in two builds: unchanged, and linked so that graphs run incoherently."""

from __future__ import annotations

from bench.build import BUILD, LIBRARY, ROOT, compile_program, run_command
from bench.compose.build import COMPOSE, flags
from bench.compose.ycsb.client import HERE

SOURCES = ROOT / "apps" / "stripe-store"
STORE = ROOT / "build" / "stripe-store"
_BUILD = BUILD / "incoherent"
INCOHERENTLY = _BUILD / "stripe-store"


def build() -> None:
    """Raises BuildError."""
    advice = "run make lib compose first; tools/setup.sh compose installs the requirements"
    run_command(["make", "--no-print-directory", "-C", SOURCES], advice)
    _BUILD.mkdir(parents=True, exist_ok=True)
    wrapper = _BUILD / "incoherent.o"
    include = [f"-I{ROOT / 'runtime' / part / 'include'}" for part in ("core", "compose")]
    include.append(f"-I{SOURCES}")
    compile_program(
        wrapper, [HERE / "incoherent.c"], ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", *include), []
    )
    # The libraries again: the linker does not search the earlier ones for symbols that the wrapper needs.
    link = [str(wrapper), str(COMPOSE), str(LIBRARY), *flags("--libs"), "-Wl,--wrap=gfsmith_graph_post"]
    settings = [f"BUILD={_BUILD}", f"LIBRARIES={ROOT / 'build'}", f"LDFLAGS={' '.join(link)}"]
    run_command(["make", "--no-print-directory", "-C", SOURCES, *settings], advice)
