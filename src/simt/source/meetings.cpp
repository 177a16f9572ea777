#include "simt/source/meetings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ksearch::simt::source {
namespace {

bool is_keyword(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {"if",     "for",   "while", "switch",
                                                            "return", "catch", "sizeof"};
  return kNames.contains(name);
}

/// The `(` of a call of the name at `i`, or 0.
std::size_t call_at(const Source& source, std::size_t i) {
  const std::vector<Token>& tokens = source.tokens;
  if (!tokens[i].is_identifier() || is_keyword(tokens[i].spelling) || i + 1 >= tokens.size())
    return 0;
  std::size_t open = i + 1;
  if (tokens[open].is("<")) open = source.after_angle(open);
  return tokens[open].is("(") ? open : 0;
}

/// The `<` that the `>` at `i` closes, or `i`.
std::size_t angle_open(const Source& source, std::size_t i) {
  int depth = 0;
  for (std::size_t k = i; k > 0; --k) {
    const Token& token = source.tokens[k];
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return k;
    if (token.is(";") || token.is("{") || token.is("}")) return i;
  }
  return i;
}

/// Where the qualified name that ends at `i` begins: metal::simd_sum, Tile<T, 4>::load.
std::size_t qualified_start(const Source& source, std::size_t i) {
  while (i >= 2 && source.tokens[i - 1].is("::")) {
    std::size_t before = i - 2;
    if (source.tokens[before].is(">")) {
      const std::size_t open = angle_open(source, before);
      if (open == before || open == 0) break;
      before = open - 1;
    }
    if (!source.tokens[before].is_identifier() || is_keyword(source.tokens[before].spelling)) break;
    i = before;
  }
  if (i >= 1 && source.tokens[i - 1].is("::")) --i;
  return i;
}

/// The bracket that the one at `close` closes, or `close`.
std::size_t bracket_open(const Source& source, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close;; --i) {
    const Token& token = source.tokens[i];
    if (token.is(")") || token.is("]")) ++depth;
    if ((token.is("(") || token.is("[")) && --depth == 0) return i;
    if (i == 0 || token.is(";") || token.is("{") || token.is("}")) return close;
  }
}

/// Where the expression begins whose member is called: tile.sync(), tiles[i]->at(0).load(). `i`,
/// the name, where it cannot be told.
std::size_t object_start(const Source& source, std::size_t i) {
  const std::size_t name = i;
  while (i >= 2 && (source.tokens[i - 1].is(".") || source.tokens[i - 1].is("->"))) {
    std::size_t at = i - 2;
    while (source.tokens[at].is(")") || source.tokens[at].is("]")) {
      const std::size_t open = bracket_open(source, at);
      if (open == at || open == 0) return name;
      const Token& before = source.tokens[open - 1];
      const bool continues = before.is(")") || before.is("]") || before.is_identifier();
      if (!continues || is_keyword(before.spelling)) return open;
      at = open - 1;
    }
    if (!source.tokens[at].is_identifier() || is_keyword(source.tokens[at].spelling)) return name;
    i = qualified_start(source, at);
  }
  return i;
}

struct Call {
  std::size_t from, name, close;
};

std::vector<Call> find_calls(const Source& source, const Scopes& scopes, Meets meets_itself,
                             const std::set<std::string>& meeting) {
  std::vector<Call> calls;
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    if (scopes.function_of[i] < 0 || !source.tokens[i].is_identifier()) continue;
    const std::string& name = source.tokens[i].spelling;
    if (!meets_itself(name) && !meeting.contains(name)) continue;
    const std::size_t open = call_at(source, i);
    if (open == 0) continue;
    const std::size_t from = object_start(source, qualified_start(source, i));
    if (from > 0 && (source.tokens[from - 1].is(".") || source.tokens[from - 1].is("->"))) continue;
    // `T load(...)` declares.
    if (from > 0 && source.tokens[from - 1].is_identifier() &&
        !source.tokens[from - 1].is("return") && !source.tokens[from - 1].is("else") &&
        !source.tokens[from - 1].is("do"))
      continue;
    calls.push_back({from, i, source.after_closing(open) - 1});
  }
  return calls;
}

/// Functions that call, directly or not, something that waits.
std::set<std::string> meeting_functions(const Source& source, const Scopes& scopes,
                                        Meets meets_itself) {
  std::set<std::string> meeting;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Function& function : scopes.functions) {
      if (meeting.contains(function.name)) continue;
      for (std::size_t i = function.open; i < function.close; ++i) {
        const std::string& name = source.tokens[i].spelling;
        if (source.tokens[i].is_identifier() && (meets_itself(name) || meeting.contains(name)) &&
            call_at(source, i) != 0) {
          grown = meeting.insert(function.name).second;
          break;
        }
      }
    }
  }
  return meeting;
}

}  // namespace

int number_meetings(Source& source, const Scopes& scopes, Meets meets_itself) {
  const std::set<std::string> meeting = meeting_functions(source, scopes, meets_itself);
  const std::vector<Call> calls = find_calls(source, scopes, meets_itself, meeting);
  int number = 0;
  for (const Call& call : calls) {
    Token& first = source.tokens[call.from];
    Token& last = source.tokens[call.close];
    first.written =
        fmt::format("ks::at({}u, [&]() -> decltype(auto) {{ return {}", ++number, first.written);
    last.written += "; })";
  }
  // A call through an object has no number of its own but still waits.
  return number + static_cast<int>(meeting.size());
}

}  // namespace ksearch::simt::source
