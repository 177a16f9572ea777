// A step of an evaluation that may end it: with a verdict on the program, or because the
// environment failed and nobody is to blame.
#pragma once

#include <expected>
#include <utility>
#include <variant>

#include "kernel/outcome.h"

namespace ksearch::evaluate {

using Failure = std::variant<kernel::Verdict, kernel::Lost>;
template <class T>
using Tried = std::expected<T, Failure>;

inline std::unexpected<Failure> verdict(kernel::Verdict v) {
  return std::unexpected(Failure(std::move(v)));
}
inline std::unexpected<Failure> lost(std::string reason) {
  return std::unexpected(Failure(kernel::Lost{std::move(reason)}));
}

/// One line for a note: the verdict's summary, or why it was lost.
std::string text(const Failure& failure);

}  // namespace ksearch::evaluate

/// `KS_TRIED(auto x, f())`: x is the value, or the calling function returns the failure.
#define KS_TRIED(decl, ...) KS_TRY_IMPL(KS_TRY_CAT(ks_tried_, __LINE__), decl, __VA_ARGS__)

/// The same for a step without a value.
#define KS_TRY_STEP(...)                                                                 \
  do {                                                                                   \
    if (auto ks_step = (__VA_ARGS__); !ks_step) return std::unexpected(ks_step.error()); \
  } while (0)
