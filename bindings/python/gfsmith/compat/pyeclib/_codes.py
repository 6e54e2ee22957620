"""Codes of liberasurecode's backends, by the layout of their shards: bytes, words, or packets of bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from gfsmith.codec import _native
from gfsmith.codec.codec import Codec
from gfsmith.codec.errors import SingularError
from gfsmith.compat.field import Field

PACKET = 1024  #: bytes of a packet of jerasure_rs_cauchy

Matrix = Sequence[Sequence[int]]
Shard = bytes | bytearray | memoryview


class Code(Protocol):
    """A code for k data shards and m parities of equal length, numbered in this order."""

    def encode(self, data: Sequence[Shard]) -> Sequence[Shard]:
        """Return the parities."""

    def rebuild(self, known: Mapping[int, Shard], wanted: Sequence[int]) -> list[Shard]:
        """Return the wanted shards from at least k others. Raises SingularError."""


class Bytes:
    """A byte is an element of GF(2^8)."""

    def __init__(self, matrix: Matrix) -> None:
        self._codec = Codec.from_matrix(matrix)

    def encode(self, data: Sequence[Shard]) -> Sequence[Shard]:
        return self._codec.encode(data)

    def rebuild(self, known: Mapping[int, Shard], wanted: Sequence[int]) -> list[Shard]:
        codec = self._codec
        shards = [known.get(index) for index in range(codec.n)]
        rebuilt = codec.reconstruct(shards, wanted=codec.only(*wanted))
        return [rebuilt[index] for index in wanted]  # type: ignore[misc]


class Xors(Bytes):
    """Parities are XORs of some data shards, so a repair may need fewer than k shards."""

    def needed(self, wanted: Sequence[int], excluded: Sequence[int]) -> list[int]:
        """Return the fewest shards that suffice to rebuild the wanted ones. Raises GfsmithError."""
        codec = self._codec
        return list(codec.plan(codec.all_but(*wanted, *excluded), codec.only(*wanted)).reads)


class Packets:
    """A shard is regions of w packets; the bits at one place of these packets are an element of GF(2^w).

    The code is a matrix of bits, that is, of elements 0 and 1 of GF(2^8), whose shards are packets.
    """

    def __init__(self, field: Field, matrix: Matrix) -> None:
        self._w = field.degree
        self._codec = Codec.from_matrix(
            [
                [
                    field.multiply(element, 1 << column) >> bit & 1
                    for element in row
                    for column in range(self._w)
                ]
                for row in matrix
                for bit in range(self._w)
            ]
        )

    def _packets(self, shard: Shard) -> list[list[memoryview]]:
        """Return the packets of each region."""
        view, size = memoryview(shard), self._w * PACKET
        return [
            [view[at : at + PACKET] for at in range(start, start + size, PACKET)]
            for start in range(0, len(view), size)
        ]

    def encode(self, data: Sequence[Shard]) -> Sequence[Shard]:
        made = [bytearray(len(data[0])) for _ in range(self._codec.m // self._w)]
        all_sources = zip(*map(self._packets, data), strict=True)
        all_results = zip(*map(self._packets, made), strict=True)
        for sources, results in zip(all_sources, all_results, strict=True):
            self._codec.encode(_flat(sources), _flat(results))
        return made

    def rebuild(self, known: Mapping[int, Shard], wanted: Sequence[int]) -> list[Shard]:
        codec, w = self._codec, self._w
        length = len(next(iter(known.values())))
        made = {index: bytearray(length) for index in wanted}
        packets = {index: self._packets(shard) for index, shard in (*known.items(), *made.items())}
        present = [index in known for index in range(codec.n // w) for _ in range(w)]
        rebuild = [index in made for index in range(codec.n // w) for _ in range(w)]
        none: list[None] = [None] * w
        for region in range(length // (w * PACKET)):
            shards = [packets[i][region] if i in packets else none for i in range(codec.n // w)]
            codec.reconstruct(_flat(shards), present, rebuild)
        return list(made.values())


def _flat(packets: Iterable[Sequence[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(packets))


class Words:
    """Two bytes, the low one first, are an element of GF(2^16)."""

    def __init__(self, polynomial: int, field: Field, matrix: Matrix) -> None:
        self._polynomial, self._field, self._matrix = polynomial, field, matrix
        self._map = lru_cache(maxsize=64)(self._new_map)
        self._parities = self._linear(matrix)

    def _linear(self, rows: Matrix) -> _native._Words:
        elements = b"".join(element.to_bytes(2, "little") for row in rows for element in row)
        return _native.words_create(self._polynomial, len(rows[0]), len(rows), elements)

    def encode(self, data: Sequence[Shard]) -> Sequence[Shard]:
        return _products(self._parities, data, len(self._matrix))

    def rebuild(self, known: Mapping[int, Shard], wanted: Sequence[int]) -> list[Shard]:
        used = tuple(sorted(known)[: len(self._matrix[0])])
        return _products(self._map(used, tuple(wanted)), [known[index] for index in used], len(wanted))

    def _new_map(self, used: tuple[int, ...], wanted: tuple[int, ...]) -> _native._Words:
        """Return the map from k used shards to the wanted ones."""
        inverse = _inverse(self._field, [self._row(index) for index in used])
        return self._linear([_row_times(self._field, self._row(index), inverse) for index in wanted])

    def _row(self, index: int) -> Sequence[int]:
        """Return the row of the generator matrix [I; P]."""
        k = len(self._matrix[0])
        return self._matrix[index - k] if index >= k else [int(index == column) for column in range(k)]


def _products(linear: _native._Words, sources: Sequence[Shard], count: int) -> list[Shard]:
    made: list[Shard] = [bytearray(len(sources[0])) for _ in range(count)]
    _native.words_dot(linear, sources, made)
    return made


def _row_times(field: Field, row: Sequence[int], matrix: Matrix) -> list[int]:
    product = [0] * len(matrix[0])
    for factor, terms in zip(row, matrix, strict=True):
        if factor:
            product = [p ^ field.multiply(factor, term) for p, term in zip(product, terms, strict=True)]
    return product


def _inverse(field: Field, matrix: Matrix) -> Matrix:
    """Return the inverse of a square matrix, by Gauss-Jordan elimination."""
    size = len(matrix)
    rows = [[*row, *(int(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column]), None)
        if pivot is None:
            raise SingularError("the used shards do not determine the data")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        divisor = rows[column][column]
        rows[column] = [field.quotient(element, divisor) for element in rows[column]]
        for i in range(size):
            factor = rows[i][column]
            if i != column and factor:
                rows[i] = [e ^ field.multiply(factor, p) for e, p in zip(rows[i], rows[column], strict=True)]
    return [row[size:] for row in rows]
