set(CMAKE_SYSTEM_NAME Linux)
# begin facts: toolchain of power
set(triple powerpc64le-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR powerpc64le)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-ppc64le-static -L /usr/powerpc64le-linux-gnu)
# end facts
include(${CMAKE_CURRENT_LIST_DIR}/gnu.cmake)
