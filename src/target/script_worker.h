// Experts in Python: a trusted script in a process of its own, which one generic adapter drives
// (python/adapter.py, part of this executable). And the shared libraries that Python packages
// bring.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "target/target.h"

namespace ksearch::target {

struct ScriptOptions {
  std::filesystem::path python;  ///< interpreter; it needs numpy
  std::filesystem::path script;  ///< for messages and for what it imports from its folder
  std::string text = {};         ///< of the script; empty: read from `script`
  std::vector<std::string> requires_modules = {};
  std::map<std::string, std::string> environment = {};  ///< on top of PATH and the thread counts
  int threads = 1;
  std::vector<int> cpus = {};  ///< it runs on these; empty: on any
  std::uint64_t seed = 0;
};

/// A Worker whose Job has no plan. Module missing or case not supported: Unsupported, from prepare.
base::Result<std::unique_ptr<Worker>> start_script(const ScriptOptions& options);

/// How to link the library that a Python package carries, as scipy_openblas32 does: it must offer
/// get_lib_dir(), get_library() and get_include_dir().
base::Result<Trust> python_library(const std::filesystem::path& python, const std::string& package);

}  // namespace ksearch::target
