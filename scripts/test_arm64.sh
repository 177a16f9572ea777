#!/usr/bin/env bash
# Builds the engine that runs kernels for arm64 and runs its tests under qemu-user. Kernels are
# compiled by this machine's clang for arm64. An emulator knows no system call filter, so kernels
# run unconfined here: they are the tests' own.
#
#   scripts/test_arm64.sh [--install] [gtest options]
#
# --install: the packages it needs (Debian, root).
set -euo pipefail
cd "$(dirname "$0")/.."
packages="g++-aarch64-linux-gnu qemu-user-static libfmt-dev:arm64 libssl-dev:arm64 libseccomp-dev:arm64
  libgtest-dev:arm64 libgmock-dev:arm64"
if [ "${1:-}" = --install ]; then
  shift
  dpkg --add-architecture arm64
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
fi
command -v aarch64-linux-gnu-g++ qemu-aarch64-static > /dev/null ||
  { echo "scripts/test_arm64.sh --install gets what it needs: $packages" >&2; exit 3; }
cmake --preset arm64 ${CMAKE_CXX_COMPILER_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER=$CMAKE_CXX_COMPILER_LAUNCHER}
cmake --build --preset arm64 -- -j"${JOBS:-$(nproc)}"
export KSEARCH_TEST_EMULATOR=qemu-aarch64-static
failed=0
for test in simt_test simt_cuda_test; do
  qemu-aarch64-static "build/arm64/bin/$test" --gtest_brief=1 "$@" || failed=1
done
exit $failed
