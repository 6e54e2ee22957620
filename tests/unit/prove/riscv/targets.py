"""Commands that make RISC-V objects for tests."""

CLANG = ("clang-19", "--target=riscv64-linux-gnu", "-O2", "-std=c11", "-fPIC", "-Wall", "-Werror")
ASSEMBLER = ("clang-19", "--target=riscv64-linux-gnu")
