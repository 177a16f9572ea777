// The declarations of a namespace or of a class, one by one, with the names they declare.
#pragma once

#include <string>
#include <vector>

#include "simt/source/token.h"

namespace ksearch::simt::cuda {

struct Declaration {
  enum class Kind {
    other,
    space,  ///< a namespace or extern "C" {}: its inside is [inside, inside_end)
    using_space,
    using_name,
    variable,
    function,
    record,  ///< class, struct, union with its members
    instantiation,
    assertion
  };
  Kind kind = Kind::other;
  std::size_t from = 0, to = 0;
  std::vector<std::string> names;  ///< empty: an operator
  bool device = false;             ///< __device__, __global__, __constant__, ...
  bool kernel = false;
  bool constant_expression = false;  ///< constexpr, consteval
  bool defaulted = false;            ///< = default, = delete, = 0
  std::size_t inside = 0, inside_end = 0;
  std::size_t parameters = 0;  ///< a function's `(`
};

std::vector<Declaration> declarations(const source::Source& source, std::size_t from,
                                      std::size_t to);

}  // namespace ksearch::simt::cuda
