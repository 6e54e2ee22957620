"""Names, aliases, shapes and descriptions of all codes.

`gfsmith codes` and completion read this list. tools/facts.py generates from it the tables of the C library's
codes.c, of the bindings for Python, Rust and Go, and of docs/codes.md. A new code needs a record here, its
matrix in a module of this package (`Family`), and its element in codes.c.
"""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.kernel.operation import MAX_SHARDS


class CodeError(ValueError):
    """An unknown code, or a shape that the code does not have or at which it is not MDS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A code without its matrix. Its shapes have k <= most_k, least_m <= m <= most_m, k + m <= MAX_SHARDS.

    aliases: names of projects that write this code. identifier: the name in languages with camel case.
    formula, source: the parity matrix, and the project or paper that defines it. mds: the reason why every
    shape is MDS, or a note that some are not; mds.py decides each shape separately. element, improve: in the
    C library's codes.c the functions <element>_element and <improve>_improve compute the matrix. nested: not
    every shape is MDS, and the matrix of a shape is the upper left corner of the matrix of every greater one,
    so every shape below an MDS shape is MDS; in C <element>_is_mds decides. local: the code has groups, so
    its shapes are k, l and r.
    """

    name: str
    identifier: str
    aliases: tuple[str, ...] = ()
    formula: str
    source: str
    mds: str
    element: str = ""
    improve: str | None = None
    most_k: int = MAX_SHARDS - 1
    least_m: int = 1
    most_m: int = MAX_SHARDS - 1
    nested: bool = False
    local: bool = False

    @property
    def fixed_m(self) -> int | None:
        """The number of parities if the code has only one, else None."""
        return self.least_m if self.least_m == self.most_m else None

    @property
    def limits(self) -> str:
        """The shapes in words."""
        if self.local:
            return f"1 <= l <= k, r >= 1, k + l + r <= {MAX_SHARDS}"
        most_k = f"1 <= k <= {self.most_k}" if self.most_k < MAX_SHARDS - 1 else "k >= 1"
        if self.fixed_m is not None:
            m = f"m = {self.fixed_m}"
        elif self.most_m < MAX_SHARDS - 1:
            m = f"{self.least_m} <= m <= {self.most_m}"
        else:
            m = f"m >= {self.least_m}"
        return f"{most_k}, {m}, k + m <= {MAX_SHARDS}"

    def greatest_k(self, m: int) -> int:
        """Return the greatest k with m parities, 0 if there is none."""
        if not self.least_m <= m <= self.most_m:
            return 0
        return max(0, min(self.most_k, MAX_SHARDS - m))

    def complete(self, k: int | None, m: int | None) -> tuple[int, int]:
        """Return k and m; m may be None if the code has only one. Raises CodeError."""
        m = self.fixed_m if m is None else m
        if k is None or m is None:
            missing = " and ".join(flag for flag, value in (("--k", k), ("--m", m)) if value is None)
            raise CodeError(f"{self.name}: {missing} missing; allowed: {self.limits}")
        return k, m

    def check_shape(self, k: int, m: int) -> None:
        """Raises CodeError for a shape that the code does not have."""
        if not 1 <= k <= self.greatest_k(m):
            raise CodeError(f"{self.name} has no shape {k}+{m}; allowed: {self.limits}")


_CAUCHY = "always: a Cauchy matrix, points 0 .. k + m - 1"
_QUOTIENTS = "always: two rows with distinct quotients 2^j, j < 255"

