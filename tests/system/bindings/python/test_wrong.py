"""Objects that are not shards, and wrong sizes: a one-line message, and nothing is written."""

from __future__ import annotations

import array
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gfsmith
from gfsmith import InvalidError
from gfsmith.codes import find, safe_shapes
from gfsmith.codes.names import CODES, Code
from tests.oracle.codec import random_data

LENGTH = 96
DATA = random_data(4, LENGTH)
B = bytes(DATA[0])
PARITY = bytearray(LENGTH)
#: Two stripes of four data shards, two of two parities, and two of all shards, of 24 bytes.
STRIPES = DATA.reshape(2, 4, 48)[:, :, :24]
#: All shards of a stripe.
ROWS = np.zeros((6, LENGTH), np.uint8)
TWO = np.zeros((2, 2, 24), np.uint8)
ALL = np.zeros((2, 6, 24), np.uint8)
WRONG: dict[str, tuple[Callable[[gfsmith.Codec], object], type[Exception], str]] = {
    "no sequence": (lambda c: c.encode(7), TypeError, "data: <class 'int'> is neither a sequence"),
    "None": (lambda c: c.encode(None), TypeError, "data: <class 'NoneType'> is neither a sequence"),
    "str": (lambda c: c.encode("abcd"), TypeError, "data: <class 'str'> is neither"),
    "set": (lambda c: c.encode({b"a", b"b"}), TypeError, "data: <class 'set'> is neither"),
    "generator": (lambda c: c.encode(x for x in [B] * 4), TypeError, "'generator'> is neither"),
    "str inside": (
        lambda c: c.encode([B, "x", B, B]),
        TypeError,
        r"data\[1\]: <class 'str'> is not a buffer",
    ),
    "None inside": (lambda c: c.encode([B, B, None, B]), TypeError, r"data\[2\]: <class 'NoneType'> is no"),
    "flat": (
        lambda c: c.encode(B * 4),
        InvalidError,
        "data: one buffer of 1 dimension, must be a sequence of 4",
    ),
    "three dimensions": (lambda c: c.encode(np.zeros((4, 2, 2), np.uint8)), InvalidError, "of 3 dimensions"),
    "scalar array": (lambda c: c.encode(np.zeros((), np.uint8)), InvalidError, "of 0 dimensions"),
    "two dimensions inside": (
        lambda c: c.encode([np.zeros((2, 2), np.uint8)] * 4),
        InvalidError,
        r"data\[0\]: has 2 dimensions, must",
    ),
    "rows": (lambda c: c.encode(np.zeros((5, 9), np.uint8)), InvalidError, "data: 5 shards, must be 4"),
    "items": (lambda c: c.encode([B] * 3), InvalidError, "data: 3 shards, must be 4"),
    "none": (lambda c: c.encode([]), InvalidError, "data: 0 shards, must be 4"),
    "length": (lambda c: c.encode([B, B, B[:-1], B]), InvalidError, r"data\[2\]: 95 bytes, data\[0\] has 96"),
    "parity length": (
        lambda c: c.encode(DATA, [PARITY, bytearray(95)]),
        InvalidError,
        r"parity\[1\]: 95 bytes, data\[0\] has 96",
    ),
    "parity rows": (
        lambda c: c.encode(DATA, np.zeros((3, LENGTH), np.uint8)),
        InvalidError,
        "parity: 3 shards, must be 2",
    ),
    "float": (
        lambda c: c.encode(np.zeros((4, 9))),
        TypeError,
        r"data: elements are of format 'd' \(8 bytes\)",
    ),
    "int64": (lambda c: c.encode([np.arange(4)] * 4), TypeError, r"data\[0\]: elements are of format 'l'"),
    "bool": (lambda c: c.encode(np.zeros((4, 9), bool)), TypeError, "format '\\?'"),
    "objects": (lambda c: c.encode(np.array([B] * 4, object)), TypeError, "format 'O'"),
    "dates": (lambda c: c.encode(np.zeros((4, 9), "M8[s]")), ValueError, "dtype"),
    "gaps": (
        lambda c: c.encode(DATA[:, ::2]),
        InvalidError,
        "data: elements are 2 bytes apart, must be contig",
    ),
    "columns": (lambda c: c.encode(np.asfortranarray(DATA)), InvalidError, "elements are 4 bytes apart"),
    "backwards": (
        lambda c: c.encode([B[::1], B, memoryview(B)[::-1], B]),
        InvalidError,
        r"data\[2\]: .* -1 bytes",
    ),
    "bytes as parity": (
        lambda c: c.encode(DATA, [PARITY, B]),
        InvalidError,
        r"parity\[1\]: <class 'bytes'> is read-only",
    ),
    "read-only parity": (
        lambda c: c.encode(DATA, np.broadcast_to(DATA[0], (2, LENGTH))),
        InvalidError,
        "parity: .* is read-only",
    ),
    "parity twice": (
        lambda c: c.encode(DATA, [PARITY] * 2),
        InvalidError,
        r"parity\[0\] overlaps parity\[1\]",
    ),
    "parity in data": (
        lambda c: c.encode(W := DATA.copy(), W[2:]),
        InvalidError,
        r"data\[2\] overlaps|parity\[0\] overlaps data\[2\]",
    ),
    "one byte": (
        lambda c: c.encode(
            np.lib.stride_tricks.sliding_window_view(np.zeros(200, np.uint8), LENGTH)[:4],
            (M := np.zeros(200, np.uint8), [M[:96], M[95:191]])[1],
        ),
        InvalidError,
        r"parity\[0\] overlaps parity\[1\]",
    ),
    "index": (lambda c: c.update(4, B, [PARITY, bytearray(96)]), InvalidError, "index: 4, must be .* 0 to 3"),
    "negative": (lambda c: c.append(-1, B, [PARITY, bytearray(96)]), InvalidError, "index: -1, must be"),
    "large index": (
        lambda c: c.update(2**63, B, [PARITY, bytearray(96)]),
        InvalidError,
        "index: 9223372036854775808, must be .* 0 to 3",
    ),
    "large indices": (
        lambda c: c.update_many([-(2**63) - 1], [B], [PARITY, bytearray(96)]),
        InvalidError,
        "must be a data shard, 0 to 3",
    ),
    "large number of parities": (
        lambda c: gfsmith.raid.check([B] * 4, 2**63),
        InvalidError,
        "parities: 9223372036854775808, must be 1, 2 or 3",
    ),
    "float index": (lambda c: c.update(1.0, B, [PARITY, bytearray(96)]), TypeError, "float"),
    "indices": (
        lambda c: c.update_many([0, 1], [B], [PARITY, bytearray(96)]),
        InvalidError,
        "delta: 1 shards, must be 2",
    ),
    "delta": (lambda c: c.update(0, "x", [PARITY, bytearray(96)]), TypeError, "delta"),
    "where": (
        lambda c: c.locate([B] * 6, array.array("H", [0] * 3)),
        InvalidError,
        "where: 3 numbers for shards of 96",
    ),
    "where at an odd address": (
        lambda c: c.locate([B] * 6, memoryview(bytearray(2 * LENGTH + 1))[1:].cast("H")),
        InvalidError,
        "where: numbers of two bytes must begin at an even address",
    ),
    "where in a shard": (
        lambda c: c.locate(ROWS, ROWS[1:3].reshape(-1).view(np.uint16)),
        InvalidError,
        r"where overlaps shards\[1\]",
    ),
    "found in a shard": (
        lambda c: c.correct(ROWS, found=ROWS[4:].reshape(-1).view(np.uint16)),
        InvalidError,
        r"found overlaps shards\[4\]",
    ),
    "where in another order of bytes": (
        lambda c: c.locate(ROWS, np.zeros(LENGTH, np.dtype(np.uint16).newbyteorder("S"))),
        TypeError,
        "where: elements are of format '[<>]H'",
    ),
    "found in another order of bytes": (
        lambda c: c.correct(ROWS, found=np.zeros(LENGTH, np.dtype(np.uint16).newbyteorder("S"))),
        TypeError,
        "found: elements are of format '[<>]H'",
    ),
    "where of bytes": (
        lambda c: c.locate([B] * 6, bytearray(96)),
        TypeError,
        "where: elements are of format 'B'",
    ),
    "found": (
        lambda c: c.correct([bytearray(96) for _ in range(6)], None, array.array("H", [0] * 3)),
        InvalidError,
        "found: 3 numbers for shards of 96",
    ),
    "correct read-only shards": (lambda c: c.correct([B] * 6), InvalidError, r"shards\[0\]: .* read-only"),
    "correct one spare": (
        lambda c: c.correct([None, *[bytearray(96) for _ in range(5)]]),
        gfsmith.TooManyLostError,
        "correct",
    ),
    "too few shards": (lambda c: c.reconstruct([B] * 3), InvalidError, "^shards: 3 shards, must be 6$"),
    "too few shards to correct": (
        lambda c: c.correct([B] * 3),
        InvalidError,
        "^shards: 3 shards, must be 6$",
    ),
    "no shards": (lambda c: c.reconstruct(7), TypeError, "^shards: <class 'int'> is neither a sequence"),
    "text to split": (lambda c: c.split("abc"), TypeError, "^data: <class 'str'> is not a buffer of bytes$"),
    "text to join": (
        lambda c: c.join([B, "x", B, B], 99),
        TypeError,
        r"^shards\[1\]: <class 'str'> is not a",
    ),
    "text as a size": (
        lambda c: gfsmith.release_gil_from("x"),
        TypeError,
        "^size = 'x': must be an integer, not str$",
    ),
    "present": (lambda c: c.reconstruct([B] * 6, [True] * 5), InvalidError, "present: 5 values, must be 6"),
    "indices as flags": (
        lambda c: c.plan([0, 1, 2, 3, 4, 5]),
        InvalidError,
        r"present\[2\]: 2, must be True or False",
    ),
    "no flags": (lambda c: c.plan(5), TypeError, "present: <class 'int'> is not a sequence"),
    "None as flag": (lambda c: c.determined([None] * 6), InvalidError, r"present\[0\]: None, must be"),
    "array, no flags": (
        lambda c: c.reconstruct(np.zeros((6, 9), np.uint8)),
        InvalidError,
        "present: must be given",
    ),
    "absent but present": (
        lambda c: c.reconstruct([None] + [B] * 5, [True] * 6),
        TypeError,
        r"shards\[0\]: <class 'None",
    ),
    "too many": (
        lambda c: c.reconstruct([None] * 3 + [B] * 3),
        gfsmith.TooManyLostError,
        "more shards are missing",
    ),
    "too many, all lost": (
        lambda c: c.reconstruct([None] * 6),
        gfsmith.TooManyLostError,
        "more shards are missing",
    ),
    "too many, of different lengths": (
        lambda c: c.reconstruct([None] * 3 + [B, B[1:], b""]),
        gfsmith.TooManyLostError,
        "more shards are missing",
    ),
    "no arguments": (
        lambda c: gfsmith.Codec(),
        TypeError,
        r"^Codec.__init__\(\) missing 3 required positional arguments: 'code', 'k', and 'm'$",
    ),
    "shard": (lambda c: c.all_but(6), InvalidError, "shard 6: must be 0 to 5"),
    "missing and read-only": (
        lambda c: c.reconstruct([B] * 6, c.all_but(1)),
        InvalidError,
        r"shards\[1\]: <class 'bytes'> is read-only",
    ),
    "stripes in two dimensions": (
        lambda c: c.encode_stripes(DATA, TWO),
        InvalidError,
        "data: has 2 dimensions, must have 3",
    ),
    "list of stripes": (
        lambda c: c.encode_stripes([DATA, DATA], TWO),
        TypeError,
        "data: <class 'list'> is not a buffer of bytes",
    ),
    "None as stripes": (lambda c: c.check_stripes(None), TypeError, "stripes: <class 'NoneType'> is not a"),
    "no parity for a memoryview": (
        lambda c: c.encode_stripes(memoryview(bytes(96)).cast("B", (1, 4, 24))),
        InvalidError,
        "parity: must be given, unless data is a NumPy array",
    ),
    "real stripes": (
        lambda c: c.check_stripes(ALL.astype(float)),
        TypeError,
        "stripes: elements are of format",
    ),
    "shards of stripes": (
        lambda c: c.encode_stripes(STRIPES[:, :3], TWO),
        InvalidError,
        "data: stripes of 3 shards, must be 4",
    ),
    "data as stripes": (
        lambda c: c.reconstruct_stripes(STRIPES.copy(), c.all_but(0)),
        InvalidError,
        "stripes: stripes of 4 shards, must be 6",
    ),
    "number of stripes": (
        lambda c: c.encode_stripes(STRIPES[:1], TWO),
        InvalidError,
        "parity: 2 stripes, data has 1",
    ),
    "length of stripes": (
        lambda c: c.encode_stripes(STRIPES[:, :, 1:], TWO),
        InvalidError,
        "parity: shards of 24 bytes, those of data have 23",
    ),
    "gaps in stripes": (
        lambda c: c.check_stripes(ALL[:, :, ::2]),
        InvalidError,
        "stripes: elements are 2 bytes apart, must be contiguous",
    ),
    "stripes backwards": (
        lambda c: c.encode_stripes(STRIPES[::-1], TWO),
        InvalidError,
        "data: stripes are -192 bytes apart, must be 0 or more",
    ),
    "shards of stripes backwards": (
        lambda c: c.check_stripes(ALL[:, ::-1]),
        InvalidError,
        "stripes: shards are -24 bytes apart, must be 0 or more",
    ),
    "one stripe twice": (
        lambda c: c.reconstruct_stripes(
            np.lib.stride_tricks.as_strided(ALL, strides=(0, 24, 1)), c.all_but(0)
        ),
        InvalidError,
        "stripes: stripes are 0 bytes apart, must be 24 or more",
    ),
    "read-only stripes": (
        lambda c: c.encode_stripes(STRIPES, memoryview(TWO).toreadonly()),
        InvalidError,
        "parity: <class 'memoryview'> is read-only",
    ),
    "parities in the stripes": (
        lambda c: c.encode_stripes(ALL[:, :4], ALL[:, 3:5]),
        InvalidError,
        r"parity\[:, 0\] overlaps data\[:, 3\]",
    ),
    "stripes in packets": (
        lambda c: gfsmith.Codec("cauchy", 4, 2, packet=2).encode_stripes(STRIPES, TWO),
        InvalidError,
        "shards of 24 bytes: in packet layout, must be a multiple of 16",
    ),
    "index of a stripe": (
        lambda c: c.update_stripes([3, 4], DATA[:2, :24], TWO),
        InvalidError,
        "index: 4, must be a data shard, 0 to 3",
    ),
    "indices of stripes": (
        lambda c: c.update_stripes([3], DATA[:2, :24], TWO),
        InvalidError,
        "indices: 1 for 2 stripes",
    ),
    "real index of a stripe": (lambda c: c.update_stripes([0, 1.0], DATA[:2, :24], TWO), TypeError, "float"),
    "number of deltas of stripes": (
        lambda c: c.update_stripes([3], DATA[:1, :24], TWO),
        InvalidError,
        "parity: 2 stripes, deltas has 1",
    ),
    "deltas of stripes": (
        lambda c: c.update_stripes([3, 2], STRIPES, TWO),
        InvalidError,
        "deltas: has 3 dimensions, must have 2",
    ),
    "too many in stripes": (
        lambda c: c.reconstruct_stripes(ALL, c.all_but(0, 1, 5)),
        gfsmith.TooManyLostError,
        "reconstruct_stripes: more shards are missing",
    ),
    "flags of stripes": (
        lambda c: c.reconstruct_stripes(ALL, [True] * 5),
        InvalidError,
        "present: 5 values, must be 6",
    ),
    "missing elsewhere": (
        lambda c: c.reconstruct([PARITY, PARITY, B, B, B, B], c.all_but(1)),
        InvalidError,
        r"shards\[1\] overlaps shards\[0\]",
    ),
}


