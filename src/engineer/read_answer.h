// What an answer in writing says to a request: the operations or the program in it, or why it
// cannot be used, in words for whoever wrote it.
#pragma once

#include <expected>
#include <string>
#include <variant>
#include <vector>

#include "engineer/engineer.h"
#include "llm/reply.h"

namespace ksearch::engineer {

struct PlanAnswer {
  tree::EditScript script;
  std::string why;                   ///< of an empty one
  std::vector<std::string> refused;  ///< nodes of a world model, with the reason
  std::vector<std::string> notes;
};
/// `tree_wanted`: a first tree; an edit script says the same.
llm::Read<PlanAnswer> read_plan_answer(const llm::RawReply& raw, bool tree_wanted,
                                       const tree::Tree& tree);
/// Operations, or Nothing where there are none and nothing else is said.
PlanReply plan_reply(PlanAnswer answer);
/// What the tree would do with a script, without touching it.
tree::EditReport rehearse(const tree::Tree& tree, const tree::EditScript& script,
                          const PlanRequest& request);
/// What of it was refused, and what to do; empty where nothing was.
std::string refusals_text(const tree::EditReport& report, const std::vector<std::string>& nodes);
/// The nodes of a first world model as operations on a lone root.
tree::EditScript script_of(const tree::Tree& model, const tree::Tree& onto);

struct CodeAnswer {
  std::variant<kernel::Program, Exhausted> what;
  std::vector<std::string> notes;
};
CodeReply code_reply(CodeAnswer answer);
/// The error is the reason why there is no program.
std::expected<CodeAnswer, std::string> read_code_answer(const llm::RawReply& raw,
                                                        const CodeRequest& request,
                                                        const kernel::Definition& definition);
/// From files and plan that came apart.
std::expected<CodeAnswer, std::string> read_code_answer(base::Json plan,
                                                        std::vector<kernel::Source> files,
                                                        const CodeRequest& request,
                                                        const kernel::Definition& definition);

}  // namespace ksearch::engineer
