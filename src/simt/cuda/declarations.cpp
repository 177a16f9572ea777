#include "simt/cuda/declarations.h"

#include <algorithm>
#include <set>

namespace ksearch::simt::cuda {
namespace {
using source::Source;
using source::Token;

bool is_word_before_parenthesis(const std::string& word) {
  static const std::set<std::string, std::less<>> kWords = {
      "alignas",  "__attribute__", "decltype", "noexcept", "requires", "sizeof",
      "explicit", "__declspec",    "throw",    "if",       "while",    "operator"};
  return kWords.contains(word);
}

class DeclarationReader {
 public:
  DeclarationReader(const Source& source, std::size_t from, std::size_t to)
      : source_(source), from_(from), to_(to) {}

  Declaration run() {
    result_.from = from_;
    std::size_t end = from_;
    if (is(from_, "namespace"))
      end = name_space();
    else if (is(from_, "extern") && at(from_ + 1).kind == Token::Kind::text && is(from_ + 2, "{"))
      end = scope(from_ + 2);
    else if (is(from_, "using"))
      end = using_declaration();
    else if (is(from_, "static_assert"))
      end = to_semicolon(from_, Declaration::Kind::assertion);
    else if ((is(from_, "template") && !is(from_ + 1, "<")) ||
             (is(from_, "extern") && is(from_ + 1, "template")))
      end = to_semicolon(from_, Declaration::Kind::instantiation);
    else
      end = ordinary();
    result_.to = std::min(std::max(end, from_ + 1), to_);
    return result_;
  }

 private:
  const Token& at(std::size_t i) const {
    return source_.tokens[std::min(i, source_.tokens.size() - 1)];
  }
  bool is(std::size_t i, std::string_view text) const { return i < to_ && at(i).is(text); }

  std::size_t scope(std::size_t brace) {
    result_.kind = Declaration::Kind::space;
    const std::size_t after = source_.after_closing(brace);
    result_.inside = brace + 1;
    result_.inside_end = after - 1;
    return after;
  }

  std::size_t name_space() {
    std::size_t i = from_ + 1;
    while (i < to_ && !at(i).is("{") && !at(i).is(";") && !at(i).is("=")) {
      if (at(i).is_identifier()) result_.names = {at(i).spelling};
      ++i;
    }
    return is(i, "{") ? scope(i) : to_semicolon(i, Declaration::Kind::using_space);
  }

  std::size_t to_semicolon(std::size_t i, Declaration::Kind kind) {
    result_.kind = kind;
    while (i < to_ && !at(i).is(";"))
      i = at(i).is("{") || at(i).is("(") ? source_.after_closing(i) : i + 1;
    return i + 1;
  }

  std::size_t using_declaration() {
    const bool space = is(from_ + 1, "namespace");
    const std::size_t end =
        to_semicolon(from_, space ? Declaration::Kind::using_space : Declaration::Kind::using_name);
    for (std::size_t i = from_ + 1; i < end; ++i) {
      if (at(i).is("=")) break;
      if (at(i).is_identifier() && !at(i).is("namespace")) result_.names = {at(i).spelling};
    }
    return end;
  }

  void mark(const Token& token) {
    static const std::set<std::string, std::less<>> kDevice = {
        "__device__", "__global__", "__constant__", "__managed__", "__shared__"};
    if (kDevice.contains(token.spelling)) result_.device = true;
    if (token.is("__global__")) result_.kernel = true;
    if (token.is("constexpr") || token.is("consteval")) result_.constant_expression = true;
  }

  /// A name that a declarator ends with here: x[, x;, x =, x, or x{.
  bool ends_declarator(std::size_t i) const {
    const Token& next = at(i + 1);
    return at(i).is_identifier() && (next.is("[") || next.is(";") || next.is("=") || next.is(",") ||
                                     next.is("{") || next.is(":"));
  }

  std::size_t template_head(std::size_t i) {
    while (is(i, "template") && is(i + 1, "<")) {
      const std::size_t after = source_.after_angle(i + 1);
      if (after == i + 1) break;
      i = after;
    }
    // A requires clause belongs to what follows.
    return i;
  }

  void enumerators(std::size_t brace) {
    const std::size_t end = source_.after_closing(brace) - 1;
    for (std::size_t i = brace; i < end; ++i)
      if ((at(i).is("{") || at(i).is(",")) && at(i + 1).is_identifier())
        result_.names.push_back(at(i + 1).spelling);
  }

