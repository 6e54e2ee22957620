"""Commands that make POWER objects for tests."""

FLAGS = ("-std=c11", "-fPIC", "-Wall", "-Werror")
CLANG = ("clang-19", "--target=powerpc64le-linux-gnu", "-O2", *FLAGS)
GCC = ("powerpc64le-linux-gnu-gcc",)
ASSEMBLER = ("clang-19", "--target=powerpc64le-linux-gnu", "-mcpu=power8")
ASSEMBLER_10 = (*ASSEMBLER[:2], "-mcpu=power10")
#: AltiVec alone: the oldest CPU that has it, because clang uses VSX wherever a CPU has that.
ALTIVEC = (*CLANG, "-mcpu=970")
