#include "evaluate/diagnose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace ksearch::evaluate {
namespace {

std::vector<std::int64_t> index_of(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = rest % shape[d];
    rest /= shape[d];
  }
  return index;
}

std::string element(const Mismatch& m, std::size_t i) {
  const std::string at =
      m.shape.empty() ? "" : fmt::format("[{}]", fmt::join(index_of(i, m.shape), ", "));
  return fmt::format("{}{} is {:.6g}, wanted {:.6g}", m.name, at, m.got[i], m.want[i]);
}

/// All values the same, or none written.
std::optional<std::string> constant(const Mismatch& m) {
  const auto n = static_cast<std::int64_t>(m.got.size());
  if (m.unwritten == n) return "no element was written";
  if (m.unwritten > 0) return std::nullopt;
  const double first = m.got[0];
  if (n < 2) return std::nullopt;
  if (std::isnan(first)) {
    if (std::ranges::all_of(m.got, [](double g) { return std::isnan(g); }))
      return "every element is NaN";
    return std::nullopt;
  }
  if (!std::ranges::all_of(m.got, [&](double g) { return g == first; })) return std::nullopt;
  return first == 0 ? "every element is zero" : fmt::format("every element is {:.6g}", first);
}

/// Every value the wanted one times a factor.
std::optional<std::string> scaled(const Mismatch& m) {
  double gw = 0, ww = 0, gg = 0;
  for (std::size_t i = 0; i < m.got.size(); ++i) {
    gw += m.got[i] * m.want[i];
    ww += m.want[i] * m.want[i];
    gg += m.got[i] * m.got[i];
  }
  if (!(ww > 0) || !(gg > 0) || m.got.size() < 8) return std::nullopt;
  const double factor = gw / ww;
  const double left = std::sqrt(std::max(0.0, gg - factor * gw) / gg);
  if (left > 1e-4 || std::abs(factor - 1) < 1e-3) return std::nullopt;
  return fmt::format("every element is {:.5g} times what is wanted", factor);
}

/// The last two dimensions exchanged.
std::optional<std::string> transposed(const Mismatch& m) {
  if (m.shape.size() < 2) return std::nullopt;
  const auto rows = static_cast<std::size_t>(m.shape[m.shape.size() - 2]);
  const auto cols = static_cast<std::size_t>(m.shape[m.shape.size() - 1]);
  if (rows < 2 || cols < 2 || rows * cols < 6) return std::nullopt;
  double errors = 0, squares = 0;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) {
      const double e = m.got[c * rows + r] - m.want[r * cols + c];
      errors += e * e;
      squares += m.want[r * cols + c] * m.want[r * cols + c];
    }
  if (!(errors <= 1e-4 * squares)) return std::nullopt;
  return "it looks like the transpose of what is wanted";
}

/// Where along one dimension the wrong elements lie, if they leave a part of it alone.
std::optional<std::string> along(const Mismatch& m, std::size_t dimension) {
  const std::int64_t size = m.shape[dimension];
  if (size < 2) return std::nullopt;
  std::int64_t inner = 1;
  for (std::size_t d = dimension + 1; d < m.shape.size(); ++d) inner *= m.shape[d];
  std::vector<bool> hit(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < m.wrong.size(); ++i)
    if (m.wrong[i])
      hit[static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % size)] = true;
  const auto hits = std::ranges::count(hit, true);
  if (hits == 0 || hits == size) return std::nullopt;
  const std::int64_t first = std::ranges::find(hit, true) - hit.begin();
  const std::int64_t last = size - 1 - (std::find(hit.rbegin(), hit.rend(), true) - hit.rbegin());
  const std::string name = dimension < m.axes.size() ? m.axes[dimension] : "";
  const std::string what =
      fmt::format("index {}{}", dimension, name.empty() ? "" : " (" + name + ")");
  if (hits != last - first + 1) {
    const std::int64_t step = hits > 1 ? (last - first) / (hits - 1) : 0;
    bool regular = hits > 1 && (last - first) % (hits - 1) == 0;
    for (std::int64_t i = 0; regular && i < hits; ++i)
      regular = hit[static_cast<std::size_t>(first + i * step)];
    if (!regular) return fmt::format("{} takes {} of its {} values", what, hits, size);
    return hits == 2
               ? fmt::format("{} is {} or {}", what, first, last)
               : fmt::format("{} is {}, {} and so on up to {}", what, first, first + step, last);
  }
  if (first == last) return fmt::format("{} is {}", what, first);
  if (last == size - 1) return fmt::format("{} is {} or more", what, first);
  if (first == 0) return fmt::format("{} is below {}", what, last + 1);
  return fmt::format("{} is {} to {}", what, first, last);
}

std::string extent(const Mismatch& m) {
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < m.shape.size(); ++d)
    if (auto part = along(m, d)) parts.push_back(std::move(*part));
  return parts.empty() ? "" : fmt::format(", all of them where {}", fmt::join(parts, " and "));
}

/// Errors of the size that arithmetic in a smaller type leaves.
std::string precision(const Mismatch& m) {
  if (!(m.error > 5e-5 && m.error < 2e-2)) return {};
  return m.error < 1.5e-3
             ? "; every value is near: the error is of the size of float16 arithmetic"
             : "; every value is near: the error is of the size of bfloat16 arithmetic";
}

}  // namespace

std::string diagnose(const Mismatch& m) {
  const auto wrong = std::ranges::count(m.wrong, true);
  std::size_t first = static_cast<std::size_t>(std::ranges::find(m.wrong, true) - m.wrong.begin());
  if (first == m.wrong.size()) first = 0;
  std::string text = element(m, first);
  std::optional<std::string> pattern = constant(m);
  if (!pattern) pattern = scaled(m);
  if (!pattern) pattern = transposed(m);
  if (pattern) {
    text += "; " + *pattern;
  } else {
    text += fmt::format("; {} of {} elements are wrong{}", wrong, m.got.size(), extent(m));
    if (m.unwritten > 0) text += fmt::format("; {} were never written", m.unwritten);
    text += precision(m);
  }
  return text + "; " + m.rule;
}

}  // namespace ksearch::evaluate
