// From a case's source to the object that runs it: preprocess, rewrite, compile; each step is kept
// by its content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/case.h"
#include "toolchain/builder.h"

namespace ksearch::simt {

/// clang 17 or newer, which alone has what the headers need: native bfloat16, properties,
/// -fsanitize=kernel-memory. $KSEARCH_CLANG, then clang++-19, -18, -17, clang++.
base::Result<toolchain::Compiler> find_clang(const os::Environment& environment);

struct BuildOptions {
  int optimize = 2;   ///< 0 or 2
  bool watch = true;  ///< with every access shown to the engine
};

/// A shared library with kernels, and what was noticed on the way.
struct Object {
  std::filesystem::path file;
  std::vector<std::string> warnings;  ///< lints of the source
};
/// The object with the kernels of all launches; they have the same function constants. What the
/// source does wrong comes back as a usage error with its lines.
base::Result<Object> build_object(const toolchain::Builder& builder, const Case& all,
                                  const BuildOptions& options);

}  // namespace ksearch::simt
