"""Statuses: refused arguments, for which nothing is written; len = 0."""

from __future__ import annotations

import ctypes

import pytest

from gfsmith import __version__
from tests.support.library import (
    EINVAL,
    ENOMEM,
    ENOTMDS,
    ESINGULAR,
    ETOOMANY,
    EUNSUPPORTED,
    OK,
    Api,
    Arena,
    cauchy,
    shards_of,
    vandermonde,
)

BAD_SHAPES = [
    (0, 1),
    (1, 0),
    (0, 0),
    (255, 1),
    (1, 255),
    (128, 128),
    (2**32 - 1, 2),
    (2, 2**32 - 1),
    (2**31, 2**31),
    (2**32 - 1, 2**32 - 1),
]
IRREDUCIBLE = [
    *(0x11B, 0x11D, 0x12B, 0x12D, 0x139, 0x13F, 0x14D, 0x15F, 0x163, 0x165),
    *(0x169, 0x171, 0x177, 0x17B, 0x187, 0x18B, 0x18D, 0x19F, 0x1A3, 0x1A9),
    *(0x1B1, 0x1BD, 0x1C3, 0x1CF, 0x1D7, 0x1DD, 0x1E7, 0x1F3, 0x1F5, 0x1F9),
]


def create(api: Api, code: bytes | None, k: int, m: int) -> tuple[int, int | None]:
    """Return the status, and *out, which had another value before the call."""
    out = ctypes.c_void_p(1)
    status = api.lib.gfsmith_codec_create(ctypes.byref(out), code, k, m)
    if status == OK:
        api.lib.gfsmith_codec_destroy(out)
    return status, out.value


def create_matrix(api: Api, polynomial: int, k: int, m: int, matrix: bytes | None) -> int:
    out = ctypes.c_void_p(1)
    status = api.lib.gfsmith_codec_create_matrix(ctypes.byref(out), polynomial, k, m, matrix)
    assert (status == OK) == (out.value is not None)
    if status == OK:
        api.lib.gfsmith_codec_destroy(out)
    return int(status)


def test_version(api: Api) -> None:
    assert api.lib.gfsmith_version() == __version__.encode()


def test_strerror(api: Api) -> None:
    codes = (OK, EINVAL, ENOMEM, ENOTMDS, ETOOMANY, EUNSUPPORTED, ESINGULAR)
    texts = [api.lib.gfsmith_strerror(code) for code in codes]
    assert len(set(texts)) == len(codes)
    assert all(texts)
    for unknown in (1, -7, 2**31 - 1, -(2**31)):
        assert api.lib.gfsmith_strerror(unknown) == b"unknown status"


@pytest.mark.parametrize("code", ["vandermonde", "cauchy"])
@pytest.mark.parametrize(("k", "m"), BAD_SHAPES)
def test_bad_shapes(api: Api, code: str, k: int, m: int) -> None:
    assert create(api, code.encode(), k, m) == (EINVAL, None)
    assert create_matrix(api, 0x11D, k, m, bytes(65536)) == EINVAL


@pytest.mark.parametrize("code", [None, b"", b"Cauchy", b"cauchy ", b"cauch", b"nonsense"])
def test_bad_names(api: Api, code: bytes | None) -> None:
    assert create(api, code, 4, 2) == (EINVAL, None)


def test_limits(api: Api) -> None:
    for k, m in ((1, 1), (254, 1), (1, 254), (127, 128), (128, 127)):
        assert create(api, b"cauchy", k, m)[0] == OK


def test_null_out(api: Api) -> None:
    assert api.lib.gfsmith_codec_create(None, b"cauchy", 4, 2) == EINVAL
    assert api.lib.gfsmith_codec_create_matrix(None, 0x11D, 4, 2, bytes(8)) == EINVAL
    api.lib.gfsmith_codec_destroy(None)


def test_null_matrix(api: Api) -> None:
    assert create_matrix(api, 0x11D, 4, 2, None) == EINVAL


def test_polynomials(api: Api) -> None:
    """Exactly the 30 irreducible polynomials of degree 8 (OEIS A058943) are accepted."""
    candidates = range(0x600)
    accepted = [p for p in candidates if create_matrix(api, p, 2, 1, b"\1\2") == OK]
    assert accepted == IRREDUCIBLE
    for polynomial in (2**31 + 0x11D, 2**32 - 1, 0x8000, 0x10000):
        assert create_matrix(api, polynomial, 2, 1, b"\1\2") == EINVAL


