// What each kind of finding means on a GPU, and how it is usually repaired.
#pragma once

#include <string>
#include <string_view>

#include "simt/case.h"

namespace ksearch::simt {

struct Explanation {
  std::string_view why;  ///< one sentence
  std::string_view fix;  ///< one sentence
};
Explanation explain(std::string_view kind, Dialect dialect);

/// A sentence of the engine, which speaks Metal, in the dialect's terms: a warp, shared memory.
std::string in_words_of(Dialect dialect, std::string text);

}  // namespace ksearch::simt
