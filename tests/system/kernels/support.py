"""The field of galois and a direct call of a kernel, for tests against other implementations."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import galois
import numpy as np

POLYNOMIAL = 0x11D

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@cache
def galois_field(polynomial: int = POLYNOMIAL) -> Any:
    """Return the field of galois, whose first use compiles functions for a second."""
    # For 0x11b the element 2 generates only a subgroup; galois finds a primitive element.
    return galois.GF(2**8, irreducible_poly=galois.Poly.Int(polynomial))


def pointers(rows: Bytes) -> Any:
    """Return a C array of the addresses of the rows."""
    return (ctypes.c_void_p * len(rows))(*(row.ctypes.data for row in rows))


def call_kernel(address: int, outputs: int, k: int, coeffs: bytes | None, sources: Bytes) -> Bytes:
    """Call a System V kernel and return its outputs, which were junk before."""
    result = np.full((outputs, sources.shape[1]), 0xA5, np.uint8)
    function = ctypes.CFUNCTYPE(
        None,
        ctypes.c_size_t,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )(address)
    function(sources.shape[1], k, coeffs, pointers(sources), pointers(result))
    return result
