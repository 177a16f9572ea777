// Wide values that are read and written whole through a cast (`*(device float4*)p`) get a check of
// their address: clang's own is not made where a struct is copied. *(T*)p becomes ks::ref((T*)p),
// ((T*)p)[i] becomes ks::ref((T*)p + (i)), and so for a pointer that was declared with such a cast.
#include <algorithm>

#include "simt/msl/declarator.h"

namespace ksearch::simt::msl {
namespace {

/// Aligned as wide as they are, and clang's check sees them.
bool is_scalar(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {
      "void",     "bool",    "char",     "uchar",   "short",    "ushort",   "int",     "uint",
      "long",     "ulong",   "half",     "float",   "bfloat",   "unsigned", "uint8_t", "int8_t",
      "uint16_t", "int16_t", "uint32_t", "int32_t", "uint64_t", "int64_t",  "size_t"};
  return kNames.contains(name);
}

class Aligner {
 public:
  Aligner(Source& source, const Scopes& scopes) : source_(source), scopes_(scopes) {}

  void run() {
    for (const Function& function : scopes_.functions) {
      blocks_.clear();
      std::size_t statement = function.open;
      for (std::size_t i = function.open; i < function.close; ++i) {
        if (at(i).is("{")) blocks_.emplace_back();
        if (at(i).is("}") && !blocks_.empty()) blocks_.pop_back();
        if (at(i).is("{") || at(i).is("}") || at(i).is(";")) statement = i + 1;
        if (const std::size_t operand = after_cast(i); operand > 0) {
          note_name(i);
          wrap(i, after_operand(operand));
        } else if (at(i).is("reinterpret_cast") && at(i + 1).is("<")) {
          if (const std::size_t open = source_.after_angle(i + 1);
              is_pointer_type(i + 2, open - 1) && at(open).is("(")) {
            note_name(i);
            wrap(i, source_.after_closing(open));
          }
        } else if (at(i).is_identifier() && is_cast(at(i).spelling) && !is_member(i)) {
          if (declares(statement, i))
            blocks_.back()[at(i).spelling] = false;
          else
            wrap(i, i + 1);
        }
      }
    }
  }

 private:
  Token& at(std::size_t i) { return source_.tokens[std::min(i, source_.tokens.size() - 1)]; }

  /// [from, to): `device const float4*`, `threadgroup vec<T, 4>*`.
  bool is_pointer_type(std::size_t from, std::size_t to) {
    if (to <= from || !at(to - 1).is("*")) return false;
    const Declarator d = read_declarator(source_, from, to);
    return d.pointer && d.name == to && !d.type.empty() && !is_scalar(d.type);
  }

  /// Where the operand of the cast `(T*)` at `i` begins, or 0.
  std::size_t after_cast(std::size_t i) {
    if (!at(i).is("(")) return 0;
    const std::size_t after = source_.after_closing(i);
    if (!is_pointer_type(i + 1, after - 1)) return 0;
    const Token& next = at(after);
    return next.is_identifier() || next.is("(") || next.is("&") ? after : 0;
  }

  /// The end of a cast's operand: &a[i], p, (p + 1), f(x).y
  std::size_t after_operand(std::size_t i) {
    while (at(i).is("&") || at(i).is("*")) ++i;
    i = at(i).is("(") ? source_.after_closing(i) : i + 1;
    for (;;) {
      if (at(i).is("(") || at(i).is("["))
        i = source_.after_closing(i);
      else if (at(i).is(".") || at(i).is("->") || at(i).is("::"))
        i += 2;
      else if (at(i).is("<") && source_.after_angle(i) > i && at(source_.after_angle(i)).is("("))
        i = source_.after_angle(i);
      else
        return i;
    }
  }

  bool is_member(std::size_t i) {
    return at(i - 1).is(".") || at(i - 1).is("->") || at(i - 1).is("::");
  }
  /// T* name = (T*)...: what is read by it later is looked at too.
  void note_name(std::size_t i) {
    if (i >= 3 && at(i - 1).is("=") && at(i - 2).is_identifier() && !blocks_.empty() &&
        (at(i - 3).is("*") || at(i - 3).is("auto") || at(i - 3).is("restrict")))
      blocks_.back()[at(i - 2).spelling] = true;
  }
  /// Whether the name here is a pointer that was declared with a cast.
  bool is_cast(const std::string& name) const {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      if (const auto found = block->find(name); found != block->end()) return found->second;
    return false;
  }
  /// T* name[8]: another one of a name that is known.
  bool declares(std::size_t statement, std::size_t name) {
    const Declarator d = read_declarator(source_, statement, name + 1);
    return d.pointer && d.name == name && !d.type.empty();
  }

  /// A * at `i` that has no left side.
  bool dereferences(std::size_t i) {
    if (i == 0 || !at(i).is("*")) return false;
    const Token& before = at(i - 1);
    constexpr std::string_view kBefore[] = {";", "{", "}", "(", "=",  ",",  "return", "+",
                                            "-", "?", ":", "[", "+=", "*=", "-="};
    return std::find(std::begin(kBefore), std::end(kBefore), before.spelling) != std::end(kBefore);
  }

  /// [first, end) is a pointer.
  void wrap(std::size_t first, std::size_t end) {
    // (pointer), ((pointer)): as it stands.
    const bool in_parentheses = at(first - 1).is("(") && at(end).is(")");
    const std::size_t from = in_parentheses ? first - 1 : first;
    const std::size_t to = in_parentheses ? end + 1 : end;
    if (at(to).is("[")) {
      if (at(from - 1).is("&") || (in_parentheses && at(from - 1).is_identifier())) return;
      at(from).written = "ks::ref(" + at(from).written;
      at(to).written = " + (";
      at(source_.after_closing(to) - 1).written += ")";
      at(source_.after_closing(to) - 1)
          .written.replace(at(source_.after_closing(to) - 1).written.find(']'), 1, ")");
      return;
    }
    if (dereferences(first - 1)) return by_star(first - 1, end);
    // *((T*)p + i): up to the parenthesis' end.
    if (at(first - 1).is("(") && dereferences(first - 2) && !at(end).is(","))
      by_star(first - 2, source_.after_closing(first - 1));
  }
  void by_star(std::size_t star, std::size_t end) {
    const Token& next = at(end);
    if (next.is("[") || next.is("(") || next.is(".") || next.is("->") || next.is("++")) return;
    if (at(star).written != "*") return;
    at(star).written = "ks::ref(";
    at(end - 1).written += ")";
  }

  Source& source_;
  const Scopes& scopes_;
  /// Of each open block: names of pointers, and whether they were declared with a cast.
  std::vector<std::map<std::string, bool>> blocks_;
};

}  // namespace

void check_casts(Source& source, const Scopes& scopes) { Aligner(source, scopes).run(); }

}  // namespace ksearch::simt::msl
