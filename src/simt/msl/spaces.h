// Address spaces as Apple's compiler sees them, from the text alone: pointers and references that
// name none, and pointers of one space where another is meant. Plain C++ accepts both.
#pragma once

#include <string>
#include <vector>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {

/// "kernel.metal:12: ..." each, of lines of `file`; of all files where it is empty. What cannot be
/// told from the text (types of templates, members, results of calls) is left alone.
std::vector<std::string> check_spaces(const Source& source, const Scopes& scopes,
                                      const std::string& file);

}  // namespace ksearch::simt::msl
