// From a case's source to the object of one launch: preprocess, rewrite, compile; each step is kept by
// its content.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "simt/case.h"
#include "toolchain/builder.h"

namespace ksearch::simt {

/// clang 17 or newer, which alone has what the headers need: native bfloat16, properties,
/// -fsanitize=kernel-memory. $KSEARCH_CLANG, then clang++-19, -18, -17, clang++.
base::Result<toolchain::Compiler> find_clang(const os::Environment& environment);

/// The object that runs `launch` of `all`. What the source does wrong comes back as a usage error
/// with its lines.
base::Result<std::filesystem::path> build_object(const toolchain::Builder& builder,
                                                 const Case& all, const Launch& launch,
                                                 int optimize);

}  // namespace ksearch::simt
