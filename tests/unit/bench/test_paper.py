"""Table I of the paper as the benchmark makes it, from artificial samples. No test measures time."""

from __future__ import annotations

from bench import cells, paper
from bench.results import Result, result
from bench.run import Samples


def _measured(nanoseconds: dict[str, float], libraries: tuple[str, ...] = ("isal",)) -> list[Result]:
    """Return every cell with these times by instruction set, in six rounds of which
    some are twice as slow.
    """
    found = []
    for cell in paper.cells():
        who = cells.contenders(cell, libraries)
        times = {
            name: LEGACY if name.startswith("legacy:") else nanoseconds[name.split(":")[1].split("+")[0]]
            for name in who
        }
        found.append(
            result(Samples(cell, ns={name: [t, 2 * t, t, t, 2 * t, t] for name, t in times.items()}))
        )
    return found


OURS = {"gfni_avx512": 40.0, "gfni_avx2": 200.0, "avx2": 100.0, "gfni_sse": 80.0, "scalar": 800.0}
LEGACY = 400.0  #: algebra with AVX2
ISAL = {"avx512_gfni": 50.0, "avx2_gfni": 10.0, "avx": 30.0}


def test_speed_ups_are_those_over_avx2_and_can_be_below_one() -> None:
    table, functions = paper.listings(_measured({**OURS, **ISAL}))
    rows = {row[0]: [field.split(" ")[0] for field in row[1:]] for row in table.rows}
    assert list(rows) == ["gf_vect_mul", "gf_vect_dot_prod", "gf_vect_mad", "encode", "encode update"]
    assert [row[0] for row in rows.values()] == ["1.31", "1.40", "1.10", "1.83", "1.11"]
    assert rows["gf_vect_mul"][1:] == ["0.50", "2.50", "3.00", "-", "0.25"]
    assert rows["encode"][1:] == ["0.50", "2.50", "10.00", "2.00", "1.25"]
    ratios = [f"{r:.2f} ({r:.2f}..{r:.2f})" for r in (10, 4, 20, 2, 10)]
    assert [row[3:] for row in functions.rows] == [ratios] * 7
    assert all(float(row[2]) == 2 * float(row[1]) for row in functions.rows)


def test_a_library_that_is_missing_leaves_its_columns_empty() -> None:
    table, _ = paper.listings(_measured(OURS, libraries=()))
    assert [row[4:] for row in table.rows] == [["-", "-", "-"]] * 5
    assert all("-" not in row[1:4] for row in table.rows)


def test_cells_of_the_table_are_no_comparison_with_the_fastest_peer() -> None:
    for found in _measured({**OURS, **ISAL}):
        assert found.peer is None and found.meets_floor is None and not found.peer_ahead
