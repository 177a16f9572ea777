// Expected values as formulas: "i % 40 < 32 ? 528 : 36", "sum(k, 0, 8, x[8 * i + k])". Computed in
// long double, which holds every 64-bit integer exactly.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ksearch::tests {

/// Start contents of buffers by name.
using Arrays = std::map<std::string, std::vector<long double>, std::less<>>;

/// C's operators on numbers (`/` divides exactly, `%`, `&`, `|`, `^`, `<<`, `>>` are for whole
/// numbers), `NAME[...]` for an array's element, the functions of formula.cpp, and
/// sum, prod, least, most(VARIABLE, FROM, TO, TERM) over FROM <= VARIABLE < TO.
class Formula {
 public:
  struct Node;
  /// Throws std::runtime_error with the text where it cannot be read: a test's mistake.
  explicit Formula(std::string_view text);
  /// `i` is the element's index.
  long double at(long double i, const Arrays& arrays) const;

 private:
  std::shared_ptr<const Node> root_;
  std::string text_;
};

}  // namespace ksearch::tests
