#include "simt/cuda/headers.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ksearch::simt::cuda {
namespace {

bool of_toolkit(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {"cuda.h",
                                                            "cuda_runtime.h",
                                                            "cuda_runtime_api.h",
                                                            "device_launch_parameters.h",
                                                            "cuda_fp16.h",
                                                            "cuda_fp16.hpp",
                                                            "cuda_bf16.h",
                                                            "cuda_bf16.hpp",
                                                            "mma.h",
                                                            "cuda_pipeline.h",
                                                            "cuda_pipeline_primitives.h",
                                                            "math_constants.h",
                                                            "vector_types.h",
                                                            "vector_functions.h",
                                                            "device_functions.h",
                                                            "sm_80_rt.h",
                                                            "cooperative_groups.h",
                                                            "math_functions.h",
                                                            "cublas_v2.h",
                                                            "cublasLt.h",
                                                            "curand.h",
                                                            "nvtx3/nvToolsExt.h",
                                                            "cuda_profiler_api.h"};
  return kNames.contains(name) || name.starts_with("cooperative_groups/") ||
         name.starts_with("cuda/std/");
}

/// vector, string.h, sys/types.h: of C++ and the system.
bool of_host(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {
      "assert.h", "ctype.h",  "errno.h",  "fcntl.h",   "float.h",  "inttypes.h", "limits.h",
      "math.h",   "omp.h",    "stdarg.h", "stdbool.h", "stddef.h", "stdint.h",   "stdio.h",
      "stdlib.h", "string.h", "time.h",   "unistd.h",  "getopt.h"};
  return name.find_first_of("./") == std::string::npos || kNames.contains(name) ||
         name.starts_with("sys/");
}

/// The name between < and > or quotes of an include, and which of them it was.
std::pair<std::string, char> included(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return {};
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos || line.compare(at, 7, "include") != 0) return {};
  at = line.find_first_of("<\"", at);
  if (at == std::string::npos) return {};
  const std::size_t end = line.find(line[at] == '<' ? '>' : '"', at + 1);
  if (end == std::string::npos) return {};
  return {line.substr(at + 1, end - at - 1), line[at]};
}

bool plain(const std::string& name) {
  return !name.empty() && name[0] != '/' && name.find("..") == std::string::npos;
}

}  // namespace

EmptyHeaders empty_headers(const Case& all) {
  EmptyHeaders result;
  std::set<std::string> known;
  for (const auto& header : all.headers) known.insert(header.first);
  const auto look = [&](const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      const auto [name, quote] = included(line);
      if (!plain(name) || (quote == '"' && !of_toolkit(name)) || !known.insert(name).second)
        continue;
      result.files.emplace_back(name, "");
      if (!of_toolkit(name) && !of_host(name)) result.unknown.push_back(name);
    }
  };
  look(all.source);
  for (const auto& header : all.headers) look(header.second);
  return result;
}

}  // namespace ksearch::simt::cuda
