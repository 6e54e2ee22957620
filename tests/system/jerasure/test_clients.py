"""liberasurecode's backends for Jerasure, run with the drop-in: PyECLib's own tests, and stripes exchanged
with Jerasure.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.isal.support import exchange_stripes, pyeclibs_own_tests
from tests.system.jerasure.support import REAL

#: Type -> fragments of all shapes in clients/stripes.py.
TYPES = {"jerasure_rs_vand": 3 + 6 + 9 + 14 + 18 + 22, "jerasure_rs_cauchy": 3 + 6 + 9 + 14}


def test_pyeclibs_own_tests(shim: Path, tmp_path: Path) -> None:
    assert pyeclibs_own_tests(shim, " ".join(TYPES), "not valid_ec_types", tmp_path) >= 20


@pytest.mark.parametrize("ec_type", TYPES)
def test_stripes_go_from_one_library_to_the_other(shim: Path, tmp_path: Path, ec_type: str) -> None:
    exchange_stripes(shim, REAL, ec_type, TYPES[ec_type], tmp_path)
