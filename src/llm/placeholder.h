// Whether a file is the whole file: "// ... rest unchanged ..." stands for code that is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksearch::llm {

struct Placeholder {
  std::size_t line = 0;  ///< from 1
  std::string text;      ///< the line, trimmed
};

/// The first comment (or bare line of dots) that stands for code left out. Variadic dots and
/// comments that merely trail off are none.
std::optional<Placeholder> find_placeholder(std::string_view source);

}  // namespace ksearch::llm