@pytest.fixture(scope="module")
def codec() -> gfsmith.Codec:
    return gfsmith.Codec("cauchy", 4, 2)


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_named_and_nothing_is_written(name: str, codec: gfsmith.Codec) -> None:
    call, kind, message = WRONG[name]
    PARITY[:], TWO[:], ALL[:] = b"\x5a" * LENGTH, 0x5A, 0x5A
    with pytest.raises(kind, match=message) as raised:
        call(codec)
    assert "\n" not in str(raised.value)
    assert bytes(PARITY) == b"\x5a" * LENGTH
    assert np.all(TWO == 0x5A) and np.all(ALL == 0x5A)
    PARITY.append(0)  # a BufferError if the call still held the buffer
    PARITY.pop()


CREATIONS = [
    (
        lambda: gfsmith.Codec("rs", 4, 2),
        InvalidError,
        "code 'rs': must be one of vandermonde, cauchy, .*, minio, .*, or call Codec.lrc or from_matrix",
    ),
    (lambda: gfsmith.Codec("cauchy", 252, 4), InvalidError, r"k = 252, m = 4: .* k \+ m at most 255"),
    (lambda: gfsmith.Codec("cauchy", 0, 4), InvalidError, "k = 0, m = 4: each must be 1 or more"),
    (lambda: gfsmith.Codec("cauchy", 4, -1), InvalidError, "k = 4, m = -1: each must be 1 or more"),
    (lambda: gfsmith.Codec("cauchy", 1 << 70, 1), InvalidError, "k = 1180591620717411303424"),
    (lambda: gfsmith.Codec("cauchy", 4.0, 2), TypeError, "^k = 4.0: must be an integer, not float$"),
    (lambda: gfsmith.Codec("cauchy", 4, "2"), TypeError, "^m = '2': must be an integer, not str$"),
    (lambda: gfsmith.Codec("cauchy", 4, 2, threads="2"), TypeError, "^threads = '2': must be an integer"),
    (lambda: gfsmith.Codec("cauchy", 4, 2, packet=1.5), TypeError, "^packet = 1.5: must be an integer"),
    (lambda: gfsmith.Codec("cauchy", 4, 2, hint="fast"), InvalidError, "hint 'fast': must be one of auto,"),
    (
        lambda: gfsmith.Codec("cauchy", 4, 2, packet=-1),
        InvalidError,
        "packet = -1: must be a number of bytes",
    ),
    (lambda: gfsmith.Codec.lrc(4, 5, 1), InvalidError, "l = 5: must be at most k = 4"),
    (lambda: gfsmith.Codec.lrc(250, 5, 1), InvalidError, r"k \+ l \+ r at most 255"),
    (lambda: gfsmith.Codec.from_matrix([]), InvalidError, "k = 0, m = 0"),
    (lambda: gfsmith.Codec.from_matrix([[1, 2], [1]]), InvalidError, "row 1 has 1 elements, row 0 has 2"),
    (
        lambda: gfsmith.Codec.from_matrix([[1, 256]]),
        InvalidError,
        "row 0 has an element that is not in 0 .. 255",
    ),
    (lambda: gfsmith.Codec.from_matrix([[1.0]]), TypeError, "^matrix: row 0 = 1.0: must be an integer"),
    (
        lambda: gfsmith.Codec.from_matrix([[1]], polynomial=0x100),
        InvalidError,
        "polynomial is not irreducible; allowed: 0x11d, ",
    ),
    (
        lambda: gfsmith.Codec.from_matrix([[1]], polynomial=0x3D),
        InvalidError,
        "polynomial 0x3d: must be of degree 8",
    ),
    (lambda: gfsmith.set_isa("mmx"), InvalidError, "instruction set 'mmx': this build has .*, scalar"),
    (lambda: gfsmith.set_isa(None), TypeError, "^name = None: must be a string, such as 'scalar'"),
    (
        lambda: gfsmith.Codec("cauchy", 2, 1).join([b"1"] * 2, 1.5),
        TypeError,
        "^size = 1.5: must be an integer",
    ),
    (lambda: gfsmith.release_gil_from(-1), InvalidError, "size = -1: must be a number of bytes, 0 or more"),
    (lambda: gfsmith.codec.nothing, AttributeError, "nothing"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CREATIONS)
def test_codecs_that_cannot_be(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


WRONG_SHAPES = [
    (name, 4, m)
    for code in CODES
    for name in (code.name, *code.aliases)
    for m in (code.least_m - 1, code.most_m + 1)
    if 0 < m < 250
]


@pytest.mark.parametrize(("name", "k", "m"), [*WRONG_SHAPES, ("snapraid", 252, 2)])
def test_a_wrong_shape_is_refused_with_the_allowed_ones(name: str, k: int, m: int) -> None:
    with pytest.raises(InvalidError) as raised:
        gfsmith.Codec(name, k, m)
    allowed = find(name).code.limits
    start = f"gfsmith.Codec({name!r}, k={k}, m={m})"
    assert str(raised.value) == f"{start}: the code has no such shape; allowed: {allowed}"


@pytest.mark.parametrize("code", [code for code in CODES if code.nested], ids=lambda code: code.name)
def test_a_shape_that_is_not_mds_is_refused_with_the_allowed_ones(code: Code) -> None:
    safe = safe_shapes(find(code.name))
    with pytest.raises(gfsmith.NotMdsError) as raised:
        gfsmith.Codec(code.name, 22, 4)
    assert str(raised.value) == (
        f"gfsmith.Codec({code.name!r}, k=22, m=4): cannot repair every loss of m shards; "
        f"allowed: {code.limits}, and one of: {safe}; "
        "cauchy can at every shape, and from_matrix takes any matrix"
    )


def test_errors_carry_the_status_of_the_header(root: Path) -> None:
    text = (root / "runtime/core/include/gfsmith.h").read_text()
    numbers = {name: int(value) for name, value in re.findall(r"GFSMITH_(\w+) = (-\d)", text)}
    kinds = {
        "EINVAL": InvalidError, "ENOTMDS": gfsmith.NotMdsError, "ETOOMANY": gfsmith.TooManyLostError,
        "EUNSUPPORTED": gfsmith.UnsupportedError, "ESINGULAR": gfsmith.SingularError,
    }  # fmt: skip
    assert {**{name: kind.status for name, kind in kinds.items()}, "ENOMEM": -2} == numbers
    assert all(issubclass(kind, gfsmith.GfsmithError) for kind in kinds.values())
    assert issubclass(gfsmith.GfsmithError, ValueError)
