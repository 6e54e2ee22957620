set(CMAKE_SYSTEM_NAME Linux)
# begin facts: toolchain of aarch64
set(triple aarch64-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
# end facts
include(${CMAKE_CURRENT_LIST_DIR}/gnu.cmake)
