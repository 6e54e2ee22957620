"""The results of codecs, compared with the field's own arithmetic."""

from __future__ import annotations

import array
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gfsmith
from gfsmith.codes import CodeError, parity_matrix
from gfsmith.field import irreducible_polynomials
from tests.oracle.codec import encode, random_data

RUN = settings(deadline=None, derandomize=True, max_examples=80)


@st.composite
def codecs(draw: st.DrawFn) -> gfsmith.Codec:
    k, m = draw(st.integers(1, 24)), draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["cauchy", "backblaze", "lch", "lrc", "matrix"]))
    if kind == "lrc":
        return gfsmith.Codec.lrc(k, draw(st.integers(1, k)), m)
    if kind == "matrix":
        rows = draw(st.lists(st.binary(min_size=k, max_size=k), min_size=m, max_size=m))
        return gfsmith.Codec.from_matrix(rows, polynomial=draw(st.sampled_from(irreducible_polynomials())))
    return gfsmith.Codec(kind, k, m)


lengths = st.integers(0, 400) | st.sampled_from([4096, 40000])


@RUN
@given(codecs(), lengths, st.integers(0, 2**32))
def test_parities_are_the_matrix_times_the_data(codec: gfsmith.Codec, length: int, seed: int) -> None:
    data = random_data(codec.k, length, seed)
    parity = codec.encode(data)
    assert parity.shape == (codec.m, length)
    np.testing.assert_array_equal(parity, encode(codec.parity_matrix, data, codec.polynomial))
    assert codec.check(np.vstack([data, parity]))
    if length:
        parity[seed % codec.m, seed % length] ^= 1
        assert not codec.check(np.vstack([data, parity]))


@RUN
@given(codecs(), lengths, st.data())
def test_a_loss_is_repaired_or_refused_as_determined_says(
    codec: gfsmith.Codec, length: int, draw: st.DataObject
) -> None:
    data = random_data(codec.k, length)
    whole = [*map(bytes, data), *codec.encode(list(map(bytes, data)))]
    lost = draw.draw(st.sets(st.integers(0, codec.n - 1), max_size=codec.m))
    present = codec.all_but(*lost)
    shards = [shard if here else None for shard, here in zip(whole, present, strict=True)]
    if all(codec.determined(present)):
        assert codec.reconstruct(shards) == whole
        plan = codec.plan(present)
        assert set(plan.targets) == lost and not lost & set(plan.reads)
        only = [shard if i in plan.reads else None for i, shard in enumerate(shards)]
        for i in lost:
            only[i] = bytearray(length)
        plan.run(only)
        assert all(only[i] == whole[i] for i in lost)
    elif length:
        with pytest.raises(gfsmith.SingularError):
            codec.reconstruct(shards)


@RUN
@given(codecs(), lengths, st.data())
def test_updates_and_appended_shards_equal_encoding(
    codec: gfsmith.Codec, length: int, draw: st.DataObject
) -> None:
    data = random_data(codec.k, length)
    parity = codec.encode(data)
    changed = draw.draw(st.lists(st.integers(0, codec.k - 1), max_size=12))
    deltas = random_data(len(changed), length, 1)
    many = parity.copy()
    codec.update_many(changed, draw.draw(st.sampled_from([deltas, list(deltas)])), many)
    for index, delta in zip(changed, deltas, strict=True):
        codec.update(index, delta, parity)
        data[index] ^= delta
    np.testing.assert_array_equal(parity, codec.encode(data))
    np.testing.assert_array_equal(parity, many)
    arrived = np.full_like(parity, 0xAA)
    for turn, index in enumerate(draw.draw(st.permutations(range(codec.k)))):
        codec.append(index, data[index], arrived, first=turn == 0)
    np.testing.assert_array_equal(arrived, parity)


