#!/usr/bin/env bash
# From a fresh clone to a search that runs: installs what is missing, builds, and searches for a fast
# attention kernel. Arguments replace the search: ./run.sh run softmax --time 1m
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

install_packages  # shellcheck disable=SC2119
# Both wait mostly for something else: the network, and the compiler.
install_experts &
experts=$!
build release ksearch
wait "$experts" || true

if [ $# = 0 ]; then set -- run attention --where 'T == float32 and D == 64' --time 60s; fi
say "ksearch $*"
exec build/release/bin/ksearch "$@"
