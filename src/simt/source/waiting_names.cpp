#include "simt/source/waiting_names.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ksearch::simt::source {
namespace {

/// Code that waits where something in it does, and the names that it makes wait.
struct Waiter {
  std::set<std::string> names;
  std::size_t open = 0, close = 0;
  bool is_object = false;  ///< of a class or a lambda: a template may be given it
  bool waits = false;
};

/// The class whose body holds the token at `i`, or "".
std::string class_around(const Source& source, std::size_t i) {
  int depth = 0;
  while (i-- > 0) {
    const Token& token = source.tokens[i];
    if (token.is("}")) ++depth;
    if (!token.is("{") || --depth >= 0) continue;
    // struct Name : Base<int> {
    for (std::size_t k = i; k-- > 0;) {
      const Token& word = source.tokens[k];
      if (word.is(";") || word.is("}") || word.is("{")) return {};
      if (word.is("struct") || word.is("class")) return source.tokens[k + 1].spelling;
    }
    return {};
  }
  return {};
}

/// Whether the [ at `i` begins a lambda, not an element.
bool begins_lambda(const Source& source, std::size_t i) {
  if (!source.tokens[i].is("[") || i == 0) return false;
  const Token& before = source.tokens[i - 1];
  return before.is("=") || before.is("(") || before.is(",") || before.is("{") ||
         before.is("return");
}

/// [...](...) { ... }; with the name of `auto name = `.
void add_lambdas(const Source& source, std::vector<Waiter>& bodies) {
  for (std::size_t i = 1; i + 2 < source.tokens.size(); ++i) {
    if (!begins_lambda(source, i)) continue;
    std::size_t open = source.after_closing(i);
    while (open < source.tokens.size() && !source.tokens[open].is("{") &&
           !source.tokens[open].is(";") && !source.tokens[open].is(",") &&
           !source.tokens[open].is(")"))
      open = source.tokens[open].is("(") ? source.after_closing(open) : open + 1;
    if (open >= source.tokens.size() || !source.tokens[open].is("{")) continue;
    Waiter body{{}, open, source.after_closing(open) - 1, true};
    if (i >= 2 && source.tokens[i - 1].is("=") && source.tokens[i - 2].is_identifier())
      body.names.insert(source.tokens[i - 2].spelling);
    bodies.push_back(std::move(body));
  }
}

bool may_end_name(const Token& token) {
  static constexpr std::array<std::string_view, 7> kAfter = {",", ";", "{", "(", "=", ")", "["};
  return std::find(kAfter.begin(), kAfter.end(), token.spelling) != kAfter.end();
}

}  // namespace

bool is_keyword(std::string_view name) {
  static const std::set<std::string, std::less<>> kNames = {"if",     "for",   "while", "switch",
                                                            "return", "catch", "sizeof"};
  return kNames.contains(name);
}

std::size_t call_at(const Source& source, std::size_t i) {
  const std::vector<Token>& tokens = source.tokens;
  if (!tokens[i].is_identifier() || is_keyword(tokens[i].spelling) || i + 1 >= tokens.size())
    return 0;
  std::size_t open = i + 1;
  if (tokens[open].is("<")) open = source.after_angle(open);
  return tokens[open].is("(") ? open : 0;
}

void add_variables(const Source& source, std::string_view type, std::set<std::string>& names) {
  const std::vector<Token>& tokens = source.tokens;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is(type)) continue;
    std::size_t at = i + 1;
    if (tokens[at].is("<")) at = source.after_angle(at);
    while (at + 1 < tokens.size() && (tokens[at].is("&") || tokens[at].is("const"))) ++at;
    // The declarators: up to the end of the statement, or of the parameter.
    while (at + 1 < tokens.size() && tokens[at].is_identifier() && may_end_name(tokens[at + 1])) {
      // Type make();  is a function.
      if (tokens[at + 1].is("(") && at + 2 < tokens.size() && tokens[at + 2].is(")")) break;
      names.insert(tokens[at].spelling);
      ++at;
      while (at + 1 < tokens.size() && !tokens[at].is(",") && !tokens[at].is(";") &&
             !tokens[at].is(")"))
        at = tokens[at].is("(") || tokens[at].is("{") || tokens[at].is("[")
                 ? source.after_closing(at)
                 : at + 1;
      if (!tokens[at].is(",")) break;
      ++at;
    }
  }
}

namespace {

/// Variables whose type is a parameter of a template: template <class Op> T f(T x, Op op).
std::set<std::string> of_template_type(const Source& source) {
  std::set<std::string> types, names;
  const std::vector<Token>& tokens = source.tokens;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("template") || !tokens[i + 1].is("<")) continue;
    const std::size_t after = source.after_angle(i + 1);
    for (std::size_t k = i + 2; k + 1 < after; ++k)
      if ((tokens[k].is("class") || tokens[k].is("typename")) && tokens[k + 1].is_identifier())
        types.insert(tokens[k + 1].spelling);
  }
  for (const std::string& type : types) add_variables(source, type, names);
  return names;
}

}  // namespace

std::set<std::string> waiting_names(const Source& source, const Scopes& scopes,
                                    Meets meets_itself) {
  std::vector<Waiter> bodies;
  for (const Function& function : scopes.functions) {
    Waiter body{{function.name}, function.open, function.close};
    if (function.name == "operator" && source.tokens[function.name_at + 1].is("(")) {
      body.names.clear();
      body.is_object = true;
      if (const std::string type = class_around(source, function.head); !type.empty())
        add_variables(source, type, body.names);
    }
    bodies.push_back(std::move(body));
  }
  add_lambdas(source, bodies);
  std::set<std::string> waiting;
  for (bool grown = true; grown;) {
    grown = false;
    for (Waiter& body : bodies) {
      if (body.waits) continue;
      for (std::size_t i = body.open; i < body.close && !body.waits; ++i) {
        const std::string& name = source.tokens[i].spelling;
        body.waits = source.tokens[i].is_identifier() &&
                     (meets_itself(name) || waiting.contains(name)) && call_at(source, i) != 0;
      }
      if (!body.waits) continue;
      waiting.insert(body.names.begin(), body.names.end());
      if (body.is_object) waiting.merge(of_template_type(source));
      grown = true;
    }
  }
  return waiting;
}

}  // namespace ksearch::simt::source
