#include <fmt/format.h>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

bool begins_statement(const Source& source, std::size_t i) {
  while (i > 0 && (source.tokens[i - 1].kind == Token::Kind::directive ||
                   source.tokens[i - 1].kind == Token::Kind::attribute))
    --i;
  if (i == 0) return true;
  const Token& before = source.tokens[i - 1];
  return before.is(";") || before.is("{") || before.is("}") || before.is(":");
}

/// The first declarator of a declaration that begins with `threadgroup` at `at`: the index of its
/// name, or 0 where it declares a pointer or a reference.
std::size_t first_name(const Source& source, std::size_t at) {
  std::size_t last = 0;
  for (std::size_t i = at + 1; i < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.is("*") || token.is("&") || token.is("(") || token.kind == Token::Kind::end) return 0;
    if (token.is("<")) {
      const std::size_t after = source.after_angle(i);
      if (after == i) return 0;
      i = after - 1;
      continue;
    }
    if (token.is(";") || token.is("=") || token.is("[") || token.is(",")) return last;
    if (token.is_identifier()) last = i;
  }
  return 0;
}

}  // namespace

base::Result<void> place_group_storage(Source& source, const Scopes& scopes) {
  for (std::size_t at = 0; at + 1 < source.tokens.size(); ++at) {
    Token& keyword = source.tokens[at];
    if (!keyword.is("threadgroup") || !begins_statement(source, at)) continue;
    const std::size_t name = first_name(source, at);
    if (name == 0) continue;
    if (scopes.function_of[at] < 0)
      return base::usage_error(keyword.place(), "threadgroup memory is declared inside a kernel");
    std::string type;
    for (std::size_t i = at + 1; i < name; ++i)
      if (source.tokens[i].kind != Token::Kind::directive && !source.tokens[i].is("const") &&
          !source.tokens[i].is("static"))
        type += source.tokens[i].spelling + " ";
    std::string declarations;
    std::size_t i = name;
    for (;;) {
      const std::string variable = source.tokens[i].spelling;
      std::string dimensions;
      ++i;
      while (source.tokens[i].is("[")) {
        const std::size_t after = source.after_closing(i);
        dimensions += "[" + source.text(i + 1, after - 1) + "]";
        i = after;
      }
      // Apple's compiler takes an initialiser and makes nothing of it: the memory is not written.
      if (source.tokens[i].is("="))
        while (!source.tokens[i].is(",") && !source.tokens[i].is(";")) {
          if (source.tokens[i].kind == Token::Kind::end)
            return base::usage_error(keyword.place(), "this declaration has no end");
          const bool opens =
              source.tokens[i].is("{") || source.tokens[i].is("(") || source.tokens[i].is("[");
          i = opens ? source.after_closing(i) : i + 1;
        }
      if (!source.tokens[i].is(",") && !source.tokens[i].is(";"))
        return base::usage_error(source.tokens[i].place(),
                                 "threadgroup variable " + variable + " is not understood");
      declarations += fmt::format(
          "typedef {0}{1}__ks{2}; auto& {1} = *ks::group_array<{1}__ks>([] {{}}, \"{1}\"); ", type,
          variable, dimensions);
      if (source.tokens[i].is(";")) break;
      ++i;
    }
    source.erase(at, i);
    keyword.written = declarations;
    source.tokens[i].written = "";
  }
  return {};
}

}  // namespace ksearch::simt::msl
