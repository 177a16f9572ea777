// What may be a name of an axis, tensor, tunable or function.
#pragma once

#include <string_view>

namespace ksearch::kernel {

/// Letters, digits and _, not beginning with a digit, at most 64 characters.
inline bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

}  // namespace ksearch::kernel
