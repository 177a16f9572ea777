#include "engineer/model_correspondent.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "llm/prompt.h"

namespace ksearch::engineer {
namespace {

using Kind = llm::Failure::Kind;
using Stop = llm::Said::Stop;

/// What is known of a letter before it is asked.
struct Past {
  std::vector<std::string> parts;       ///< of the answer
  std::optional<llm::Said> answer;      ///< a whole one
  std::optional<llm::Failure> failure;  ///< this time it was given up
  std::optional<llm::Failure> stopped;  ///< and so it was by the user or the clock, for good
  Usage usage;                          ///< of calls that the search has not heard of
  int calls = 0;                        ///< how many of this letter were made, ever
};

void add(Usage& usage, const LoggedCall& call) {
  ++usage.calls;
  if (!call.ended) {  // whether it was paid for nobody knows
    usage.tokens_in += call.tokens_asked;
    usage.estimated = true;
    return;
  }
  usage.tokens_in += call.ended->tokens.in;
  usage.tokens_out += call.ended->tokens.out;
  usage.tokens_cached += call.ended->tokens.cached;
  usage.cost_usd += call.ended->cost_usd;
  usage.estimated = usage.estimated || call.ended->estimated;
}

/// A part that counts: an answer, or what had come of one when the user stopped the run.
bool is_part(const LoggedCall& call) {
  if (!call.ended || call.ended->text.empty()) return false;
  return !call.ended->failure || call.ended->failure->kind == Kind::cancelled;
}

/// Calls of later times are there where a run is replayed: they have not happened yet.
Past past_of(const LoggedLetter& logged, const Letter& letter, const std::string& prompt) {
  Past past;
  for (const GivenUp& end : logged.given_up) {
    if (end.asked != letter.asked || end.prompt != prompt) continue;
    if (end.failure.kind != Kind::cancelled)
      past.failure = end.failure;
    else if (end.calls == logged.calls.size())
      past.stopped = end.failure;
  }
  for (const LoggedCall& call : logged.calls) {
    if (call.asked > letter.asked) break;
    ++past.calls;
    if (call.asked == letter.asked) add(past.usage, call);
    if (call.prompt != prompt || past.answer || !is_part(call)) continue;
    if (call.part != static_cast<int>(past.parts.size())) continue;  // of a time before
    past.parts.push_back(call.ended->text);
    if (!call.ended->failure && call.ended->stop != Stop::max_tokens)
      past.answer = llm::Said{llm::stitched(past.parts), call.ended->stop, call.ended->tokens};
  }
  return past;
}

/// Writes each call down, and adds it up.
class Watch final : public llm::CallWatch {
 public:
  Watch(CallLog* log, const Letter& letter, const std::string& model, std::string prompt,
        int calls_before, Usage* usage)
      : log_(log), letter_(letter), offset_(calls_before), usage_(usage) {
    call_.asked = letter.asked;
    call_.model = model;
    call_.prompt = std::move(prompt);
    call_.tokens_asked = llm::estimated_tokens(letter.text);
  }

  void begun(int part, int number) override {
    call_.part = part;
    call_.number = offset_ + number;  // numbers of a part go on after a resumption
    if (log_) keep(log_->begun(letter_, call_));
  }
  void ended(const llm::Call& call) override {
    llm::Call numbered = call;
    numbered.number = call_.number;
    if (log_) keep(log_->ended(letter_, numbered));
    LoggedCall logged = call_;
    logged.ended = std::move(numbered);
    add(*usage_, logged);
  }
  const std::string& failure() const { return failure_; }

 private:
  void keep(base::Result<void> written) {
    if (!written && failure_.empty()) failure_ = written.error().text();
  }

  CallLog* log_;
  const Letter& letter_;
  int offset_;
  Usage* usage_;
  LoggedCall call_;
  std::string failure_;
};

decltype(LetterReply::what) reply_of(const llm::Said& said) {
  if (said.stop == Stop::declined)
    return Refused{fmt::format("the model declined: {}", said.text.substr(0, 500))};
  llm::RawReply raw{said.text};
  if (said.stop == Stop::stop) raw.stop = llm::RawReply::Stop::stop;
  if (said.stop == Stop::max_tokens) raw.stop = llm::RawReply::Stop::max_tokens;
  return raw;
}

decltype(LetterReply::what) reply_of(const llm::Failure& failure, const std::string& model) {
  const std::string why = fmt::format("{}: {}", model, failure.message);
  // The same question again is as long, and as empty.
  if (failure.kind == Kind::context_full || failure.kind == Kind::empty ||
      failure.kind == Kind::declined)
    return Refused{why};
  return Lost{why};
}

class ModelCorrespondent final : public Correspondent {
 public:
  ModelCorrespondent(llm::Client* client, CallLog* log) : client_(client), log_(log) {}
  std::string name() const override { return "llm:" + client_->endpoint().model; }

  LetterReply ask(const Letter& letter) override {
    const std::string& model = client_->endpoint().model;
    const std::string prompt = base::short_hash(letter.text);
    Past past;
    if (log_) past = past_of(log_->letter(letter.request, letter.again), letter, prompt);
    if (past.failure) return {reply_of(*past.failure, model), past.usage};
    if (past.answer) return {reply_of(*past.answer), past.usage};
    Watch watch(log_, letter, model, prompt, past.calls, &past.usage);
    const auto said =
        client_->complete({letter.text, letter.shared, letter.plan}, std::move(past.parts), watch);
    // Calls that cannot be written down would be paid for twice.
    if (!watch.failure().empty()) return {Lost{watch.failure()}, past.usage};
    if (said) return {reply_of(*said), past.usage};
    if (log_)
      if (auto kept = log_->gave_up(letter, prompt, said.error()); !kept)
        return {Lost{kept.error().text()}, past.usage};
    return {reply_of(said.error(), model), past.usage};
  }

 private:
  llm::Client* client_;
  CallLog* log_;
};

class RecordedCorrespondent final : public Correspondent {
 public:
  explicit RecordedCorrespondent(const CallLog* log) : log_(log) {}
  std::string name() const override { return "recorded"; }

  LetterReply ask(const Letter& letter) override {
    const LoggedLetter logged = log_->letter(letter.request, letter.again);
    const Past past = past_of(logged, letter, base::short_hash(letter.text));
    if (past.answer) return {reply_of(*past.answer), past.usage};
    for (const auto& failure : {past.failure, past.stopped})
      if (failure) return {reply_of(*failure, logged.calls.back().model), past.usage};
    // Cut at the limit of tokens in every part.
    if (!past.parts.empty())
      return {reply_of(llm::Said{llm::stitched(past.parts), Stop::max_tokens, {}}), past.usage};
    if (logged.calls.empty()) return {Lost{"no call of a model is recorded for this question"}};
    return {Lost{"the recorded calls are for another question: the prompt has changed"}};
  }

 private:
  const CallLog* log_;
};

}  // namespace

std::unique_ptr<Correspondent> make_model_correspondent(llm::Client* client, CallLog* log) {
  return std::make_unique<ModelCorrespondent>(client, log);
}

std::unique_ptr<Correspondent> make_recorded_correspondent(const CallLog* log) {
  return std::make_unique<RecordedCorrespondent>(log);
}

}  // namespace ksearch::engineer
