set(CMAKE_SYSTEM_NAME Linux)
# begin facts: toolchain of riscv
set(triple riscv64-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-riscv64-static -L /usr/riscv64-linux-gnu)
# end facts
include(${CMAKE_CURRENT_LIST_DIR}/gnu.cmake)
