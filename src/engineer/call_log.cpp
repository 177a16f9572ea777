#include "engineer/call_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/counted.h"
#include "os/files.h"
#include "store/sealed_line.h"

namespace ksearch::engineer {
namespace {

using base::Json;

constexpr std::string_view kFormat = "ksearch.calls/2", kBareFormat = "ksearch.calls/1";

Json letter_json(const Letter& letter) {
  return {{"request", letter.request}, {"asked", letter.asked}, {"again", letter.again}};
}

Json key_json(const Letter& letter, int part, int number) {
  Json json = letter_json(letter);
  json["part"] = part;
  json["number"] = number;
  return json;
}

template <class Kind, class Name>
std::optional<Kind> named(const std::string& text, Kind last, Name name) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Kind>(i)) == text) return static_cast<Kind>(i);
  return std::nullopt;
}

Json failure_json(const llm::Failure& failure) {
  return {{"kind", llm::name(failure.kind)}, {"message", failure.message}};
}

llm::Failure parse_failure(base::ObjectReader& in, const Json& json) {
  base::ObjectReader f(json, in.place("failure"));
  const auto kind = named(f.text("kind"), llm::Failure::Kind::cancelled,
                          [](llm::Failure::Kind k) { return llm::name(k); });
  if (!kind) f.fault("kind", "is no kind of failure");
  llm::Failure failure{kind.value_or(llm::Failure::Kind::network), f.text("message")};
  in.keep(f);
  return failure;
}

Json ended_json(const Letter& letter, const llm::Call& call) {
  Json json = key_json(letter, call.part, call.number);
  json["seconds"] = call.seconds;
  if (!call.text.empty()) json["text"] = call.text;
  json["stop"] = llm::name(call.stop);
  json["tokens"] = {{"in", call.tokens.in},
                    {"cached", call.tokens.cached},
                    {"cache_written", call.tokens.cache_written},
                    {"out", call.tokens.out}};
  if (call.estimated) json["estimated"] = true;
  json["cost_usd"] = call.cost_usd;
  if (call.failure) json["failure"] = failure_json(*call.failure);
  return {{"ended", std::move(json)}};
}

base::Result<llm::Call> parse_ended(base::ObjectReader& in) {
  llm::Call call;
  call.part = static_cast<int>(in.integer("part"));
  call.number = static_cast<int>(in.integer("number"));
  call.seconds = in.number("seconds");
  call.text = in.text_or("text", "");
  const auto stop = named(in.text("stop"), llm::Said::Stop::declined,
                          [](llm::Said::Stop s) { return llm::name(s); });
  if (!stop) in.fault("stop", "is no reason to stop");
  call.stop = stop.value_or(llm::Said::Stop::unknown);
  base::ObjectReader tokens(in.object("tokens"), in.place("tokens"));
  call.tokens.in = tokens.integer("in");
  call.tokens.cached = tokens.integer("cached");
  call.tokens.cache_written = tokens.integer("cache_written");
  call.tokens.out = tokens.integer("out");
  in.keep(tokens);
  call.estimated = in.boolean_or("estimated", false);
  call.cost_usd = in.number("cost_usd");
  if (const Json* failure = in.optional_object("failure"))
    call.failure = parse_failure(in, *failure);
  return call;
}

}  // namespace

base::Result<std::unique_ptr<CallLog>> CallLog::open(const std::filesystem::path& path) {
  std::string text;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    KS_TRY(text, os::read_file(path));
  }
  std::unique_ptr<CallLog> log(new CallLog(path));
  KS_TRY(const std::size_t whole, log->take_all(text));
  const std::string head = log->text_of({{"format", kFormat}});
  // A first line that was cut off is written anew; more than that without an end is no torn line.
  if (whole == 0 && text.size() > head.size())
    return base::usage_error(path.string(), "it has no whole line: it is damaged",
                             "put a copy back, or move it away: what it held is asked for again");
  KS_TRY(log->file_, store::AppendFile::open(path, whole));
  if (whole == 0) KS_RETURN_IF_ERROR(log->file_->append(head));
  return log;
}

base::Result<std::unique_ptr<CallLog>> CallLog::read(const std::filesystem::path& path) {
  KS_TRY(const std::string text, os::read_file(path));
  std::unique_ptr<CallLog> log(new CallLog(path));
  KS_TRY(const std::size_t whole, log->take_all(text));
  log->torn_ = whole < text.size();
  return log;
}

base::Result<std::size_t> CallLog::take_all(std::string_view text) {
  const std::size_t whole = text.rfind('\n') + 1;  // 0 where there is none
  std::size_t number = 0;
  for (std::size_t at = 0; at < whole;) {
    const std::size_t end = text.find('\n', at);
    const std::string_view bytes = text.substr(at, end - at);
    const std::string where = fmt::format("{}:{}", path_.string(), ++number);
    at = end + 1;
    if (number == 1) sealed_ = bytes != base::to_line({{"format", kBareFormat}});
    KS_TRY(const Json line,
           sealed_ ? store::open_line(bytes, where) : base::parse_json(bytes, where));
    if (number > 1) {
      KS_RETURN_IF_ERROR(take(line, number, where));
    } else if (sealed_ && (!line.is_object() || line.value("format", "") != kFormat)) {
      return base::usage_error(where, "is no list of calls that this version reads");
    }
  }
  return whole;
}

