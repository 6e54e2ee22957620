"""Commands that make s390x objects for tests."""

from tests.unit.prove.power.targets import FLAGS

_CLANG = ("clang-19", "--target=s390x-linux-gnu")
CLANG = (*_CLANG, "-O2", *FLAGS)
ASSEMBLER = (*_CLANG, "-march=z13")
