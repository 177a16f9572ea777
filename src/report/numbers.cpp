#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ksearch::report {
namespace {

/// Digits after the point that leave three figures.
int decimals(double value) { return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2; }

}  // namespace

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "?";
  return fmt::format("{:.{}f}x", ratio, decimals(ratio));
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto s = static_cast<std::int64_t>(std::max(0.0, seconds));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

std::string time_text(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) return "?";
  const double ns = nanoseconds;
  if (ns < 999.5) return fmt::format("{:.0f} ns", ns);
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  for (const Unit& unit : kUnits) {
    const double value = ns / unit.size;
    if (value >= 999.5 && unit.size < 1e9) continue;
    return fmt::format("{:.{}f} {}", value, decimals(value), unit.name);
  }
  return "?";
}

std::string percent_text(double fraction) { return fmt::format("{:.0f}%", fraction * 100); }

std::string bytes_text(double bytes) {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t i = 0;
  while (bytes >= 1024 && i < 3) {
    bytes /= 1024;
    ++i;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 && i > 0 ? 1 : 0, kNames[i]);
}

}  // namespace ksearch::report
