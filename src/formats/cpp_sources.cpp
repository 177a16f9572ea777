#include "formats/cpp_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ksearch::formats {
namespace {

/// "  #  include  <x>" -> "include", rest "<x>"; empty for other lines.
std::pair<std::string, std::string> directive(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line[at] != '#') return {};
  at = line.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos) return {};
  const std::size_t end = std::min(line.find_first_of(" \t<\"(", at), line.size());
  const std::size_t rest = std::min(line.find_first_not_of(" \t", end), line.size());
  return {line.substr(at, end - at), line.substr(rest)};
}

bool is_header(const std::string& path) {
  return path.ends_with(".h") || path.ends_with(".hpp") || path.ends_with(".inc");
}

/// `extern "C" void k(...)` becomes static, so that copies and the user's names do not meet; a
/// block `extern "C" {` becomes an unnamed namespace.
std::string without_linkage(const std::string& line) {
  static constexpr std::string_view kLinkage = "extern \"C\"";
  const std::size_t at = line.find(kLinkage);
  if (at == std::string::npos) return line;
  const std::size_t after = line.find_first_not_of(" \t", at + kLinkage.size());
  const bool block = after != std::string::npos && line[after] == '{';
  return line.substr(0, at) + (block ? "namespace" : "static") + line.substr(at + kLinkage.size());
}

class Hoister {
 public:
  explicit Hoister(const kernel::Program& program) : program_(program) {}

  HoistedSource take() {
    for (const kernel::Source& source : program_.sources)
      if (!is_header(source.path)) add(source);
    return std::move(out_);
  }

 private:
  void add(const kernel::Source& source) {
    std::istringstream lines(source.text);
    for (std::string line; std::getline(lines, line);) {
      const auto [what, rest] = directive(line);
      if (what == "include") {
        add_include(rest);
        continue;
      }
      if (what == "pragma" && rest.starts_with("once")) continue;
      if (what == "define") out_.macros.insert(rest.substr(0, rest.find_first_of(" \t(")));
      out_.body += without_linkage(line) + "\n";
    }
  }
  void add_include(const std::string& rest) {
    const std::size_t end = rest.find_first_of(">\"", 1);
    const std::string quoted = rest.substr(0, end == std::string::npos ? end : end + 1);
    if (!quoted.starts_with('"')) {
      out_.includes.insert(quoted);
      return;
    }
    const std::string path = quoted.substr(1, quoted.size() - 2);
    for (const kernel::Source& source : program_.sources)
      if (source.path == path || source.path.ends_with("/" + path)) {
        if (inlined_.insert(source.path).second) add(source);
        return;
      }
    // ksearch_kernel.h is in every export; nothing else can be included by quotes.
  }

  const kernel::Program& program_;
  std::set<std::string> inlined_;
  HoistedSource out_;
};

}  // namespace

HoistedSource hoist(const kernel::Program& program) { return Hoister(program).take(); }

std::string include_line(const std::string& include) {
  static constexpr std::pair<std::string_view, std::string_view> kConditions[] = {
      {"<immintrin.h>", "defined(__x86_64__) || defined(__i386__)"},
      {"<x86intrin.h>", "defined(__x86_64__) || defined(__i386__)"},
      {"<arm_neon.h>", "defined(__ARM_NEON)"},
      {"<arm_sve.h>", "defined(__ARM_FEATURE_SVE)"}};
  for (const auto& [header, condition] : kConditions)
    if (include == header) return fmt::format("#if {}\n#include {}\n#endif\n", condition, include);
  return fmt::format("#include {}\n", include);
}

std::string source_copy(const HoistedSource& source, const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& defines) {
  std::string out;
  for (const auto& [macro, value] : defines) out += fmt::format("#define {} {}\n", macro, value);
  out += fmt::format("namespace {} {{\n{}}}  // namespace {}\n", name, source.body, name);
  std::set<std::string> macros = source.macros;
  for (const auto& [macro, value] : defines) macros.insert(macro);
  for (const std::string& macro : macros) out += fmt::format("#undef {}\n", macro);
  return out;
}

std::string without_head(std::string_view text) {
  if (const std::size_t begin = text.find("// begin\n"); begin != text.npos) {
    const std::size_t start = begin + std::string_view("// begin\n").size();
    return std::string(text.substr(start, text.find("// end", start) - start));
  }
  std::istringstream lines{std::string(text)};
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const auto [what, rest] = directive(line);
    if (what == "include" || (what == "pragma" && rest.starts_with("once"))) continue;
    out += line + "\n";
  }
  return out;
}

}  // namespace ksearch::formats
