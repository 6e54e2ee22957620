"""Fixtures: the library is built once, by `make lib` at the root of the repository."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.folders import product
from tests.support.library import EINVAL, EUNSUPPORTED, OK, X86_ISAS, Api


@pytest.fixture(scope="session")
def session_api() -> Api:
    return Api(product("libgfsmith.so", "lib"))


@pytest.fixture
def api(session_api: Api) -> Iterator[Api]:
    """The library; the instruction set is restored afterwards."""
    before = session_api.isa()
    yield session_api
    assert session_api.set_isa(before) == OK


@pytest.fixture(params=X86_ISAS)
def isa(request: pytest.FixtureRequest, api: Api) -> str:
    """Select every instruction set in turn; sets that this CPU lacks are skipped."""
    name: str = request.param
    status = api.set_isa(name)
    assert status != EINVAL, f"the build does not know {name}"
    if status == EUNSUPPORTED:
        pytest.skip(f"this CPU lacks {name}")
    assert api.isa() == name
    return name
