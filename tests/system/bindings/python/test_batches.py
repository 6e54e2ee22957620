"""Batch calls return the results of single calls and refuse overlapping shards.
The tests detect deliberate errors in the C sources.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import gfsmith
from tests.oracle.codec import Bytes
from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.bindings.python.test_codec import codecs
from tests.system.bindings.python.test_sanitized import BESIDE, INCLUDES, NATIVE, copied

RUN = settings(deadline=None, derandomize=True, max_examples=40)
RNG = np.random.default_rng(7)


def _apart(stripes: Bytes) -> Bytes:
    """Return a copy whose shards and stripes have gaps."""
    count, n, length = stripes.shape
    made = np.zeros((count, n + 1, length + 3), np.uint8)[:, :n, 1 : length + 1]
    made[:] = stripes
    return made


#: Copies of stripes in different layouts.
LAYOUTS: dict[str, Callable[[Bytes], Bytes]] = {
    "stripe after stripe": lambda stripes: stripes.copy(),
    "shard after shard": lambda stripes: stripes.transpose(1, 0, 2).copy().transpose(1, 0, 2),
    "gaps": _apart,
}


def _stripes(codec: gfsmith.Codec, count: int, length: int) -> Bytes:
    """Return stripes with random data and the parities of single calls."""
    made = RNG.integers(0, 256, (count, codec.n, length), np.uint8)
    for stripe in made:
        codec.encode(stripe[: codec.k], stripe[codec.k :])
    return made


stripes_of = st.tuples(st.sampled_from([0, 1, 2, 5, 90]), st.integers(0, 200) | st.just(4096))


@RUN
@given(codecs(), stripes_of, st.sampled_from(sorted(LAYOUTS)))
def test_encoded_and_checked_stripes(codec: gfsmith.Codec, shape: tuple[int, int], layout: str) -> None:
    expected = _stripes(codec, *shape)
    stripes = LAYOUTS[layout](expected)
    data, parity = stripes[:, : codec.k], stripes[:, codec.k :]
    parity[:] = 0xAA
    assert codec.encode_stripes(data, parity) is parity
    np.testing.assert_array_equal(stripes, expected)
    new = codec.encode_stripes(data)
    assert new.flags.c_contiguous
    np.testing.assert_array_equal(new, parity)
    wrong = set(range(0, shape[0], 3)) if shape[1] else set[int]()
    for s in wrong:
        stripes[s, RNG.integers(codec.k, codec.n), RNG.integers(shape[1])] ^= 1
    assert codec.check_stripes(stripes) == [s not in wrong for s in range(shape[0])]


@RUN
@given(codecs(), stripes_of, st.sampled_from(sorted(LAYOUTS)), st.data())
def test_reconstructed_stripes(
    codec: gfsmith.Codec, shape: tuple[int, int], layout: str, draw: st.DataObject
) -> None:
    expected = _stripes(codec, *shape)
    lost = sorted(draw.draw(st.sets(st.integers(0, codec.n - 1), max_size=codec.m)))
    present, wanted = codec.all_but(*lost), codec.only(*lost[:1])
    stripes = LAYOUTS[layout](expected)
    stripes[:, lost] = 0x55
    before = stripes.copy()
    if not all(codec.determined(present)):
        with pytest.raises(gfsmith.SingularError):
            codec.reconstruct_stripes(stripes, present)
        np.testing.assert_array_equal(stripes, before)
        return
    codec.reconstruct_stripes(stripes, present, wanted)
    before[:, lost[:1]] = expected[:, lost[:1]]
    np.testing.assert_array_equal(stripes, before)
    assert codec.reconstruct_stripes(stripes, present) is stripes
    np.testing.assert_array_equal(stripes, expected)


@RUN
@given(codecs(), stripes_of, st.sampled_from(sorted(LAYOUTS)))
def test_updated_stripes(codec: gfsmith.Codec, shape: tuple[int, int], layout: str) -> None:
    stripes = LAYOUTS[layout](_stripes(codec, *shape))
    deltas = RNG.integers(0, 256, shape, np.uint8)
    indices = RNG.integers(0, codec.k, shape[0])
    codec.update_stripes(indices, deltas, stripes[:, codec.k :])
    stripes[np.arange(shape[0]), indices] ^= deltas
    assert codec.check_stripes(stripes) == [True] * shape[0]


def test_stripes_without_numpy() -> None:
    codec = gfsmith.Codec("cauchy", 3, 2)
    expected = _stripes(codec, 4, 50)
    data = memoryview(expected[:, :3].tobytes()).cast("B", (4, 3, 50))
    parity = memoryview(bytearray(4 * 2 * 50)).cast("B", (4, 2, 50))
    assert codec.encode_stripes(data, parity) is parity
    assert parity.tobytes() == expected[:, 3:].tobytes()
    codec.update_stripes([0, 1, 2, 0], memoryview(bytes(200)).cast("B", (4, 50)), parity)
    assert parity.tobytes() == expected[:, 3:].tobytes()


def test_equal_stripes_may_be_one() -> None:
    codec = gfsmith.Codec("cauchy", 3, 2)
    one = _stripes(codec, 1, 80)
    many = np.broadcast_to(one, (5, 5, 80))
    np.testing.assert_array_equal(codec.encode_stripes(many[:, :3]), many[:, 3:])
    assert codec.check_stripes(many) == [True] * 5


def test_any_number_of_stripes_without_bytes() -> None:
    """The number of shards exceeds Py_ssize_t; the sanitizer's run of this test finds overflows."""
    data, parity = (as_strided(np.zeros(0, np.uint8), (1 << 61, n, 0), (0, 0, 1)) for n in (3, 2))
    gfsmith.Codec("cauchy", 3, 2).encode_stripes(data, parity)
    gfsmith.Wide("lch16", 3, 2).encode_stripes(data, parity)
    with pytest.raises(MemoryError):
        gfsmith.Codec("cauchy", 3, 2).encode_stripes_checksums("crc32", data, parity)