  std::size_t ordinary() {
    bool record = false, enumeration = false, function = false, initialising = false;
    std::size_t record_name = 0;
    result_.kind = Declaration::Kind::variable;
    for (std::size_t i = template_head(from_); i < to_;) {
      const Token& token = at(i);
      if (token.is(";")) return i + 1;
      if (!initialising) mark(token);
      if (token.is("=") && function) {
        result_.defaulted = is(i + 1, "default") || is(i + 1, "delete") || is(i + 1, "0");
        return to_semicolon(i, Declaration::Kind::function);
      }
      if (token.is("=")) initialising = true;
      if (token.is(",")) initialising = false;
      if (token.is("{")) {
        const std::size_t after = source_.after_closing(i);
        if (function && !initialising) {
          // `: a{0}, b{1} {`: an initialiser, not the body.
          if (is(after, ",") || is(after, "{")) {
            i = after;
            continue;
          }
          return is(after, ";") ? after + 1 : after;
        }
        if (record && result_.inside == 0 && !initialising) {
          result_.kind = Declaration::Kind::record;
          result_.inside = i + 1;
          result_.inside_end = after - 1;
        }
        if (enumeration) enumerators(i);
        i = after;
        continue;
      }
      if (!function && !initialising) {
        if (token.is("class") || token.is("struct") || token.is("union")) record = true;
        if (token.is("enum")) enumeration = true;
        if ((record || enumeration) && record_name == 0 && token.is_identifier() &&
            !token.is("class") && !token.is("struct") && !token.is("union") && !token.is("enum") &&
            !token.is("alignas") && !token.is("__attribute__") && !token.is("typedef") &&
            !token.is("static") && !token.is("const") && !token.is("__device__")) {
          record_name = i;
          result_.names.push_back(token.spelling);
        }
        if (ends_declarator(i) && i != record_name) result_.names.push_back(token.spelling);
      }
      if (token.is("operator") && !function) {
        std::size_t open = i + 1;
        if (is(open, "(") && is(open + 1, ")")) open += 2;
        while (open < to_ && !at(open).is("(")) ++open;
        i = begin_function(open, "");
        function = true;
        continue;
      }
      // void (*name)(...): a pointer to a function.
      if (token.is("(") && !function && !initialising && is(i + 1, "*")) {
        std::size_t name = i + 2;
        while (is(name, "*") || is(name, "const")) ++name;
        if (at(name).is_identifier()) result_.names.push_back(at(name).spelling);
        i = source_.after_closing(i);
        if (is(i, "(")) i = source_.after_closing(i);
        continue;
      }
      if (token.is("(")) {
        const Token& name = at(i == 0 ? 0 : i - 1);
        // f<int>(: a specialisation.
        const bool called = i > from_ && (name.is_identifier() || name.is(">")) &&
                            !is_word_before_parenthesis(name.spelling);
        if (called && !function && !initialising && result_.inside == 0) {
          i = begin_function(i, name_before(i));
          function = true;
          continue;
        }
        i = source_.after_closing(i);
        continue;
      }
      if (token.is("[")) {
        i = source_.after_closing(i);
        continue;
      }
      if (token.is("<") && i > from_ && at(i - 1).is_identifier()) {
        const std::size_t after = source_.after_angle(i);
        i = after > i ? after : i + 1;
        continue;
      }
      ++i;
    }
    return to_;
  }

  std::string name_before(std::size_t open) const {
    std::size_t i = open - 1;
    if (at(i).is(">"))
      for (int depth = 0; i > from_; --i) {
        if (at(i).is(">")) ++depth;
        if (at(i).is("<") && --depth == 0) {
          --i;
          break;
        }
      }
    return at(i).spelling;
  }

  std::size_t begin_function(std::size_t open, const std::string& name) {
    result_.kind = Declaration::Kind::function;
    result_.parameters = open;
    result_.names.clear();
    if (!name.empty()) result_.names.push_back(name);
    return source_.after_closing(open);
  }

  const Source& source_;
  std::size_t from_, to_;
  Declaration result_;
};

}  // namespace

std::vector<Declaration> declarations(const Source& source, std::size_t from, std::size_t to) {
  std::vector<Declaration> all;
  for (std::size_t i = from; i < to;) {
    const Token& token = source.tokens[i];
    // Labels of a class: public:
    const bool label = token.is_identifier() && i + 1 < to && source.tokens[i + 1].is(":") &&
                       (token.is("public") || token.is("private") || token.is("protected"));
    if (token.kind == Token::Kind::directive || token.is(";") || token.is("}") || label) {
      i += label ? 2 : 1;
      continue;
    }
    all.push_back(DeclarationReader(source, i, to).run());
    i = all.back().to;
  }
  return all;
}

}  // namespace ksearch::simt::cuda
