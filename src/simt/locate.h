// From places in an object to lines of the source, by binutils' addr2line in the sandbox: debug
// information made from foreign code is foreign too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/sandbox.h"

namespace ksearch::simt {

struct SourceLine {
  std::string file;
  int line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// The line of the user's for each place: where an inlined function of ours was called. What has
/// none is left out.
base::Result<std::map<std::uint64_t, SourceLine>> locate(const os::Sandbox& sandbox,
                                                         const std::filesystem::path& object,
                                                         const std::vector<std::uint64_t>& places);

/// What addr2line -a -i printed, by address: innermost first.
std::map<std::uint64_t, SourceLine> parse_addr2line(std::string_view output);

}  // namespace ksearch::simt
