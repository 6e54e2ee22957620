"""gfsmith_correct: wrong symbols at different shards at every byte position."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
import pytest

from gfsmith import codes
from gfsmith.codes.lrc import Lrc
from tests.oracle.symbols import Patterns, patterns, syndromes
from tests.support.compiler import Compiler
from tests.support.library import (
    EINVAL,
    ETOOMANY,
    EUNSUPPORTED,
    OK,
    UNEXPLAINED,
    Api,
    Arena,
    Bytes,
    Codec,
    cauchy,
    encode,
    products,
    shards_of,
)
from tests.support.mutation import Mutant
from tests.support.paths import ROOT

#: Shapes of generalised Reed-Solomon codes: parities at infinity, one data shard, one more shard than points.
GRS = [
    *(("cauchy", 10, 4), ("cauchy", 1, 254), ("cauchy", 128, 127), ("cauchy", 253, 2), ("hdfs", 6, 3)),
    *(("backblaze", 10, 4), ("backblaze", 100, 20), ("backblaze", 200, 55), ("lch", 10, 4), ("lch", 17, 6)),
    *(("cauchy_orig", 5, 5), ("cauchy_good", 10, 4), ("cauchy_good", 253, 2), ("reed_sol_van", 10, 4)),
    *(("reed_sol_van", 249, 6), ("snapraid", 20, 6), ("snapraid", 249, 6), ("zfec", 10, 6), ("raid6", 8, 2)),
    *(("raidz", 8, 2), ("raidz", 2, 3), ("vandermonde", 2, 7), ("vandermonde", 253, 2)),
    *(("plank_vandermonde", 2, 9), ("plank_vandermonde", 253, 2), ("plank_vandermonde", 1, 5)),
]
#: Codes whose matrix is no Cauchy matrix: one wrong symbol.
OTHERS = [("vandermonde", 10, 4), ("vandermonde", 5, 5), ("raidz", 6, 3), ("plank_vandermonde", 8, 3)]


def damage(shards: Bytes, missing: list[int], t: int, seed: int) -> tuple[Bytes, list[int]]:
    """Return the shards with 0 to t wrong symbols at every position, and the number at each position."""
    rng = np.random.default_rng(seed)
    wrong, present = shards.copy(), np.setdiff1d(np.arange(len(shards)), missing)
    counts = rng.integers(0, t + 1, shards.shape[1])
    for position, count in enumerate(counts):
        chosen = rng.choice(present, count, replace=False)
        wrong[chosen, position] ^= rng.integers(1, 256, count, dtype=np.uint8)
    wrong[missing] = 0xEE
    return wrong, counts.tolist()


def losses(k: int, m: int) -> list[list[int]]:
    """Return sets of missing shards: none, one, and as many as leave two spare ones."""
    both = [*range(0, k + m, max(1, (k + m) // (m - 2)))][: m - 2] if m > 2 else []
    return [[], *([lost] for lost in (0, k + m - 1) if m > 2), *([both] if both else [])]


def expect_corrected(codec: Codec, shards: Bytes, missing: list[int], t: int, length: int) -> None:
    k, m = codec.k, codec.m
    wrong, symbols = damage(shards, missing, t, seed=k + 300 * m + len(missing))
    arena, whole = Arena(wrong), shards.copy()
    whole[missing] = 0xEE
    pointers = arena.pointers([-1 if n in missing else n for n in range(k + m)])
    status, counts, found = codec.correct(length, pointers, missing)
    assert status == OK
    assert np.array_equal(found, symbols)  # a comparison of lists would spend minutes on a difference
    assert counts == [*np.count_nonzero(wrong != whole, axis=1), symbols.count(0), 0]
    arena.expect(whole)


@pytest.mark.parametrize(("code", "k", "m"), GRS)
def test_half_the_spare_shards_are_corrected(api: Api, code: str, k: int, m: int) -> None:
    codec, length = api.create(code, k, m), 400 if k + m < 30 else 70
    matrix = np.array(codes.parity_matrix(code, k, m), np.uint8)
    for missing in losses(k, m):
        t = (m - len(missing)) // 2
        expect_corrected(codec, shards_of(matrix, length, seed=k), missing, t, length)


@pytest.mark.parametrize(("code", "k", "m"), OTHERS)
def test_one_symbol_of_other_codes_is_corrected(api: Api, code: str, k: int, m: int) -> None:
    codec, length = api.create(code, k, m), 300
    matrix = np.array(codes.parity_matrix(code, k, m), np.uint8)
    for missing in losses(k, m):
        expect_corrected(codec, shards_of(matrix, length, seed=k), missing, 1, length)


def test_local_codes(api: Api) -> None:
    """One symbol of LRC(4,2,2), also without a shard. Without three data shards of a group no other equation
    separates its shards."""
    matrix = np.array(Lrc(4, 2, 2).parity(), np.uint8)
    codec, shards = api.create_lrc(4, 2, 2), shards_of(matrix, 90, seed=4)
    for missing in ([], [0], [6]):
        expect_corrected(codec, shards, missing, 1, 90)
    arena = Arena(shards)
    assert codec.correct(90, arena.pointers(), [6, 7])[0] == EUNSUPPORTED


@pytest.mark.parametrize("polynomial", [0x11B, 0x1F5])
def test_other_fields(api: Api, polynomial: int) -> None:
    """The library computes in the codec's field: a Cauchy matrix over another polynomial."""
    table = products(polynomial)
    inverse = np.argmax(table == 1, axis=1).astype(np.uint8)
    matrix = inverse[(6 + np.arange(5)[:, None]) ^ np.arange(6)[None, :]]
    data = np.random.default_rng(1).integers(0, 256, (6, 200), np.uint8)
    shards = np.vstack([data, encode(matrix, data, polynomial)])
    expect_corrected(api.create_matrix(matrix, polynomial), shards, [3], 2, 200)


