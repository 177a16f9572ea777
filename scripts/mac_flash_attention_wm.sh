#!/usr/bin/env bash
# The search for attention on Apple GPUs, under the name that its authors' post gives it: ./scripts/mac_flash_attention_wm.sh --time 3m
# Arguments go to `ksearch run`. On a Mac MLX runs and times the kernels on its GPU (docs/mac.md); elsewhere, and
# with --device apple-m3-max on a Mac too, the engine runs them and times are modelled.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

install_packages  # shellcheck disable=SC2119
targets=ksearch
if [ "$(uname)" = Darwin ]; then
  install_experts
  install_mlx
  targets="ksearch ksearch_mlx_worker"
fi
# shellcheck disable=SC2086
build release $targets
exec build/release/bin/ksearch run attention --target metal "$@"
