// The wire formats as tables of pure functions: request to JSON, JSON to reply. Nothing here knows
// of sockets, keys or retries.
//
//   Ask ──> request ──> (transport) ──> body ──> read_body | read_stream ──> Said | Failure
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "llm/chat.h"

namespace ksearch::llm {

/// What a provider or model wants otherwise than its format says; data (models.h).
struct Quirks {
  std::string max_tokens;    ///< member for the limit in "chat"; empty: max_tokens
  bool json = true;          ///< one JSON object can be asked for
  bool stream = true;        ///< it can stream
  bool stream_usage = true;  ///< counts of a stream have to be asked for, and may be
  bool cache_marks = true;   ///< where the shared part ends is marked (Anthropic)
  int max_output = 0;        ///< tokens the model can write at most; 0: unknown
  base::Json body;           ///< members laid over the request last: {"reasoning_effort": "low"}
};

/// A stream as far as it was read.
struct Streamed {
  Said said;
  bool ended = false;  ///< the format's own end was seen
  std::optional<Failure> failure;
};

struct Wire {
  std::string_view name;        ///< "chat", "responses", "messages"
  std::string_view path;        ///< below the base address
  std::string_view key_header;  ///< "Authorization: Bearer ", "x-api-key: "
  std::string_view more_header;
  base::Json (*request)(const Ask& ask, const Quirks& quirks);
  /// A whole reply without an error in it.
  Got<Said> (*reply)(const base::Json& json);
  /// One event of a stream.
  void (*event)(Streamed& so_far, const base::Json& data);
};

/// In the order of help texts: chat, responses, messages.
const std::vector<const Wire*>& wires();
const Wire* find_wire(std::string_view name);
/// BASE + path; "/v1" is put between where the base has no path of its own, and a base that ends
/// with the path already is taken as it is.
std::string address(const Wire& wire, std::string_view base);

/// Lower-case names.
using Headers = std::map<std::string, std::string, std::less<>>;

/// What a whole reply says, whatever its status; streams too.
Got<Said> read_reply(const Wire& wire, int status, const Headers& headers, std::string_view body);
/// A body of server-sent events. Ended by its connection before its time it is a network failure,
/// and `so_far` has what came.
Got<Said> read_stream(const Wire& wire, std::string_view body, Said* so_far = nullptr);

/// "7", "1.5", an HTTP date; also `retry-after-ms`. Nothing where neither is there or readable.
std::optional<std::chrono::milliseconds> retry_after(const Headers& headers,
                                                     std::chrono::system_clock::time_point now);

/// Shared by the formats. A string member, or empty.
std::string text_at(const base::Json& json, std::string_view key);
/// A count, or 0.
std::int64_t count_at(const base::Json& json, std::string_view key);
/// An object or list member, or null.
const base::Json& at(const base::Json& json, std::string_view key);
/// The error that a body holds: {"error": {...}} or {"error": "..."}; nothing where there is none.
std::optional<Failure> error_in(const base::Json& json, int status);

extern const Wire kOpenAiChat, kOpenAiResponses, kAnthropicMessages;

}  // namespace ksearch::llm
