"""Write stripes with PyECLib, or read them with shards missing: stripes.py write|read FOLDER TYPE LIBRARY

Prints the file that the library (libisal, ...) was loaded from. For every shape, `write` stores all
fragments, one file each; `read` goes through the losses, decodes, and rebuilds each missing fragment byte
for byte.
"""

import itertools
import random
import sys
from pathlib import Path

import pyeclib.ec_iface

SHAPES = ((2, 1), (4, 2), (6, 3), (10, 4), (12, 6), (20, 2))
#: The type whose elements have 4 bits by default, so that it has at most 16 fragments.
NARROW = "jerasure_rs_cauchy"
SIZES = (1, 1000, 4096, 99_999)


def losses(k, m):
    """Return some ways to lose up to m of k + m fragments, among them the worst ones."""
    everyone = range(k + m)
    ways = [tuple(everyone[:m]), tuple(everyone[-m:]), tuple(everyone[k - m + m // 2 :][:m])]
    return sorted(
        set(ways + random.Random(k).sample(list(itertools.combinations(everyone, m)), min(3, k + m)))
    )


def visit(action, folder, ec_type, k, m, size):
    driver = pyeclib.ec_iface.ECDriver(k=k, m=m, ec_type=ec_type)
    data = random.Random(size).randbytes(size)
    files = [folder / f"{ec_type}-{k}-{m}-{size}-{n}" for n in range(k + m)]
    if action == "write":
        for file, fragment in zip(files, driver.encode(data), strict=True):
            file.write_bytes(fragment)
        return
    fragments = [file.read_bytes() for file in files]
    for missing in losses(k, m):
        left = [fragment for n, fragment in enumerate(fragments) if n not in missing]
        assert driver.decode(left) == data, (ec_type, k, m, size, missing)
        rebuilt = driver.reconstruct(left, list(missing))
        assert rebuilt == [fragments[n] for n in missing], (ec_type, k, m, size, missing)


def main(action, folder, ec_type, library):
    shapes = [(k, m) for k, m in SHAPES if k + m <= 16 or ec_type != NARROW]
    for (k, m), size in itertools.product(shapes, SIZES):
        visit(action, Path(folder), ec_type, k, m, size)
    maps = Path("/proc/self/maps").read_text().splitlines()
    print(*sorted({line.split()[-1] for line in maps if f"/{library}" in line}))


main(*sys.argv[1:])