def test_every_instruction_set(api: Api, isa: str) -> None:
    codec = api.create("cauchy", 10, 4)
    for length in (1, 63, 4097, 9000):
        expect_corrected(codec, shards_of(cauchy(10, 4), length, seed=2), [], 2, length)
        expect_corrected(codec, shards_of(cauchy(10, 4), length, seed=2), [1, 12], 1, length)


@cache
def all_patterns(m: int) -> Patterns:
    return patterns(products(), cauchy(4, m), 2)


@pytest.mark.parametrize("m", [4, 5])
@pytest.mark.parametrize("weight", [2, 3, 4, 9])
def test_beyond_the_capacity(api: Api, m: int, weight: int) -> None:
    """The result equals that of the exhaustive search: a correction if any is possible, else no change. With
    5 parities 3 wrong symbols are always detected."""
    k, length, shards = 4, 3000, 4 + m
    rng = np.random.default_rng(weight)
    words = shards_of(cauchy(k, m), length, seed=3)
    for position in range(length):
        chosen = rng.permutation(shards)[: min(weight, shards)]
        words[chosen, position] ^= rng.integers(1, 256, len(chosen), dtype=np.uint8)
    expected, symbols = all_patterns(m).correct(words)
    arena = Arena(words)
    status, counts, found = api.create("cauchy", k, m).correct(length, arena.pointers(), [])
    assert status == OK
    assert np.array_equal(found, np.where(symbols < 0, UNEXPLAINED, symbols))
    assert counts[shards:] == [int((symbols == 0).sum()), int((symbols < 0).sum())]
    arena.expect(expected)
    after = np.stack([arena.shard(n) for n in range(shards)])
    assert not syndromes(products(), cauchy(k, m), after)[:, symbols >= 0].any()
    detected = (symbols < 0).mean()
    always = {2: 0.0, 3: 1.0} if m == 5 else {2: 0.0}
    assert detected == always.get(weight, detected)


@pytest.mark.parametrize(("code", "k", "m"), [("backblaze", 249, 6), ("zfec", 250, 5)])
def test_corrections_change_few_symbols(api: Api, code: str, k: int, m: int) -> None:
    """Of wide codes almost every point may be a root. With twice too many wrong symbols, corrections change
    at most m / 2 of them, and satisfy all equations; other positions do not change."""
    matrix, length = np.array(codes.parity_matrix(code, k, m), np.uint8), 4000
    words, _ = damage(shards_of(matrix, length, seed=9), [], m, seed=9)
    arena = Arena(words)
    _, counts, found = api.create(code, k, m).correct(length, arena.pointers(), [])
    after, answers = np.stack([arena.shard(n) for n in range(k + m)]), np.array(found)
    changed = np.count_nonzero(after != words, axis=0)
    corrected = answers != UNEXPLAINED
    assert (changed == np.where(corrected, answers, 0)).all() and changed.max() == m // 2
    assert not syndromes(products(), matrix, after)[:, corrected].any()
    assert counts[k + m + 1] == length - corrected.sum() > 0


def test_a_mistake_that_no_decoder_can_detect(api: Api) -> None:
    """Three wrong symbols of five that lead to another stripe: with m = 4 the other two change."""
    stripe = encode(cauchy(4, 4), np.array([[7], [0], [0], [0]], np.uint8))
    arena = Arena(np.vstack([[[7], [0], [0], [0]], stripe[:2], [[0], [0]]]).astype(np.uint8))
    assert api.create("cauchy", 4, 4).correct(1, arena.pointers(), []) == (OK, [0] * 6 + [1, 1, 0, 0], [2])
    arena.expect(np.vstack([[[7], [0], [0], [0]], stripe]).astype(np.uint8))