std::string CallLog::text_of(const Json& line) const {
  return sealed_ ? store::sealed_line(line) : base::to_line(line) + "\n";
}

base::Result<void> CallLog::take(const Json& line, std::size_t number, const std::string& where) {
  base::ObjectReader in(line, where);
  const bool ended = in.has("ended"), given_up = in.has("gave_up");
  base::ObjectReader call(in.object(given_up ? "gave_up" : ended ? "ended" : "begun"), where);
  const auto request = static_cast<std::uint64_t>(call.integer("request"));
  const int again = static_cast<int>(call.integer("again"));
  LoggedCall logged;
  logged.asked = static_cast<int>(call.integer("asked"));
  logged.line = number;
  if (given_up) {
    LoggedLetter& letter = letters_[{request, again}];
    letter.given_up.push_back({logged.asked, call.text("prompt"),
                               parse_failure(call, call.object("failure")), letter.calls.size()});
    in.keep(call);
    return in.finish();
  }
  if (ended) {
    KS_TRY(llm::Call done, parse_ended(call));
    logged.part = done.part;
    logged.number = done.number;
    logged.ended = std::move(done);
  } else {
    logged.part = static_cast<int>(call.integer("part"));
    logged.number = static_cast<int>(call.integer("number"));
    logged.model = call.text("model");
    logged.prompt = call.text("prompt");
    logged.tokens_asked = call.integer("tokens");
    call.ignore("kind");
  }
  in.keep(call);
  KS_RETURN_IF_ERROR(in.finish());
  if (const LoggedCall* first = ended ? nullptr : begun_as(request, again, logged); first)
    return base::environment_error(
        where, fmt::format("damaged: the call of line {} begins a second time", first->line),
        "restore the file from a copy");
  if (!keep(request, again, std::move(logged)))
    return base::environment_error(where,
                                   "damaged: a call ends that has not begun, lines are missing",
                                   "restore the file from a copy");
  return {};
}

/// One with the same numbers, which no two calls of a letter have.
const LoggedCall* CallLog::begun_as(std::uint64_t request, int again,
                                    const LoggedCall& call) const {
  const auto letter = letters_.find({request, again});
  if (letter == letters_.end() || !sealed_) return nullptr;
  for (const LoggedCall& begun : letter->second.calls)
    if (begun.asked == call.asked && begun.part == call.part && begun.number == call.number)
      return &begun;
  return nullptr;
}

std::string CallLog::lacks(std::int64_t told) const {
  const std::lock_guard lock(mutex_);
  std::int64_t there = 0;
  for (const auto& [key, letter] : letters_) there += std::ssize(letter.calls);
  if (there >= told) return "";
  return fmt::format(
      "{} has {} of the {} that the run was told of: the answers that are missing are lost, and "
      "ksearch replay cannot repeat the run. What they came to is in the journal",
      path_.string(), there == 0 ? "none" : std::to_string(there), base::counted(told, "call"));
}

/// An end goes to its beginning, which has the same numbers and no end; false where there is none.
bool CallLog::keep(std::uint64_t request, int again, LoggedCall call) {
  std::vector<LoggedCall>& calls = letters_[{request, again}].calls;
  if (!call.ended) {
    calls.push_back(std::move(call));
    return true;
  }
  for (LoggedCall& begun : calls) {
    const bool same = !begun.ended && begun.asked == call.asked && begun.part == call.part &&
                      begun.number == call.number;
    if (!same) continue;
    begun.ended = std::move(call.ended);
    return true;
  }
  return false;
}

LoggedLetter CallLog::letter(std::uint64_t request, int again) const {
  const std::lock_guard lock(mutex_);
  const auto it = letters_.find({request, again});
  return it == letters_.end() ? LoggedLetter() : it->second;
}

base::Result<void> CallLog::begun(const Letter& letter, const LoggedCall& call) {
  Json json = key_json(letter, call.part, call.number);
  json["kind"] = letter.kind;
  json["model"] = call.model;
  json["prompt"] = call.prompt;
  json["tokens"] = call.tokens_asked;
  const std::lock_guard lock(mutex_);
  KS_CHECK(file_, "a list that was only read takes nothing");
  KS_RETURN_IF_ERROR(file_->append_later(text_of({{"begun", std::move(json)}})));
  keep(letter.request, letter.again, call);
  return {};
}

base::Result<void> CallLog::ended(const Letter& letter, const llm::Call& call) {
  const std::lock_guard lock(mutex_);
  LoggedCall logged;
  logged.asked = letter.asked;
  logged.part = call.part;
  logged.number = call.number;
  logged.ended = call;
  // Where its beginning could not be written, its end would have none.
  if (!keep(letter.request, letter.again, std::move(logged)))
    return base::environment_error(path_.string(), "the call's beginning is not in it");
  return file_->append(text_of(ended_json(letter, call)));
}

base::Result<void> CallLog::gave_up(const Letter& letter, const std::string& prompt,
                                    const llm::Failure& failure) {
  Json json = letter_json(letter);
  json["prompt"] = prompt;
  json["failure"] = failure_json(failure);
  const std::lock_guard lock(mutex_);
  LoggedLetter& logged = letters_[{letter.request, letter.again}];
  logged.given_up.push_back({letter.asked, prompt, failure, logged.calls.size()});
  KS_CHECK(file_, "a list that was only read takes nothing");
  return file_->append(text_of({{"gave_up", std::move(json)}}));
}

}  // namespace ksearch::engineer
