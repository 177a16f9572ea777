#include "target/cpu/static_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "target/cpu/cpp_lexer.h"

namespace ksearch::target {
namespace {
using Kind = CppToken::Kind;

constexpr std::string_view kAssembly[] = {"asm", "__asm", "__asm__"};
constexpr std::string_view kLookups[] = {"__has_include", "__has_include_next", "__has_embed"};
// What no kernel needs and a prototype of one's own would give. Only as a call.
constexpr std::string_view kSystem[] = {
    "syscall", "fork",   "vfork",     "clone",  "execve", "execv",  "execvp",         "system",
    "popen",   "dlopen", "dlsym",     "ptrace", "mmap",   "munmap", "mprotect",       "socket",
    "prctl",   "open",   "openat",    "fopen",  "_exit",  "exit",   "pthread_create", "sigaction",
    "usleep",  "sleep",  "nanosleep", "kill",   "raise"};
// First words of pragmas that only steer the compiler.
constexpr std::string_view kPragmas[] = {"once",
                                         "GCC optimize",
                                         "GCC target",
                                         "GCC push_options",
                                         "GCC pop_options",
                                         "GCC ivdep",
                                         "GCC unroll",
                                         "GCC diagnostic",
                                         "omp simd",
                                         "omp declare simd",
                                         "omp end declare",
                                         "clang loop",
                                         "clang fp",
                                         "clang diagnostic",
                                         "clang attribute",
                                         "STDC FP_CONTRACT",
                                         "unroll",
                                         "nounroll"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool allowed_pragma(const std::string& words) {
  return std::any_of(std::begin(kPragmas), std::end(kPragmas), [&](std::string_view p) {
    return words == p ||
           (words.starts_with(p) && (words[p.size()] == ' ' || words[p.size()] == '('));
  });
}

/// One source, from front to back; the first fault is the answer.
class Checker {
 public:
  Checker(const kernel::Source& source, const std::vector<kernel::Source>& all)
      : source_(source), all_(all), lexer_(source.text) {}

  std::optional<std::string> check() {
    if (const std::size_t at = source_.text.find('\0'); at != std::string::npos)
      return fault(1, "holds a zero byte");
    // C++17 took trigraphs away; some compiler modes still know them.
    for (const char* trigraph : {"?\?=", "?\?/"})
      if (source_.text.find(trigraph) != std::string::npos) return fault(1, "uses a trigraph");
    CppToken before;
    for (CppToken token = lexer_.next(); token.kind != Kind::end; token = lexer_.next()) {
      auto why =
          token.kind == Kind::hash && token.starts_line ? directive(token) : plain(token, before);
      if (why) return why;
      before = token;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> fault(int line, std::string_view what) const {
    return fmt::format("{}:{}: {}", source_.path, line, what);
  }

  std::optional<std::string> directive(const CppToken& hash) {
    const CppToken name = lexer_.next();
    if (name.kind == Kind::newline || name.kind == Kind::end) return std::nullopt;
    const std::string& d = name.spelling;
    if (d == "include") return include(hash.line);
    if (d == "include_next" || d == "import" || d == "embed")
      return fault(hash.line, fmt::format("#{} is not allowed", d));
    if (d == "pragma") return pragma(hash.line);
    if (d == "line" || name.kind == Kind::number) return line_marker(hash.line);
    return std::nullopt;  // its other tokens are checked like any
  }

  std::optional<std::string> include(int line) {
    const std::string name = lexer_.header_name();
    if (name.empty())
      return fault(line, "#include wants a name in <> or quotes: a macro is not allowed there");
    const std::string inner = name.substr(1, name.size() - 2);
    if (contains(allowed_headers(), inner)) return std::nullopt;
    const bool own =
        std::any_of(all_.begin(), all_.end(), [&](const auto& s) { return s.path == inner; });
    if (own && name[0] == '"') return std::nullopt;
    return fault(line,
                 fmt::format("includes {}, which is neither a source of the program nor a plain "
                             "header: no files, threads, clocks or system calls",
                             name));
  }

  /// To the end of the line.
  std::vector<CppToken> rest_of_line() {
    std::vector<CppToken> tokens;
    for (CppToken t = lexer_.next(); t.kind != Kind::newline && t.kind != Kind::end;
         t = lexer_.next())
      tokens.push_back(std::move(t));
    return tokens;
  }

  std::optional<std::string> pragma(int line) {
    std::string words;
    for (const CppToken& t : rest_of_line()) {
      if (t.kind == Kind::punctuation) break;
      words += (words.empty() ? "" : " ") + t.spelling;
    }
    return pragma_words(line, words);
  }

  std::optional<std::string> pragma_words(int line, const std::string& words) const {
    if (allowed_pragma(words)) return std::nullopt;
    return fault(line, fmt::format("#pragma {} is not allowed", words));
  }

  // A compiler quotes the line of the file that a marker names.
  std::optional<std::string> line_marker(int line) {
    for (const CppToken& t : rest_of_line())
      if (t.kind == Kind::text && t.spelling.find('/') != std::string::npos)
        return fault(line, "#line names a file in another folder");
    return std::nullopt;
  }

  std::optional<std::string> plain(const CppToken& token, const CppToken& before) {
    if (token.kind != Kind::identifier) return std::nullopt;
    const std::string& name = token.spelling;
    if (contains(kAssembly, name)) return fault(token.line, "inline assembly is not allowed");
    if (name == "section" || name == "__section__") return section(token);
    if (contains(kLookups, name)) return fault(token.line, fmt::format("{} is not allowed", name));
    if (name == "_Pragma") return pragma_operator(token.line);
    if ((name == "import" || name == "module") && token.starts_line)
      return fault(token.line, "modules are not allowed");
    const bool member = before.spelling == "." || before.spelling == "->";
    if (!member && contains(kSystem, name)) return system_call(token);
    return std::nullopt;
  }

  /// The name of a section goes into the assembly as it is.
  std::optional<std::string> section(const CppToken& token) {
    CppLexer ahead = lexer_;
    if (ahead.next().spelling != "(" || ahead.next().kind != Kind::text) return std::nullopt;
    return fault(token.line, "section attributes are not allowed");
  }

  std::optional<std::string> system_call(const CppToken& token) {
    if (CppLexer ahead = lexer_; ahead.next().spelling != "(") return std::nullopt;
    return fault(token.line, fmt::format("{}() is not for kernels: they compute, and nothing else",
                                         token.spelling));
  }

  std::optional<std::string> pragma_operator(int line) {
    lexer_.next();  // (
    const CppToken text = lexer_.next();
    if (text.kind != Kind::text) return fault(line, "_Pragma wants a string");
    std::string words;
    CppLexer inner(text.spelling);
    for (CppToken t = inner.next(); t.kind != Kind::end && t.kind != Kind::punctuation;
         t = inner.next())
      words += (words.empty() ? "" : " ") + t.spelling;
    return pragma_words(line, words);
  }

  const kernel::Source& source_;
  const std::vector<kernel::Source>& all_;
  CppLexer lexer_;
};

}  // namespace

std::optional<std::string> check_sources(const std::vector<kernel::Source>& sources) {
  for (const kernel::Source& source : sources)
    if (auto why = Checker(source, sources).check()) return why;
  return std::nullopt;
}

const std::vector<std::string>& allowed_headers() {
  static const std::vector<std::string> headers = {
      "ksearch_kernel.h",
      // Freestanding and plain standard headers: values, mathematics, algorithms, containers.
      "algorithm", "array", "bit", "cassert", "cfloat", "ciso646", "climits", "cmath", "compare",
      "complex", "concepts", "cstddef", "cstdint", "cstdlib", "cstring", "functional",
      "initializer_list", "iterator", "limits", "memory", "new", "numbers", "numeric", "optional",
      "span", "string_view", "tuple", "type_traits", "utility", "variant", "vector", "version",
      "assert.h", "float.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h",
      "string.h", "experimental/simd",
      // Intrinsics.
      "immintrin.h", "x86intrin.h", "emmintrin.h", "xmmintrin.h", "pmmintrin.h", "tmmintrin.h",
      "smmintrin.h", "nmmintrin.h", "arm_neon.h", "arm_bf16.h", "arm_fp16.h", "arm_sve.h"};
  return headers;
}

}  // namespace ksearch::target
