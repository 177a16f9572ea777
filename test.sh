#!/usr/bin/env bash
# Builds everything and passes the tests. Suites that take minutes or time programs (labels slow, e2e,
# conformance) run only with --slow; further arguments go to ctest: ./test.sh -R report
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

slow=(-LE 'slow|e2e|conformance')
if [ "${1:-}" = --slow ]; then
  slow=()
  shift
fi
install_packages test
install_experts
build dev
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# Tests time programs: one after another where there are few cores.
ctest --test-dir build/dev --output-on-failure --no-tests=error -j "$(( ($(getconf _NPROCESSORS_ONLN) + 1) / 2 ))" \
  "${slow[@]}" "$@" 2>&1 | tee "$log" || status=$?
echo "skipped: $(grep -c -E '\*\*\*Skipped' "$log" || true) (what they need is in their output: ctest -V)"
exit "$status"
