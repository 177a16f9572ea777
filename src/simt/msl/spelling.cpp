#include <fmt/format.h>

#include <algorithm>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

/// 1.5h, 2h, 0.5bf; a float without a suffix is a float in Metal.
void respell_number(Token& token) {
  std::string text = token.spelling;
  if (text.starts_with("0x") || text.starts_with("0X")) return;
  const auto cut = [&](std::string_view suffix) {
    if (text.size() <= suffix.size()) return false;
    const std::string_view end = std::string_view(text).substr(text.size() - suffix.size());
    if (!std::equal(end.begin(), end.end(), suffix.begin(),
                    [](char a, char b) { return std::tolower(a) == b; }))
      return false;
    text.resize(text.size() - suffix.size());
    return true;
  };
  const char* type = cut("bf") ? "bfloat" : cut("h") ? "half" : nullptr;
  const bool is_float = text.find_first_of(".eE") != std::string::npos;
  if (!type && is_float &&
      (std::isdigit(static_cast<unsigned char>(text.back())) || text.back() == '.'))
    token.written += "f";
  if (!type) return;
  token.written = fmt::format("{}({}{})", type, text, is_float ? "f" : ".0f");
}

/// Pragmas of Metal's compiler, and advice to unroll by a number that is a macro: the preprocessor
/// leaves those as they are.
bool is_dropped(std::string_view directive) {
  constexpr std::string_view kUnroll = "#pragma unroll";
  if (!directive.starts_with(kUnroll)) return directive.starts_with("#pragma METAL");
  directive.remove_prefix(kUnroll.size());
  return directive.find_first_not_of(" ()0123456789") != std::string_view::npos;
}

}  // namespace

bool qualifies_method(const Source& source, std::size_t i) {
  while (i-- > 0) {
    const Token& token = source.tokens[i];
    if (token.kind == Token::Kind::directive || token.kind == Token::Kind::attribute ||
        token.is("const") || token.is("volatile"))
      continue;
    return token.is(")");
  }
  return false;
}

void respell(Source& source) {
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    Token& token = source.tokens[i];
    if (token.kind == Token::Kind::number) respell_number(token);
    if (token.kind == Token::Kind::directive && is_dropped(token.spelling)) token.written = "";
    if (!token.is_identifier()) continue;
    const auto replace = [&](std::string_view by) {
      // A pass before may have written something around the word.
      const std::size_t at = token.written.rfind(token.spelling);
      if (at != std::string::npos) token.written.replace(at, token.spelling.size(), by);
    };
    if (token.is("static_cast")) replace("ks::cast");
    // coherent(system) device: a matter of caches.
    if (token.is("coherent") && source.tokens[i + 1].is("("))
      source.erase(i, source.after_closing(i + 1));
    if (token.is("device") || token.is("thread") || token.is("threadgroup")) {
      if (token.written == token.spelling) token.written = "";
    }
    if (token.is("constant")) {
      replace(qualifies_method(source, i) ? "" : "const");
    }
  }
}

}  // namespace ksearch::simt::msl
