// Numbers of things in words.
#pragma once

#include <string>
#include <string_view>

namespace ksearch::base {

/// "1 call", "2 calls", "0 calls".
template <class Number>
std::string counted(Number count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace ksearch::base
