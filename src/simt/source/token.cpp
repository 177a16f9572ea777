#include "simt/source/token.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ksearch::simt::source {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  Source run() {
    Source source;
    for (;;) {
      Token token;
      token.before = take_blanks();
      token.file = file_;
      token.line = line_;
      token.kind = take(token.spelling);
      token.written = token.spelling;
      source.tokens.push_back(token);
      if (token.kind == Token::Kind::end) return source;
      if (token.kind == Token::Kind::directive)
        follow_marker(token.spelling);
      else
        line_ += static_cast<int>(std::count(token.spelling.begin(), token.spelling.end(), '\n'));
    }
  }

 private:
  char at(std::size_t i) const { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; }

  std::string take_blanks() {
    const std::size_t start = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) {
      if (text_[at_] == '\n') ++line_, line_start_ = true;
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  Token::Kind take(std::string& spelling) {
    const std::size_t start = at_;
    const Token::Kind kind = skip_one();
    spelling = text_.substr(start, at_ - start);
    line_start_ = false;
    return kind;
  }

  Token::Kind skip_one() {
    if (at_ >= text_.size()) return Token::Kind::end;
    const char c = at(0);
    if (c == '#' && line_start_) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return Token::Kind::directive;
    }
    if (starts_name(c)) {
      while (in_name(at(0))) ++at_;
      return Token::Kind::identifier;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(at(1))))) {
      while (in_name(at(0)) || at(0) == '.' || at(0) == '\'' ||
             ((at(0) == '+' || at(0) == '-') && is_exponent(text_[at_ - 1])))
        ++at_;
      return Token::Kind::number;
    }
    if (c == '"' || c == '\'') {
      skip_quoted(c);
      return Token::Kind::text;
    }
    skip_operator();
    return Token::Kind::punctuation;
  }

  static bool is_exponent(char c) { return c == 'e' || c == 'E' || c == 'p' || c == 'P'; }

  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_operator() {
    static constexpr std::array<std::string_view, 21> kLong = {
        "<<=", "...", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==",
        "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|="};
    for (const std::string_view op : kLong)
      if (text_.substr(at_).starts_with(op)) {
        at_ += op.size();
        return;
      }
    ++at_;
  }

  /// # 12 "kernel.metal" 2
  void follow_marker(std::string_view directive) {
    directive.remove_prefix(1);
    while (directive.starts_with(' ')) directive.remove_prefix(1);
    if (directive.starts_with("line ")) directive.remove_prefix(5);
    int line = 0;
    const auto end = directive.data() + directive.size();
    const auto [rest, fault] = std::from_chars(directive.data(), end, line);
    if (fault != std::errc()) return;
    line_ = line - 1;  // its own line end counts one
    const std::string_view name(rest, static_cast<std::size_t>(end - rest));
    const std::size_t open = name.find('"'), close = name.rfind('"');
    if (open != std::string_view::npos && close > open)
      file_ = name.substr(open + 1, close - open - 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string file_;
  bool line_start_ = true;
};

std::string line_ends(std::string_view text) {
  return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
}

}  // namespace

std::size_t Source::after_closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& s = tokens[i].spelling;
    if (s == "(" || s == "[" || s == "{") ++depth;
    if ((s == ")" || s == "]" || s == "}") && --depth == 0) return i + 1;
  }
  return tokens.size() - 1;
}

std::size_t Source::after_angle(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("(") || token.is("[")) {
      i = after_closing(i) - 1;
      continue;
    }
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) return i + 1;
    if (token.is(";") || token.is("{") || token.kind == Token::Kind::end) return open;
  }
  return open;
}

std::string Source::text(std::size_t from, std::size_t to) const {
  std::string all;
  for (std::size_t i = from; i < to && i < tokens.size(); ++i)
    if (tokens[i].kind != Token::Kind::directive && tokens[i].kind != Token::Kind::attribute)
      all += (all.empty() ? "" : " ") + tokens[i].spelling;
  return all;
}

void Source::erase(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to && i < tokens.size(); ++i) {
    // Markers of lines stay; a pragma is of the loop or function that goes.
    if (tokens[i].kind == Token::Kind::directive && !tokens[i].spelling.starts_with("#pragma"))
      continue;
    tokens[i].before = line_ends(tokens[i].before);
    if (i == from && tokens[i].before.empty()) tokens[i].before = " ";
    tokens[i].written = line_ends(tokens[i].written);
  }
}

Source tokenize(std::string_view preprocessed) { return Tokenizer(preprocessed).run(); }

std::string write(const Source& source) {
  std::string all;
  for (const Token& token : source.tokens) all += token.before + token.written;
  return all;
}

}  // namespace ksearch::simt::source
