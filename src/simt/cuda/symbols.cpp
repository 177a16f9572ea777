#include <fmt/format.h>

#include <map>

#include "simt/cuda/declarations.h"
#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {
using Kind = Declaration::Kind;

class Placer {
 public:
  Placer(Source& source, const Scopes& scopes) : source_(source), scopes_(scopes) {}

  base::Result<std::string> run() {
    KS_RETURN_IF_ERROR(scope(0, source_.tokens.size() - 1));
    rewrite_uses();
    if (rows_.empty())
      return std::string(
          "static const ks::Symbol* const ks_symbols = nullptr;\n"
          "static constexpr int ks_symbol_count = 0;\n");
    return "static const ks::Symbol ks_symbols[] = {\n" + rows_ +
           "};\nstatic constexpr int ks_symbol_count = sizeof(ks_symbols) / sizeof(*ks_symbols);\n";
  }

 private:
  base::Result<void> scope(std::size_t from, std::size_t to) {
    for (const Declaration& one : declarations(source_, from, to)) {
      if (one.kind == Kind::space) KS_RETURN_IF_ERROR(scope(one.inside, one.inside_end));
      // A constant with its value is one: nobody can give it contents.
      if (one.kind != Kind::variable || !one.device || one.constant_expression || fixed(one))
        continue;
      KS_RETURN_IF_ERROR(place(one));
    }
    return {};
  }

  bool has(const Declaration& one, std::string_view text) const {
    for (std::size_t i = one.from; i < one.to; ++i)
      if (source_.tokens[i].is(text)) return true;
    return false;
  }
  bool fixed(const Declaration& one) const {
    return has(one, "__shared__") || (has(one, "const") && (has(one, "=") || has(one, "{")));
  }

  base::Result<void> place(const Declaration& one) {
    const std::string where = source_.tokens[one.from].place();
    if (one.names.size() != 1)
      return base::usage_error(where, "variables in device memory are declared one by one here");
    if (has(one, "extern"))
      return base::usage_error(where, "a variable of another file is not there");
    const std::string& name = one.names[0];
    for (std::size_t i = one.from; i < one.to; ++i) {
      Token& token = source_.tokens[i];
      if (token.is("static") || token.is("inline") || token.is("const")) source_.erase(i, i + 1);
      if (token.is(name)) token.written = name + "__ks_initial";
    }
    source_.tokens[one.from].written = "static " + source_.tokens[one.from].written;
    if (!source_.tokens[one.from].is(name) && source_.tokens[one.from].is("__device__"))
      source_.tokens[one.from].written = "static ";
    else if (source_.tokens[one.from].is("__constant__") ||
             source_.tokens[one.from].is("__managed__"))
      source_.tokens[one.from].written = "static ";
    source_.tokens[one.to - 1].written +=
        fmt::format(" static decltype({0}__ks_initial)* {0}__ks;", name);
    const std::string& space = scopes_.space_of[one.from];
    rows_ += fmt::format(
        "  {{\"{0}\", (void**)&{1}{0}__ks, &{1}{0}__ks_initial, sizeof({1}{0}__ks_initial), "
        "ks::Space::{2}}},\n",
        name, space, has(one, "__constant__") ? "constant" : "device");
    symbols_.insert(name);
    return {};
  }

  /// Whether the function has a parameter or a variable of this name.
  bool hidden(const Function& function, const std::string& name) const {
    for (std::size_t i = function.name_at; i < function.close; ++i) {
      if (!source_.tokens[i].is(name)) continue;
      const Token& before = source_.tokens[i - 1];
      if (i < function.open) return true;
      if (before.is_identifier() && !before.is("return") && !before.is("else") &&
          !before.is("case") && !before.is("do") && !before.is("sizeof"))
        return true;
    }
    return false;
  }

  void rewrite_uses() {
    if (symbols_.empty()) return;
    std::map<std::pair<int, std::string>, bool> hidden_in;
    for (std::size_t i = 1; i < source_.tokens.size(); ++i) {
      Token& token = source_.tokens[i];
      const int f = scopes_.function_of[i];
      if (f < 0 || !token.is_identifier() || !symbols_.contains(token.spelling)) continue;
      if (source_.tokens[i - 1].is(".") || source_.tokens[i - 1].is("->")) continue;
      const auto [entry, fresh] = hidden_in.try_emplace({f, token.spelling}, false);
      if (fresh)
        entry->second = hidden(scopes_.functions[static_cast<std::size_t>(f)], token.spelling);
      if (!entry->second) token.written = token.spelling + "__ks[0]";
    }
  }

  Source& source_;
  const Scopes& scopes_;
  std::set<std::string> symbols_;
  std::string rows_;
};

}  // namespace

base::Result<std::string> place_symbols(Source& source, const Scopes& scopes) {
  return Placer(source, scopes).run();
}

}  // namespace ksearch::simt::cuda