def test_matrix_is_copied(api: Api) -> None:
    matrix = vandermonde(4, 2)
    expected = shards_of(matrix, 64, seed=2)
    raw = ctypes.create_string_buffer(matrix.tobytes(), 8)
    handle = ctypes.c_void_p()
    create_call = api.lib.gfsmith_codec_create_matrix
    assert create_call(ctypes.byref(handle), 0x11D, 4, 2, ctypes.addressof(raw)) == OK
    raw[0:8] = bytes(8)
    arena = Arena(expected)
    encode = api.lib.gfsmith_encode
    assert encode(handle, 64, arena.pointers(range(4)), arena.pointers([4, 5])) == OK
    arena.expect(expected)
    api.lib.gfsmith_codec_destroy(handle)


def test_null_codec(api: Api) -> None:
    lib = api.lib
    ok = ctypes.c_bool(True)
    for length in (0, 10):
        assert lib.gfsmith_encode(None, length, None, None) == EINVAL
        assert lib.gfsmith_update(None, length, 0, None, None) == EINVAL
        assert lib.gfsmith_reconstruct(None, length, None, None, None) == EINVAL
        assert lib.gfsmith_check(None, length, None, ctypes.byref(ok)) == EINVAL


def test_length_zero_touches_nothing(api: Api, isa: str) -> None:
    codec = api.create("cauchy", 10, 4)
    assert codec.encode(0, None, None) == OK
    assert codec.update(0, 9, None, None) == OK
    assert codec.check(0, None) == (OK, True)
    assert api.lib.gfsmith_check(codec.handle, 0, None, None) == OK
    nulls = (ctypes.c_void_p * 14)()
    assert codec.encode(0, nulls, nulls) == OK
    assert codec.check(0, nulls) == (OK, True)
    assert codec.reconstruct(0, None, range(4)) == codec.reconstruct(0, nulls, range(4)) == OK
    wild = (ctypes.c_void_p * 14)(*[1] * 14)
    assert codec.encode(0, wild, wild) == OK
    assert codec.check(0, wild) == (OK, True)


def test_losses_of_empty_shards(api: Api) -> None:
    """The same losses are too many, or not determined, at every length."""
    codec, local = api.create("cauchy", 4, 2), api.create_lrc(6, 2, 2)
    assert api.lib.gfsmith_reconstruct(codec.handle, 0, None, None, None) == EINVAL
    for missing in ((0, 1, 2), range(6)):
        assert codec.reconstruct(0, None, missing) == ETOOMANY
    lost = (0, 1, 2, 6)  # a group with its local parity
    assert local.reconstruct(0, None, lost) == ESINGULAR


def test_null_arrays_and_pointers(api: Api) -> None:
    """Each pointer in turn NULL: EINVAL, and no byte is written."""
    k, m, length = 5, 3, 100
    codec = api.create("cauchy", k, m)
    before = shards_of(cauchy(k, m), length, seed=3)
    before[k:] = 0x5A
    arena = Arena(before)
    data, parity = list(range(k)), list(range(k, k + m))
    delta = arena.pointers()[0]
    assert codec.encode(length, None, arena.pointers(parity)) == EINVAL
    assert codec.encode(length, arena.pointers(data), None) == EINVAL
    assert codec.update(length, 0, None, arena.pointers(parity)) == EINVAL
    assert codec.update(length, 0, delta, None) == EINVAL
    assert codec.check(length, None) == (EINVAL, None)
    assert api.lib.gfsmith_check(codec.handle, length, arena.pointers(), None) == EINVAL
    for null in range(k + m):
        inputs = arena.pointers(-1 if i == null else i for i in data)
        outputs = arena.pointers(-1 if i == null else i for i in parity)
        everything = arena.pointers(-1 if i == null else i for i in data + parity)
        assert codec.encode(length, inputs, outputs) == EINVAL
        assert codec.check(length, everything) == (EINVAL, None)
        if null >= k:
            assert codec.update(length, 1, delta, outputs) == EINVAL
    arena.expect(before)


@pytest.mark.parametrize("name", ["", "AVX2", "avx", "avx2 ", "none", "scalar\n"])
def test_set_isa_unknown(api: Api, name: str) -> None:
    before = api.isa()
    assert api.set_isa(name) == EINVAL
    assert api.lib.gfsmith_set_isa(None) == EINVAL
    assert api.isa() == before