def test_an_almost_cauchy_matrix_is_no_such_code(api: Api) -> None:
    """One changed element, at every place: two wrong symbols are not corrected, one still is."""
    for row, column in np.ndindex(4, 6):
        matrix = cauchy(6, 4)
        matrix[row, column] ^= 0x35
        codec, shards = api.create_matrix(matrix), shards_of(matrix, 20, seed=5)
        expect_corrected(codec, shards, [], 1, 20)
        shards[[0, 5]] ^= np.array([[3], [7]], np.uint8)
        arena = Arena(shards)
        status, counts, found = codec.correct(20, arena.pointers(), [])
        assert (status, counts[10:], set(found)) == (OK, [0, 20], {UNEXPLAINED})


def test_a_repeated_point_is_no_such_code(api: Api) -> None:
    """Two equal columns: no shard of the two can be told from the other."""
    matrix = np.hstack([cauchy(5, 4), cauchy(5, 4)[:, :1]])
    arena = Arena(shards_of(matrix, 8, seed=1))
    assert api.create_matrix(matrix).correct(8, arena.pointers(), [])[0] == EUNSUPPORTED


def test_arguments(api: Api) -> None:
    codec, lib = api.create("cauchy", 4, 3), api.lib
    arena, shards = Arena(shards_of(cauchy(4, 3), 10, seed=1)), shards_of(cauchy(4, 3), 10, seed=1)
    counts = (ctypes.c_size_t * 9)(*[77] * 9)
    pointers, flags = arena.pointers(), codec.present([6])
    assert lib.gfsmith_correct(None, 10, pointers, None, counts, None) == EINVAL
    assert lib.gfsmith_correct(codec.handle, 10, pointers, None, None, None) == EINVAL
    assert lib.gfsmith_correct(codec.handle, 10, None, None, counts, None) == EINVAL
    without = arena.pointers([0, 1, -1, 3, 4, 5, 6])
    assert lib.gfsmith_correct(codec.handle, 10, without, None, counts, None) == EINVAL
    assert lib.gfsmith_correct(codec.handle, 10, without, flags, counts, None) == EINVAL
    assert lib.gfsmith_correct(codec.handle, 10, pointers, codec.present([0, 1]), counts, None) == ETOOMANY
    assert list(counts) == [77] * 9
    assert lib.gfsmith_correct(codec.handle, 10, pointers, flags, counts, None) == OK
    assert list(counts) == [0] * 7 + [10, 0]
    assert lib.gfsmith_correct(codec.handle, 0, None, None, None, None) == OK
    arena.expect(shards)
    assert api.create("cauchy", 4, 1).correct(0, None, [])[0] == EUNSUPPORTED
    assert codec.packets(8) == OK
    assert codec.correct(64, pointers, [])[0] == EUNSUPPORTED


#: Deliberate errors, each detected by a test above (run on the library with the error).
MUTANTS = (
    Mutant("count > grs->m / 2", "count > grs->m / 2 + 1"),
    Mutant("found == count ? count : 0", "found"),
    Mutant("2 * length > l", "2 * length >= l"),
    Mutant("difference ^= mul(grs, locator[i], sums[l - i]);", ";"),
    Mutant("numerator[n] ^= mul(grs, locator[i], sums[n - i]);", "numerator[n] = sums[n];"),
    Mutant("mul(grs, row[j], determinant(grs, *own, pairs[j])) != 1", "false"),
    Mutant("if (*own) return false;", ";"),
    Mutant("i != n", "true", within="write_factors"),
    Mutant("numbered(n++)", "numbered(n)"),
    Mutant("c->algebraic", "false", within="decode_position"),
    Mutant("c->shards[shard][position] ^= errors[n].value;", "c->shards[shard][position] = errors[n].value;"),
    Mutant("missing + 2 <= codec->m", "missing <= codec->m"),
    Mutant("spare[parity] = true;", "spare[parity] = i > 0;"),
    Mutant("n < k ? code->data.shard[n] : code->parity.shard[n - k]", "n"),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_tests_detect_the_error(mutant: Mutant, compiler: Compiler) -> None:
    sources = [ROOT / f"runtime/core/src/{name}.c" for name in ("grs", "correct", "punctured")]
    api = Api(compiler.library_with_error(mutant, sources))
    with pytest.raises(AssertionError):
        test_half_the_spare_shards_are_corrected(api, "reed_sol_van", 10, 4)
        test_half_the_spare_shards_are_corrected(api, "backblaze", 10, 4)
        test_half_the_spare_shards_are_corrected(api, "snapraid", 20, 6)
        test_beyond_the_capacity(api, 4, 4)
        test_corrections_change_few_symbols(api, "zfec", 250, 5)
        test_an_almost_cauchy_matrix_is_no_such_code(api)
        test_a_repeated_point_is_no_such_code(api)
        test_arguments(api)
