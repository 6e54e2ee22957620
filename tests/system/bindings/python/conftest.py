"""The codec's extension and its wheel, built by `make python`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import built
from tests.support.paths import ROOT


def _made() -> Path:
    """Return the up-to-date wheel in dist/; its build also updates the extension that `import gfsmith` finds
    here.
    """
    built("python")
    (found,) = (ROOT / "dist").glob("gfsmith-*.whl")
    return found


#: Built before the collection of the tests, whose parameters use the codec.
WHEEL = _made()


@pytest.fixture(scope="session")
def wheel() -> Path:
    return WHEEL
