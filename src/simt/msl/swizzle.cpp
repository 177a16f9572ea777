#include "simt/msl/swizzle.h"

#include <fmt/format.h>

#include <string_view>

namespace ksearch::simt::msl {
namespace {

/// One property: `letters` name `length` of the `size` components, by the digits of `code`.
std::string property(std::string_view letters, int size, int length, int code) {
  std::string name, values, puts;
  unsigned seen = 0;
  bool distinct = true;
  for (int i = 0; i < length; ++i, code /= size) {
    const int component = code % size;
    distinct = distinct && !(seen >> component & 1u);
    seen |= 1u << component;
    name += letters[static_cast<std::size_t>(component)];
    values += fmt::format("{}e[{}]", i ? ", " : "", component);
    puts += fmt::format("e[{}] = v.e[{}]; ", component, i);
  }
  std::string text = fmt::format(
      "METAL_FUNC constexpr vec<T, {0}> ks_get_{1}() const {{ return vec<T, {0}>({2}); }} ", length,
      name, values);
  // A component named twice can be read only.
  if (distinct)
    text += fmt::format("METAL_FUNC constexpr void ks_set_{1}(const vec<T, {0}>& v) {{ {2}}} ",
                        length, name, puts);
  text += fmt::format("__declspec(property(get = ks_get_{1}{2})) vec<T, {0}> {1};", length, name,
                      distinct ? ", put = ks_set_" + name : "");
  return text;
}

}  // namespace

std::string swizzle_header() {
  std::string all = "#pragma once\n";
  for (int size = 2; size <= 4; ++size) {
    all += fmt::format("#define KS_SWIZZLES_{}", size);
    for (const std::string_view letters : {"xyzw", "rgba"}) {
      int codes = size;
      for (int length = 2; length <= 4; ++length) {
        codes *= size;
        for (int code = 0; code < codes; ++code)
          all += " \\\n  " + property(letters, size, length, code);
      }
    }
    all += "\n";
  }
  return all;
}

}  // namespace ksearch::simt::msl
