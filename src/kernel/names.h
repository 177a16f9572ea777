// What may be a name of an axis, tensor, tunable or function.
#pragma once

#include <algorithm>
#include <string_view>

namespace ksearch::kernel {

/// Letters, digits and _, not beginning with a digit, at most 64 characters.
inline bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

/// Words that C++ (to C++23) or C keeps for itself: no function of an export can be called so.
inline bool is_reserved_word(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "alignas",     "alignof",      "and",       "and_eq",
      "asm",         "auto",         "bitand",    "bitor",
      "bool",        "break",        "case",      "catch",
      "char",        "char16_t",     "char32_t",  "char8_t",
      "class",       "co_await",     "co_return", "co_yield",
      "compl",       "concept",      "const",     "const_cast",
      "consteval",   "constexpr",    "constinit", "continue",
      "decltype",    "default",      "delete",    "do",
      "double",      "dynamic_cast", "else",      "enum",
      "explicit",    "export",       "extern",    "false",
      "float",       "for",          "friend",    "goto",
      "if",          "inline",       "int",       "long",
      "main",        "mutable",      "namespace", "new",
      "noexcept",    "not",          "not_eq",    "nullptr",
      "operator",    "or",           "or_eq",     "private",
      "protected",   "public",       "register",  "reinterpret_cast",
      "requires",    "restrict",     "return",    "short",
      "signed",      "sizeof",       "static",    "static_assert",
      "static_cast", "struct",       "switch",    "template",
      "this",        "thread_local", "throw",     "true",
      "try",         "typedef",      "typeid",    "typename",
      "union",       "unsigned",     "using",     "virtual",
      "void",        "volatile",     "wchar_t",   "while",
      "xor",         "xor_eq"};
  return std::ranges::find(kWords, name) != std::ranges::end(kWords);
}

}  // namespace ksearch::kernel
