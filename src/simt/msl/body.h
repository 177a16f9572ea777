// A body for mx.fast.metal_kernel, made into a whole Metal file by MLX's rules: what the signature
// holds follows from which names stand in the body, as plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/case.h"

namespace ksearch::simt::msl {

/// The kernel's name in the file that is made.
inline constexpr std::string_view kBodyKernel = "ksearch_body";
/// The header of ours that stands for MLX's.
inline constexpr const char* kBodyUtilities = "mlx_utils.h";
/// The file of the body's header in reports.
inline constexpr std::string_view kBodyHeader = "header";

/// A buffer of the signature, in the order of the indices.
struct BodyArgument {
  enum class Kind { input, shape, strides, ndim, output };
  Kind kind = Kind::input;
  std::string buffer;  ///< name in the case
};
std::vector<BodyArgument> body_arguments(const Case& all);

/// The thread attributes that MLX looks for in a body.
std::vector<std::string_view> attribute_names();

/// Line numbers of the body stay what they are.
base::Result<std::string> source_of_body(const Case& all);

/// The case with the buffers that MLX adds (shapes, strides), all at their indices, and its
/// launches as dispatchThreads has them: groups no larger than the grid.
base::Result<Case> with_body_buffers(const Case& all);

}  // namespace ksearch::simt::msl
