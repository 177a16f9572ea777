#include "simt/msl/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "simt/msl/declarator.h"

namespace ksearch::simt::msl {
namespace {

class SpaceChecker {
 public:
  SpaceChecker(const Source& source, const Scopes& scopes, const std::string& file)
      : source_(source),
        tokens_(source.tokens),
        scopes_(scopes),
        file_(file),
        types_(type_names(source)) {}

  std::vector<std::string> run() {
    for (const Function& function : scopes_.functions) collect_parameters(function);
    for (const Function& function : scopes_.functions) body(function);
    members();
    return std::move(said_);
  }

 private:
  using Spaces = std::map<std::string, std::string>;  // pointer or variable -> address space

  void say(std::size_t i, const std::string& what) {
    if (file_.empty() || tokens_[i].file == file_)
      said_.push_back(fmt::format("{}: {}", tokens_[i].place(), what));
  }

  /// f(declarator, the token after it) for each parameter, in order.
  template <class F>
  void each_parameter(const Function& function, F&& f) {
    const std::size_t open = function.name_at + 1;
    const std::size_t close = source_.after_closing(open) - 1;
    for (std::size_t from = open + 1; from < close;) {
      const std::size_t to = argument_end(source_, from, close);
      f(read_declarator(source_, from, to), to);
      from = to + 1;
    }
  }

  void collect_parameters(const Function& function) {
    if (!tokens_[function.name_at + 1].is("(")) return;
    std::vector<std::string> spaces;
    each_parameter(function, [&](const Declarator& d, std::size_t) {
      spaces.push_back(d.pointer || d.array ? d.space : "");
    });
    parameters_[function.name].push_back(std::move(spaces));
  }

  bool begins_statement(std::size_t i) const {
    while (i > 0 && (tokens_[i - 1].kind == Token::Kind::directive ||
                     tokens_[i - 1].kind == Token::Kind::attribute))
      --i;
    if (i == 0) return true;
    const Token& before = tokens_[i - 1];
    return before.is(";") || before.is("{") || before.is("}") || before.is(")") ||
           (before.is("(") && i > 1 && tokens_[i - 2].is("for"));
  }

  void body(const Function& function) {
    Spaces spaces;
    pointers_.clear();
    arrays_.clear();
    if (!tokens_[function.name_at + 1].is("(")) return;
    each_parameter(function, [&](const Declarator& d, std::size_t end) {
      if (d.name >= end || !tokens_[d.name].is_identifier()) return;
      const bool points = d.pointer || d.array;
      if (points) pointers_.insert(tokens_[d.name].spelling);
      note(spaces, tokens_[d.name].spelling, points ? d.space : "thread");
    });
    for (std::size_t i = function.open + 1; i < function.close; ++i) {
      if (begins_statement(i)) statement(i, function.close, spaces);
      cast(i, spaces);
      call(i, function.close, spaces);
    }
  }

  /// A name that is declared with two spaces stands for none.
  static void note(Spaces& spaces, const std::string& name, const std::string& space) {
    const auto [entry, fresh] = spaces.try_emplace(name, space);
    if (!fresh && entry->second != space) entry->second.clear();
  }

  void statement(std::size_t i, std::size_t end, Spaces& spaces) {
    // p = q;
    if (tokens_[i].is_identifier() && tokens_[i + 1].is("=")) {
      const auto known = spaces.find(tokens_[i].spelling);
      if (known != spaces.end() && pointers_.contains(known->first))
        convert(i, known->second, i + 2, spaces);
      return;
    }
    const Declarator d = read_declarator(source_, i, end);
    if (d.type.empty() || d.type == "auto" || d.name >= end || !tokens_[d.name].is_identifier())
      return;
    const Token& after = tokens_[d.name + 1];
    const bool declares = after.is("=") || after.is(";") || after.is("[") || after.is("{") ||
                          after.is("(") || after.is(",");
    const bool typed = !d.space.empty() || types_.contains(d.type);
    if (!declares || !typed) return;
    const std::string& name = tokens_[d.name].spelling;
    if (!d.pointer) {
      note(spaces, name, d.space.empty() ? "thread" : d.space);
      if (after.is("[")) arrays_.insert(name);
      return;
    }
    if (d.space.empty())
      say(d.name, fmt::format("{} names no address space (device, constant, threadgroup, thread): "
                              "Apple's compiler refuses it",
                              name));
    note(spaces, name, d.space);
    pointers_.insert(name);
    if (after.is("=") && !d.space.empty()) convert(d.name, d.space, d.name + 2, spaces);
  }

