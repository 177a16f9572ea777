// The command line as values. Only arguments*.cpp know the parser's library.
#pragma once

#include <variant>

#include "cli/options.h"

namespace ksearch::cli {

/// Either what was asked for, or the exit code: help was printed (0) or a mistake explained (2).
std::variant<Arguments, int> parse_arguments(int argc, const char* const* argv);

}  // namespace ksearch::cli
