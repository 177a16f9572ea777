// The machine's C++ compiler: found once, asked its version once. Running it is `builder`'s.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/files.h"

namespace ksearch::toolchain {

struct Compiler {
  std::filesystem::path path;  ///< absolute
  std::string version;         ///< first line of --version
  bool clang = false;
  std::vector<std::filesystem::path> roots;  ///< installed outside /usr: folders it needs to see
};

/// $KSEARCH_CXX, then $CXX, then c++, g++, clang++ on $PATH; wrappers such as ccache are passed
/// over. The error says what to install.
base::Result<Compiler> find_compiler(const os::Environment& environment);

/// What -march=native depends on: model and features of this machine's CPU, as a short text.
std::string machine_key();

}  // namespace ksearch::toolchain
