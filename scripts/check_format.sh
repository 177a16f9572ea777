#!/usr/bin/env bash
# Says which files clang-format would change; with --fix, changes them. Debian's clang-format-14 decides.
set -euo pipefail
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ]; then
  echo "format: skipped, clang-format is not installed (apt install clang-format-14)"
  exit 0
fi
# What new-task fills in is no C++ yet.
mapfile -t files < <(git ls-files 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' ':!src/formats/new_task')
if [ "${1:-}" = --fix ]; then
  "$format" -i "${files[@]}"
else
  "$format" --dry-run --Werror "${files[@]}" && echo "format: ${#files[@]} files, fine"
fi
