// Errors as values: what went wrong outside the program, where, and what to do about it.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace ksearch::base {

/// Who has to act on an error; `cli` turns it into an exit code.
enum class ErrorKind {
  usage,        ///< a flag, a name, a file of the user's: exit code 2
  environment,  ///< missing compiler, device, permission, disk: exit code 3
  internal,     ///< should not happen: exit code 4
};

/// `where` names the place (file:line, JSON path, flag), `what` the fault, `todo` the way out.
struct Error {
  ErrorKind kind = ErrorKind::usage;
  std::string where;
  std::string what;
  std::string todo = {};

  /// "where: what (todo)", parts that are empty left out.
  std::string text() const;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> usage_error(std::string where, std::string what,
                                          std::string todo = {}) {
  return std::unexpected(
      Error{ErrorKind::usage, std::move(where), std::move(what), std::move(todo)});
}

inline std::unexpected<Error> environment_error(std::string where, std::string what,
                                                std::string todo = {}) {
  return std::unexpected(
      Error{ErrorKind::environment, std::move(where), std::move(what), std::move(todo)});
}

inline std::unexpected<Error> internal_error(std::string where, std::string what) {
  return std::unexpected(Error{ErrorKind::internal, std::move(where), std::move(what), {}});
}

}  // namespace ksearch::base

/// `KS_TRY(auto x, f())`: x is the value, or the calling function returns the error.
#define KS_TRY_CAT2(a, b) a##b
#define KS_TRY_CAT(a, b) KS_TRY_CAT2(a, b)
#define KS_TRY_IMPL(tmp, decl, ...)                         \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = std::move(tmp).value()
#define KS_TRY(decl, ...) KS_TRY_IMPL(KS_TRY_CAT(ks_try_, __LINE__), decl, __VA_ARGS__)

/// `KS_RETURN_IF_ERROR(f())`: for Result<void>; the calling function returns the error.
#define KS_RETURN_IF_ERROR(...)                                                 \
  do {                                                                          \
    if (auto ks_r = (__VA_ARGS__); !ks_r) return std::unexpected(ks_r.error()); \
  } while (0)