VANDERMONDE = Code(
    name="vandermonde",
    identifier="Vandermonde",
    formula="P[i][j] = (2^i)^j",
    source="ISA-L gf_gen_rs_matrix",
    mds="not always: m <= 3 and k <= 3 by theorem, the rest by all minors up to a singular one",
    element="vandermonde",
    nested=True,
)
CAUCHY = Code(
    name="cauchy",
    identifier="Cauchy",
    formula="P[i][j] = 1 / ((k + i) xor j)",
    source="ISA-L gf_gen_cauchy1_matrix",
    mds=_CAUCHY,
    element="cauchy",
)
PLANK_VANDERMONDE = Code(
    name="plank_vandermonde",
    identifier="PlankVandermonde",
    formula="P[i][j] = (j + 1)^i",
    source="J. S. Plank's tutorial (1997); Drucker, Gueron, Krasnov (2019): j^(i-1), i and j from 1",
    mds="m <= 3 and k <= 2 by theorem; 3+4 is not: rows 0, 1, 3 are singular, as 1 xor 2 xor 3 = 0",
    element="plank_vandermonde",
    nested=True,
)
BACKBLAZE = Code(
    name="backblaze",
    identifier="Backblaze",
    aliases=("klauspost", "minio", "seaweedfs", "reed-solomon-erasure"),
    formula="rows k.. of V V[:k]^-1, V[i][j] = i^j",
    source="Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO, crate reed-solomon-erasure",
    mds="always: the values of a polynomial at k + m distinct points, a Cauchy matrix up to scaling",
    element="backblaze",
)
LCH = Code(
    name="lch",
    identifier="Lch",
    formula="P[i][j] = s(x[j])/c / (x[j] xor i), s(x) = product of x xor v over v < M, x[j] = M + j",
    source="the transform of Lin, Chung, Han (FOCS 2014) over M = 2^ceil(log2 m) points",
    mds="always: a Cauchy matrix with scaled columns",
    element="lch",
)
CAUCHY_ORIG = Code(
    name="cauchy_orig",
    identifier="CauchyOrig",
    formula="P[i][j] = 1 / (i xor (m + j))",
    source="Jerasure cauchy_original_coding_matrix, w = 8",
    mds=_CAUCHY,
    element="cauchy_orig",
)
CAUCHY_GOOD = Code(
    name="cauchy_good",
    identifier="CauchyGood",
    formula="cauchy_orig with rows and columns scaled for few ones; m = 2: 1 and the lightest elements",
    source="Jerasure cauchy_good_general_coding_matrix, w = 8",
    mds="always: a Cauchy matrix with scaled rows and columns, or two rows of distinct quotients",
    element="cauchy_orig",
    improve="cauchy_good",
)
REED_SOL_VAN = Code(
    name="reed_sol_van",
    identifier="ReedSolVan",
    formula="rows k.. of V V[:k]^-1, V[i][j] = i^j, last row 0 .. 0 1; scaled: first row and column 1",
    source="Jerasure reed_sol_vandermonde_coding_matrix, w = 8; Ceph's default",
    mds="always: the values of a polynomial at distinct points and infinity, a Cauchy matrix up to scaling",
    element="reed_sol_van",
    improve="reed_sol_van",
)
REED_SOL_R6_OP = Code(
    name="reed_sol_r6_op",
    identifier="ReedSolR6Op",
    formula="rows 1 and 2^j, as raid6",
    source="Jerasure reed_sol_r6_coding_matrix, w = 8",
    mds=_QUOTIENTS,
    element="vandermonde",
    least_m=2,
    most_m=2,
)
HDFS = Code(
    name="hdfs",
    identifier="Hdfs",
    aliases=("hadoop",),
    formula="P[i][j] = 1 / ((k + i) xor j), as cauchy",
    source="Hadoop RSUtil.genCauchyMatrix: RS-3-2, RS-6-3, RS-10-4",
    mds=_CAUCHY,
    element="cauchy",
)
RAID6 = Code(
    name="raid6",
    identifier="Raid6",
    aliases=("md", "btrfs"),
    formula="P = sum d[j], Q = sum 2^j d[j]",
    source="Linux md and btrfs RAID-6: H. P. Anvin, The mathematics of RAID-6",
    mds=_QUOTIENTS,
    element="vandermonde",
    least_m=2,
    most_m=2,
)
RAIDZ = Code(
    name="raidz",
    identifier="RaidZ",
    aliases=("zfs", "openzfs"),
    formula="P = sum d[j], Q = sum 2^(k-1-j) d[j], R = sum 4^(k-1-j) d[j]",
    source="OpenZFS RAID-Z1, Z2 and Z3 (vdev_raidz)",
    mds="always: rows 1, t, t^2 with distinct t = 2^(k-1-j): a conic with its nucleus",
    element="raidz",
    most_m=3,
)
SNAPRAID = Code(
    name="snapraid",
    identifier="SnapRaid",
    formula="row 1; 2^j; (1 + y) / (2^-j + y) for y = 2, 4, 8, 16",
    source="SnapRAID, up to six parities",
    mds="always: a Cauchy matrix with scaled rows and a point at infinity",
    element="snapraid",
    most_k=251,
    most_m=6,
)
ZFEC = Code(
    name="zfec",
    identifier="Zfec",
    aliases=("tahoe-lafs",),
    formula="rows k.. of V V[:k]^-1, V[0] = 1 0 .. 0, V[i][j] = (2^(i-1))^j",
    source="zfec, after L. Rizzo's fec; Tahoe-LAFS",
    mds="always: the values of a polynomial at k + m distinct points, a Cauchy matrix up to scaling",
    element="zfec",
)
LRC = Code(
    name="lrc",
    identifier="Lrc",
    formula="l XORs of groups; then p[j]^(2^t) or (r + 1 + j) / ((r + 1 + j) xor t), t <= r",
    source="the topology of Windows Azure Storage's LRC(k, l, r), docs/repair.md",
    mds="no, local: any r + 1 losses; r <= 2: all that any such code can (see gfsmith plan)",
    local=True,
)

ZERASURE = Code(
    name="zerasure",
    identifier="Zerasure",
    formula="1 / (x[i] xor y[j]) scaled for few ones; points from a genetic search for a cheap schedule",
    source="the search of T. Zhou and C. Tian, FAST 2019 (Zerasure), bounded to seconds",
    most_k=128,
    most_m=16,
    mds="always: a Cauchy matrix with scaled rows and columns",
)
CERASURE = Code(
    name="cerasure",
    identifier="Cerasure",
    formula="a[j]^i, the lightest a that keep every minor regular; if lighter, a greedy Cauchy matrix",
    source="the search of T. Niu et al., ICCD 2023 (Cerasure), from its description",
    mds="always: the search computes every minor, or a Cauchy matrix with scaled rows and columns",
)

#: The codes with k data shards and m parities.
CODES = (
    *(VANDERMONDE, CAUCHY, BACKBLAZE, LCH, CAUCHY_ORIG, CAUCHY_GOOD, PLANK_VANDERMONDE),
    *(REED_SOL_VAN, REED_SOL_R6_OP, HDFS, RAID6, RAIDZ, SNAPRAID, ZFEC),
)
#: Alias -> name.
ALIASES = {alias: code.name for code in CODES for alias in code.aliases}
#: The codes whose matrix a search of the generator finds. The C library has no such names: a program passes
#: the matrix to gfsmith_codec_create_matrix.
SEARCHED = (ZERASURE, CERASURE)
#: All names and aliases.
NAMES = (*(code.name for code in (*CODES, *SEARCHED)), *ALIASES, LRC.name)


def allowed() -> str:
    """Return the names and aliases of CODES and SEARCHED in one line."""
    others = ", ".join(f"{alias} = {name}" for alias, name in ALIASES.items())
    return f"{', '.join(code.name for code in (*CODES, *SEARCHED))}; or {others}"
