"""Streams of XOR-based codes in packet layout: Zerasure and Cerasure, from the Programs of their kernels.

A block of `length` bytes is one region of 8 packets. The kernel takes the packets of all blocks as sources
and computes all parities, up to four; its Program has AVX2 only, as the two libraries, and ordinary stores.
Values in the kernel's frame are in the first-level cache. Cerasure's sub-stripes of a wide stripe are kernels
for a part of the matrix's columns; the parities of all but the first are added to the earlier ones.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise

import numpy as np

from bench.matrices import invert, product
from gfsmith.build import config
from gfsmith.build.generate import program
from gfsmith.codes import POLYNOMIAL, parity_matrix
from gfsmith.field import DEGREE, Field
from gfsmith.field.matrix import Matrix, bit_matrix
from gfsmith.kernel.spec import Baked, KernelSpec
from research.memory.machine import EVENT, LINE, LOAD, STORE, Events
from research.memory.streams import accesses, events

ISA = "avx2"
GROUPS = 2  #: of a local code, as in the paper's LRC (k, m, l) with l = 2
MOST = 31  #: sources of a kernel, which reads up to 254 packets
FIELD = Field(POLYNOMIAL)


class Task(Enum):
    ENCODE = "encode"
    DECODE = "decode"  #: the first m sources, which are lost, from the others and all parities
    LOCAL = "local"  #: encode, with a parity of each of GROUPS groups of sources


@functools.cache
def matrix(code: str, k: int, m: int, task: Task) -> Matrix:
    """Return the coefficients of the outputs, a row each."""
    parity = parity_matrix(code, k, m)
    if task is Task.DECODE:
        return _decoder(parity)
    if task is Task.LOCAL:
        return *parity, *(tuple(int(j * GROUPS // k == g) for j in range(k)) for g in range(GROUPS))
    return parity


def _decoder(parity: Matrix) -> Matrix:
    """Return the rows that give the first m sources from the last k of all k + m chunks.

    With P = [A B], A being its first m columns: parities = A lost + B kept, so lost = A^-1 parities + A^-1 B
    kept. The sources of the decoder are the kept ones, then the parities."""
    m = len(parity)
    inverse = invert([row[:m] for row in parity])
    kept = product(inverse, [row[m:] for row in parity])
    return tuple(left + right for left, right in zip(kept, inverse, strict=True))


def _spec(code: str, circuit: str, k: int, m: int) -> KernelSpec:
    text = (
        f'[generator]\nisas = ["{ISA}"]\n[[kernels]]\noperation = "dot"\ncode = "{code}"\n'
        f'packets = true\ncircuit = "{circuit}"\nshapes = ["{k}x{m}"]\n'
    )
    return config.specs(config.parse(text, code), code)[0]


@functools.cache
def kernel(
    code: str, circuit: str, k: int, m: int, first: int, count: int, task: Task = Task.ENCODE
) -> KernelSpec:
    """Return the kernel for the columns first .. first + count - 1 of a code's matrix, and for the outputs
    that depend on them."""
    columns = matrix(code, k, m, task)
    rows = bit_matrix(
        FIELD, tuple(columns[i][first : first + count] for i in _touched(columns, first, count))
    )
    baked = Baked(code, len(rows), 0, rows, True)
    return replace(_spec(code, circuit, count, m), outputs=len(rows), baked=baked)


def _touched(columns: Matrix, first: int, count: int) -> list[int]:
    """Return the outputs that depend on these sources."""
    return [i for i, row in enumerate(columns) if any(row[first : first + count])]


def _part(spec: KernelSpec, length: int, first: int, outputs: Sequence[int]) -> Events:
    """Return the events of a kernel for the sources from `first` on and these outputs, with shards numbered
    as in the whole stripe."""
    packet, count = length // DEGREE, (spec.inputs or 0) // DEGREE
    found = accesses(program(spec), DEGREE * count, packet)
    shard, number = found["shard"] // DEGREE, found["shard"] % DEGREE
    found["offset"] += number.astype(np.int64) * packet
    found["shard"] = np.array([*range(first, first + count), *outputs])[shard]
    return events(found)


def _adding(outputs: Sequence[int], length: int) -> Events:
    """Return the events that add outputs of a sub-stripe, which are in cache, to the earlier ones."""
    offsets = np.tile(np.arange(0, length, LINE), len(outputs))
    found = np.zeros(2 * len(offsets), EVENT)
    found["shard"] = np.repeat(np.repeat(outputs, length // LINE), 2)
    found["offset"] = np.repeat(offsets, 2)
    found["kind"] = np.tile([LOAD, STORE], len(offsets))
    found["instructions"], found["waiting"], found["cycles16"] = 3, 1, 16
    return found


@functools.cache
def call(
    code: str, circuit: str, k: int, m: int, length: int, most: int = MOST, task: Task = Task.ENCODE
) -> Events:
    """Return one call, decomposed into the fewest equal sub-stripes of at most `most` sources."""
    parts = -(-k // most)
    bounds = [k * n // parts for n in range(parts + 1)]
    found = []
    written: set[int] = set()
    for first, end in pairwise(bounds):
        spec = kernel(code, circuit, k, m, first, end - first, task)
        outputs = [k + i for i in _touched(matrix(code, k, m, task), first, end - first)]
        found.append(_part(spec, length, first, outputs))
        found.append(_adding(sorted(written.intersection(outputs)), length))
        written.update(outputs)
    return np.concatenate(found)
