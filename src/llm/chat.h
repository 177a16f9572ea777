// One call of a language model as values, whatever the provider's wire format is.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace ksearch::llm {

struct Turn {
  enum class By { user, model };
  By by = By::user;
  std::string text;
};

struct Ask {
  std::string model;
  std::vector<Turn> turns;
  std::size_t shared = 0;  ///< bytes at the start of the first turn that other calls share
  int max_output = 0;      ///< tokens; 0: the server's own limit
  bool json = false;       ///< the answer is one JSON object: asked for where that can be
  bool stream = true;
};

/// As the provider counted them. `in` is all of the input; `cached` of it was read from the
/// provider's cache and `cache_written` of it was put there: both have prices of their own.
struct Tokens {
  std::int64_t in = 0, cached = 0, cache_written = 0, out = 0;
  bool operator==(const Tokens&) const = default;
};

/// What came back.
struct Said {
  enum class Stop {
    unknown,
    stop,
    max_tokens,  ///< cut at the limit of tokens
    declined,    ///< the model or a filter said no; `text` is what it said
  };
  std::string text;
  Stop stop = Stop::unknown;
  std::optional<Tokens> tokens;  ///< none where the server does not count
};
std::string_view name(Said::Stop stop);

/// Why no answer came.
struct Failure {
  enum class Kind {
    network,       ///< no connection, or it was cut
    timed_out,     ///< the first byte or the whole took too long
    busy,          ///< 429, overloaded: later
    server,        ///< 5xx, or an error in a body of status 200
    malformed,     ///< not what the format says: HTML, broken JSON, no choices
    empty,         ///< an answer without text
    parameter,     ///< one of the request's parameters is not known there; see `parameter`
    bad_request,   ///< anything else the server does not take
    context_full,  ///< the question is longer than the model's context
    declined,      ///< a filter of the provider's refuses the question
    denied,        ///< key missing, wrong, or without the right
    no_model,      ///< no such model or address
    quota,         ///< the account has nothing left
    other,         ///< no model's: a program that answers ended badly, a file cannot be read
    cancelled,     ///< by us
  };
  Kind kind = Kind::network;
  std::string message = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::string parameter = {};  ///< that the server cannot do with, or cannot do: "stream"
  /// Whether the same request may succeed later.
  bool passing() const { return kind <= Kind::empty; }
};
std::string_view name(Failure::Kind kind);

template <class T>
using Got = std::expected<T, Failure>;

}  // namespace ksearch::llm
