"""The code of HDFS: RSRawEncoder, RSRawDecoder and the native coder over ISA-L."""

from __future__ import annotations

from gfsmith.codes import names
from gfsmith.codes.family import Family
from gfsmith.codes.isal import cauchy

FAMILIES = (Family(names.HDFS, cauchy),)
