"""make fuzz: run every fuzz target of this folder in parallel for some seconds, and report runs and findings.

.venv/bin/python -m tests.system.fuzz.run [--seconds 60 | --runs N] [--seed N] [--teeth] [--fresh] [NAME
...]

Inputs that reach new code are kept in build/fuzz/corpus/NAME and used again, together with the committed
ones of corpus/NAME. --teeth: with the error that each target can plant. --fresh: from the committed inputs
only, and no input is kept. The exit status is 1 if a target found an error: the report names the input.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.build_lock import locked
from tests.support.paths import ROOT

HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "fuzz"
TEETH = "GFSMITH_FUZZ_TEETH"

SANITIZE = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
FLAGS = ("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64")
LIBRARY = ROOT / "build" / "libgfsmith.a"
STORE = ROOT / "apps/stripe-store"
STORE_HEADERS = (f"-I{STORE}", "-Iapps/common", "-Iruntime/core/include", "-Iruntime/compose/include")
LIBRARIES = ("-lsodium", "-lcrypto", "-lxxhash")


@dataclass(frozen=True, slots=True)
class Target:
    """sources: compiled with sanitizers; none for a target in Python. options: libFuzzer's. plain: sources
    compiled without optimisation."""

    name: str
    sources: tuple[Path, ...]
    flags: tuple[str, ...]
    options: tuple[str, ...]
    plain: tuple[Path, ...] = ()

    def objects(self) -> list[Path]:
        """Return the compiled `plain`."""
        made = []
        for source in self.plain:
            made.append(BUILD / f"{self.name}-{source.stem}.o")
            _compile(self.name, "-O0", *SANITIZE, *self.flags, "-c", source, "-o", made[-1])
        return made


def targets() -> dict[str, Target]:
    core = ROOT / "runtime/core/src"
    routines = (core / "algebra_kernels.c", core / "crc_kernels.c")
    runtime = sorted(set(core.glob("*.c")) - set(routines))
    api = [
        HERE / f"{name}.c"
        for name in ("api", "api_batch", "api_codec", "api_repair", "api_plain", "arena", "model")
    ]
    shards = sorted((ROOT / "runtime/shards/src").glob("*.c"))
    links = [
        ROOT / "runtime/compose/src" / f"{name}.c"
        for name in ("frame", "handshake", "openssl_use", "seal", "status", "wire")
    ]
    common = [STORE / "common" / f"{name}.c" for name in ("files", "message", "record", "report", "table")]
    agent = [
        STORE / "agent" / f"{name}.c"
        for name in (
            "agent",
            "client",
            "command",
            "group",
            "index",
            "lock",
            "login",
            "parse",
            "stats",
            "stripe",
            "tls",
        )
    ]
    found = (
        Target("config", (), (), (f"-dict={HERE / 'config.dict'}", "-max_len=4000")),
        Target(
            "shard",
            (HERE / "shard.c", *shards, LIBRARY),
            ("-Iruntime/core/include", "-Iruntime/shards/include", "-Iruntime/shards/src"),
            ("-max_len=700", "-malloc_limit_mb=1024"),
        ),
        Target(
            "api",
            (*api, *runtime, LIBRARY),
            ("-Iruntime/core/include", "-Iruntime/core/src", "-Igen_out"),
            ("-max_len=1000", "-len_control=0"),
            # With optimisation, the checks of this code take two to six times as long to compile.
            (ROOT / "gen_out/scalar.c", *routines),
        ),
        Target(
            "links",
            (HERE / "links.c", *links, LIBRARY),
            ("-Iruntime/core/include", "-Iruntime/compose/include", "-Iruntime/compose/src", *LIBRARIES),
            ("-max_len=400",),
        ),
        Target(
            "protocol",
            (HERE / "protocol.c", STORE / "agent/parse.c", *common),
            (*STORE_HEADERS, *LIBRARIES),
            ("-max_len=400", f"-dict={HERE / 'protocol.dict'}"),
        ),
        Target(
            "client",
            (*(HERE / f"{name}.c" for name in ("client", "client_model", "client_store")), *agent, *common),
            (*STORE_HEADERS, "-levent", "-levent_openssl", "-lssl", *LIBRARIES),
            ("-max_len=600",),
        ),
    )
    return {target.name: target for target in found}


@dataclass(frozen=True, slots=True)
class Outcome:
    """status: 0 if nothing was found; otherwise `text` has the finding."""

    name: str
    status: int
    text: str
    runs: int
    coverage: int
    inputs: int


def _current(program: Path, target: Target) -> bool:
    """Return True if the program exists and is newer than all its sources."""
    headers = [path for folder in (HERE, ROOT / "runtime", STORE) for path in folder.rglob("*.h")]
    newest = max(path.stat().st_mtime for path in (Path(__file__), *target.sources, *target.plain, *headers))
    return program.exists() and program.stat().st_mtime > newest


def _compile(name: str, *words: str | Path) -> None:
    """Compile a part of a target. Raises SystemExit if that fails."""
    done = subprocess.run(["clang-19", *FLAGS, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fuzz: {name} could not be built:\n{done.stderr}")


def command_of(target: Target) -> list[str]:
    """Return the program's command after building it if necessary."""
    if not target.sources:
        return [sys.executable, str(HERE / f"{target.name}.py")]
    program = BUILD / target.name
    with locked(program.with_suffix(".lock")):
        if not _current(program, target):
            sources = (*target.objects(), *target.sources)
            _compile(target.name, *SANITIZE, *sources, *target.flags, "-o", program)
    return [str(program)]


