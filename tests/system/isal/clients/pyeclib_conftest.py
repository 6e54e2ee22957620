"""conftest.py of PyECLib's own tests: selects types, and records the library LIBRARY that was loaded."""

import os
from pathlib import Path

import pyeclib.ec_iface

pyeclib.ec_iface.VALID_EC_TYPES[:] = [
    name for name in pyeclib.ec_iface.VALID_EC_TYPES if name in os.environ["TYPES"].split()
]


def pytest_sessionfinish():
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = f"/{os.environ['LIBRARY']}"
    Path(os.environ["LOADED"]).write_text(
        "\n".join(sorted({line.split()[-1] for line in maps if library in line}))
    )