def test_distances_of_one_stripe_or_shard_have_no_meaning() -> None:
    codec = gfsmith.Codec("cauchy", 1, 1)
    stripes = _apart(_stripes(codec, 1, 50))[::-1]
    assert stripes.strides[0] < 0 and codec.check_stripes(stripes) == [True]
    data = _apart(np.array([[[1, 2]], [[3, 4]]], np.uint8))[:, ::-1]
    parity = _apart(np.zeros((2, 1, 2), np.uint8))[:, ::-1]
    codec.encode_stripes(data, parity)
    assert codec.check_stripes(np.concatenate([data, parity], axis=1)) == [True] * 2


def test_stripes_in_packet_layout() -> None:
    codec = gfsmith.Codec("cauchy_good", 4, 2, packet=4)
    expected = _stripes(codec, 3, 64)
    np.testing.assert_array_equal(codec.encode_stripes(expected[:, :4]), expected[:, 4:])
    codec.update_stripes([0] * 3, expected[:, 0], expected[:, 4:])
    expected[:, 0] = 0
    assert codec.check_stripes(expected) == [True] * 3


def _place(array: Bytes, memory: Bytes) -> set[tuple[int, int]]:
    """Return the addresses of the shards of an array in `memory`, each once for each place in the array."""
    begin = array.ctypes.data - memory.ctypes.data
    places = (begin + s * array.strides[0] + i * array.strides[1] for s, i in np.ndindex(array.shape[:2]))
    return {(place, number) for number, place in enumerate(places)}


def _overlap(written: Bytes, read: Bytes, memory: Bytes) -> bool:
    """Return whether a written shard overlaps any other shard, by comparison of all pairs."""
    length, mine = written.shape[2], _place(written, memory)
    others = [(place, -1) for place, _ in _place(read, memory)]
    return any(
        abs(place - other) < length
        for place, number in mine
        for other, index in [*mine, *others]
        if index != number
    )


def test_overlapping_shards_are_refused() -> None:
    """Layouts with random distances in one buffer: a call succeeds if and only if no shards overlap."""
    codec, rng = gfsmith.Codec("cauchy", 2, 2), np.random.default_rng(3)
    memory = np.zeros(400, np.uint8)
    refused = done = 0
    for _ in range(1500):
        count, length = map(int, (rng.integers(1, 4), rng.integers(1, 9)))
        stripe = int(rng.integers(length, 60))
        data, parity = (
            as_strided(
                memory[rng.integers(0, 120) :],
                (count, 2, length),
                (
                    stripe if rng.integers(2) else int(rng.integers(length, 60)),
                    int(rng.integers(length, 60)),
                    1,
                ),
            )
            for _ in range(2)
        )
        memory[:] = rng.integers(0, 256, 400)
        before, source = memory.copy(), data.copy()
        if _overlap(parity, data, memory):
            with pytest.raises(
                gfsmith.InvalidError, match=r"parity\[:, \d\] overlaps (data|parity)\[:, \d\]"
            ):
                codec.encode_stripes(data, parity)
            np.testing.assert_array_equal(memory, before)
            refused += 1
        else:
            codec.encode_stripes(data, parity)
            np.testing.assert_array_equal(parity, codec.encode_stripes(source))
            done += 1
    assert min(refused, done) > 300


