"""Split, lose, join, repair: the file is restored for all lengths and shapes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.system.apps.stripe.support import (
    HEADER,
    Stripe,
    content,
    make_set,
    parse,
    payload_sum,
    shard,
    snapshot,
    temporaries,
    xxh3_128,
)

BLOCK = 128
SHAPES = (
    ("cauchy", 1, 1),
    ("cauchy", 4, 2),
    ("cauchy", 10, 4),
    ("cauchy", 3, 7),
    ("vandermonde", 5, 3),
    ("vandermonde", 10, 4),
)


def lengths(k: int) -> tuple[int, ...]:
    span = k * BLOCK
    edges = {0, 1, k - 1, k, k + 1, span - 1, span, span + 1, 3 * span - k + 1, 40 * span + 7}
    return tuple(sorted(edges))


def product(a: int, b: int) -> int:
    """a * b in GF(2)[x] / (x^8 + x^4 + x^3 + x^2 + 1)."""
    result = 0
    while b:
        result ^= a if b & 1 else 0
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return result


@pytest.mark.parametrize(("code", "k", "m"), SHAPES)
def test_every_length_survives_m_losses(stripe: Stripe, tmp_path: Path, code: str, k: int, m: int) -> None:
    shape = ("-c", code, "-k", str(k), "-m", str(m), "-b", str(BLOCK))
    for length in lengths(k):
        folder = tmp_path / str(length)
        folder.mkdir()
        file = tmp_path / "file"
        file.write_bytes(content(length, seed=length))
        stripe.ok("split", *shape, file, folder)
        before = snapshot(folder)
        assert len(before) == k + m
        assert "all" in stripe.ok("verify", folder)
        for i in range(m):  # data first
            shard(folder, i).unlink()
        stripe.ok("join", folder, "-o", tmp_path / f"{length}.joined")
        assert (tmp_path / f"{length}.joined").read_bytes() == file.read_bytes()
        stripe.ok("repair", folder)
        assert snapshot(folder) == before


@pytest.mark.parametrize("code", ["cauchy", "vandermonde"])
def test_every_loss_of_one_or_two(stripe: Stripe, tmp_path: Path, code: str) -> None:
    data = content(5000)
    (tmp_path / "file").write_bytes(data)
    folder = tmp_path / "shards"
    folder.mkdir()
    stripe.ok(*f"split -c {code} -k 4 -m 2 -b 256".split(), tmp_path / "file", folder)
    before = snapshot(folder)
    assert parse(shard(folder, 0).read_bytes()).code.rstrip(b"\0") == code.encode()
    for count in (1, 2):
        for lost in itertools.combinations(range(6), count):
            for index in lost:
                shard(folder, index).unlink()
            stripe.ok("join", "--force", folder, "-o", tmp_path / "joined")
            assert (tmp_path / "joined").read_bytes() == data, lost
            stripe.ok("repair", folder)
            assert snapshot(folder) == before, lost


@pytest.mark.parametrize("block", [64, 4096, 65536, 1 << 20])
def test_several_megabytes(stripe: Stripe, tmp_path: Path, block: int) -> None:
    data = content(5_000_003)
    folder = make_set(stripe, tmp_path, data, 10, 4, block)
    before = snapshot(folder)
    for index in (2, 3, 7, 13):
        shard(folder, index).unlink()
    stripe.ok("join", folder, "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == data
    stripe.ok("repair", folder)
    assert snapshot(folder) == before


def test_the_largest_set(stripe: Stripe, tmp_path: Path) -> None:
    data = content(200_000)
    folder = make_set(stripe, tmp_path, data, 200, 55)
    before = snapshot(folder)
    assert len(before) == 255
    for index in range(0, 220, 4):
        shard(folder, index).unlink()
    stripe.ok("repair", folder)
    assert snapshot(folder) == before
    stripe.ok("join", folder, "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == data


@pytest.mark.parametrize("length", [0, 1, 5, 767, 768, 769, 2000])
def test_the_format_is_the_one_that_is_written_down(stripe: Stripe, tmp_path: Path, length: int) -> None:
    k, m, block = 3, 2, 256
    data = content(length)
    folder = make_set(stripe, tmp_path, data, k, m, block)
    payloads: list[bytearray] = [bytearray() for _ in range(k + m)]
    for at in range(0, length, k * block):
        stripe_data = data[at : at + k * block]
        size = -(-len(stripe_data) // k)
        stripe_data = stripe_data.ljust(k * size, b"\0")
        for j in range(k):
            payloads[j] += stripe_data[j * size : (j + 1) * size]
    for i in range(m):  # "cauchy": c[i][j] = 1 / ((k + i) ^ j)
        row = [next(c for c in range(256) if product(c, (k + i) ^ j) == 1) for j in range(k)]
        for column in zip(*payloads[:k], strict=True):
            payloads[k + i].append(
                product(row[0], column[0]) ^ product(row[1], column[1]) ^ product(row[2], column[2])
            )
    for index, payload in enumerate(payloads):
        raw = shard(folder, index).read_bytes()
        header = parse(raw)
        assert raw[HEADER:] == payload
        assert header.magic == bytes.fromhex("894746530d0a1a0a")
        assert (header.version, header.header_bytes, header.index) == (1, HEADER, index)
        assert (header.polynomial, header.k, header.m, header.block) == (0x11D, k, m, block)
        assert (header.length, header.original) == (length, xxh3_128(data))
        assert header.code == b"cauchy".ljust(32, b"\0")
        assert header.name == b"file".ljust(256, b"\0")
        assert header.set_id == xxh3_128(raw[64:8176])
        assert raw[8176:HEADER] == xxh3_128(raw[:8176])
        sums = b"".join(xxh3_128(bytes(p)) for p in payloads)
        assert raw[4096:8176] == sums.ljust(4080, b"\0")
        assert payload_sum(raw, index) == xxh3_128(bytes(payload))
        assert not any(raw[36:64])
        assert not any(raw[392:4096])


def test_splitting_twice_gives_the_same_shards(stripe: Stripe, tmp_path: Path) -> None:
    first = make_set(stripe, tmp_path / "a", content(3000))
    second = make_set(stripe, tmp_path / "b", content(3000))
    assert snapshot(first) == snapshot(second)


def test_shards_in_any_order_place_and_name(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    paths = [elsewhere / name for name in ("z.gfs", "noextension", "a", "b.003.gfs")]
    for path, index in zip(paths, (4, 0, 5, 2), strict=True):
        shard(shards, index).rename(path)
    stripe.ok("join", *paths, "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("name", [".hidden", "with space", "ümlaut", "-dash", "n" * 247])
def test_names_of_the_original(stripe: Stripe, tmp_path: Path, name: str) -> None:
    folder = make_set(stripe, tmp_path, content(500), name=name)
    before = snapshot(folder)
    assert list(before) == [f"{name}.{i:03d}.gfs" for i in range(6)]
    shard(folder, 0, name).unlink()
    stripe.ok("repair", folder)
    assert snapshot(folder) == before


def test_info(stripe: Stripe, shards: Path, tmp_path: Path) -> None:
    text = stripe.ok("info", shard(shards, 0), shard(shards, 5))
    assert "shard     0 of 6 (data)" in text
    assert "shard     5 of 6 (parity)" in text
    assert "code      cauchy, k = 4, m = 2, polynomial 0x11d" in text
    assert "block     64 bytes, payload 250 bytes" in text
    assert "original  file, 999 bytes" in text
    assert xxh3_128((tmp_path / "file").read_bytes()).hex() in text


def test_permissions_are_those_of_the_original(stripe: Stripe, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(100))
    (tmp_path / "file").chmod(0o600)
    (tmp_path / "shards").mkdir()
    stripe.ok("split", "-k", "2", "-m", "1", tmp_path / "file", tmp_path / "shards")
    shard(tmp_path / "shards", 0).unlink()
    stripe.ok("repair", tmp_path / "shards")
    stripe.ok("join", tmp_path / "shards", "-o", tmp_path / "joined")
    for path in (*(tmp_path / "shards").iterdir(), tmp_path / "joined"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("name", ["shards", "shards/"])
def test_split_creates_the_folder(stripe: Stripe, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(content(999))
    done = stripe.run("split", "-k", "4", "-m", "2", "file", name, cwd=tmp_path)
    assert (done.status, done.stdout) == (0, f"file: 6 shards in {name}\n")
    stripe.ok("join", tmp_path / "shards", "-o", tmp_path / "joined")
    assert (tmp_path / "joined").read_bytes() == content(999)
