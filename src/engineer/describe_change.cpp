// One program as changes to another: a unified diff of each file and of the plan.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engineer/describe.h"

namespace ksearch::engineer {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

struct Edit {
  char mark;  ///< ' ', '-' or '+'
  std::string_view line;
};

/// By the longest common subsequence between what both begin and end with. Nothing where that takes
/// long: then the programs have little in common.
std::optional<std::vector<Edit>> edits_of(const Lines& from, const Lines& to) {
  constexpr std::size_t kMostCells = 1u << 18;
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(from.size(), to.size());
  while (head < shorter && from[head] == to[head]) ++head;
  while (tail < shorter - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail]) ++tail;
  const std::size_t n = from.size() - head - tail, m = to.size() - head - tail;
  if ((n + 1) * (m + 1) > kMostCells) return std::nullopt;
  // common[i][j]: of from[head + i ..] and to[head + j ..]
  std::vector<std::uint32_t> common((n + 1) * (m + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (m + 1) + j];
  };
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      at(i, j) = from[head + i] == to[head + j] ? at(i + 1, j + 1) + 1
                                                : std::max(at(i + 1, j), at(i, j + 1));
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', from[i]});
  for (std::size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && from[head + i] == to[head + j]) {
      edits.push_back({' ', from[head + i]});
      ++i, ++j;
    } else if (j == m || (i < n && at(i + 1, j) >= at(i, j + 1))) {
      edits.push_back({'-', from[head + i++]});
    } else {
      edits.push_back({'+', to[head + j++]});
    }
  }
  for (std::size_t i = from.size() - tail; i < from.size(); ++i) edits.push_back({' ', from[i]});
  return edits;
}

/// Changed lines with two lines around them; "@@ N @@" is the line of `to` that follows.
std::string hunks(const std::vector<Edit>& edits) {
  constexpr std::size_t kAround = 2;
  std::vector<bool> shown(edits.size(), false);
  for (std::size_t i = 0; i < edits.size(); ++i)
    if (edits[i].mark != ' ')
      for (std::size_t k = i - std::min(i, kAround); k <= std::min(i + kAround, edits.size() - 1);
           ++k)
        shown[k] = true;
  std::string text;
  std::size_t line = 1;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (shown[i] && (i == 0 || !shown[i - 1])) text += fmt::format("@@ {} @@\n", line);
    if (shown[i]) text += fmt::format("{}{}\n", edits[i].mark, edits[i].line);
    line += edits[i].mark != '-';
  }
  return text;
}

/// Nothing where the two have little in common.
std::optional<std::string> change(const std::string& name, std::string_view from,
                                  std::string_view to) {
  if (from == to) return name + ": unchanged\n\n";
  const auto edits = edits_of(lines_of(from), lines_of(to));
  if (!edits) return std::nullopt;
  const std::string text = hunks(*edits);
  const std::string fence = fence_for(text);
  return fmt::format("{}diff {}\n{}{}\n\n", fence, name, text, fence);
}

}  // namespace

std::optional<std::string> describe_change(const kernel::Program& from, const kernel::Program& to) {
  std::map<std::string, std::pair<std::string_view, std::string_view>> files;
  for (const kernel::Source& source : from.sources) files[source.path].first = source.text;
  for (const kernel::Source& source : to.sources) files[source.path].second = source.text;
  std::string text;
  for (const auto& [path, both] : files) {
    const auto file = change(path, both.first, both.second);
    if (!file) return std::nullopt;
    text += *file;
  }
  const auto plan = change("plan", plan_text(from), plan_text(to));
  if (!plan) return std::nullopt;
  text += *plan;
  if (2 * text.size() > describe(to).size()) return std::nullopt;
  return text;
}

}  // namespace ksearch::engineer
