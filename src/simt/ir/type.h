// Types of LLVM's intermediate language, by their text.
#pragma once

#include <string_view>

namespace ksearch::simt::ir {

class Module;

struct Type {
  enum class Kind { none, integer, half, bfloat, float32, float64, pointer, aggregate };
  Kind kind = Kind::none;
  int bits = 0;   ///< of one element; of all of it for an aggregate
  int count = 1;  ///< elements of a vector
  bool is_float() const { return kind >= Kind::half && kind <= Kind::float64; }
  int bytes() const { return (bits * count + 7) / 8; }
};

/// `none` where the text is no type.
Type parse_type(std::string_view text);

/// Of a type in memory, where names stand for structures; 0 where it is unknown.
int bytes_of(const Module& module, std::string_view type, int depth = 0);

/// "float", "half", "bfloat", "double"; "bool", "short" (up to 16 bits), "int", "long".
std::string_view name(const Type& type);

}  // namespace ksearch::simt::ir
