#include "llm/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "llm/prompt.h"

namespace ksearch::llm {
namespace {

using Kind = Failure::Kind;
using std::chrono::milliseconds;

constexpr std::string_view kGoOn =
    "Your answer was cut off at the limit of tokens. Go on exactly where it ended, with the next "
    "character. Repeat nothing, explain nothing, open no new fence.";

/// An empty answer is paid for: not asked for as often as one that never came.
constexpr int kEmptyTries = 3;

Ask ask_of(const Inquiry& inquiry, const std::vector<std::string>& parts, const Endpoint& endpoint,
           int max_output) {
  Ask ask;
  ask.model = endpoint.model;
  ask.turns = {{Turn::By::user, inquiry.text}};
  ask.shared = inquiry.shared;
  ask.json = inquiry.json && parts.empty();
  ask.max_output = max_output;
  if (parts.empty()) return ask;
  ask.turns.push_back({Turn::By::model, stitched(parts)});
  ask.turns.push_back({Turn::By::user, std::string(kGoOn)});
  return ask;
}

Tokens estimate(const Ask& ask, const std::string& answer) {
  Tokens tokens;
  for (const Turn& turn : ask.turns) tokens.in += estimated_tokens(turn.text);
  tokens.out = estimated_tokens(answer);
  return tokens;
}

/// Members of `over` replace those of `json`; null takes one away.
void lay_over(base::Json& json, const base::Json& over) {
  if (!over.is_object()) return;
  for (const auto& [key, value] : over.items()) {
    if (value.is_null())
      json.erase(key);
    else
      json[key] = value;
  }
}

}  // namespace

std::string stitched(const std::vector<std::string>& parts) {
  constexpr std::size_t kLeast = 24, kMost = 4000;  // characters that are no chance repetition
  std::string text;
  for (const std::string& part : parts) {
    std::size_t overlap = std::min({text.size(), part.size(), kMost});
    while (overlap >= kLeast && text.compare(text.size() - overlap, overlap, part, 0, overlap) != 0)
      --overlap;
    text += overlap >= kLeast ? part.substr(overlap) : part;
  }
  return text;
}

bool Endpoint::is_same(const Endpoint& other) const {
  return model == other.model && base_url == other.base_url && wire == other.wire &&
         key == other.key;
}

Client::Client(Endpoint endpoint, Transport* transport, ClientOptions options)
    : endpoint_(std::move(endpoint)),
      transport_(transport),
      options_(std::move(options)),
      quirks_(endpoint_.quirks),
      random_(base::Random(options_.seed).fork("retries/" + endpoint_.model)) {}

Got<Said> Client::complete(const Inquiry& inquiry, std::vector<std::string> parts,
                           CallWatch& watch) {
  while (static_cast<int>(parts.size()) < options_.parts) {
    auto said = part(inquiry, parts, watch);
    if (!said) return said;
    parts.push_back(std::move(said->text));
    said->text = stitched(parts);
    if (said->stop != Said::Stop::max_tokens) return said;
  }
  return Said{stitched(parts), Said::Stop::max_tokens, {}};
}

Got<Said> Client::part(const Inquiry& inquiry, const std::vector<std::string>& parts,
                       CallWatch& watch) {
  int failed = 0, empty = 0;
  for (int number = 0;; ++number) {
    watch.begun(static_cast<int>(parts.size()), number);
    Call done = call(inquiry, parts);
    done.part = static_cast<int>(parts.size());
    done.number = number;
    watch.ended(done);
    if (!done.failure) return Said{std::move(done.text), done.stop, done.tokens};
    const Failure& failure = *done.failure;
    empty += failure.kind == Kind::empty;
    // A server's own failure may pass: twice in a row is no accident.
    const bool certain = failure.kind == Kind::parameter || ++failed > 1;
    if (certain && !failure.parameter.empty() && do_without(failure.parameter)) continue;
    if (!failure.passing() || failed >= options_.tries || empty >= kEmptyTries)
      return std::unexpected(failure);
    const milliseconds time = pause(failed, failure);
    if (time > options_.patience) return std::unexpected(failure);
    if (options_.say && time >= milliseconds(1000))
      options_.say(fmt::format("{}: {}; again in {:.0f} s", endpoint_.model, failure.message,
                               std::chrono::duration<double>(time).count()));
    wait(time);
    if (options_.cancelled && options_.cancelled())
      return std::unexpected(Failure{Kind::cancelled, "stopped"});
  }
}

Call Client::call(const Inquiry& inquiry, const std::vector<std::string>& parts) {
  const Quirks quirks = this->quirks();
  int max_output = options_.max_output > 0 ? options_.max_output : quirks.max_output;
  if (quirks.max_output > 0) max_output = std::min(max_output, quirks.max_output);
  Ask ask = ask_of(inquiry, parts, endpoint_, max_output);
  ask.stream = options_.stream && quirks.stream;
  base::Json json = endpoint_.wire->request(ask, quirks);
  lay_over(json, quirks.body);
  HttpRequest request{
      address(*endpoint_.wire, endpoint_.base_url),
      {"Content-Type: application/json", "Accept: application/json, text/event-stream",
       "Expect:", "User-Agent: ksearch"},
      base::to_line(json)};
  if (!endpoint_.wire->more_header.empty())
    request.headers.emplace_back(endpoint_.wire->more_header);
  if (!endpoint_.key.empty())
    request.headers.push_back(std::string(endpoint_.wire->key_header) + endpoint_.key);

  const auto began = std::chrono::steady_clock::now();
  const HttpReply reply = transport_->post(request, options_.limits, options_.cancelled);
  Call call;
  call.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  Said partial;
  Got<Said> said = [&]() -> Got<Said> {
    if (!reply.failure)
      return read_reply(*endpoint_.wire, reply.status / 100 == 2 ? 200 : reply.status,
                        reply.headers, reply.body);
    return std::unexpected(*reply.failure);
  }();
  if (!said) {
    call.failure = said.error();
    call.failure->message = without_key(std::move(call.failure->message));
    // What came of a stream was written by the model, and is paid for.
    (void)read_stream(*endpoint_.wire, reply.body, &partial);
    said = partial;
  }
  call.text = std::move(said->text);
  call.stop = said->stop;
  const bool paid = !call.failure || !call.text.empty() || said->tokens;
  call.estimated = paid && (!said->tokens || call.failure);
  if (said->tokens) call.tokens = *said->tokens;
  if (call.estimated) {
    const Tokens guess = estimate(ask, call.text);
    if (call.tokens.in == 0) call.tokens.in = guess.in;
    call.tokens.out = std::max(call.tokens.out, guess.out);
  }
  if (endpoint_.price) call.cost_usd = endpoint_.price->of(call.tokens);
  return call;
}

Quirks Client::quirks() const {
  const std::lock_guard lock(mutex_);
  return quirks_;
}

std::vector<std::string> Client::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

/// False where nothing is left to change.
bool Client::do_without(const std::string& parameter) {
  const std::lock_guard lock(mutex_);
  const auto seen = fmt::format("{} does not take {}: left out", endpoint_.model, parameter);
  if (std::ranges::find(notes_, seen) != notes_.end()) return false;
  if (parameter == "stream" && !options_.stream) return false;
  notes_.push_back(seen);
  if (parameter == "stream") {
    quirks_.stream = false;
  } else if (parameter == "stream_options") {
    quirks_.stream_usage = false;
  } else if (parameter == "response_format" || parameter == "text.format") {
    quirks_.json = false;
  } else if (parameter == "cache_control") {
    quirks_.cache_marks = false;
  } else if (parameter == "max_tokens") {
    quirks_.max_tokens = "max_completion_tokens";
  } else if (parameter == "max_completion_tokens") {
    quirks_.max_tokens = "max_tokens";
  } else {
    quirks_.body[parameter] = nullptr;
  }
  return true;
}

milliseconds Client::pause(int number, const Failure& failure) {
  double unit = 0;
  {
    const std::lock_guard lock(mutex_);
    unit = random_.unit();
  }
  const auto scaled = [](milliseconds time, double by) {
    return milliseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * by));
  };
  // A little more than asked for: those who were sent away together do not come back together.
  if (failure.retry_after) return scaled(*failure.retry_after, 1 + 0.1 * unit);
  const milliseconds time =
      std::min(options_.longest_wait, options_.first_wait * (1 << std::min(number - 1, 16)));
  return scaled(time, 0.5 + 0.5 * unit);
}

void Client::wait(milliseconds time) const {
  if (options_.wait) return options_.wait(time);
  const auto until = std::chrono::steady_clock::now() + time;
  constexpr milliseconds kSlice{100};
  while (std::chrono::steady_clock::now() < until) {
    if (options_.cancelled && options_.cancelled()) return;
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(kSlice, until - std::chrono::steady_clock::now()));
  }
}

/// Servers repeat keys in their messages.
std::string Client::without_key(std::string text) const {
  if (endpoint_.key.empty()) return text;
  for (std::size_t at = text.find(endpoint_.key); at != std::string::npos;
       at = text.find(endpoint_.key, at))
    text.replace(at, endpoint_.key.size(), "[key]");
  return text;
}

}  // namespace ksearch::llm
