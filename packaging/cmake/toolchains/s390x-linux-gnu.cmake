set(CMAKE_SYSTEM_NAME Linux)
# begin facts: toolchain of s390x
set(triple s390x-linux-gnu)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x-static -L /usr/s390x-linux-gnu)
# end facts
include(${CMAKE_CURRENT_LIST_DIR}/gnu.cmake)
