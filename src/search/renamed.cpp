#include "search/renamed.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

namespace ksearch::search {
namespace {

using Names = std::set<std::string, std::less<>>;

struct Token {
  enum class Kind { name, number, quoted, mark, line } kind = Kind::mark;
  std::string_view text;
};

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }

/// The end of a string or character literal that begins at `at`; raw strings too.
std::size_t end_of_quoted(std::string_view in, std::size_t at, bool raw) {
  if (raw) {
    const std::size_t open = in.find('(', at);
    if (open == in.npos) return in.size();
    const std::string close = ")" + std::string(in.substr(at + 1, open - at - 1)) + "\"";
    const std::size_t end = in.find(close, open);
    return end == in.npos ? in.size() : end + close.size();
  }
  std::size_t end = at + 1;
  while (end < in.size() && in[end] != in[at]) end += in[end] == '\\' ? 2 : 1;
  return std::min(end + 1, in.size());
}

std::vector<Token> tokens(std::string_view in) {
  std::vector<Token> out;
  bool line_begins = true;
  for (std::size_t at = 0; at < in.size();) {
    const char c = in[at];
    std::size_t end = at + 1;
    Token::Kind kind = Token::Kind::mark;
    if (c == '\n' || c == ' ') {
      line_begins = line_begins || c == '\n';
      ++at;
      continue;
    }
    if (c == '#' && line_begins) {
      end = std::min(in.find('\n', at), in.size());
      kind = Token::Kind::line;
    } else if (starts_name(c)) {
      while (end < in.size() && (starts_name(in[end]) || digit(in[end]))) ++end;
      const bool raw = end < in.size() && in[end] == '"' && in[end - 1] == 'R';
      if (raw) end = end_of_quoted(in, end, true);
      kind = raw ? Token::Kind::quoted : Token::Kind::name;
    } else if (digit(c) || (c == '.' && end < in.size() && digit(in[end]))) {
      while (end < in.size() &&
             (starts_name(in[end]) || digit(in[end]) || in[end] == '.' || in[end] == '\'' ||
              ((in[end] == '+' || in[end] == '-') && (in[end - 1] == 'e' || in[end - 1] == 'E'))))
        ++end;
      kind = Token::Kind::number;
    } else if (c == '"' || c == '\'') {
      end = end_of_quoted(in, at, false);
      kind = Token::Kind::quoted;
    } else if (in.substr(at).starts_with("::") || in.substr(at).starts_with("->")) {
      end = at + 2;
    }
    out.push_back({kind, in.substr(at, end - at)});
    line_begins = false;
    at = end;
  }
  return out;
}

/// Words after which a name is no new one: statements, operators, qualifiers that a type follows.
bool declares_nothing(std::string_view word) {
  constexpr std::array<std::string_view, 31> kWords{
      "return",    "else",     "case",         "goto",    "throw",    "new",     "delete",
      "do",        "not",      "and",          "or",      "sizeof",   "const",   "static",
      "constexpr", "inline",   "volatile",     "extern",  "register", "mutable", "typedef",
      "operator",  "friend",   "thread_local", "alignof", "unsigned", "signed",  "decltype",
      "requires",  "template", "namespace"};
  return std::ranges::find(kWords, word) != kWords.end();
}

/// Whether the parenthesis that opens at `open` belongs to a function with a body.
bool has_body(const std::vector<Token>& all, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].text == "(") ++depth;
    if (all[i].text == ")" && --depth == 0) return i + 1 < all.size() && all[i + 1].text == "{";
  }
  return false;
}

/// "float x =", "Vec load(...) {", "for (auto& row :", "struct Tile {", "using Vec =".
bool declared(const std::vector<Token>& all, std::size_t i) {
  if (i == 0 || i + 1 >= all.size()) return false;
  const Token& before = all[i - 1];
  const std::string_view next = all[i + 1].text;
  const bool reference = before.text == "&" || before.text == "*";
  if (reference) {  // only where the word before it is a type and nothing else
    constexpr std::array<std::string_view, 7> kTypes{"auto", "float", "double", "int",
                                                     "char", "bool",  "void"};
    if (i < 2 || std::ranges::find(kTypes, all[i - 2].text) == kTypes.end()) return false;
  } else if (before.kind != Token::Kind::name || declares_nothing(before.text)) {
    return false;
  }
  if (next == "(") return has_body(all, i + 1);
  constexpr std::array<std::string_view, 7> kAfter{"=", ";", ",", ")", "[", "{", ":"};
  return std::ranges::find(kAfter, next) != kAfter.end();
}

}  // namespace

Names identifiers(std::string_view text) {
  Names names;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (starts_name(text[at])) {
      while (end < text.size() && (starts_name(text[end]) || digit(text[end]))) ++end;
      names.emplace(text.substr(at, end - at));
    }
    at = end;
  }
  return names;
}

std::vector<std::string> with_common_names(const std::vector<std::string>& sources,
                                           const Names& fixed) {
  std::vector<std::vector<Token>> all;
  Names own, foreign = fixed;
  for (const std::string& source : sources) {
    all.push_back(tokens(source));
    const std::vector<Token>& list = all.back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].kind == Token::Kind::line) foreign.merge(identifiers(list[i].text));
      if (list[i].kind != Token::Kind::name) continue;
      const std::string_view before = i > 0 ? list[i - 1].text : std::string_view();
      if (before == "." || before == "->" || before == "::")
        foreign.emplace(list[i].text);
      else if (declared(list, i))
        own.emplace(list[i].text);
    }
  }
  std::map<std::string_view, std::size_t> numbers;
  std::vector<std::string> out;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    // What stands between two tokens stays: "a - -b" is not "a --b".
    std::string text;
    const char* copied = sources[s].data();
    for (const Token& token : all[s]) {
      if (token.kind != Token::Kind::name || !own.contains(token.text) ||
          foreign.contains(token.text))
        continue;
      text.append(copied, token.text.data());
      text += "$" + std::to_string(numbers.try_emplace(token.text, numbers.size()).first->second);
      copied = token.text.data() + token.text.size();
    }
    text.append(copied, sources[s].data() + sources[s].size());
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace ksearch::search
