#include "simt/source/meetings.h"

#include <fmt/format.h>

#include <algorithm>

#include "simt/source/waiting_names.h"

namespace ksearch::simt::source {
namespace {

/// An expression that waits: its first token and its last; `at` is what gives it its number's
/// order.
struct Place {
  std::size_t at = 0, from = 0, last = 0;
};

/// The index of the bracket that the one at `i` closes, or `i`.
std::size_t opening(const Source& source, std::size_t i) {
  int depth = 0;
  for (std::size_t k = i + 1; k-- > 0;) {
    const Token& token = source.tokens[k];
    if (token.is(")") || token.is("]") || token.is("}")) ++depth;
    if ((token.is("(") || token.is("[") || token.is("{")) && --depth == 0) return k;
  }
  return i;
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

/// Where the operand that ends at `i` begins: a name, an element, a call, something in parentheses.
std::size_t operand_start(const Source& source, std::size_t i) {
  const std::vector<Token>& tokens = source.tokens;
  while (i > 0 && (tokens[i].is("]") || tokens[i].is(")"))) {
    const std::size_t open = opening(source, i);
    if (open == i || open == 0) return i;
    const Token& before = tokens[open - 1];
    if (before.is("]") || before.is(")")) {
      i = open - 1;
      continue;
    }
    if (before.is(">") && tokens[i].is(")")) {
      const std::size_t angle = angle_open(source, open - 1);
      if (angle < open - 1 && angle > 0) i = angle - 1;
      break;
    }
    // (*p).load(): nothing is called by the parentheses.
    if (!before.is_identifier() || is_keyword(before.spelling)) return open;
    i = open - 1;
  }
  return tokens[i].is_identifier() ? qualified_start(source, i) : i;
}

/// Where the object's expression of a method's call begins: a.b[i]->load, get().load; `i` is the
/// method's name, or `template` before it.
std::size_t object_start(const Source& source, std::size_t i) {
  while (i >= 2 && (source.tokens[i - 1].is(".") || source.tokens[i - 1].is("->")))
    i = operand_start(source, i - 2);
  return i;
}

void add_calls(const Source& source, const Scopes& scopes, Meets meets_itself,
               const std::set<std::string>& waiting, std::vector<Place>& places) {
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    if (scopes.function_of[i] < 0 || !source.tokens[i].is_identifier()) continue;
    const std::string& name = source.tokens[i].spelling;
    if (!meets_itself(name) && !waiting.contains(name)) continue;
    const std::size_t open = call_at(source, i);
    if (open == 0) continue;
    std::size_t from = qualified_start(source, i);
    if (from > 0 && source.tokens[from - 1].is("template"))
      from = qualified_start(source, from - 1);
    const std::size_t object = object_start(source, from);
    // `T load(...)` declares.
    if (object == from && from > 0 && source.tokens[from - 1].is_identifier() &&
        !source.tokens[from - 1].is("return") && !source.tokens[from - 1].is("else") &&
        !source.tokens[from - 1].is("do"))
      continue;
    places.push_back({i, object, source.after_closing(open) - 1});
  }
}

bool is_matrix_type(const Token& token) {
  return token.is("simdgroup_matrix") ||
         (token.spelling.starts_with("simdgroup_") && token.spelling.ends_with("8x8"));
}

/// The last token of the matrix that begins at `i` (a variable, an element, a constructor's call),
/// or 0.
std::size_t matrix_end(const Source& source, std::size_t i, const std::set<std::string>& matrices) {
  const std::vector<Token>& tokens = source.tokens;
  if (matrices.contains(tokens[i].spelling)) {
    while (i + 1 < tokens.size() && tokens[i + 1].is("[")) i = source.after_closing(i + 1) - 1;
    return i;
  }
  if (!is_matrix_type(tokens[i])) return 0;
  std::size_t open = i + 1;
  if (tokens[open].is("<")) open = source.after_angle(open);
  return tokens[open].is("(") || tokens[open].is("{") ? source.after_closing(open) - 1 : 0;
}

/// a * b of matrices: one place for all the factors.
void add_products(const Source& source, const Scopes& scopes, std::vector<Place>& places) {
  std::set<std::string> types, matrices;
  for (const Token& token : source.tokens)
    if (is_matrix_type(token)) types.insert(token.spelling);
  for (const std::string& type : types) add_variables(source, type, matrices);
  if (matrices.empty()) return;
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    if (scopes.function_of[i] < 0) continue;
    const std::size_t left = matrix_end(source, i, matrices);
    if (left == 0) continue;
    std::size_t last = left;
    while (last + 2 < source.tokens.size() && source.tokens[last + 1].is("*")) {
      const std::size_t right = matrix_end(source, last + 2, matrices);
      if (right == 0) break;
      last = right;
    }
    if (last > left) {
      places.push_back({i, i, last});
      i = last;
    }
  }
}

}  // namespace

int number_meetings(Source& source, const Scopes& scopes, Meets meets_itself) {
  const std::set<std::string> waiting = waiting_names(source, scopes, meets_itself);
  std::vector<Place> places;
  add_calls(source, scopes, meets_itself, waiting, places);
  add_products(source, scopes, places);
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.at < b.at; });
  int number = 0;
  for (const Place& place : places) {
    Token& first = source.tokens[place.from];
    Token& last = source.tokens[place.last];
    first.written = fmt::format("ks::at({}u, [&]() KS_IN_LINE -> decltype(auto) {{ return {}",
                                ++number, first.written);
    last.written += "; })";
  }
  return number;
}

}  // namespace ksearch::simt::source
