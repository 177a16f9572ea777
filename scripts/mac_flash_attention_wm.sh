#!/usr/bin/env bash
# The search for attention on Apple GPUs, under the name that its authors' post gives it: ./scripts/mac_flash_attention_wm.sh --time 3m
# --device apple-m3-max. Arguments go to `ksearch run`. Times are modelled, on a Mac too so far
# (docs/mac.md says how the winner is timed there).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

install_packages  # shellcheck disable=SC2119
build release ksearch
exec build/release/bin/ksearch run attention --target metal "$@"
