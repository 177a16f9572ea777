#include "engineer/model_correspondent.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "engineer/past_letter.h"
#include "llm/prompt.h"

namespace ksearch::engineer {
namespace {

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
    add_call(*usage_, logged);
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

class ModelCorrespondent final : public Correspondent {
 public:
  ModelCorrespondent(llm::Client* client, CallLog* log) : client_(client), log_(log) {}
  std::string name() const override { return "llm:" + client_->endpoint().model; }

  LetterReply ask(const Letter& letter) override {
    const std::string& model = client_->endpoint().model;
    const std::string prompt = base::short_hash(letter.text);
    Past past;
    if (log_) past = past_of(log_->letter(letter.request, letter.again), letter, prompt);
    if (past.failure) return {letter_reply(*past.failure, model), past.usage};
    if (past.answer) return {letter_reply(*past.answer), past.usage};
    Watch watch(log_, letter, model, prompt, past.calls, &past.usage);
    const auto said =
        client_->complete({letter.text, letter.shared, letter.plan}, std::move(past.parts), watch);
    // Calls that cannot be written down would be paid for twice.
    if (!watch.failure().empty()) return {Lost{watch.failure()}, past.usage};
    if (said) return {letter_reply(*said), past.usage};
    if (log_)
      if (auto kept = log_->gave_up(letter, prompt, said.error()); !kept)
        return {Lost{kept.error().text()}, past.usage};
    return {letter_reply(said.error(), model), past.usage};
  }

 private:
  llm::Client* client_;
  CallLog* log_;
};

}  // namespace

std::unique_ptr<Correspondent> make_model_correspondent(llm::Client* client, CallLog* log) {
  return std::make_unique<ModelCorrespondent>(client, log);
}

}  // namespace ksearch::engineer
