#include "toolchain/diagnostics.h"

#include <algorithm>

namespace ksearch::toolchain {
namespace {

constexpr std::string_view kMore = "... (more follows)\n";

void take_out(std::string& text, std::string_view what) {
  if (what.empty()) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
    text.erase(at, what.size());
}

bool is_error(std::string_view line) {
  return line.find("error:") != std::string_view::npos ||
         line.find("undefined reference") != std::string_view::npos ||
         line.find("Error:") != std::string_view::npos;
}

/// Says by which way a file was included; the diagnostic that follows names the file itself.
bool is_include_trail(std::string_view line) {
  return line.starts_with("In file included from ") || line.starts_with("                 from ");
}

bool is_warning(std::string_view line) { return line.find(": warning:") != std::string_view::npos; }

/// A line that begins a diagnostic: "file:line:column: kind: ...".
bool begins(std::string_view line) {
  return is_error(line) || is_warning(line) || line.find(": note:") != std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || (u >= 0x20 && u != 0x7f)) result += c;
  }
  return result;
}

}  // namespace

std::string trim_log(std::string_view log, const std::vector<std::string>& folders,
                     std::size_t limit_bytes) {
  std::string text = printable(log);
  std::vector<std::string> longest_first = folders;
  std::sort(longest_first.begin(), longest_first.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& folder : longest_first) {
    take_out(text, folder + "/");
    take_out(text, folder);
  }
  std::string kept;
  bool in_warning = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    const std::string_view line(text.data() + at, end + 1 - at);
    at = end + 1;
    if (is_include_trail(line)) continue;
    if (begins(line)) in_warning = is_warning(line) || (in_warning && !is_error(line));
    if (in_warning) continue;
    if (kept.size() + line.size() + kMore.size() > limit_bytes) {
      kept += kMore;
      break;
    }
    kept += line;
  }
  while (!kept.empty() && kept.back() == '\n') kept.pop_back();
  return kept;
}

}  // namespace ksearch::toolchain
