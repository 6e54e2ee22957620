"""The limits of each CPU follow from the measurements."""

from __future__ import annotations

import pytest

from gfsmith.kernel import limits
from gfsmith.kernel.limits import CANDIDATES, Stores, stream_min
from gfsmith.kernel.microarch import MICROARCHS


def _stores(**speeds: float) -> Stores:
    return Stores("cpu", True, "test", {int(length[1:]): speed for length, speed in speeds.items()})


def test_speeds_between_measurements_are_interpolated() -> None:
    found = _stores(n256=0.5, n1024=2.0)
    assert found.speed(512) == pytest.approx(1.0)
    assert [found.speed(n) for n in (128, 256, 1024, 2048)] == [None, 0.5, 2.0, None]


def test_a_loss_is_that_of_the_worst_length() -> None:
    found = _stores(n64=0.5, n128=0.8, n256=1.0, n512=1.25, n1024=2.0)
    losses = [found.loss(least) for least in CANDIDATES]
    assert losses == pytest.approx([2.0, 1.25, 1.0, 1.0, 1.25, 2.0, 2.0, 2.0, 2.0])


def test_of_equal_losses_the_longest_shard_wins() -> None:
    assert stream_min([_stores(n64=0.5, n128=0.8, n256=1.0, n512=1.25, n1024=2.0)]) == 512
    assert stream_min([_stores(n256=1.2, n512=1.2)]) == 256
    assert stream_min([_stores(n256=0.9, n512=0.9)]) == CANDIDATES[-1]


def test_a_compromise_has_the_least_loss_on_its_worst_cpu() -> None:
    early, late = _stores(n64=1.1, n16384=1.1), _stores(n64=0.5, n512=0.5, n16384=0.5)
    assert (stream_min([early]), stream_min([late])) == (64, CANDIDATES[-1])
    assert stream_min([early, late]) == CANDIDATES[-1]
    assert stream_min([early, _stores(n64=0.99, n512=0.99)]) == 64


@pytest.mark.parametrize("least", CANDIDATES)
def test_no_other_value_has_a_smaller_loss_on_the_worst_known_cpu(least: int) -> None:
    best = max(stores.loss(limits.GENERIC.stream_min) for stores in limits.STORES)
    assert best <= max(stores.loss(least) for stores in limits.STORES)
    assert best < 1.15


def test_a_cpu_uses_its_own_measurements_only() -> None:
    table = limits.table()
    least = {name: found.stream_min for name, found in table.items()}
    assert least["znver3"] == 2048 and least["znver4"] == 128 and least["znver5"] == 1024
    assert least["sapphirerapids"] == 4096
    assert least["haswell"] == stream_min(s for s in limits.STORES if not s.gfni)
    assert least["icelake-server"] == stream_min(s for s in limits.STORES if s.gfni)


def test_the_caches_of_a_cpu_determine_its_limits() -> None:
    """First the whole first level but for the lines of the call, then half of the second level."""
    table = limits.table()
    names = [*(c.name for c in MICROARCHS), "generic"]
    assert list(table) == [*limits.SECOND_LEVEL, "generic"] == [*limits.FIRST_LEVEL, "generic"] == names
    assert all(table[name].first_cache == kib * 1024 - 512 for name, kib in limits.FIRST_LEVEL.items())
    assert all(table[name].own_cache == kib * 512 for name, kib in limits.SECOND_LEVEL.items())
    assert all(found.first_cache < found.own_cache for found in table.values())
    sizes = [found.own_cache for name, found in table.items() if name != "generic"]
    generic = table["generic"].own_cache
    worst = max(max(generic / size, size / generic) for size in sizes)
    assert all(worst <= max(max(other / size, size / other) for size in sizes) for other in sizes)


def test_a_measured_cpu_streams_lines_of_wide_codes() -> None:
    table = limits.table()
    assert [name for name, found in table.items() if found.stream_lines] == ["znver5"]
    assert [name for name, found in table.items() if found.fetch_first] == ["znver5"]
    assert {name: found.long_rows for name, found in table.items() if found.long_rows} == {"znver5": 1 << 18}
