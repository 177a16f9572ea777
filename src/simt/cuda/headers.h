// The headers a CUDA file includes: those of the toolkit and of C++ are empty, as their
// declarations come with ours; so is any other that is not given.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simt/case.h"

namespace ksearch::simt::cuda {

struct EmptyHeaders {
  std::vector<std::pair<std::string, std::string>> files;
  /// Of neither CUDA nor C++: what a kernel takes from them is missing.
  std::vector<std::string> unknown;
};
/// For each `#include <name>` of the case's files that none of its headers answers, and for the
/// toolkit's in quotes.
EmptyHeaders empty_headers(const Case& all);

}  // namespace ksearch::simt::cuda