@pytest.mark.parametrize("code", [*gfsmith.CODES, "klauspost", "hadoop", "md", "openzfs"])
def test_named_codes_are_those_of_the_generator(code: str) -> None:
    shapes = 0
    for k, m in itertools.product((1, 4, 10, 24), (1, 2, 3, 4)):
        try:
            expected = parity_matrix(code, k, m)
        except CodeError:
            with pytest.raises(gfsmith.GfsmithError):
                gfsmith.Codec(code, k, m)
            continue
        shapes += 1
        assert [list(row) for row in gfsmith.Codec(code, k, m).parity_matrix] == [list(r) for r in expected]
    assert shapes


def test_only_wanted_shards_are_rebuilt() -> None:
    codec = gfsmith.Codec("cauchy", 6, 3)
    data = random_data(6, 1000)
    whole = [*map(bytes, data), *codec.encode(list(map(bytes, data)))]
    lost = [None if i in (0, 4, 8) else shard for i, shard in enumerate(whole)]
    found = codec.reconstruct(lost, wanted=codec.only(4))
    assert found[4] == whole[4] and found[0] is None and found[8] is None
    assert lost[4] is None, "the caller's list is not changed"
    array = np.array([list(shard) for shard in whole], np.uint8)
    array[[0, 4, 8]] = 0
    assert codec.reconstruct(array, codec.all_but(0, 4, 8), np.arange(9) == 4) is array
    assert bytes(array[4]) == whole[4] and not array[[0, 8]].any()


def test_a_wrong_shard_is_located() -> None:
    codec = gfsmith.Codec("cauchy", 5, 3)
    shards = np.vstack([random_data(5, 300), np.zeros((3, 300), np.uint8)])
    codec.encode(shards[:5], shards[5:])
    shards[2, 10:20] ^= 0x55
    shards[[1, 6], 30] ^= 7
    for where in (np.empty(300, np.uint16), array.array("H", bytes(600))):
        located = codec.locate(shards, where)
        assert located == ((0, 0, 10, 0, 0, 0, 0, 0), 289, 1)
        assert located.wrong == (2,)
        expected = [gfsmith.INTACT] * 300
        expected[10:20], expected[30] = [2] * 10, gfsmith.UNEXPLAINED
        assert list(where) == expected
    with pytest.raises(gfsmith.UnsupportedError):
        gfsmith.Codec("cauchy", 5, 1).locate(shards[:6])


def test_wrong_symbols_are_corrected() -> None:
    """Two wrong symbols of 5+5 at every position, one without two shards, in an array and in a list."""
    codec, rng = gfsmith.Codec("cauchy", 5, 5), np.random.default_rng(1)
    whole = np.vstack([random_data(5, 300), np.zeros((5, 300), np.uint8)])
    codec.encode(whole[:5], whole[5:])
    for missing, wrong in (((), 2), ((1, 7), 1)):
        shards = whole.copy()
        present = [n for n in range(10) if n not in missing]
        for position in range(0, 300, 3):
            shards[rng.choice(present, wrong, replace=False), position] ^= 0x21
        damaged = np.count_nonzero(shards != whole, axis=1).tolist()
        listed = [bytearray(row.tobytes()) if n in present else None for n, row in enumerate(shards)]
        found = array.array("H", bytes(600))
        for result in (codec.correct(shards, codec.all_but(*missing), found), codec.correct(listed)):
            assert result == (tuple(damaged), 200, 0)
        assert list(found) == [wrong, 0, 0] * 100
        assert np.array_equal(shards, whole)
        assert all(
            shard is None or bytes(shard) == bytes(row) for shard, row in zip(listed, whole, strict=True)
        )
    whole[:3, 7] ^= 1
    assert codec.correct(whole) == ((0,) * 10, 299, 1)
    with pytest.raises(gfsmith.UnsupportedError):
        gfsmith.Codec("cauchy", 5, 1).correct(whole[:6])


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 99, 100, 12345])
@pytest.mark.parametrize("packet", [0, 2])
def test_split_and_join_are_inverse(size: int, packet: int) -> None:
    codec = gfsmith.Codec("cauchy", 10, 4, packet=packet)
    blob = random_data(1, size).tobytes()
    shards = codec.split(blob)
    assert len(shards) == 10 and len({len(shard) for shard in shards}) == 1
    everything = [*shards, *codec.encode(shards)]
    for lost in ((0, 9, 10, 13), (3, 4, 5, 6)):
        kept = [None if i in lost else shard for i, shard in enumerate(everything)]
        assert codec.join(codec.reconstruct(kept), size) == blob
    with pytest.raises(gfsmith.InvalidError, match=r"size = .*: the 10 data shards hold"):
        codec.join(shards, 10 * len(shards[0]) + 1)
    with pytest.raises(gfsmith.InvalidError, match=r"^size = -1: must be 0 or more$"):
        codec.join(shards, -1)
    with pytest.raises(gfsmith.InvalidError, match=r"^shards\[0\]: None; join needs the data shards"):
        codec.join([None, *shards[1:]], size)  # type: ignore[list-item]


