#include "evaluate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "evaluate/diagnose.h"
#include "task/elements.h"
#include "task/inputs.h"

namespace ksearch::evaluate {
namespace {

using kernel::DType;
constexpr std::size_t kBlock = 4096;

/// Sums over all elements, taken in one pass. A pair that is equal, infinities too, is no error.
struct Sums {
  double error_squares = 0;
  double want_squares = 0;
  double worst = 0;
  std::int64_t not_numbers =
      0;  // got is NaN, or infinite where want is not, or the other way about
};

/// Calls f(first index, got values, want values) block by block.
template <class F>
void for_blocks(DType dtype, std::span<const std::byte> got, std::span<const double> want, F f) {
  std::array<double, kBlock> values;
  const std::size_t size = kernel::size_bytes(dtype);
  for (std::size_t at = 0; at < want.size(); at += kBlock) {
    const std::size_t n = std::min(kBlock, want.size() - at);
    task::to_doubles(dtype, got.subspan(at * size, n * size), std::span(values.data(), n));
    f(at, std::span<const double>(values.data(), n), want.subspan(at, n));
  }
}

Sums sum_up(DType dtype, std::span<const std::byte> got, std::span<const double> want) {
  Sums s;
  for_blocks(dtype, got, want,
             [&](std::size_t, std::span<const double> g, std::span<const double> w) {
               double errors = 0, wants = 0, worst = 0;
               std::int64_t odd = 0;
               for (std::size_t i = 0; i < g.size(); ++i) {
                 const double e = g[i] == w[i] ? 0.0 : g[i] - w[i];
                 const bool finite = std::abs(e) <= std::numeric_limits<double>::max();
                 odd += !finite;
                 errors += finite ? e * e : 0.0;
                 worst = std::max(worst, finite ? std::abs(e) : 0.0);
                 wants += std::abs(w[i]) <= std::numeric_limits<double>::max() ? w[i] * w[i] : 0.0;
               }
               s.error_squares += errors;
               s.want_squares += wants;
               s.worst = std::max(s.worst, worst);
               s.not_numbers += odd;
             });
  return s;
}

/// Which elements break a rule `allowed(want)`; the pass that only failures pay for.
template <class Allowed>
std::vector<bool> mark(DType dtype, std::span<const std::byte> got, std::span<const double> want,
                       Allowed allowed) {
  std::vector<bool> wrong(want.size());
  for_blocks(dtype, got, want,
             [&](std::size_t at, std::span<const double> g, std::span<const double> w) {
               for (std::size_t i = 0; i < g.size(); ++i)
                 wrong[at + i] = g[i] != w[i] && !(std::abs(g[i] - w[i]) <= allowed(w[i]));
             });
  return wrong;
}

std::int64_t count(const std::vector<bool>& wrong) {
  return std::count(wrong.begin(), wrong.end(), true);
}

Comparison failed(const OutputSpec& output, std::span<const std::byte> got,
                  std::span<const double> want, const Poison* poison, Comparison c,
                  const std::vector<bool>& wrong, std::string_view rule) {
  c.right = false;
  c.wrong = count(wrong);
  std::vector<double> values(want.size());
  task::to_doubles(output.shape.dtype, got, values);
  const std::int64_t unwritten = poison ? poison->left(output.shape.dtype, got) : 0;
  c.why = diagnose({.name = output.shape.name,
                    .shape = output.shape.shape,
                    .axes = output.axes,
                    .got = values,
                    .want = want,
                    .wrong = wrong,
                    .unwritten = unwritten,
                    .error = c.error,
                    .rule = std::string(rule)});
  return c;
}

Comparison by_relative_rms(const OutputSpec& output, std::span<const std::byte> got,
                           std::span<const double> want, const Poison* poison, double slack) {
  const DType dtype = output.shape.dtype;
  const Sums s = sum_up(dtype, got, want);
  const double rms = std::sqrt(s.want_squares / static_cast<double>(want.size()));
  const double relative = output.tolerance.relative_rms + slack;
  const double per_element = output.tolerance.element_factor * relative;
  Comparison c;
  c.tolerance = relative;
  if (s.not_numbers > 0)
    c.error = std::numeric_limits<double>::quiet_NaN();
  else if (s.error_squares == 0)
    c.error = 0;
  else
    c.error =
        std::sqrt(s.error_squares / s.want_squares);  // infinite where all wanted values are 0
  if (c.error <= relative && s.worst <= per_element * rms) {
    c.right = true;
    return c;
  }
  auto wrong = mark(dtype, got, want, [&](double w) { return per_element * (std::abs(w) + rms); });
  if (count(wrong) == 0 && c.error <= relative) {
    c.right = true;
    return c;
  }
  if (count(wrong) == 0)  // a small error everywhere: show where it is above its share
    wrong = mark(dtype, got, want, [&](double w) { return relative * (std::abs(w) + rms); });
  return failed(output, got, want, poison, c, wrong,
                fmt::format("relative rms error {:.2g}, {:.2g} is allowed", c.error, relative));
}

/// A definition's own rtol and atol: enough elements within |got - want| <= atol + rtol |want|.
Comparison by_elements(const OutputSpec& output, std::span<const std::byte> got,
                       std::span<const double> want, const Poison* poison, double slack) {
  const double rtol = output.tolerance.rtol.value_or(0) + slack,
               atol = output.tolerance.atol.value_or(0);
  const auto wrong =
      mark(output.shape.dtype, got, want, [&](double w) { return atol + rtol * std::abs(w); });
  const auto n = static_cast<double>(want.size());
  Comparison c;
  c.wrong = count(wrong);
  c.tolerance = 1 - output.tolerance.required_match;
  c.error = static_cast<double>(c.wrong) / n;
  const Sums s = sum_up(output.shape.dtype, got, want);
  c.right = c.error <= c.tolerance && s.not_numbers == 0;
  if (c.right) return c;
  return failed(
      output, got, want, poison, c, wrong,
      fmt::format("{:.4g}% of the elements are within {:.2g} + {:.2g} |wanted|, {:.4g}% must be",
                  100 * (1 - c.error), atol, rtol, 100 * output.tolerance.required_match));
}

Comparison exactly(const OutputSpec& output, std::span<const std::byte> got,
                   std::span<const double> want, const Poison* poison) {
  const auto wrong = mark(output.shape.dtype, got, want, [](double) { return 0.0; });
  Comparison c;
  c.wrong = count(wrong);
  c.error = static_cast<double>(c.wrong) / static_cast<double>(want.size());
  c.right = c.wrong == 0;
  if (c.right) return c;
  return failed(output, got, want, poison, c, wrong, "every element must be equal");
}

template <class Word>
void fill_words(Word word, std::span<std::byte> out) {
  for (std::size_t at = 0; at + sizeof word <= out.size(); at += sizeof word)
    std::memcpy(out.data() + at, &word, sizeof word);
}

template <class Word>
std::int64_t count_words(Word word, std::span<const std::byte> out) {
  std::int64_t found = 0;
  for (std::size_t at = 0; at + sizeof word <= out.size(); at += sizeof word) {
    Word w;
    std::memcpy(&w, out.data() + at, sizeof w);
    found += w == word;
  }
  return found;
}

/// Quiet NaNs with a payload and sign from the secret, or the secret itself.
template <class F>
auto with_poison_word(std::uint64_t bits, DType dtype, F f) {
  switch (dtype) {
    case DType::float64:
      return f(std::uint64_t{0x7ff8000000000000u} | (bits & 0x8007ffffffffffffu));
    case DType::float32:
      return f(std::uint32_t{0x7fc00000u} | (static_cast<std::uint32_t>(bits) & 0x803fffffu));
    case DType::float16:
      return f(static_cast<std::uint16_t>(0x7e00u | (bits & 0x81ffu)));
    case DType::bfloat16:
      return f(static_cast<std::uint16_t>(0x7fc0u | (bits & 0x803fu)));
    default:
      break;
  }
  switch (kernel::size_bytes(dtype)) {
    case 8:
      return f(bits);
    case 4:
      return f(static_cast<std::uint32_t>(bits));
    case 2:
      return f(static_cast<std::uint16_t>(bits));
    default:
      return f(static_cast<std::uint8_t>(dtype == DType::boolean ? bits & 1 : bits));
  }
}

}  // namespace

void Poison::fill(DType dtype, std::span<std::byte> out) const {
  with_poison_word(bits, dtype, [&](auto word) {
    fill_words(word, out);
    return 0;
  });
}

std::int64_t Poison::left(DType dtype, std::span<const std::byte> out) const {
  if (!kernel::is_float(dtype) && kernel::size_bytes(dtype) < 4) return 0;
  return with_poison_word(bits, dtype, [&](auto word) { return count_words(word, out); });
}

std::vector<OutputSpec> outputs_of(const kernel::Definition& definition,
                                   const std::vector<kernel::TensorShape>& tensors) {
  std::vector<OutputSpec> outputs;
  for (const kernel::TensorShape& t : tensors) {
    if (t.access == kernel::Access::in) continue;
    const kernel::TensorSpec* spec = definition.tensor(t.name);
    KS_CHECK(spec, "tensors are the definition's");
    OutputSpec o{
        t, {}, spec->compare, spec->tolerance.value_or(kernel::default_tolerance(t.dtype))};
    for (const kernel::Expr& size : spec->shape) o.axes.push_back(size.text());
    if (!kernel::is_float(t.dtype) && !spec->tolerance) o.compare = kernel::Compare::exact;
    outputs.push_back(std::move(o));
  }
  return outputs;
}

Comparison compare(const OutputSpec& output, std::span<const std::byte> got,
                   std::span<const double> want, const Poison* poison, double slack) {
  KS_CHECK(got.size() == output.shape.bytes(), "the whole output is compared");
  KS_CHECK(want.size() == static_cast<std::size_t>(output.shape.elements()), "of the same size");
  if (output.compare == kernel::Compare::exact) return exactly(output, got, want, poison);
  KS_CHECK(output.compare == kernel::Compare::allclose,
           "topk_ties is refused when a session opens");
  if (output.tolerance.rtol || output.tolerance.atol)
    return by_elements(output, got, want, poison, slack);
  return by_relative_rms(output, got, want, poison, slack);
}

}  // namespace ksearch::evaluate
