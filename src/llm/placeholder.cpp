#include "llm/placeholder.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ksearch::llm {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text, std::string_view what = kBlank) {
  const auto first = text.find_first_not_of(what);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(what) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool starts_with_dots(std::string_view text) {
  return text.starts_with("...") || text.starts_with("\xe2\x80\xa6");
}

/// The text of a comment that begins on this line, up to its end or the line's; empty: none.
std::string_view comment_of(std::string_view line) {
  const auto slashes = line.find("//");
  const auto block = line.find("/*");
  const auto at = std::min(slashes, block);
  if (at == std::string_view::npos) return {};
  std::string_view text = line.substr(at + 2);
  if (at == block) text = text.substr(0, text.find("*/"));
  return trimmed(text);
}

/// With dots in front, one of these says that code is meant.
constexpr std::array<std::string_view, 16> kWithDots{
    "unchanged", "rest",     "remaining", "existing", "same as", "as before",
    "omitted",   "previous", "original",  "code",     "snip",    "implementation",
    "helper",    "as above", "continue",  "elided"};
/// Without dots, these alone do.
constexpr std::array<std::string_view, 14> kAlone{
    "rest unchanged",           "rest of the code",
    "rest of the file",         "rest of the kernel",
    "rest of kernel",           "remains the same",
    "remain unchanged",         "remains unchanged",
    "omitted for brevity",      "existing code",
    "your code here",           "code goes here",
    "implementation goes here", "unchanged from the parent"};
/// A comment that is nothing else.
constexpr std::array<std::string_view, 6> kWhole{"unchanged",     "same as before", "as before",
                                                 "same as above", "omitted",        "snip"};

bool stands_for_code(std::string_view comment) {
  const std::string text = lower(comment);
  const auto contains = [&](std::string_view word) { return text.find(word) != text.npos; };
  if (starts_with_dots(text))
    return std::ranges::any_of(kWithDots, contains) || trimmed(text, ". \xe2\x80\xa6").empty();
  if (std::ranges::any_of(kAlone, contains)) return true;
  const std::string_view bare = trimmed(text, " .()[]<>\t-");
  return std::ranges::any_of(kWhole, [&](std::string_view word) { return bare == word; });
}

}  // namespace

std::optional<Placeholder> find_placeholder(std::string_view source) {
  std::size_t number = 0;
  std::string_view before;  // the last line that was not blank
  while (!source.empty()) {
    ++number;
    const auto end = source.find('\n');
    const std::string_view line = trimmed(source.substr(0, end));
    source = end == std::string_view::npos ? std::string_view() : source.substr(end + 1);
    if (line.empty()) continue;
    // A lone "..." is C's variadic parameter where a comma is before it.
    const bool lone_dots =
        starts_with_dots(line) && trimmed(line, ". \xe2\x80\xa6").empty() && !before.ends_with(',');
    const bool continued = line.starts_with("*") && starts_with_dots(trimmed(line, "* \t")) &&
                           stands_for_code(trimmed(line, "* \t"));
    if (lone_dots || continued || stands_for_code(comment_of(line)))
      return Placeholder{number, std::string(line)};
    before = line;
  }
  return std::nullopt;
}

}  // namespace ksearch::llm
