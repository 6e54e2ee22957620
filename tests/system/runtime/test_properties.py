"""Properties of all codes, lengths, contents and losses, on examples that Hypothesis draws.

The draws are derived from the test itself, so every run has the same examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gfsmith.codes.lrc import Lrc
from tests.support.library import INTACT, OK, Api, Arena, Bytes, Codec, Plan, encode, random_matrix

RUN = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True)
class Case:
    """A code by its name and shape; "matrix" is a random one with zeros, of a seed."""

    code: str
    k: int
    m: int
    l: int  # noqa: E741 - the papers' name
    length: int
    seed: int

    def codec(self, api: Api) -> Codec:
        if self.code == "lrc":
            return api.create_lrc(self.k, self.l, self.m)
        if self.code == "matrix":
            zeros = np.random.default_rng(self.seed).integers(0, 2, (self.m, self.k), dtype=np.uint8)
            return api.create_matrix(random_matrix(self.k, self.m, self.seed) * zeros)
        return api.create(self.code, self.k, self.m)

    def data(self, salt: int = 0) -> Bytes:
        rng = np.random.default_rng([self.seed, salt])
        return rng.integers(0, 256, (self.k, self.length), dtype=np.uint8)


@st.composite
def cases(draw: st.DrawFn, names: tuple[str, ...] = ("cauchy", "lch", "backblaze", "lrc", "matrix")) -> Case:
    k = draw(st.integers(1, 24))
    return Case(
        code=draw(st.sampled_from(names)),
        k=k,
        m=draw(st.integers(1, 8)),
        l=draw(st.integers(1, k)),
        length=draw(st.integers(1, 300)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def encoded(codec: Codec, data: Bytes) -> Arena:
    """Return the data and the parities that the codec computes."""
    arena = Arena(np.concatenate([data, np.full((codec.m, data.shape[1]), 0xEE, dtype=np.uint8)]))
    parity = arena.pointers(range(codec.k, codec.k + codec.m))
    assert codec.encode(data.shape[1], arena.pointers(range(codec.k)), parity) == OK
    return arena


def parities(codec: Codec, arena: Arena) -> Bytes:
    return np.stack([arena.shard(codec.k + i) for i in range(codec.m)])


@given(case=cases(), losses=st.data())
@RUN
def test_repairable_losses_are_repaired(session_api: Api, case: Case, losses: st.DataObject) -> None:
    codec = case.codec(session_api)
    n = codec.k + codec.m
    lost = losses.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=codec.m))
    wanted = losses.draw(st.sets(st.sampled_from(sorted(lost)), min_size=1))
    possible = wanted & set(codec.determined(lost))
    arena = encoded(codec, case.data())
    expected = np.stack([arena.shard(i) for i in range(n)])
    for shard in lost:
        arena.shard(shard)[:] = 0x77
        if shard not in possible:
            expected[shard] = 0x77
    plan = codec.plan(lost, possible)
    assert isinstance(plan, Plan) and set(plan.targets) == possible
    given = [i if i in possible or i in plan.reads else -1 for i in range(n)]
    assert codec.reconstruct(case.length, arena.pointers(given), lost, possible) == OK
    arena.expect(expected)
    assert possible == wanted or codec.reconstruct(case.length, arena.pointers(), lost, wanted) != OK


@given(case=cases())
@RUN
def test_encoding_is_linear(session_api: Api, case: Case) -> None:
    codec = case.codec(session_api)
    a, b = case.data(1), case.data(2)
    both = parities(codec, encoded(codec, a ^ b))
    assert np.array_equal(both, parities(codec, encoded(codec, a)) ^ parities(codec, encoded(codec, b)))


@given(case=cases(), changes=st.data())
@RUN
def test_updating_equals_encoding(session_api: Api, case: Case, changes: st.DataObject) -> None:
    codec = case.codec(session_api)
    indices = changes.draw(st.lists(st.integers(0, codec.k - 1), max_size=20))
    rng = np.random.default_rng(case.seed)
    deltas = Arena(rng.integers(0, 256, (max(len(indices), 1), case.length), dtype=np.uint8))
    arena = encoded(codec, case.data())
    parity = arena.pointers(range(codec.k, codec.k + codec.m))
    assert codec.update_many(case.length, indices, deltas.pointers(), parity) == OK
    data = case.data()
    for n, index in enumerate(indices):
        data[index] ^= deltas.shard(n)
    assert np.array_equal(parities(codec, arena), parities(codec, encoded(codec, data)))


@given(case=cases(), order=st.randoms(use_true_random=False))
@RUN
def test_appending_equals_encoding(session_api: Api, case: Case, order: object) -> None:
    codec = case.codec(session_api)
    whole = encoded(codec, case.data())
    arena = Arena(np.concatenate([case.data(), np.full((codec.m, case.length), 0xEE, dtype=np.uint8)]))
    indices = list(range(codec.k))
    order.shuffle(indices)  # type: ignore[attr-defined]
    for index in indices:
        shard, parity = arena.pointers([index])[0], arena.pointers(range(codec.k, codec.k + codec.m))
        assert codec.append(case.length, index, shard, parity, index == indices[0]) == OK
    arena.expect(np.concatenate([case.data(), parities(codec, whole)]))


@given(case=cases(("cauchy", "lch", "lrc")), damage=st.data())
@RUN
def test_a_corrupted_shard_is_located(session_api: Api, case: Case, damage: st.DataObject) -> None:
    codec = case.codec(session_api)
    if codec.m < 2:
        codec = session_api.create("cauchy", case.k, 2)
    n = codec.k + codec.m
    arena = encoded(codec, case.data())
    wrong = damage.draw(st.integers(0, n - 1))
    change = np.random.default_rng(case.seed).integers(0, 256, case.length, dtype=np.uint8)
    arena.shard(wrong)[:] ^= change
    status, counts, where = codec.locate(case.length, arena.pointers())
    assert status == OK and where == [wrong if e else INTACT for e in change]
    assert counts[wrong] == np.count_nonzero(change) and counts[n + 1] == 0
    assert codec.reconstruct(case.length, arena.pointers(), [wrong]) == OK
    assert codec.check(case.length, arena.pointers()) == (OK, True)


@pytest.mark.parametrize("shape", [(6, 2, 2)], ids=str)
def test_the_properties_can_fail(session_api: Api, shape: tuple[int, int, int]) -> None:
    """With one coefficient changed, the runtime's matrix is still linear, but not that of the code."""
    matrix = np.array(Lrc(*shape).parity(), dtype=np.uint8)
    wrong = matrix.copy()
    wrong[2, 3] ^= 2
    data = np.random.default_rng(1).integers(0, 256, (shape[0], 50), dtype=np.uint8)
    right = np.concatenate([data, encode(matrix, data)])
    codec = session_api.create_matrix(wrong)
    arena = Arena(right)
    status, counts, _ = codec.locate(50, arena.pointers())
    assert status == OK and counts[codec.k + codec.m] < 50
    arena.shard(3)[:] = 0
    assert codec.reconstruct(50, arena.pointers(), [3], None) == OK
    arena.expect(right)  # its group does not include the global parity
    arena.shard(3)[:] = arena.shard(8)[:] = 0
    assert codec.reconstruct(50, arena.pointers(), [3, 8]) == OK
    assert not np.array_equal(arena.shard(8), right[8])
