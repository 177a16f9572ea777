#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

bool is_space(const Token& token) {
  return token.is("device") || token.is("thread") || token.is("threadgroup") ||
         token.is("constant");
}

/// One declaration: its tokens without address spaces, up to its body or a constructor's
/// initialisers.
struct Declaration {
  std::string signature;
  bool spaces = false;    ///< it named an address space
  bool function = false;  ///< it has parameters
  std::size_t end = 0;    ///< after it
};

class Remover {
 public:
  explicit Remover(Source& source) : source_(source) {}

  /// The declarations of one scope, [from, to).
  void scope(std::size_t from, std::size_t to) {
    std::set<std::string> seen;
    for (std::size_t at = from; at < to;) {
      if (source_.tokens[at].kind == Token::Kind::directive || source_.tokens[at].is(";") ||
          source_.tokens[at].is("}")) {
        ++at;
        continue;
      }
      const Declaration declaration = read(at, to);
      // Specialisations of a class too: P<device T*>, P<thread T*>.
      if (!seen.insert(declaration.signature).second && declaration.spaces)
        source_.erase(at, declaration.end);
      at = declaration.end;
    }
  }

 private:
  Declaration read(std::size_t from, std::size_t to) {
    Declaration result;
    bool named = false;  // class, struct, namespace: what follows is a scope of declarations
    bool head = true;    // before `:` or `{`
    for (std::size_t i = from; i < to; ++i) {
      const Token& token = source_.tokens[i];
      if (token.kind == Token::Kind::directive || token.kind == Token::Kind::attribute) continue;
      if (token.is(";")) return end(result, i + 1);
      if (token.is("{")) {
        const std::size_t after = source_.after_closing(i);
        if (named && !result.function) scope(i + 1, after - 1);
        // `a{0}, b{1} {`: an initialiser, not the body.
        if (!head && after < to &&
            (source_.tokens[after].is(",") || source_.tokens[after].is("{"))) {
          i = after - 1;
          continue;
        }
        if (after < to && source_.tokens[after].is(";")) return end(result, after + 1);
        return end(result, after);
      }
      if (token.is("template") && source_.tokens[i + 1].is("<")) {
        const std::size_t after = source_.after_angle(i + 1);
        for (std::size_t k = i; k < after; ++k) add(result, source_.tokens[k]);
        if (after > i + 1) i = after - 1;
        continue;
      }
      if (token.is("class") || token.is("struct") || token.is("namespace") || token.is("union"))
        named = true;
      if (token.is(":") && result.function) head = false;
      if (token.is("(")) {
        const std::size_t after = source_.after_closing(i);
        if (head) {
          for (std::size_t k = i; k < after && k < to; ++k) add(result, source_.tokens[k]);
          result.function = true;
        }
        i = after - 1;
        continue;
      }
      if (head) add(result, token, result.function && qualifies_method(source_, i));
    }
    return end(result, to);
  }

  static Declaration end(Declaration declaration, std::size_t at) {
    declaration.end = at;
    return declaration;
  }

  static void add(Declaration& declaration, const Token& token, bool of_method = false) {
    if (token.kind == Token::Kind::directive || token.kind == Token::Kind::attribute) return;
    if (is_space(token)) {
      declaration.spaces = true;
      // A parameter's `constant` becomes const; a method's goes.
      if (token.is("constant") && !of_method) declaration.signature += "const ";
      return;
    }
    declaration.signature += token.spelling + " ";
  }

  Source& source_;
};

}  // namespace

void drop_duplicates(Source& source) { Remover(source).scope(0, source.tokens.size() - 1); }

}  // namespace ksearch::simt::msl
