#!/usr/bin/env bash
# From a fresh clone to a search that runs: installs what is missing, builds, and searches for a fast
# attention kernel. Arguments replace the search: ./run.sh run softmax --time 1m
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

install_packages
# Both wait mostly for something else: the network, and the compiler.
install_experts &
experts=$!
build release ksearch
wait "$experts" || true

if [ $# -gt 0 ]; then exec build/release/bin/ksearch "$@"; fi
exec build/release/bin/ksearch run attention --quick
