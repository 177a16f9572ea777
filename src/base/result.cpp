#include "base/result.h"

namespace ksearch::base {

std::string Error::text() const {
  std::string s = where;
  if (!s.empty() && !what.empty()) s += ": ";
  s += what;
  if (!todo.empty()) s += " (" + todo + ")";
  return s;
}

}  // namespace ksearch::base
