// std::visit with a lambda for each alternative.
#pragma once

#include <variant>

namespace ksearch::base {

/// `std::visit(Match{[](A) {...}, [](B) {...}}, variant)`.
template <class... F>
struct Match : F... {
  using F::operator()...;
};

}  // namespace ksearch::base
