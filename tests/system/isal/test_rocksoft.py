"""The checks that Debian's ISA-L 2.30 lacks, of ISA-L 2.32, against the definition of a check."""

from __future__ import annotations

import os
import random
import sys
from functools import cache
from pathlib import Path

import pytest

from gfsmith.field.checksum import CHECKSUMS, ISAL_CHECKSUMS, checksum
from tests.support.levels import first
from tests.system.isal.support import ISAS, run

BY_NAME = {check.name: check for check in (*CHECKSUMS, *ISAL_CHECKSUMS)}
FUNCTIONS = {"crc64_rocksoft_refl": "CRC64_NVME", "crc64_rocksoft_norm": "CRC64_NVME_NORMAL"}
LENGTHS = (*range(301), 1500)

#: Prints one check for each of LENGTHS. Arguments: library, function, state, bytes.
CALLS = """
import ctypes, sys
library, name, data = sys.argv[1:]
data = bytes.fromhex(data)
function = getattr(ctypes.CDLL(library), name)
function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64]
for n in {lengths}:
    print(function(function(0, data[: n // 3], n // 3), data[n // 3 : n], n - n // 3))
"""


@cache
def wanted(check: str, data: bytes) -> list[int]:
    return [checksum(BY_NAME[check], data[:n]) for n in LENGTHS]


@pytest.mark.parametrize("isa", first(ISAS))
@pytest.mark.parametrize("ending", ["", "_by8", "_base"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rocksoft(shim: Path, name: str, ending: str, isa: str) -> None:
    """Every length, in two calls of which the second continues the first."""
    data = random.Random(3).randbytes(max(LENGTHS))
    script = CALLS.format(lengths=LENGTHS)
    printed = run(
        [sys.executable, "-c", script, str(shim), name + ending, data.hex()],
        env=os.environ | {"GFSMITH_ISA": isa},
    )
    assert [int(line) for line in printed.split()] == wanted(FUNCTIONS[name], data)
