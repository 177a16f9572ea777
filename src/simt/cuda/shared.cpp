#include <fmt/format.h>

#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

/// The first token of the statement that holds `at`.
std::size_t statement_start(const Source& source, std::size_t at) {
  while (at > 0) {
    const Token& before = source.tokens[at - 1];
    if (before.is(";") || before.is("{") || before.is("}") || before.is(":") ||
        before.kind == Token::Kind::directive)
      return at;
    // if (x) __shared__ ...: nothing there belongs to the declaration.
    if (before.is(")")) {
      std::size_t open = at - 1;
      for (int depth = 0; open > 0; --open) {
        if (source.tokens[open].is(")")) ++depth;
        if (source.tokens[open].is("(") && --depth == 0) break;
      }
      if (open == 0 ||
          !(source.tokens[open - 1].is("__attribute__") || source.tokens[open - 1].is("alignas")))
        return at;
      at = open - 1;
      continue;
    }
    --at;
  }
  return at;
}

/// A declaration with __shared__ in it.
struct SharedDeclaration {
  bool dynamic = false;
  std::string type;
  std::size_t name = 0;  ///< of the first declarator
};

SharedDeclaration read_type(const Source& source, std::size_t from) {
  SharedDeclaration result;
  for (std::size_t i = from; i < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.kind == Token::Kind::directive) continue;
    if (token.kind == Token::Kind::end || token.is(";")) return result;
    if (token.is("extern")) result.dynamic = true;
    if (token.is("extern") || token.is("static") || token.is("__shared__") || token.is("inline"))
      continue;
    if (token.is("alignas") || token.is("__attribute__")) {
      i = source.after_closing(i + 1) - 1;
      continue;
    }
    const Token& next = source.tokens[i + 1];
    if (token.is_identifier() && !result.type.empty() &&
        (next.is("[") || next.is(";") || next.is(",") || next.is("="))) {
      result.name = i;
      return result;
    }
    std::size_t after = i + 1;
    if (token.is("{") || token.is("(")) after = source.after_closing(i);
    if (token.is("<")) after = std::max(after, source.after_angle(i));
    for (; i < after; ++i)
      if (source.tokens[i].kind != Token::Kind::directive)
        result.type += source.tokens[i].spelling + " ";
    --i;
  }
  return result;
}

}  // namespace

base::Result<void> place_shared(Source& source, const Scopes& scopes) {
  for (std::size_t at = 0; at + 1 < source.tokens.size(); ++at) {
    if (!source.tokens[at].is("__shared__")) continue;
    const std::string place = source.tokens[at].place();
    const std::size_t from = statement_start(source, at);
    const SharedDeclaration declared = read_type(source, from);
    if (declared.name == 0)
      return base::usage_error(place, "this __shared__ variable is not understood");
    const bool outside = scopes.function_of[at] < 0;
    if (outside && !declared.dynamic)
      return base::usage_error(place, "a __shared__ array outside a function is not supported",
                               "declare it in the kernel");
    std::string text;
    std::size_t i = declared.name;
    for (;;) {
      const std::string name = source.tokens[i].spelling;
      std::string dimensions;
      bool first = true;
      for (++i; source.tokens[i].is("[");) {
        const std::size_t after = source.after_closing(i);
        // The first one of `extern __shared__ T x[][8]` is the one of the pointer.
        if (!declared.dynamic || !first) dimensions += "[" + source.text(i + 1, after - 1) + "]";
        first = false;
        i = after;
      }
      if (source.tokens[i].is("="))
        while (!source.tokens[i].is(",") && !source.tokens[i].is(";")) {
          if (source.tokens[i].kind == Token::Kind::end)
            return base::usage_error(place, "this declaration has no end");
          i = source.tokens[i].is("{") || source.tokens[i].is("(") ? source.after_closing(i)
                                                                   : i + 1;
        }
      if (!source.tokens[i].is(",") && !source.tokens[i].is(";"))
        return base::usage_error(place, "__shared__ variable " + name + " is not understood");
      text += fmt::format("typedef {}{}__ks{}; ", declared.type, name, dimensions);
      if (outside)
        text += fmt::format("static const ks::DynamicShared<{0}__ks> {0}{{}}; ", name);
      else if (declared.dynamic)
        text +=
            fmt::format("{0}__ks* const {0} = static_cast<{0}__ks*>(ks::dynamic_shared()); ", name);
      else
        text += fmt::format("auto& {0} = *ks::group_array<{0}__ks>([] {{}}, \"{0}\"); ", name);
      if (source.tokens[i].is(";")) break;
      ++i;
    }
    source.erase(from, i);
    source.tokens[from].written = text;
    source.tokens[i].written = "";
    at = i;
  }
  return {};
}

}  // namespace ksearch::simt::cuda
