"""Codes with more than 255 shards: gfsmith_wide.h for Python."""

from __future__ import annotations

from gfsmith.codec import _native
from gfsmith.codec.coding import Coding, shard_numbers
from gfsmith.codec.errors import InvalidError
from gfsmith.codec.threads import pool_of, thread_number

#: The codes of `Wide`.
WIDE_CODES: tuple[str, ...] = ("leopard8", "leopard16", "reed_solomon_simd", "lch16")


class Wide(Coding):
    """A code with up to 65,535 shards, with the bytes of klauspost/reedsolomon's Leopard modes (leopard8,
    leopard16), reed-solomon-simd (reed_solomon_simd) or JAM (lch16).

    Elements are those of GF(2^8) modulo 0x11d (leopard8) or of GF(2^16) modulo 0x1002d (the others), numbered
    w[0], w[1], ... by their coordinates in Cantor's basis. Let n be the least power of two that is not less
    than m. Data shard j has the point w[n + j]; each block of n points determines a polynomial of degree
    below n, with the value 0 at points behind the data, and parity[i] = the sum of their values at w[i].
    In reed_solomon_simd and lch16, if the least power of two that is not less than k is less than n, it takes
    the place of n: data shard j has the point w[j], and parity[i] = the value of the polynomial at w[n + i].
    Any k of the k + m shards determine the others.

    Shards and sets of shards are those of `Codec`, but their length is a multiple of 64 bytes in Leopard's
    codes and even in the others. Like a codec, an object never changes, can be copied and pickled, and
    releases the GIL in calls that touch 32 KiB or more; with `threads`, several threads share calls on 4 MiB
    or more. A call allocates memory for its work, which does not grow with the length of the shards: for up
    to 8,192 shards less than 4 MiB, for 65,535 less than 32 MiB, for each thread.

    >>> import gfsmith
    >>> wide = gfsmith.Wide("leopard16", k=342, m=681)
    >>> data = [bytes([j % 256]) * 64 for j in range(wide.k)]
    >>> parity = wide.encode(data)
    >>> wide.reconstruct([*[None] * wide.k, *parity])[:wide.k] == data
    True
    """

    _encode = staticmethod(_native.wide_encode)
    _reconstruct = staticmethod(_native.wide_reconstruct)
    _encode_stripes = staticmethod(_native.wide_encode_stripes)
    _reconstruct_stripes = staticmethod(_native.wide_reconstruct_stripes)

    def __init__(self, code: str, k: int, m: int, *, threads: int = 1) -> None:
        """code: one of gfsmith.WIDE_CODES. k, m: numbers of data and of parity shards, 1 or more.

        Leopard's codes exist if n + k is at most the number of elements of the field, the others if n, plus k
        or m, whichever is larger, is at most 65,536; and k + m is at most 65,535. threads: as for `Codec`.
        Errors: InvalidError (unknown code, invalid shape, or invalid number of threads), UnsupportedError,
        MemoryError.
        """
        if code not in WIDE_CODES:
            raise InvalidError(f"code {code!r}: must be one of {', '.join(WIDE_CODES)}")
        self._code = code
        self._shape = shard_numbers(_native.MAX_WIDE_SHARDS, k=k, m=m)
        self._threads = thread_number(threads)
        self._start()

    @property
    def code(self) -> str:
        """The name of the code."""
        return self._code

    def _start(self) -> None:
        pool = pool_of(self._threads)
        try:
            self._handle = _native.wide_create(self._code, self.k, self.m, pool)
        except InvalidError:
            shapes = _native.wide_shapes(self._code)
            raise InvalidError(f"{self!r}: the code has no such shape; allowed: {shapes}") from None

    def _identity(self) -> tuple[object, ...]:
        return self._code, *self._shape

    def __repr__(self) -> str:
        threads = f", threads={self._threads}" if self._threads != 1 else ""
        return f"gfsmith.Wide({self._code!r}, k={self.k}, m={self.m}{threads})"
