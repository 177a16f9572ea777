#!/usr/bin/env bash
# Builds everything and passes the tests: ./test.sh [--quick] [arguments of ctest]
# --quick leaves out the suites that run programs in the sandbox and time them (minutes).
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

quick=
if [ "${1:-}" = --quick ]; then
  quick=yes
  shift
fi
install_packages test
install_experts
install_mlx
build dev
# Tests of Python experts need numpy, those of the Python package MLX; that environment has both.
[ ! -f .venv/.complete ] || export KSEARCH_TEST_PYTHON="${KSEARCH_TEST_PYTHON:-$PWD/.venv/bin/python}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
tests() { ctest --test-dir build/dev --output-on-failure --no-tests=error "$@" 2>&1 | tee -a "$log" || status=$?; }

if [ $# != 0 ]; then
  tests "$@"
else
  tests -j "$(getconf _NPROCESSORS_ONLN)" -LE 'e2e|conformance'
  # These time programs: one after another, and once more where the machine was disturbed.
  [ -n "$quick" ] || tests -j 1 -L 'e2e|conformance' --repeat until-pass:2
fi
echo "skipped: $(grep -c -E '\*\*\*Skipped' "$log" || true) (what they need is in their output: ctest -V)"
exit "$status"
