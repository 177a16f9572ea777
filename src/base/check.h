// Checks of our own assumptions, on in release: a failure is our bug and aborts with its place.
#pragma once

#include <string_view>

namespace ksearch::base {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view why);
}  // namespace ksearch::base

#define KS_CHECK(condition, why)                                                          \
  do {                                                                                    \
    if (!(condition)) ::ksearch::base::check_failed(__FILE__, __LINE__, #condition, why); \
  } while (0)
