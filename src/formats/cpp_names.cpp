#include "formats/cpp_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/names.h"

namespace ksearch::formats {
namespace {

/// By custom a macro's: EOF, NAN, M_PIl, SYS_read.
bool looks_like_macro(std::string_view name) {
  const std::string_view head = name.substr(0, name.find('_'));
  const bool capitals = std::ranges::all_of(
      head, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
  return capitals && !head.empty() && (head.size() > 2 || head.size() < name.size());
}

/// Macros of the system's headers that do not look like one, some of them only with GNU extensions.
bool is_macro(std::string_view name) {
  static const std::set<std::string_view> kMacros = {"alloca", "assert",  "errno",  "linux",
                                                     "major",  "makedev", "minor",  "offsetof",
                                                     "stderr", "stdin",   "stdout", "unix"};
  return kMacros.contains(name) || looks_like_macro(name);
}

/// Of C (C23, 7.1.2) and of what C++ compilers include by themselves.
bool is_system_header(std::string_view name) {
  static const std::set<std::string_view> kHeaders = {
      "assert", "complex",   "ctype",       "endian",    "errno",     "features", "fenv",
      "float",  "inttypes",  "iso646",      "limits",    "locale",    "malloc",   "math",
      "memory", "pthread",   "sched",       "semaphore", "setjmp",    "signal",   "stdalign",
      "stdarg", "stdatomic", "stdbit",      "stdbool",   "stdckdint", "stddef",   "stdint",
      "stdio",  "stdlib",    "stdnoreturn", "string",    "strings",   "tgmath",   "threads",
      "time",   "uchar",     "unistd",      "wchar",     "wctype"};
  return kHeaders.contains(name);
}

}  // namespace

std::string cpp_local(std::string_view name, const std::set<std::string_view>& taken) {
  if (name.starts_with('_')) return fmt::format("n{}", name);  // the system's
  const bool change = taken.contains(name) || kernel::is_reserved_word(name) || is_macro(name);
  return std::string(name) + (change ? "_" : "");
}

std::string_view cpp_refuses(std::string_view function, const std::set<std::string_view>& own) {
  if (kernel::is_reserved_word(function)) return "is a word of C++";
  if (own.contains(function)) return "is a name of the file's own";
  if (is_macro(function)) return "is, or may be, a macro of the system's headers";
  if (is_system_header(function)) return "is a header of the system's, which the file would hide";
  return function.starts_with('_') ? "names with _ in front are the system's in C++" : "";
}

}  // namespace ksearch::formats
