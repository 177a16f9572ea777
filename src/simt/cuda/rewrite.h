// CUDA C++ to C++ for the headers in simt/device (which come precompiled): reads preprocessed
// CUDA, writes a file in which every line stands where it stood. One pass a file:
//
//   declarations   what no wanted kernel names goes: host code, other kernels
//   assembly       asm statements become calls
//   shared         __shared__ T a[n];  ->  one array a block
//   symbols        __device__ and __constant__ variables live where the engine sees them
//   aligned        whole vectors are read and written where they may be
//   thread_limits  __launch_bounds__ is looked at when a thread starts
//   kernels        the table of wanted kernels
//   meetings       calls that wait for other lanes get their numbers
//
// What CUDA has and this has not is an error that names the line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/source/scope.h"

namespace ksearch::simt::cuda {

using source::Function;
using source::Scopes;
using source::Source;
using source::Token;

struct Rewritten {
  std::string source;
  std::vector<std::string> warnings;
};

/// `wanted`: kernels, as "softmax", "softmax<float, 256>", "ns::softmax<float>".
base::Result<Rewritten> rewrite(std::string_view preprocessed, const std::set<std::string>& wanted);

// The passes, in order.
base::Result<void> keep_reachable(Source& source, const std::set<std::string>& wanted,
                                  std::vector<std::string>& warnings);
base::Result<void> replace_assembly(Source& source);
base::Result<void> place_shared(Source& source, const Scopes& scopes);
/// Returns the table of variables as source text.
base::Result<std::string> place_symbols(Source& source, const Scopes& scopes);
void check_thread_limits(Source& source, const Scopes& scopes);
void check_vectors(Source& source, const Scopes& scopes);
/// Returns the table of kernels as source text.
base::Result<std::string> list_kernels(const Source& source, const Scopes& scopes,
                                       const std::set<std::string>& wanted);
/// Whether a function of CUDA's library waits for other lanes.
bool waits_for_lanes(const std::string& name);
/// Takes out what says where code runs.
base::Result<void> erase_marks(Source& source);

/// "softmax" of "ns::softmax<float, 256>".
std::string plain_name(const std::string& kernel);

}  // namespace ksearch::simt::cuda
