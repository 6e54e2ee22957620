"""The code of HDFS: RSRawEncoder, RSRawDecoder and the native coder over ISA-L."""

from __future__ import annotations

from gfsmith.codes.family import Family
from gfsmith.codes.isal import cauchy

HDFS = Family(
    "hdfs",
    "P[i][j] = 1 / ((k + i) xor j), as cauchy",
    "Hadoop RSUtil.genCauchyMatrix: RS-3-2, RS-6-3, RS-10-4",
    "always: a Cauchy matrix, points 0 .. k + m - 1",
    cauchy,
)
