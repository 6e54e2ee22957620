"""typed_use.py for users of NumPy."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from gfsmith import Codec

Bytes = NDArray[np.uint8]


def arrays(codec: Codec, data: Bytes) -> None:
    parity = codec.encode(data)
    assert_type(parity, Bytes)
    assert_type(codec.encode(data, np.zeros_like(parity)), Bytes)
    assert_type(codec.encode(list(data)), list[bytearray])
    stripe: Bytes = np.vstack([data, parity])
    present = np.arange(codec.n) != 3
    assert_type(codec.reconstruct(stripe, present), Bytes)
    stripes: Bytes = stripe[None]
    assert_type(codec.encode_stripes(stripes[:, : codec.k]), Bytes)
    assert_type(codec.encode_stripes(stripes[:, : codec.k], np.zeros_like(parity[None])), Bytes)
    assert_type(codec.reconstruct_stripes(stripes, present), Bytes)
    codec.update_stripes(np.zeros(1, np.uint8), data[:1], stripes[:, codec.k :])
    codec.locate(stripe, np.empty(data.shape[1], np.uint16))
    np.testing.assert_array_equal(stripe[: codec.k], data)


def wrong(codec: Codec, reals: NDArray[np.float64]) -> None:
    codec.encode(reals)  # type: ignore[type-var]
    codec.check(reals)  # type: ignore[arg-type]
    codec.reconstruct(np.zeros((14, 64), np.uint8))  # type: ignore[call-overload]


if __name__ == "__main__":
    arrays(Codec("cauchy", 10, 4), np.arange(640, dtype=np.uint8).reshape(10, 64))
