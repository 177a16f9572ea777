// Which tokens stand inside a function's body, and of which function; which namespaces are open.
#pragma once

#include <string>
#include <vector>

#include "simt/source/token.h"

namespace ksearch::simt::source {

/// A function with a body.
struct Function {
  std::string name;
  std::string space;     ///< "metal::detail::", as it has to be named from outside
  std::size_t head = 0;  ///< first token of its declaration
  std::size_t name_at = 0;
  std::size_t open = 0, close = 0;  ///< its braces
};

struct Scopes {
  std::vector<Function> functions;
  std::vector<int> function_of;       ///< for each token: index in `functions`, or -1
  std::vector<std::string> space_of;  ///< for each token
};

Scopes find_scopes(const Source& source);

}  // namespace ksearch::simt::source
