#include "simt/source/scope.h"

#include <algorithm>
#include <array>

namespace ksearch::simt::source {
namespace {

struct Head {
  enum class Kind { name_space, function, other };
  Kind kind = Kind::other;
  std::size_t name_at = 0;
};

/// What a `{` opens, from the tokens of its declaration [from, brace).
Head classify(const Source& source, std::size_t from, std::size_t brace) {
  static constexpr std::array<std::string_view, 6> kNotNames = {
      "decltype", "alignas", "__attribute__", "noexcept", "requires", "sizeof"};
  for (std::size_t i = from; i < brace; ++i) {
    const Token& token = source.tokens[i];
    if (token.is("template") && i + 1 < brace && source.tokens[i + 1].is("<")) {
      const std::size_t after = source.after_angle(i + 1);
      if (after > i + 1) i = after - 1;
      continue;
    }
    if (token.is("namespace")) return {Head::Kind::name_space, i + 1 < brace ? i + 1 : i};
    // extern "C" { opens a scope; extern "C" void f() { does not.
    if (token.is("extern") && i + 2 == brace) return {Head::Kind::name_space, i};
    if (token.is("class") || token.is("struct") || token.is("union") || token.is("enum") ||
        token.is("=")) {
      // `struct Pair make() {` is a function all the same, but nobody writes that in kernels.
      return {};
    }
    if (!token.is("(") || i == from) continue;
    const Token& name = source.tokens[i - 1];
    if (name.is_identifier() &&
        std::find(kNotNames.begin(), kNotNames.end(), name.spelling) == kNotNames.end())
      return {Head::Kind::function, i - 1};
    if (i >= from + 2 && source.tokens[i - 2].is("operator")) return {Head::Kind::function, i - 1};
    if (name.is("operator")) return {Head::Kind::function, i - 1};
    const std::size_t after = source.after_closing(i);
    if (after > brace) return {};
    i = after - 1;
  }
  return {};
}

}  // namespace

Scopes find_scopes(const Source& source) {
  struct Open {
    bool name_space = false;
    int function = -1;
    std::size_t length = 0;  // of the namespaces' text before it
  };
  Scopes scopes;
  scopes.function_of.assign(source.tokens.size(), -1);
  scopes.space_of.resize(source.tokens.size());
  std::vector<Open> open;
  std::string space;
  std::size_t head = 0;  // first token of the declaration that is being read
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    const int inside = open.empty() ? -1 : open.back().function;
    scopes.function_of[i] = inside;
    scopes.space_of[i] = space;
    if (token.kind == Token::Kind::directive) {
      if (head == i) head = i + 1;
      continue;
    }
    if (token.is("{")) {
      Open scope{false, inside, space.size()};
      if (inside < 0) {
        const Head what = classify(source, head, i);
        if (what.kind == Head::Kind::function) {
          scope.function = static_cast<int>(scopes.functions.size());
          scopes.functions.push_back({source.tokens[what.name_at].spelling, space, head,
                                      what.name_at, i, source.after_closing(i) - 1});
        } else if (what.kind == Head::Kind::name_space) {
          scope.name_space = true;
          const Token& name = source.tokens[what.name_at];
          if (name.is_identifier() && !name.is("extern"))
            space += source.text(what.name_at, i) + "::";
        }
      }
      open.push_back(scope);
      head = i + 1;
    } else if (token.is("}")) {
      if (!open.empty()) {
        space.resize(open.back().length);
        open.pop_back();
      }
      head = i + 1;
    } else if (token.is(";")) {
      head = i + 1;
    }
  }
  return scopes;
}

}  // namespace ksearch::simt::source
