#include "engineer/logged_correspondent.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "engineer/past_letter.h"

namespace ksearch::engineer {
namespace {

class LoggedCorrespondent final : public Correspondent {
 public:
  LoggedCorrespondent(std::unique_ptr<Correspondent> who, CallLog* log,
                      std::function<bool()> given_up)
      : who_(std::move(who)), log_(log), given_up_(std::move(given_up)) {}
  std::string name() const override { return who_->name(); }

  LetterReply ask(const Letter& letter) override {
    const std::string prompt = base::short_hash(letter.text);
    Past past = past_of(log_->letter(letter.request, letter.again), letter, prompt);
    if (past.failure) return {letter_reply(*past.failure, ""), past.usage};
    if (past.answer) return {letter_reply(*past.answer), past.usage};
    const auto began = std::chrono::steady_clock::now();
    LetterReply reply = who_->ask(letter);
    const auto* lost = std::get_if<Lost>(&reply.what);
    // Who was not waited for to the end has taken nothing: the letter is asked again.
    if (lost && given_up_ && given_up_()) {
      reply.usage = past.usage;
      auto written = log_->gave_up(letter, prompt, {llm::Failure::Kind::cancelled, lost->reason});
      return kept(std::move(written), std::move(reply));
    }
    LoggedCall logged;
    logged.asked = letter.asked;
    logged.number = past.calls;
    logged.prompt = prompt;
    logged.tokens_asked = estimated_usage(letter, reply).tokens_in;
    llm::Call call;
    call.number = past.calls;
    call.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    call.tokens.in = logged.tokens_asked;
    call.tokens.out = estimated_usage(letter, reply).tokens_out;
    call.estimated = true;
    if (const auto* raw = std::get_if<llm::RawReply>(&reply.what)) call.text = raw->text;
    if (lost) call.failure = llm::Failure{llm::Failure::Kind::other, lost->reason};
    logged.ended = call;
    add_call(past.usage, logged);
    reply.usage = past.usage;
    logged.ended.reset();
    auto written = log_->begun(letter, logged);
    if (written) written = log_->ended(letter, call);
    if (written && lost) written = log_->gave_up(letter, prompt, *call.failure);
    return kept(std::move(written), std::move(reply));
  }

 private:
  /// An answer that cannot be written down could not be replayed.
  static LetterReply kept(base::Result<void> written, LetterReply reply) {
    if (!written) reply.what = Lost{written.error().text()};
    return reply;
  }

  std::unique_ptr<Correspondent> who_;
  CallLog* log_;
  std::function<bool()> given_up_;
};

class RecordedCorrespondent final : public Correspondent {
 public:
  explicit RecordedCorrespondent(const CallLog* log) : log_(log) {}
  std::string name() const override { return "recorded"; }

  LetterReply ask(const Letter& letter) override {
    const LoggedLetter logged = log_->letter(letter.request, letter.again);
    const std::string prompt = base::short_hash(letter.text);
    const Past past = past_of(logged, letter, prompt);
    if (past.answer) return {letter_reply(*past.answer), past.usage};
    const std::string model = logged.calls.empty() ? "" : logged.calls.back().model;
    for (const auto& failure : {past.failure, past.stopped})
      if (failure) return {letter_reply(*failure, model), past.usage};
    // Cut at the limit of tokens in every part.
    if (!past.parts.empty())
      return {letter_reply(llm::Said{llm::stitched(past.parts), llm::Said::Stop::max_tokens, {}}),
              past.usage};
    return {Lost{missing(letter, logged, prompt)}};
  }

 private:
  std::string missing(const Letter& letter, const LoggedLetter& logged,
                      const std::string& prompt) const {
    const std::string question = fmt::format("question {} ({})", letter_name(letter), letter.kind);
    const std::string torn = log_->torn() ? "; its last line is torn" : "";
    for (const LoggedCall& call : logged.calls)
      if (call.prompt == prompt && !call.ended)
        return fmt::format(
            "{}:{} asks {}, and no line has the answer: it was taken out, or the run was killed "
            "while it waited{}",
            log_->path().string(), call.line, question, torn);
    if (!logged.calls.empty())
      return fmt::format("{}:{} has the answer to another {}: the prompt was another then",
                         log_->path().string(), logged.calls.front().line, question);
    return fmt::format("{} has no answer to {}{}", log_->path().string(), question, torn);
  }

  const CallLog* log_;
};

}  // namespace

std::unique_ptr<Correspondent> make_logged_correspondent(std::unique_ptr<Correspondent> who,
                                                         CallLog* log,
                                                         std::function<bool()> given_up) {
  if (!log) return who;
  return std::make_unique<LoggedCorrespondent>(std::move(who), log, std::move(given_up));
}

std::unique_ptr<Correspondent> make_recorded_correspondent(const CallLog* log) {
  return std::make_unique<RecordedCorrespondent>(log);
}

}  // namespace ksearch::engineer
