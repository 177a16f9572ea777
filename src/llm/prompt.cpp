#include "llm/prompt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/check.h"

namespace ksearch::llm {
namespace {

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

/// Past the lines for editors.
std::size_t begin_of_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] == '%') {
    const auto end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

}  // namespace

base::Result<Prompt> Prompt::parse(std::string_view text, std::string_view where,
                                   const std::vector<std::string>& names) {
  Prompt prompt;
  std::set<std::string> used;
  std::size_t at = begin_of_text(text);
  while (at < text.size()) {
    const auto open = std::min(text.find("{{", at), text.size());
    if (open > at) prompt.parts_.push_back({std::string(text.substr(at, open - at)), {}, 0});
    if (open == text.size()) break;
    const std::string place = fmt::format("{}:{}", where, line_of(text, open));
    const auto close = text.find("}}", open);
    if (close == std::string_view::npos || close - open > 80)
      return base::usage_error(place, "{{ without }}",
                               "a placeholder is {{name}} or {{name:4000}}");
    std::string_view inner = text.substr(open + 2, close - open - 2);
    Part part;
    if (const auto colon = inner.find(':'); colon != std::string_view::npos) {
      const std::string_view digits = inner.substr(colon + 1);
      const auto read = std::from_chars(digits.begin(), digits.end(), part.budget);
      if (read.ec != std::errc() || read.ptr != digits.end() || part.budget < 200)
        return base::usage_error(place, fmt::format("\"{}\" is no budget", digits),
                                 "a number of characters, 200 or more");
      inner = inner.substr(0, colon);
    }
    part.name = std::string(inner);
    if (std::ranges::find(names, part.name) == names.end())
      return base::usage_error(place, fmt::format("there is no section \"{}\"", part.name),
                               fmt::format("sections here are {}", fmt::join(names, ", ")));
    used.insert(part.name);
    prompt.parts_.push_back(std::move(part));
    at = close + 2;
  }
  for (const std::string& name : names)
    if (!used.contains(name))
      return base::usage_error(std::string(where), fmt::format("{{{{{}}}}} is not used", name),
                               "every section has its place in the prompt");
  return prompt;
}

std::string Prompt::fill(const std::map<std::string, std::string>& values,
                         std::vector<Cut>* cuts) const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.name.empty()) {
      text += part.text;
      continue;
    }
    const auto value = values.find(part.name);
    KS_CHECK(value != values.end(), "every section of a prompt has a value");
    if (part.budget == 0) {
      text += value->second;
      continue;
    }
    std::size_t left_out = 0;
    text += cut_to(value->second, part.budget, &left_out);
    if (left_out > 0 && cuts) cuts->push_back({part.name, value->second.size(), left_out});
  }
  return text;
}

std::string cut_to(std::string_view text, std::size_t budget, std::size_t* left_out) {
  if (left_out) *left_out = 0;
  if (text.size() <= budget) return std::string(text);
  constexpr std::size_t kMarker = 100;  // the line below is never longer
  const std::size_t room = budget > kMarker ? budget - kMarker : 0;
  std::string_view head = text.substr(0, room * 2 / 3);
  if (const auto end = head.rfind('\n'); end != std::string_view::npos)
    head = head.substr(0, end + 1);
  std::string_view tail = text.substr(text.size() - room / 3);
  if (const auto begin = tail.find('\n'); begin != std::string_view::npos)
    tail = tail.substr(begin + 1);
  const std::size_t gone = text.size() - head.size() - tail.size();
  if (left_out) *left_out = gone;
  return fmt::format("{}{}[{} characters left out here: the section's budget is {}]\n{}", head,
                     head.empty() || head.ends_with('\n') ? "" : "\n", gone, budget, tail);
}

std::int64_t estimated_tokens(std::string_view text) {
  return static_cast<std::int64_t>((text.size() + 3) / 4);
}

}  // namespace ksearch::llm
