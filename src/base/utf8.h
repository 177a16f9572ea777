// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace ksearch::base {

/// How many bytes of `text`, from its start, are well-formed UTF-8 (no overlong forms, no
/// surrogates).
inline std::size_t utf8_prefix(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned first = byte(at), second = byte(at + 1);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length == 0) return at;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return at;
    // The second byte says what was too long, a surrogate, or beyond the last character.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return at;
    at += length;
  }
  return at;
}

}  // namespace ksearch::base