def _number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run(target: Target, options: argparse.Namespace) -> Outcome:
    """Build and run one target. Raises SystemExit if it cannot be built."""
    environment = dict(os.environ)
    if options.teeth:
        environment[TEETH] = "1"
    command = command_of(target)
    kept = Path(tempfile.mkdtemp(dir=BUILD)) if options.fresh else BUILD / "corpus" / target.name
    kept.mkdir(parents=True, exist_ok=True)
    command += [
        *target.options,
        "-timeout=60",
        "-print_final_stats=1",
        f"-artifact_prefix={BUILD}/{target.name}-",
    ]
    command += [f"-runs={options.runs}" if options.runs else f"-max_total_time={options.seconds}"]
    command += [f"-seed={options.seed}"] if options.seed is not None else []
    # The search itself must find a planted error, without committed inputs; a text target needs some to
    # begin.
    corpus = HERE / "corpus" / target.name
    seeds = [] if (options.teeth and target.sources) or not corpus.exists() else [str(corpus)]
    done = subprocess.run(
        [*command, str(kept), *seeds],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if options.fresh:
        shutil.rmtree(kept)
    return Outcome(
        target.name,
        done.returncode,
        done.stderr + done.stdout,
        _number(r"stat::number_of_executed_units: (\d+)", done.stderr),
        _number(r"cov: (\d+)", done.stderr),
        _number(r"corp: (\d+)", done.stderr),
    )


def report(outcome: Outcome) -> str:
    line = f"{outcome.name}: {outcome.runs} runs, {outcome.coverage} branches, {outcome.inputs} inputs"
    if outcome.status == 0:
        return f"{line}: nothing found"
    tail = "\n".join(outcome.text.splitlines()[-60:])
    return f"{line}: found something (exit status {outcome.status})\n{tail}"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    known = targets()
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--runs", type=int, help="number of inputs, instead of seconds")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--teeth", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("names", nargs="*", choices=[[], *known], metavar="NAME")
    options = parser.parse_args(arguments)
    if not re.fullmatch(r"[1-9]\d{0,6}", options.seconds):
        print(f"fuzz: SECONDS={options.seconds}; allowed: 1 to 9999999", file=sys.stderr)
        raise SystemExit(2)
    options.seconds = int(options.seconds)
    options.names = options.names or list(known)
    return options


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    if not LIBRARY.exists():
        sys.exit(f"fuzz: {LIBRARY.relative_to(ROOT)} is missing: make lib")
    BUILD.mkdir(parents=True, exist_ok=True)
    known = targets()
    with ThreadPoolExecutor(len(options.names)) as pool:
        outcomes = list(pool.map(lambda name: run(known[name], options), options.names))
    for outcome in outcomes:
        print(report(outcome))
    return 1 if any(outcome.status for outcome in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
