"""python -m bench.packets: Zerasure's and Cerasure's kernels from memory, as the table of docs/packets.md.

Each code has its matrix, and packets of an eighth of a block. In each round every contender gets one sample
in a random order. Figures are GB/s of source data, medians over the rounds, with the quartiles of the ratio
to ISA-L in the same round. ISA-L encodes the same matrix in the ordinary layout. Without a kernel (wide
stripes) the library runs a schedule of XORs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.build import BuildError, peer
from bench.options import OneLineParser, start
from bench.packets.build import driver as built_driver
from bench.packets.build import elements
from bench.result_store import table
from bench.run import RunError, driver_lines
from gfsmith.codes import SEARCHED

SOURCES, PARITIES, LENGTHS = (8, 12, 16, 24, 48), 4, (1024, 4096)
POOL, STAGGER, MICROSECONDS = 512, 128, 2000
ISAL = "isal:avx512"
#: Contenders by their names in the table; PACKET: the bytes of a packet. "~": packets give other bytes.
CONTENDERS = {
    "packets, AVX2": "~gfsmith:avx2+packetPACKET",
    "packets, AVX-512": "~gfsmith:avx512+packetPACKET",
    "ISA-L, AVX-512": ISAL,
    "ISA-L decomposed": f"{ISAL}+split12",
    "gfsmith, AVX-512": "gfsmith:avx512+streaming",
    "gfsmith, GFNI": "gfsmith:gfni_avx512+streaming",
}


def contenders(length: int) -> dict[str, str]:
    """Return the contenders of a block of `length` bytes."""
    return {text: name.replace("PACKET", str(length // 8)) for text, name in CONTENDERS.items()}


def plan_line(code: str, k: int, length: int, rounds: int) -> str:
    """Return a cell in the form that the driver reads (bench/driver/plan.c)."""
    what = (code, k, PARITIES, length, "sequential", rounds, MICROSECONDS, elements(code, k, PARITIES))
    where = (f"{code}-{k}-{length}", *what)
    return " ".join(map(str, (*where, *contenders(length).values())))


def measure(driver: Path, isal: Path, plan: str) -> dict[str, dict[str, list[float]]]:
    """Return nanoseconds per stripe by cell and contender. Raises RunError."""
    found: dict[str, dict[str, list[float]]] = {}
    command = [str(driver), str(POOL), "1", str(STAGGER), "huge", f"isal={isal}"]
    for line in driver_lines(command, plan):
        event = json.loads(line)
        for name, ns in event.get("ns", {}).items():
            found.setdefault(event["cell"], {}).setdefault(name, []).append(ns)
        if "why" in event:
            print(f"{event['cell']}: {event['unavailable']}: {event['why']}", file=sys.stderr)
    return found


def row(ns: dict[str, list[float]], k: int, length: int) -> Iterator[str]:
    """Yield the cells of a table row; "-" for a missing contender."""
    for name in (each.removeprefix("~") for each in contenders(length).values()):
        if name not in ns:
            yield "-"
            continue
        speed = f"{k * length / np.median(ns[name]):.1f}"
        if name == ISAL or ISAL not in ns:
            yield speed
            continue
        low, high = np.percentile(np.array(ns[ISAL]) / np.array(ns[name]), (25, 75))
        yield f"{speed} ({low:.2f}-{high:.2f})"


def main() -> int:
    parser = OneLineParser(prog="bench.packets", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    cells = [(code.name, k, length) for code in SEARCHED for length in LENGTHS for k in SOURCES]
    try:
        driver = built_driver()
        isal = peer("isal", lambda text: print(text, file=sys.stderr))
        found = measure(driver, isal, "".join(f"{plan_line(*cell, rounds)}\n" for cell in cells))
    except (BuildError, RunError, subprocess.CalledProcessError) as error:
        print(f"bench.packets: {error}", file=sys.stderr)
        return 1
    rows = (
        [f"{k}+{PARITIES} `{code}`, {length} B", *row(found[f"{code}-{k}-{length}"], k, length)]
        for code, k, length in cells
    )
    print(*table(("code, block", *CONTENDERS), rows), sep="\n", end="")
    return 0


if __name__ == "__main__":
    start(main)