def test_overlapping_shards_of_a_repair_are_refused() -> None:
    codec, memory = gfsmith.Codec("cauchy", 2, 2), np.zeros(200, np.uint8)
    for strides, message in (((20, 10, 1), r"stripes\[:, 0\] overlaps stripes\[:, 2\]"), ((40, 10, 1), "")):
        stripes = as_strided(memory, (3, 4, 10), strides)
        if message:
            with pytest.raises(gfsmith.InvalidError, match=message):
                codec.reconstruct_stripes(stripes, codec.all_but(1))
        else:
            codec.reconstruct_stripes(stripes, codec.all_but(1))


MUTANTS = (
    Mutant("1 - g->count", "0", within="meets"),
    Mutant("g->count - 1", "0", within="meets"),
    Mutant("other->count - 1", "0", within="meets"),
    Mutant("n <= middle + 1", "n <= middle"),
    Mutant("middle - 1", "middle"),
    Mutant("-len < rest", "-len <= rest"),
    Mutant("rest < len", "rest < len - 1"),
    Mutant("outer >= (count - 1) * inner + len", "outer >= (count - 1) * inner"),
    Mutant("(size_t)g->len", "0", within="end_of"),
    Mutant("grid_apart(written)", "true"),
    Mutant("grid_apart(&g)", "true"),
    Mutant("use == WRITE ? g->len : 0", "0"),
    Mutant("grids_match(&parity, &deltas)", "true"),
    Mutant("g->len == first->len", "true"),
    Mutant("parity.stride", "data.stride", within="encode_stripes"),
    Mutant("flags[s]", "flags[0]", within="flag_list"),
    Mutant("g->count > 1", "true", within="place"),
    Mutant("dimensions == 3 && g->shards > 1", "dimensions == 3"),
    Mutant("gap >= extent(other)", "gap >= 0"),
    Mutant("gap + extent(g) <= stripe", "gap <= stripe"),
    Mutant("other->stride.stripe != g->stride.stripe", "false"),
    Mutant("(g->shards - 1) * (Py_ssize_t)g->stride.shard", "0", within="extent"),
    Mutant("i < g->shards", "i < 1", within="grid_pointers"),
    Mutant("s * (Py_ssize_t)g->stride.stripe", "0", within="grid_pointers"),
)

#: The tests that detect the mutants, in a process with the wrong extension.
CALLS = f"""
import sys
sys.path[:0] = [sys.argv[1], {str(ROOT)!r}]
import gfsmith.codec
assert gfsmith.codec.__file__.startswith(sys.argv[1])
from tests.system.bindings.python import test_batches as batches, test_wrong as wrong
from tests.system.bindings.python import test_checksums as checksums
batches.test_overlapping_shards_are_refused()
batches.test_overlapping_shards_of_a_repair_are_refused()
batches.test_equal_stripes_may_be_one()
batches.test_distances_of_one_stripe_or_shard_have_no_meaning()
batches.test_stripes_without_numpy()
for name in wrong.WRONG:
    if "stripe" in name:
        wrong.test_errors_are_named_and_nothing_is_written(name, gfsmith.Codec("cauchy", 4, 2))
batches.test_encoded_and_checked_stripes()
checksums.test_stripes("crc32c")
"""


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mutant | None], Path]:
    """Return a function that makes a package whose extension has an error."""
    folder = tmp_path_factory.mktemp("batches")
    copied(folder)
    includes = [sysconfig.get_path("include"), *(str(ROOT / path) for path in (*INCLUDES, "gen_out")), NATIVE]
    flags = ["-w", "-fPIC", "-DPy_LIMITED_API=0x030b0000", *(f"-I{path}" for path in includes)]
    judged = [NATIVE / "grids.c", NATIVE / "batches.c"]
    others = [path for path in sorted(NATIVE.glob("*.c")) if path not in judged]
    others += [ROOT / path for path in BESIDE]
    subprocess.run(["gcc", *flags, "-c", *others], check=True, cwd=folder)

    def build(mutant: Mutant | None) -> Path:
        sources = {path.name: path for path in judged}
        if mutant is not None:
            original, wrong = plant(mutant, judged, folder)
            sources[original.name] = wrong
        target = folder / "gfsmith" / "codec" / "_native.abi3.so"
        parts = [*sources.values(), *folder.glob("*.o"), ROOT / "build" / "libgfsmith.a"]
        subprocess.run(["gcc", *flags, "-shared", *parts, "-pthread", "-o", target], check=True)
        return folder

    return build


def _calls(folder: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, "-B", "-c", CALLS, folder]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.mark.campaign
def test_errors_in_the_extension_are_detected(extension: Callable[[Mutant | None], Path]) -> None:
    done = _calls(extension(None))
    assert done.returncode == 0, done.stderr
    missed = [str(mutant) for mutant in MUTANTS if _calls(extension(mutant)).returncode == 0]
    assert not missed
