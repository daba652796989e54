# Toolchain file: compiles for Linux on arm64 with Debian's cross compiler, and runs what it makes by qemu-user.
#   cmake -B build/arm64 -G Ninja --toolchain cmake/aarch64.cmake -DXFERBENCH_CUDA=OFF -DXFERBENCH_ARM64_ROOT=FOLDER
# Needs g++-aarch64-linux-gnu, qemu-user, and libnuma-dev and liburing-dev of arm64 unpacked in FOLDER
# (tests/packaging/test_arm64.py does that). Libraries of headers only are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
foreach(library numa uring)
  string(TOUPPER ${library} upper)
  set(${upper}_LIBRARY ${XFERBENCH_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/lib${library}.a CACHE FILEPATH "")
  set(${upper}_INCLUDE_DIR ${XFERBENCH_ARM64_ROOT}/usr/include CACHE PATH "")
endforeach()
file(GLOB fmt_DIR /usr/lib/*/cmake/fmt)
set(fmt_DIR ${fmt_DIR} CACHE PATH "")
set(XFERBENCH_LLD OFF CACHE FILEPATH "")  # GCC's cross compiler does not find lld
