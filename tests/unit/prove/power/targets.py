"""Commands that make POWER objects for tests."""

CLANG = ("clang-19", "--target=powerpc64le-linux-gnu", "-O2", "-std=c11", "-fPIC", "-Wall", "-Werror")
ASSEMBLER = ("clang-19", "--target=powerpc64le-linux-gnu", "-mcpu=power8")
