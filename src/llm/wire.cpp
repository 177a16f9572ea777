// What the formats share: addresses, errors in bodies and by status, streams.
#include "llm/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "llm/curl_library.h"
#include "llm/sse.h"

namespace ksearch::llm {
namespace {

using base::Json;
using Kind = Failure::Kind;

const Json kNull = nullptr;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return out;
}

bool says(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

/// The start of a body that is no JSON, on one line: "<html> <h1>Bad Gateway".
std::string glimpse(std::string_view body) {
  constexpr std::size_t kShown = 200;
  std::string text;
  for (const char c : body.substr(0, kShown)) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text;
}

/// Parameters that we send and a server may not know; the request does without them.
constexpr std::string_view kDispensable[] = {
    "stream_options", "response_format", "max_completion_tokens", "max_output_tokens",
    "cache_control",  "max_tokens",      "text.format",           "store"};

/// What an error is, by everything that servers say: status, code, type, message. Providers differ
/// in which of them can be trusted, so the most telling one decides.
Kind kind_of(int status, const std::string& text) {
  // Gemini says "exceeded your current quota" of limits a minute, too: that passes.
  if (says(text, {"insufficient_quota", "credit balance"})) return Kind::quota;
  if (says(text, {"context_length", "context length", "context window", "prompt is too long",
                  "context_window", "exceed_context_size", "too many tokens in the prompt",
                  "exceeds the maximum number of tokens"}))
    return Kind::context_full;
  if (says(text, {"content_filter", "content_policy", "content management policy"}))
    return Kind::declined;
  if (status == 401 || status == 403 ||
      says(text, {"authentication_error", "invalid_api_key", "permission_error"}))
    return Kind::denied;
  if (status == 404 || says(text, {"model_not_found", "not_found_error"})) return Kind::no_model;
  if (status == 429 || status == 529 || status == 409 || status == 425 ||
      says(text, {"rate_limit", "overloaded"}))
    return Kind::busy;
  if (status == 408) return Kind::timed_out;
  if (status == 413) return Kind::context_full;
  // 501 says that it will never do it.
  if (status == 501 || (status >= 400 && status < 500) || says(text, {"invalid_request_error"}))
    return Kind::bad_request;
  return Kind::server;
}

Failure failure_of(int status, const std::string& code, const std::string& type,
                   const std::string& parameter, const std::string& message) {
  const std::string all = lower(code + " " + type + " " + message);
  Failure failure{kind_of(status, all), message};
  if (failure.message.empty()) failure.message = code.empty() ? type : code;
  if (status != 200) failure.message = fmt::format("{} (status {})", failure.message, status);
  // "Error processing stream start"; not "upstream connect error".
  if (failure.kind == Kind::server && says(" " + all, {" stream"})) failure.parameter = "stream";
  if (failure.kind != Kind::bad_request) return failure;
  // Where the parameter is not named, the message names it: "Unsupported parameter: 'max_tokens'".
  const auto take = [&](auto&& named) {
    const auto it = std::ranges::find_if(kDispensable, named);
    if (it == std::end(kDispensable)) return false;
    failure.kind = Kind::parameter;
    failure.parameter = *it;
    return true;
  };
  if (!take([&](std::string_view name) { return parameter == name; }))
    take([&](std::string_view name) { return parameter.empty() && all.contains(name); });
  return failure;
}

}  // namespace

std::string_view name(Said::Stop stop) {
  constexpr std::string_view kNames[] = {"unknown", "stop", "max_tokens", "declined"};
  return kNames[static_cast<std::size_t>(stop)];
}

std::string_view name(Kind kind) {
  constexpr std::string_view kNames[] = {"network",      "timed_out", "busy",      "server",
                                         "malformed",    "empty",     "parameter", "bad_request",
                                         "context_full", "declined",  "denied",    "no_model",
                                         "quota",        "other",     "cancelled"};
  return kNames[static_cast<std::size_t>(kind)];
}

const std::vector<const Wire*>& wires() {
  static const std::vector<const Wire*> kWires{&kOpenAiChat, &kOpenAiResponses,
                                               &kAnthropicMessages};
  return kWires;
}

const Wire* find_wire(std::string_view name) {
  const auto it = std::ranges::find(wires(), name, [](const Wire* wire) { return wire->name; });
  return it == wires().end() ? nullptr : *it;
}

std::string address(const Wire& wire, std::string_view base) {
  while (base.ends_with('/')) base.remove_suffix(1);
  if (base.ends_with(wire.path)) return std::string(base);
  const std::size_t host = base.find("://");
  const bool bare = base.find('/', host == std::string_view::npos ? 0 : host + 3) == base.npos;
  return fmt::format("{}{}{}", base, bare ? "/v1" : "", wire.path);
}

std::string text_at(const Json& json, std::string_view key) {
  const Json& value = at(json, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t count_at(const Json& json, std::string_view key) {
  const Json& value = at(json, key);
  return value.is_number_integer() ? std::max<std::int64_t>(0, value.get<std::int64_t>()) : 0;
}

const Json& at(const Json& json, std::string_view key) {
  if (!json.is_object()) return kNull;
  const auto it = json.find(std::string(key));
  return it == json.end() ? kNull : *it;
}

std::optional<Failure> error_in(const Json& json, int status) {
  // {"type": "error", "message": ...} is how an event of a stream says it.
  const Json& error =
      at(json, "error").is_null() && text_at(json, "type") == "error" ? json : at(json, "error");
  if (error.is_null() || error == Json(false)) return std::nullopt;
  if (error.is_string()) return failure_of(status, "", "", "", error.get<std::string>());
  // A code may be a number: then it is the status that a proxy saw.
  const Json& code = at(error, "code");
  const bool numeric = code.is_number_integer() && status == 200;
  std::string message = text_at(error, "message");
  if (message.empty()) message = text_at(json, "message");
  return failure_of(numeric ? code.get<int>() : status, text_at(error, "code"),
                    text_at(error, "type"), text_at(error, "param"), message);
}

Got<Said> read_stream(const Wire& wire, std::string_view body, Said* so_far) {
  Streamed streamed;
  bool any = false;
  for (const std::string& data : sse_data(body)) {
    if (data == "[DONE]") {
      streamed.ended = any;
      break;
    }
    const auto json = base::parse_json(data, "event");
    if (!json) {
      streamed.failure =
          Failure{Kind::malformed, "an event of the stream is no JSON: " + glimpse(data)};
      break;
    }
    any = true;
    if (auto failure = error_in(*json, 200)) {
      streamed.failure = std::move(failure);
      break;
    }
    wire.event(streamed, *json);
    if (streamed.failure) break;
  }
  if (so_far) *so_far = streamed.said;
  if (streamed.failure) return std::unexpected(*streamed.failure);
  if (!any) return std::unexpected(Failure{Kind::malformed, "a stream without events"});
  if (!streamed.ended)
    return std::unexpected(
        Failure{Kind::network, fmt::format("the stream was cut after {} characters of the answer",
                                           streamed.said.text.size())});
  return streamed.said;
}

Got<Said> read_reply(const Wire& wire, int status, const Headers& headers, std::string_view body) {
  const auto type = headers.find("content-type");
  const bool stream = type != headers.end() && type->second.contains("event-stream");
  const auto said = [&]() -> Got<Said> {
    if (stream && status == 200) return read_stream(wire, body);
    const std::vector<std::string> events =
        body.starts_with("data:") ? sse_data(body) : std::vector<std::string>();
    const auto json =
        base::parse_json(events.empty() ? body : std::string_view(events.front()), "reply");
    if (!json) {
      if (status != 200) return std::unexpected(failure_of(status, "", "", "", glimpse(body)));
      return std::unexpected(Failure{Kind::malformed, "the reply is no JSON: " + glimpse(body)});
    }
    if (auto failure = error_in(*json, status)) return std::unexpected(std::move(*failure));
    if (status != 200)
      return std::unexpected(failure_of(status, "", "", "", glimpse(base::to_line(*json))));
    return wire.reply(*json);
  }();
  if (!said) {
    Failure failure = said.error();
    failure.retry_after = retry_after(headers, std::chrono::system_clock::now());
    return std::unexpected(std::move(failure));
  }
  if (said->text.find_first_not_of(" \t\r\n") == std::string::npos)
    return std::unexpected(Failure{
        Kind::empty, said->stop == Said::Stop::max_tokens
                         ? "the limit of tokens was reached before any text: raise "
                           "--max-output"
                         : fmt::format("the answer is empty (stop: {})", name(said->stop))});
  return said;
}

std::optional<std::chrono::milliseconds> retry_after(const Headers& headers,
                                                     std::chrono::system_clock::time_point now) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!std::isfinite(value) || value < 0 || value > 1e9) return std::nullopt;
    return value;
  };
  const auto milliseconds = [](double value) {
    return std::chrono::milliseconds(std::llround(value));
  };
  if (const auto it = headers.find("retry-after-ms"); it != headers.end())
    if (const auto value = number(it->second)) return milliseconds(*value);
  const auto it = headers.find("retry-after");
  if (it == headers.end()) return std::nullopt;
  if (const auto value = number(it->second)) return milliseconds(*value * 1000);
  const CurlLibrary* const library = CurlLibrary::find();
  const std::time_t date = library ? library->getdate(it->second.c_str(), nullptr) : -1;
  if (date < 0) return std::nullopt;
  const auto wait = std::chrono::system_clock::from_time_t(date) - now;
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::duration_cast<std::chrono::milliseconds>(wait));
}

}  // namespace ksearch::llm
