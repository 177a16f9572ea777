#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ksearch::base {

void check_failed(const char* file, int line, const char* condition, std::string_view why) {
  std::fprintf(stderr, "ksearch: internal error at %s:%d: %s (%.*s)\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::abort();
}

}  // namespace ksearch::base
