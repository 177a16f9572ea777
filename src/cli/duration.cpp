#include "cli/duration.h"

#include <charconv>
#include <cstdint>

namespace ksearch::cli {

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  constexpr std::int64_t kYear = 366 * 86400;
  constexpr std::string_view kUnits = "hms";
  constexpr std::int64_t kSeconds[] = {3600, 60, 1};
  std::int64_t total = 0;
  std::size_t least_unit = 0;  // units come once each, the largest first
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0 || number > kYear) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    std::size_t unit = 2;
    if (!text.empty()) {
      unit = kUnits.find(text.front());
      text.remove_prefix(1);
    }
    if (unit == kUnits.npos || unit < least_unit) return std::nullopt;
    least_unit = unit + 1;
    total += number * kSeconds[unit];
  }
  if (total < 1 || total > kYear) return std::nullopt;
  return std::chrono::seconds(total);
}

}  // namespace ksearch::cli
