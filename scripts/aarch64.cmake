# A build for arm64 Linux on another machine: Debian's cross compiler, tests under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Not this machine's packages.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# libcurl is loaded where a model is asked; its headers are the same for every processor.
set(CURL_LIBRARY curl)
set(CURL_INCLUDE_DIR /usr/include/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
