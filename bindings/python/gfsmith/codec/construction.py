"""The construction of codecs, and their immutable properties: options, matrix, identity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gfsmith.codec import _native
from gfsmith.codec.coding import Coding, integer, shard_numbers
from gfsmith.codec.errors import InvalidError, NotMdsError
from gfsmith.codec.threads import pool_of, thread_number

if TYPE_CHECKING:
    from typing import Self

    from gfsmith.codec.shards import Array

    Hint = Literal["auto", "cached", "streaming"]

#: The codes with names, as defined in gfsmith.h. `Codec.lrc` creates local codes.
CODES = (
    # begin facts: codes in Python
    "vandermonde",
    "cauchy",
    "backblaze",
    "lch",
    "cauchy_orig",
    "cauchy_good",
    "plank_vandermonde",
    "reed_sol_van",
    "reed_sol_r6_op",
    "hdfs",
    "raid6",
    "raidz",
    "snapraid",
    "zfec",
    # end facts
)
#: Aliases of these names.
ALIASES = (
    # begin facts: aliases in Python
    "klauspost",
    "minio",
    "seaweedfs",
    "reed-solomon-erasure",
    "hadoop",
    "md",
    "btrfs",
    "zfs",
    "openzfs",
    "tahoe-lafs",
    # end facts
)
#: Shapes at which the library creates a code, if these are not all with k + m <= 255.
_SHAPES = {
    # begin facts: shapes of codes in Python
    "vandermonde": "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3",  # noqa: E501
    "plank_vandermonde": "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; k <= 2",
    "reed_sol_r6_op": "k >= 1, m = 2, k + m <= 255",
    "raid6": "k >= 1, m = 2, k + m <= 255",
    "md": "k >= 1, m = 2, k + m <= 255",
    "btrfs": "k >= 1, m = 2, k + m <= 255",
    "raidz": "k >= 1, 1 <= m <= 3, k + m <= 255",
    "zfs": "k >= 1, 1 <= m <= 3, k + m <= 255",
    "openzfs": "k >= 1, 1 <= m <= 3, k + m <= 255",
    "snapraid": "1 <= k <= 251, 1 <= m <= 6, k + m <= 255",
    # end facts
}
POLYNOMIAL = 0x11D  #: x^8 + x^4 + x^3 + x^2 + 1, that of the named codes
MAX_SHARDS = 255
HINTS = ("auto", "cached", "streaming")


def _options(hint: Hint, packet: int) -> tuple[int, int]:
    if hint not in HINTS:
        raise InvalidError(f"hint {hint!r}: must be one of {', '.join(HINTS)}")
    size = integer("packet", packet)
    if not 0 <= size < 1 << 59:
        raise InvalidError(f"packet = {size}: must be a number of bytes, or 0 for the ordinary layout")
    return HINTS.index(hint), size


def _invalid(function: str, code: str) -> str:
    """Return the meaning of GFSMITH_EINVAL from the function that creates a codec."""
    if function == "create":
        return f"the code has no such shape; allowed: {_SHAPES[code]}"
    return "the polynomial is not irreducible; allowed: 0x11d, or another irreducible one"


def _not_mds(code: str) -> str:
    return (
        f"cannot repair every loss of m shards; allowed: {_SHAPES[code]}; "
        "cauchy can at every shape, and from_matrix takes any matrix"
    )


class Construction(Coding):
    """The base class of `Codec`, without its calls."""

    def __init__(
        self, code: str, k: int, m: int, *, hint: Hint = "auto", packet: int = 0, threads: int = 1
    ) -> None:
        """A code known by name (`gfsmith.CODES`; gfsmith.h has their definitions).

        hint: location of the shards, which affects the speed of calls but not their results: "cached";
            "streaming" (in memory, and the output is not read soon); "auto" estimates it from sizes.
        packet: 0, or the bytes of a packet in the layout of Jerasure's bit matrices (docs/packets.md); shards
            are then multiples of 8 packets.
        threads: number of threads that share calls on 4 MiB or more, up to 1024, including the calling
            thread; 0: as many as CPUs that the process may use. Codecs with the same number use the same
            threads (docs/threads.md).
        Errors: InvalidError (unknown code, or invalid shape), NotMdsError (at this shape the code cannot
        repair every loss of m shards), UnsupportedError, MemoryError.
        """
        if code == "lrc":
            raise InvalidError("code 'lrc': call gfsmith.Codec.lrc(k, l, r)")
        if code not in CODES and code not in ALIASES:
            names = ", ".join((*CODES, *ALIASES))
            raise InvalidError(f"code {code!r}: must be one of {names}, or call Codec.lrc or from_matrix")
        k, m = shard_numbers(MAX_SHARDS, k=k, m=m)
        self._shape = k, m
        self._text = f"({code!r}, k={k}, m={m}"
        self._make("create", (code, k, m), POLYNOMIAL, hint, packet, threads)

    @classmethod
    def lrc(cls, k: int, l: int, r: int, *, hint: Hint = "auto", packet: int = 0, threads: int = 1) -> Self:  # noqa: E741
        """A local reconstruction code like Azure's: k data shards in l groups with a parity each, and r
        parities over all; m = l + r. A single loss reads only the rest of its group (docs/repair.md).
        """
        k, l, r = shard_numbers(MAX_SHARDS, k=k, l=l, r=r)  # noqa: E741
        if l > k:
            raise InvalidError(f"l = {l}: must be at most k = {k}")
        codec = cls.__new__(cls)
        codec._shape = k, l + r
        codec._text = f".lrc(k={k}, l={l}, r={r}"
        codec._make("create_lrc", (k, l, r), POLYNOMIAL, hint, packet, threads)
        return codec

    @classmethod
    def from_matrix(
        cls,
        matrix: Sequence[Iterable[int]] | Array,
        *,
        polynomial: int = POLYNOMIAL,
        hint: Hint = "auto",
        packet: int = 0,
        threads: int = 1,
    ) -> Self:
        """Any parity matrix, m rows of k elements 0 to 255, MDS or not.

        polynomial: of the field, with its x^8 term; it must be irreducible and of degree 8.
        """
        rows = [[integer(f"matrix: row {i}", element) for element in row] for i, row in enumerate(matrix)]
        k, m = shard_numbers(MAX_SHARDS, k=len(rows[0]) if rows else 0, m=len(rows))
        for i, row in enumerate(rows):
            if len(row) != k:
                raise InvalidError(f"matrix: row {i} has {len(row)} elements, row 0 has {k}")
            if not all(0 <= element <= 255 for element in row):
                raise InvalidError(f"matrix: row {i} has an element that is not in 0 .. 255")
        polynomial = integer("polynomial", polynomial)
        if not 0x100 <= polynomial <= 0x1FF:
            raise InvalidError(f"polynomial {polynomial:#x}: must be of degree 8, 0x100 to 0x1ff")
        elements = bytes(element for row in rows for element in row)
        codec = cls.__new__(cls)
        codec._shape = k, m
        codec._text = f".from_matrix(<{m} rows of {k}>, polynomial={polynomial:#x}"
        codec._make("create_matrix", (polynomial, k, m, elements), polynomial, hint, packet, threads)
        return codec

    def _make(
        self,
        function: str,
        arguments: tuple[Any, ...],
        polynomial: int,
        hint: Hint,
        packet: int,
        threads: int,
    ) -> None:
        number, self._packet = _options(hint, packet)
        self._threads = thread_number(threads)
        self._polynomial = polynomial
        self._recipe = function, arguments, number
        if hint != "auto":
            self._text += f", hint={hint!r}"
        if packet:
            self._text += f", packet={packet}"
        if threads != 1:
            self._text += f", threads={threads}"
        self._start()

    def _start(self) -> None:
        self._handle = self._created(self._packet)
        pool = pool_of(self._threads)
        if pool is not None:
            _native.share(self._handle, pool)

    def _created(self, packet: int) -> _native._Codec:
        function, arguments, hint = self._recipe
        try:
            created: _native._Codec = getattr(_native, function)(*arguments, hint, packet)
        except InvalidError:
            raise InvalidError(f"{self!r}: {_invalid(function, arguments[0])}") from None
        except NotMdsError:
            raise NotMdsError(f"{self!r}: {_not_mds(arguments[0])}") from None
        return created

    @property
    def polynomial(self) -> int:
        """The field's polynomial, bit n being the coefficient of x^n."""
        return self._polynomial

    @property
    def packet(self) -> int:
        """Bytes of a packet, 0 in the ordinary layout."""
        return self._packet

    @property
    def parity_matrix(self) -> tuple[bytes, ...]:
        """c: m rows of k elements.

        >>> import gfsmith
        >>> [list(row) for row in gfsmith.Codec("raid6", k=4, m=2).parity_matrix]
        [[1, 1, 1, 1], [1, 2, 4, 8]]
        """
        # Byte x of data shard j is 1 where x = j: byte j of parity i is c[i][j].
        unit = [bytes(x == j for x in range(self.k)) for j in range(self.k)]
        rows = [bytearray(self.k) for _ in range(self.m)]
        _native.encode(self._created(0), unit, rows)
        return tuple(map(bytes, rows))

    def __repr__(self) -> str:
        return f"gfsmith.Codec{self._text})"

    def _identity(self) -> tuple[object, ...]:
        """The code: polynomial, packet size and parity matrix."""
        return self._polynomial, self._packet, self.parity_matrix


#: Python names this function in messages about missing arguments.
Construction.__init__.__qualname__ = "Codec.__init__"
