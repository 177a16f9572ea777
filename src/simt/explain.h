// What each kind of finding means on a GPU, and how it is usually repaired.
#pragma once

#include <string_view>

namespace ksearch::simt {

struct Explanation {
  std::string_view why;  ///< one sentence
  std::string_view fix;  ///< one sentence
};
Explanation explain(std::string_view kind);

}  // namespace ksearch::simt