def test_packet_layout_has_other_parities_and_refuses_other_lengths() -> None:
    plain, packets = gfsmith.Codec("cauchy_good", 4, 2), gfsmith.Codec("cauchy_good", 4, 2, packet=16)
    assert plain.parity_matrix == packets.parity_matrix and plain != packets
    data = random_data(4, 256)
    parity = packets.encode(data)
    assert packets.check(np.vstack([data, parity])) and not plain.check(np.vstack([data, parity]))
    with pytest.raises(gfsmith.InvalidError, match=r"100 bytes.* multiple of 128"):
        packets.encode(data[:, :100])


@pytest.mark.parametrize("isa", ["scalar", "sse", "avx2"])
def test_every_instruction_set_computes_the_same(isa: str) -> None:
    before = gfsmith.get_isa()
    data = random_data(10, 777)
    expected = encode(gfsmith.Codec("cauchy", 10, 4).parity_matrix, data)
    try:
        gfsmith.set_isa(isa)
        assert gfsmith.get_isa() == isa and isa in gfsmith.ISAS
        np.testing.assert_array_equal(gfsmith.Codec("cauchy", 10, 4).encode(data), expected)
    finally:
        gfsmith.set_isa(before)


def test_the_signature_names_the_arguments() -> None:
    names = ["code", "k", "m", "hint", "packet", "threads"]
    assert list(inspect.signature(gfsmith.Codec).parameters) == names


@pytest.mark.parametrize("hint", ["auto", "cached", "streaming"])
def test_hints_change_no_result(hint: str) -> None:
    codec = gfsmith.Codec("cauchy", 10, 4, hint=hint)
    data = random_data(10, 5000)
    np.testing.assert_array_equal(codec.encode(data), gfsmith.Codec("cauchy", 10, 4).encode(data))


@pytest.mark.parametrize("parities", [1, 2, 3])
def test_raid(parities: int) -> None:
    k, length = 6, 1000
    shards = np.vstack([random_data(k, length), np.zeros((parities, length), np.uint8)])
    gfsmith.raid.generate(shards, parities)
    powers = [1, 2, 4, 8, 16, 32, 64, 128, 29, 58, 116]
    matrix = [[powers[i * j] for j in range(k)] for i in range(parities)]
    np.testing.assert_array_equal(shards[k:], encode(matrix, shards[:k]))
    assert gfsmith.raid.check(shards, parities)
    whole = shards.copy()
    for lost in itertools.combinations(range(k + parities), parities):
        present = np.isin(np.arange(k + parities), lost, invert=True)
        shards[list(lost)] = 0xEE
        assert not gfsmith.raid.check(shards, parities)
        assert gfsmith.raid.recover(shards, present, parities) is shards
        np.testing.assert_array_equal(shards, whole)
    with pytest.raises(gfsmith.TooManyLostError):
        gfsmith.raid.recover(shards, [False] * (parities + 1) + [True] * (k - 1), parities)
    with pytest.raises(gfsmith.InvalidError, match=r"parities: 4, must be 1, 2 or 3"):
        gfsmith.raid.check(shards, 4)
