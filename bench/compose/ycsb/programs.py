"""The stripe store's programs: as they are, and linked once more so that graphs run the incoherent way."""

from __future__ import annotations

from bench.build import BUILD, LIBRARY, ROOT, _compile, _run
from bench.compose.build import COMPOSE, flags
from bench.compose.ycsb.client import HERE

SOURCES = ROOT / "examples" / "stripe-store"
STORE = ROOT / "build" / "stripe-store"
_BUILD = BUILD / "incoherent"
INCOHERENTLY = _BUILD / "stripe-store"


def build() -> None:
    """Raises BuildError."""
    advice = "make lib compose comes first; tools/setup.sh compose gets what they need"
    _run(["make", "--no-print-directory", "-C", SOURCES], advice)
    _BUILD.mkdir(parents=True, exist_ok=True)
    wrapper = _BUILD / "incoherent.o"
    include = [f"-I{ROOT / 'runtime' / name}" for name in ("include", "compose/include")]
    include.append(f"-I{SOURCES}")
    _compile(
        wrapper, [HERE / "incoherent.c"], ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", *include), []
    )
    # The libraries once more: those before it on the line are not searched for what it needs.
    link = [str(wrapper), str(COMPOSE), str(LIBRARY), *flags("--libs"), "-Wl,--wrap=gfsmith_graph_post"]
    settings = [f"BUILD={_BUILD}", f"LIBRARIES={ROOT / 'build'}", f"LDFLAGS={' '.join(link)}"]
    _run(["make", "--no-print-directory", "-C", SOURCES, *settings], advice)
