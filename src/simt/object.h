// From a case's source to the object that runs it: preprocess, rewrite, compile; each step is kept
// by its content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/case.h"
#include "simt/ir/instrument.h"
#include "toolchain/builder.h"

namespace ksearch::simt {

/// clang 17 or newer, which alone has what the headers need: native bfloat16, properties,
/// -fsanitize=kernel-memory. $KSEARCH_CLANG, then clang++-19, -18, -17, clang++.
base::Result<toolchain::Compiler> find_clang(const os::Environment& environment);

struct BuildOptions {
  int optimize = 2;   ///< 0 or 2
  bool watch = true;  ///< with every access shown to the engine
};

/// A case as C++ for our headers, and what was noticed on the way.
struct Prepared {
  std::string file;  ///< the source's name in reports
  std::string source;
  std::vector<std::string> warnings;  ///< lints of the source
};
/// The kernels of all launches; they have the same function constants.
base::Result<Prepared> prepare(const toolchain::Builder& builder, const Case& all);

/// The shared library with the kernels. What the source does wrong comes back as a usage error with
/// its lines.
base::Result<std::filesystem::path> build_object(const toolchain::Builder& builder,
                                                 const Prepared& prepared,
                                                 const BuildOptions& options);

/// The same kernels unwatched, which tell what they do: see ir/instrument.h.
struct TracedObject {
  std::filesystem::path file;
  ir::Instrumented program;
};
base::Result<TracedObject> build_traced(const toolchain::Builder& builder,
                                        const Prepared& prepared);

}  // namespace ksearch::simt
