// The same program in other clothes: code up to comments, spacing and the names it made up.
#pragma once

#include <string>
#include <string_view>

#include "kernel/program.h"

namespace ksearch::search {

/// C-like source without comments, runs of white space as one space, none beside punctuation.
/// Strings, raw strings and character literals stay as they are; a preprocessor line keeps its end.
std::string normal_code(std::string_view source);

/// A hash that two programs share if their plans are equal and their sources are, up to normal_code
/// and with_common_names.
std::string normal_hash(const kernel::Program& program);

}  // namespace ksearch::search
