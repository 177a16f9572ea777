#include "target/cpu/cpp_lexer.h"

#include <cctype>
#include <utility>

namespace ksearch::target {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// u8R, LR, ...: the identifier just read, if a quote follows, begins a raw string.
bool raw_prefix(std::string_view name) {
  return name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
}
bool string_prefix(std::string_view name) {
  return name == "L" || name == "u" || name == "U" || name == "u8";
}

}  // namespace

// A backslash, blanks (which GCC lets pass) and a line end join two lines.
void CppLexer::skip_splices() {
  while (at_ < text_.size() && text_[at_] == '\\') {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '\n') return;
    at_ = end + 1;
    ++line_;
  }
}

char CppLexer::peek() {
  skip_splices();
  return at_ < text_.size() ? text_[at_] : kEnd;
}

char CppLexer::peek_second() {
  if (peek() == kEnd) return kEnd;
  const std::size_t at = at_;
  const int line = line_;
  ++at_;
  const char c = peek();
  at_ = at;
  line_ = line;
  return c;
}

char CppLexer::take() {
  const char c = peek();
  if (at_ < text_.size()) ++at_;
  if (c == '\n') ++line_;
  return c;
}

bool CppLexer::skip_comment() {
  if (peek() != '/') return false;
  const char second = peek_second();
  if (second == '/') {
    while (at_ < text_.size() && peek() != '\n') take();
    return true;
  }
  if (second != '*') return false;
  take();
  take();
  while (at_ < text_.size() && !(peek() == '*' && peek_second() == '/')) take();
  take();
  take();
  return true;
}

CppToken CppLexer::quoted(char quote, CppToken token) {
  token.kind = quote == '"' ? CppToken::Kind::text : CppToken::Kind::character;
  token.spelling.clear();
  take();
  while (at_ < text_.size() && peek() != quote && peek() != '\n') {
    const char c = take();
    token.spelling += c;
    if (c == '\\' && at_ < text_.size()) token.spelling += take();
  }
  if (peek() == quote) take();
  return token;
}

// Splices do not count between its parentheses, so this reads the bytes themselves.
CppToken CppLexer::raw_string(CppToken token) {
  token.kind = CppToken::Kind::text;
  take();
  const std::size_t open = text_.find('(', at_);
  const std::string close =
      ")" + std::string(text_.substr(at_, open == std::string_view::npos ? 0 : open - at_)) + "\"";
  const std::size_t from = open == std::string_view::npos ? text_.size() : open + 1;
  const std::size_t end = text_.find(close, from);
  const std::size_t stop = end == std::string_view::npos ? text_.size() : end;
  token.spelling = text_.substr(from, stop - from);
  const std::size_t after = end == std::string_view::npos ? text_.size() : end + close.size();
  for (; at_ < after; ++at_) line_ += text_[at_] == '\n';
  return token;
}

CppToken CppLexer::next() {
  while (at_ < text_.size() && (is_blank(peek()) || skip_comment()))
    if (is_blank(peek())) take();
  CppToken token;
  token.line = line_;
  token.starts_line = std::exchange(line_start_, false);
  const char c = peek();
  if (at_ >= text_.size()) return token;
  if (c == '\n') {
    take();
    line_start_ = true;
    token.kind = CppToken::Kind::newline;
    return token;
  }
  if (starts_name(c)) {
    token.kind = CppToken::Kind::identifier;
    while (at_ < text_.size() && in_name(peek())) token.spelling += take();
    if (peek() == '"' && raw_prefix(token.spelling)) return raw_string(token);
    if ((peek() == '"' || peek() == '\'') && string_prefix(token.spelling))
      return quoted(peek(), token);
    return token;
  }
  if (is_digit(c) || (c == '.' && is_digit(peek_second()))) {
    token.kind = CppToken::Kind::number;
    while (at_ < text_.size()) {
      const char n = peek();
      const bool exponent_sign =
          (n == '+' || n == '-') && !token.spelling.empty() &&
          std::string_view("eEpP").find(token.spelling.back()) != std::string_view::npos;
      const bool separator = n == '\'' && in_name(peek_second());
      if (!in_name(n) && n != '.' && !exponent_sign && !separator) break;
      token.spelling += take();
    }
    return token;
  }
  if (c == '"' || c == '\'') return quoted(c, token);
  token.kind = CppToken::Kind::punctuation;
  token.spelling += take();
  if (c == '%' && peek() == ':') token.spelling += take();
  if (c == '-' && peek() == '>') token.spelling += take();
  if (c == ':' && peek() == ':') token.spelling += take();
  if (token.spelling == "#" || token.spelling == "%:") token.kind = CppToken::Kind::hash;
  return token;
}

std::string CppLexer::header_name() {
  while (at_ < text_.size() && (is_blank(peek()) || skip_comment()))
    if (is_blank(peek())) take();
  const char open = peek();
  if (open != '<' && open != '"') return {};
  const char close = open == '<' ? '>' : '"';
  std::string name;
  name += take();
  while (at_ < text_.size() && peek() != '\n') {
    const char c = take();
    name += c;
    if (c == close) return name;
  }
  return {};
}

}  // namespace ksearch::target
