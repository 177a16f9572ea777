// Reads and writes of whole vectors (float4, half2) get a check of their address: clang's own is
// not made where a struct is copied. p[i] becomes ks::ref(p + (i)), *p becomes ks::ref(p), where p
// is declared as a pointer to a vector, or cast to one on the spot.
#include <cctype>

#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

/// float4, int2, uchar4, ...
bool is_vector(const std::string& name) {
  static const std::set<std::string, std::less<>> kElements = {
      "char",     "uchar",     "short", "ushort", "int",  "uint",   "long",        "ulong",
      "longlong", "ulonglong", "float", "double", "half", "__half", "nv_bfloat16", "__nv_bfloat16"};
  return name.size() > 2 && (name.back() == '2' || name.back() == '4') &&
         kElements.contains(name.substr(0, name.size() - 1));
}

class Aligner {
 public:
  Aligner(Source& source, const Scopes& scopes) : source_(source), scopes_(scopes) {}

  void run() {
    for (const Function& function : scopes_.functions) {
      names_.clear();
      for (std::size_t i = function.name_at; i < function.close; ++i) gather(i);
      for (std::size_t i = function.open; i < function.close; ++i)
        if (at(i).is("reinterpret_cast"))
          cast(i);
        else if (at(i).is_identifier() && names_.contains(at(i).spelling))
          named(i);
    }
  }

 private:
  Token& at(std::size_t i) { return source_.tokens[i]; }

  /// float4* __restrict__ p
  void gather(std::size_t i) {
    if (!is_vector(at(i).spelling) || !at(i + 1).is("*")) return;
    std::size_t name = i + 2;
    while (at(name).is("const") || at(name).is("__restrict__") || at(name).is("__restrict")) ++name;
    if (at(name).is_identifier() && !at(name + 1).is("(") && !at(name + 1).is("["))
      names_.insert(at(name).spelling);
  }

  /// *p, where * has no left side.
  bool dereferenced(std::size_t i) {
    if (i < 2 || !at(i - 1).is("*")) return false;
    const Token& before = at(i - 2);
    return before.is(";") || before.is("{") || before.is("}") || before.is("(") || before.is("=") ||
           before.is(",") || before.is("return") || before.is("+") || before.is("-");
  }
  bool address_taken(std::size_t i) { return i > 0 && at(i - 1).is("&"); }

  void wrap(std::size_t first, std::size_t end) {
    // [first, end) is the pointer; what follows may be [index].
    if (dereferenced(first)) {
      at(first - 1).written = "ks::ref(";
      at(end - 1).written += ")";
      return;
    }
    if (!at(end).is("[") || address_taken(first)) return;
    const std::size_t after = source_.after_closing(end);
    at(first).written = "ks::ref(" + at(first).written;
    at(end).written = " + (";
    at(after - 1).written = "))";
  }

  void named(std::size_t i) {
    if (at(i - 1).is(".") || at(i - 1).is("->") || at(i - 1).is("::") || at(i - 1).is_identifier())
      if (!at(i - 1).is("return")) return;
    // float4* name[2]: another one of a name that is known.
    if (at(i - 1).is("*") && is_vector(at(i - 2).spelling)) return;
    wrap(i, i + 1);
  }

  /// reinterpret_cast<float4*>(e)
  void cast(std::size_t i) {
    const std::size_t angle = source_.after_angle(i + 1);
    if (angle == i + 1 || !at(angle - 2).is("*") || !at(angle).is("(")) return;
    wrap(i, source_.after_closing(angle));
  }

  Source& source_;
  const Scopes& scopes_;
  std::set<std::string> names_;
};

}  // namespace

void check_vectors(Source& source, const Scopes& scopes) { Aligner(source, scopes).run(); }

}  // namespace ksearch::simt::cuda
