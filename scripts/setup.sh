# shellcheck shell=bash
# Sourced by run.sh and test.sh: installs what is missing, configures and builds. Says what it does,
# does nothing that is done already.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
fail() { printf '%s\n' "$*" >&2; exit 3; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo > /dev/null; then sudo "$@"
  else fail "Not root and no sudo: ask an administrator to run: $*"
  fi
}

# Compiler and libraries. Why each: README, "What it stands on".
debian_packages="g++ cmake ninja-build nlohmann-json3-dev libcli11-dev libfmt-dev libssl-dev libcurl4-openssl-dev
  libseccomp-dev bubblewrap python3-venv"
debian_test_packages="clang-19 binutils libgtest-dev libgmock-dev libbenchmark-dev clang-format-14 git"
brew_packages="cmake ninja nlohmann-json cli11 fmt openssl@3 curl python3"
brew_test_packages="googletest google-benchmark clang-format"

install_debian() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "Installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" > /dev/null
}

install_brew() {
  local missing=()
  for package in "$@"; do
    brew list --versions "$package" > /dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "Installing ${missing[*]}"
  brew install --quiet "${missing[@]}"
}

install_packages() {  # install_packages [test]
  if command -v apt-get > /dev/null; then
    # shellcheck disable=SC2086
    install_debian $debian_packages ${1:+$debian_test_packages}
  elif command -v brew > /dev/null; then
    # shellcheck disable=SC2086
    install_brew $brew_packages ${1:+$brew_test_packages}
  else
    say "Neither apt-get nor Homebrew here: install by hand what README lists, if it is missing"
  fi
}

# Libraries to compare with, in an environment of the project's own. Without them the search still
# runs, against the naive program.
install_experts() {
  local python=.venv/bin/python
  [ -f .venv/.complete ] && return
  say "Making .venv with the libraries to compare with (onnxruntime, OpenBLAS)"
  if ! { [ -x "$python" ] || python3 -m venv .venv; } > .venv.log 2>&1; then
    say "No Python environment (see .venv.log): comparing with the naive program alone"
    return
  fi
  if timeout 240 "$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
      numpy onnx onnxruntime scipy-openblas32 >> .venv.log 2>&1; then
    touch .venv/.complete
    rm -f .venv.log
  else
    say "PyPI did not answer or a package is missing (see .venv.log): going on with what is there"
  fi
}

# MLX (its CPU build: 12 MB of wheels) and pytest, for the tests of the Python package.
install_mlx() {
  local python=.venv/bin/python mlx="mlx[cpu]"
  [ -f .venv/.mlx ] || [ ! -x "$python" ] && return
  [ "$(uname)" = Darwin ] && mlx=mlx
  say "Adding MLX and pytest to .venv"
  if timeout 240 "$python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 \
      "$mlx" pytest > .venv.log 2>&1; then
    touch .venv/.mlx
    rm -f .venv.log
  else
    say "No MLX (see .venv.log): the tests of the Python package are skipped"
  fi
}

build() {  # build PRESET [TARGET...]
  local preset=$1
  shift
  local launcher=()
  command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  say "Building (build/$preset)"
  cmake --preset "$preset" "${launcher[@]}" ${KSEARCH_WERROR:+-DKSEARCH_WERROR=ON} > "build-$preset.log" 2>&1 ||
    { cat "build-$preset.log" >&2; fail "cmake failed"; }
  rm -f "build-$preset.log"
  local quiet=--quiet  # a person sees what is done, a log does not
  [ -t 2 ] && quiet=
  cmake --build "build/$preset" ${1:+--target "$@"} -- ${quiet:+"$quiet"} || fail "The build failed"
}
