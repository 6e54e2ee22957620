"""The backend of examples/liberasurecode in place of "shss", compared with isa_l_rs_cauchy."""

import itertools
import random
from pathlib import Path

import pyeclib.ec_iface

drivers = []  # kept, so that the libraries they loaded stay loaded
HEADER = 80  # bytes before a fragment's payload


def driver(ec_type, k, m):
    return pyeclib.ec_iface.ECDriver(k=k, m=m, ec_type=ec_type)


for k, m, size in ((2, 1, 1), (4, 2, 1000), (10, 4, 100_001), (12, 6, 65_536), (28, 4, 50_000)):
    ours, theirs = driver("shss", k, m), driver("isa_l_rs_cauchy", k, m)
    drivers += [ours, theirs]
    data = random.Random(k).randbytes(size)
    fragments = ours.encode(data)
    for fragment, other in zip(fragments, theirs.encode(data), strict=True):
        assert fragment[HEADER:] == other[HEADER:]
    sample = random.Random(m)
    for lost in range(1, m + 1):
        for missing in itertools.islice(
            itertools.combinations(range(k + m), lost), sample.randrange(7), None, 97
        ):
            left = [fragment for n, fragment in enumerate(fragments) if n not in missing]
            assert ours.decode(left) == data
            assert ours.reconstruct(left, list(missing)) == [fragments[n] for n in missing]
            needed = ours.fragments_needed(list(missing), [])
            assert len(needed) == k and not set(needed) & set(missing)
    try:
        ours.decode(fragments[m + 1 :])
        raise SystemExit("decoded from too little")
    except pyeclib.ec_iface.ECInsufficientFragments:
        pass
maps = Path("/proc/self/maps").read_text().splitlines()
print(
    *sorted({line.split()[-1].rsplit("/", 1)[-1] for line in maps if "gfsmith" in line or "libisal" in line})
)
