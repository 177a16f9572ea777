// Declarations in Metal's text as far as address spaces go: type, space, pointer, name.
#pragma once

#include <set>
#include <string>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {

/// `device const float* p`, up to its name (or to where it would stand).
struct Declarator {
  std::string type, space;
  bool pointer = false;  ///< or a reference
  std::size_t name = 0;  ///< index of the name, or of what stands in its place
  bool array = false;
};

/// Reads a declaration's type and pointers from `i` on.
Declarator read_declarator(const Source& source, std::size_t i, std::size_t end);
/// The comma or the end that closes the argument at `from`.
std::size_t argument_end(const Source& source, std::size_t from, std::size_t close);
/// Names that are surely types: Metal's and the structs of the text.
std::set<std::string> type_names(const Source& source);

}  // namespace ksearch::simt::msl
