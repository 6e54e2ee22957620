"""Streams of XOR-based codes in packet layout: Zerasure and Cerasure, from the Programs of their kernels.

A block of `length` bytes is one region of 8 packets. The kernel takes the packets of all blocks as sources
and computes all parities, up to four; its Program has AVX2 only, as the two libraries, and ordinary stores.
Values in the kernel's frame are in the first-level cache. Cerasure's sub-stripes of a wide stripe are kernels
for a part of the matrix's columns; the parities of all but the first are added to the earlier ones.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gfsmith.build import config
from gfsmith.build.generate import program
from gfsmith.codes import POLYNOMIAL, parity_matrix
from gfsmith.field import DEGREE, Field
from gfsmith.field.matrix import bit_matrix
from gfsmith.kernel.spec import Baked, KernelSpec
from research.memory.machine import EVENT, LINE, LOAD, STORE, Events
from research.memory.streams import accesses, events

ISA = "avx2"
MOST = 31  #: sources of a kernel, which reads up to 254 packets


def _spec(code: str, circuit: str, k: int, m: int) -> KernelSpec:
    text = (
        f'[generator]\nisas = ["{ISA}"]\n[[kernels]]\noperation = "dot"\ncode = "{code}"\n'
        f'packets = true\ncircuit = "{circuit}"\nshapes = ["{k}x{m}"]\n'
    )
    return config.specs(config.parse(text, code), code)[0]


@functools.cache
def kernel(code: str, circuit: str, k: int, m: int, first: int, count: int) -> KernelSpec:
    """Return the kernel for the columns first .. first + count - 1 of a code's matrix."""
    columns = tuple(row[first : first + count] for row in parity_matrix(code, k, m))
    rows = bit_matrix(Field(POLYNOMIAL), columns)
    return replace(_spec(code, circuit, count, m), baked=Baked(code, DEGREE * m, 0, rows, True))


def _part(spec: KernelSpec, k: int, length: int, first: int) -> Events:
    """Return the events of a kernel for the sources from `first` on, with shards numbered as in the whole
    stripe."""
    packet, count = length // DEGREE, (spec.inputs or 0) // DEGREE
    found = accesses(program(spec), DEGREE * count, packet)
    shard, number = found["shard"] // DEGREE, found["shard"] % DEGREE
    found["offset"] += number.astype(np.int64) * packet
    found["shard"] = np.where(shard < count, shard + first, shard - count + k)
    return events(found)


def _adding(k: int, m: int, length: int) -> Events:
    """Return the events that add the parities of a sub-stripe, which are in cache, to the earlier ones."""
    offsets = np.tile(np.arange(0, length, LINE), m)
    found = np.zeros(2 * len(offsets), EVENT)
    found["shard"] = np.repeat(np.repeat(np.arange(k, k + m), length // LINE), 2)
    found["offset"] = np.repeat(offsets, 2)
    found["kind"] = np.tile([LOAD, STORE], len(offsets))
    found["instructions"], found["waiting"], found["cycles16"] = 3, 1, 16
    return found


@functools.cache
def call(code: str, circuit: str, k: int, m: int, length: int, most: int = MOST) -> Events:
    """Return one call, decomposed into the fewest equal sub-stripes of at most `most` sources."""
    parts = -(-k // most)
    bounds = [k * n // parts for n in range(parts + 1)]
    found = []
    for first, end in pairwise(bounds):
        found.append(_part(kernel(code, circuit, k, m, first, end - first), k, length, first))
        if first:
            found.append(_adding(k, m, length))
    return np.concatenate(found)