  /// What is assigned or passed at `from` to something in `space`.
  void convert(std::size_t at, const std::string& space, std::size_t from, const Spaces& spaces) {
    const std::string other = space_of(from, spaces);
    if (!space.empty() && !other.empty() && other != space)
      say(at, fmt::format("a pointer to {} memory gets one to {}: Apple's compiler refuses it",
                          space, other));
  }

  /// The space that the expression at `i` points to: `p`, `p + 1`, `&x`, `&p[1]`, or a cast.
  std::string space_of(std::size_t i, const Spaces& spaces) const {
    if (i + 2 >= tokens_.size()) return {};
    if (tokens_[i].is("reinterpret_cast") && tokens_[i + 1].is("<"))
      return read_declarator(source_, i + 2, source_.after_angle(i + 1) - 1).space;
    if (tokens_[i].is("(")) {
      const std::size_t after = source_.after_closing(i);
      const Declarator d = read_declarator(source_, i + 1, after - 1);
      return d.pointer && d.name == after - 1 ? d.space : "";
    }
    const bool address = tokens_[i].is("&");
    if (address) ++i;
    const auto known = spaces.find(tokens_[i].spelling);
    if (known == spaces.end() || !tokens_[i].is_identifier()) return {};
    const Token& next = tokens_[i + 1];
    const bool plain = next.is(";") || next.is(",") || next.is(")");
    const bool pointer = pointers_.contains(known->first) || arrays_.contains(known->first);
    if (address) return plain || next.is("[") ? known->second : "";
    return pointer && (plain || next.is("+") || next.is("-")) ? known->second : "";
  }

  /// (float*)p names no space; (threadgroup float*)p of a device pointer is none.
  void cast(std::size_t i, const Spaces& spaces) {
    std::size_t from = 0, end = 0, value = 0;
    if ((tokens_[i].is("reinterpret_cast") || tokens_[i].is("static_cast")) &&
        tokens_[i + 1].is("<")) {
      from = i + 2;
      end = source_.after_angle(i + 1) - 1;
      value = end + 2;
    } else if (tokens_[i].is("(") && i > 0 && !tokens_[i - 1].is_identifier() &&
               !tokens_[i - 1].is(">") && !tokens_[i - 1].is("]")) {
      from = i + 1;
      end = source_.after_closing(i) - 1;
      value = end + 1;
    } else {
      return;
    }
    if (end <= from || value >= tokens_.size()) return;
    const Declarator d = read_declarator(source_, from, end);
    if (!d.pointer || d.name != end || (d.space.empty() && !types_.contains(d.type))) return;
    if (d.space.empty())
      say(i, "this cast names no address space: Apple's compiler refuses it");
    else
      convert(i, d.space, value, spaces);
  }

  void call(std::size_t i, std::size_t end, const Spaces& spaces) {
    const auto found = parameters_.find(tokens_[i].spelling);
    if (found == parameters_.end() || !tokens_[i + 1].is("(") || tokens_[i - 1].is(".") ||
        tokens_[i - 1].is("->") || tokens_[i - 1].is("::"))
      return;
    const std::size_t close = std::min(source_.after_closing(i + 1) - 1, end);
    std::size_t number = 0;
    for (std::size_t from = i + 2; from < close; ++number) {
      const std::size_t to = argument_end(source_, from, close);
      const std::string space = space_of(from, spaces);
      const bool none =
          !space.empty() &&
          std::none_of(found->second.begin(), found->second.end(), [&](const auto& parameters) {
            return number >= parameters.size() || parameters[number].empty() ||
                   parameters[number] == space;
          });
      if (none)
        say(from, fmt::format("argument {} of {} points to {} memory, which no {} takes: Apple's "
                              "compiler refuses it",
                              number + 1, found->first, space, found->first));
      from = to + 1;
    }
  }

  /// struct S { float* p; };
  void members() {
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (scopes_.function_of[i] >= 0 || !begins_statement(i) ||
          !types_.contains(tokens_[i].spelling))
        continue;
      const Declarator d = read_declarator(source_, i, tokens_.size() - 2);
      if (d.pointer && d.space.empty() && types_.contains(d.type) &&
          tokens_[d.name].is_identifier() && tokens_[d.name + 1].is(";"))
        say(d.name, fmt::format("member {} names no address space: Apple's compiler refuses it",
                                tokens_[d.name].spelling));
    }
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  const Scopes& scopes_;
  const std::string& file_;
  const std::set<std::string> types_;
  std::set<std::string> pointers_, arrays_;
  std::map<std::string, std::vector<std::vector<std::string>>> parameters_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> check_spaces(const Source& source, const Scopes& scopes,
                                      const std::string& file) {
  return SpaceChecker(source, scopes, file).run();
}

}  // namespace ksearch::simt::msl
