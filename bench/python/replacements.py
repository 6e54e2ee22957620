"""The modules of gfsmith.compat next to the packages that they replace.

    .venv/bin/python -m bench.python.replacements zfec
    .venv/bin/python -m bench.python.replacements pyeclib

Both modules of a pair run in one process on the same data and alternate by sample. Prints a row of Markdown
for each shape and size, for encode and for decode: microseconds of CPU time of a call of each, medians over
the rounds, and the time of the original over that of gfsmith in the same round, median and quartiles. Run
`make python` first, and install zfec or PyECLib.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from bench.options import OneLineParser, start

ROUNDS = 11
SAMPLE = 2e-3  #: seconds that a sample should take
LENGTHS = (64, 1024, 4096, 65536, 1 << 20)

Call = Callable[[], object]


def cells(calls: Sequence[Call]) -> list[str]:
    """Return the columns for pairs of calls, the original's first."""
    counts = [max(1, int(SAMPLE / sample(call, 1))) for call in calls]
    rounds = [[sample(call, count) for call, count in zip(calls, counts, strict=True)] for _ in range(ROUNDS)]
    columns = list(zip(*rounds, strict=True))
    made = []
    for original, ours in zip(columns[::2], columns[1::2], strict=True):
        ratios = [one / other for one, other in zip(original, ours, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        made += [microseconds(original), microseconds(ours), f"{middle:.1f} ({low:.1f}-{high:.1f})"]
    return made


def microseconds(seconds: Sequence[float]) -> str:
    value = 1e6 * statistics.median(seconds)
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def sample(call: Call, count: int) -> float:
    """Return the seconds of one of `count` calls."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def zfec_rows() -> Iterator[tuple[str, int, list[Call]]]:
    """Yield a name, a size and four calls: encode with zfec and gfsmith, decode with both."""
    import zfec

    from gfsmith.compat import zfec as our_zfec

    for k, n in ((3, 10), (10, 14), (32, 64)):
        for length in LENGTHS:
            data = tuple(random.Random(length).randbytes(length) for _ in range(k))
            left = tuple(range(n - k, n))
            blocks = tuple(zfec.Encoder(k, n).encode(data)[n - k :])
            calls: list[Call] = []
            for module in (zfec, our_zfec):
                encoder, decoder = module.Encoder(k, n), module.Decoder(k, n)
                calls.append(lambda encoder=encoder, data=data: encoder.encode(data))
                calls.append(lambda decoder=decoder, b=blocks, left=left: decoder.decode(b, left))
            yield f"{k} of {n}", length, [calls[0], calls[2], calls[1], calls[3]]


def pyeclib_rows() -> Iterator[tuple[str, int, list[Call]]]:
    """Yield a backend, a size of segments and four calls: encode with both, decode with both."""
    from pyeclib import ec_iface as pyeclib

    from gfsmith.compat.pyeclib import ec_iface as our_pyeclib

    for ec_type in ("isa_l_rs_vand", "liberasurecode_rs_vand", "jerasure_rs_vand", "jerasure_rs_cauchy"):
        for length in (4096, 65536, 1 << 20):
            data = random.Random(length).randbytes(length)
            calls: list[Call] = []
            for module in (pyeclib, our_pyeclib):
                driver = module.ECDriver(k=10, m=4, ec_type=ec_type)
                left = driver.encode(data)[4:]
                calls.append(lambda driver=driver, data=data: driver.encode(data))
                calls.append(lambda driver=driver, left=left: driver.decode(left))
            yield ec_type, length, [calls[0], calls[2], calls[1], calls[3]]


ROWS = {"zfec": zfec_rows, "pyeclib": pyeclib_rows}


def main() -> None:
    parser = OneLineParser(prog="bench.python.replacements", description=__doc__.splitlines()[0])
    parser.add_argument("original", choices=ROWS, nargs="?", help="default: both")
    chosen = parser.parse_args().original
    for original in (chosen,) if chosen else ROWS:
        for name, size, calls in ROWS[original]():
            print(f"| {name} | {size} | {' | '.join(cells(calls))} |", flush=True)


if __name__ == "__main__":
    start(main)
