// What a coding agent submitted, kept in the list of calls and read from it again: it asks and
// tells by itself, so that nobody is asked here.
#pragma once

#include "engineer/call_log.h"
#include "engineer/prompts.h"

namespace ksearch::engineer {

/// The letter that a question of an agent's is kept under.
Letter agent_letter(std::uint64_t request, int asked, const Question& question);
/// Keeps an answer that was accepted; on the disk when it returns.
base::Result<void> keep_answer(CallLog& log, const Letter& letter, const std::string& text);
/// Files and plan that came apart, as one text.
std::string submitted_text(const base::Json& plan, const std::vector<kernel::Source>& files);

/// Answers from the list alone: what is not in it is Lost, and the reason says what is missing.
class RecordedAgent final : public Planner, public Coder {
 public:
  /// All are borrowed.
  RecordedAgent(const Prompts* prompts, const kernel::Definition* definition, const CallLog* log);
  std::string name() const override { return "agent"; }
  PlanReply plan(const PlanRequest& request, const tree::Tree& tree) override;
  CodeReply code(const CodeRequest& request) override;

 private:
  const Prompts* prompts_;
  const kernel::Definition* definition_;
  std::unique_ptr<Correspondent> recorded_;
};

}  // namespace ksearch::engineer
