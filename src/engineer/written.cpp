#include "engineer/written.h"

#include <fmt/format.h>

#include "engineer/read_answer.h"

namespace ksearch::engineer {
namespace {

/// One question with its repetitions, and what they took.
class Conversation {
 public:
  Conversation(const Prompts& prompts, Correspondent& correspondent, Question question,
               Letter letter)
      : prompts_(prompts),
        correspondent_(correspondent),
        question_(std::move(question)),
        letter_(std::move(letter)) {
    letter_.kind = question_.kind;
    letter_.text = question_.text;
    letter_.shared = question_.shared;
    notes = question_.notes;
  }

  decltype(LetterReply::what) ask() {
    LetterReply reply = correspondent_.ask(letter_);
    if (const auto* raw = std::get_if<llm::RawReply>(&reply.what)) answer_ = raw->text;
    usage += reply.usage.value_or(estimated_usage(letter_, reply));
    return std::move(reply.what);
  }

  /// The next question says why the last answer could not be used.
  void refuse(const std::string& reason) {
    letter_.refusal = fmt::format("answer {} could not be used: {}", letter_name(letter_), reason);
    ++letter_.again;
    letter_.text = prompts_.again(question_, answer_, reason);
    notes.push_back(letter_.refusal);
  }

  Usage usage;
  std::vector<std::string> notes;

 private:
  const Prompts& prompts_;
  Correspondent& correspondent_;
  Question question_;
  Letter letter_;
  std::string answer_;
};

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

PlanReply WrittenPlanner::plan(const PlanRequest& request, const tree::Tree& tree) {
  Letter letter;
  letter.request = request.id;
  letter.asked = request.asked;
  letter.title = request.cycle ? request.cycle->node_id : std::string();
  letter.plan = true;
  Conversation talk(*prompts_, *correspondent_, prompts_->plan(request, tree), std::move(letter));
  const auto answer = [&](decltype(PlanReply::what) what) {
    return PlanReply{std::move(what), talk.usage, std::move(talk.notes)};
  };
  struct Best {
    tree::EditScript script;
    long worth = 0;
    std::vector<std::string> notes;
  };
  std::optional<Best> best;  // of scripts of which some operations are refused
  int unreadable = 0, refused = 0;
  while (true) {
    const auto reply = talk.ask();
    if (const auto* lost = std::get_if<Lost>(&reply)) return answer(*lost);
    if (const auto* no = std::get_if<Refused>(&reply)) return answer(*no);
    auto read =
        read_plan_answer(std::get<llm::RawReply>(reply), asks_for_tree(request, tree), tree);
    if (!read) {
      const std::string& reason = read.error().message;
      if (unreadable++ < manners_.unreadable) {
        talk.refuse(reason);
        continue;
      }
      if (!best) return answer(Refused{reason});
      append(talk.notes, best->notes);
      return answer(std::move(best->script));
    }
    if (read->script.ops.empty() && read->refused.empty()) {
      append(talk.notes, read->notes);
      if (!read->script.kernel_summary && !read->script.open_questions)
        return answer(Nothing{read->why});
      return answer(std::move(read->script));
    }
    const tree::EditReport report = rehearse(tree, read->script, request);
    const bool sound = report.refused.empty() && read->refused.empty();
    const long worth = static_cast<long>(report.changes.size()) -
                       static_cast<long>(report.refused.size() + read->refused.size());
    if (sound || !best || worth >= best->worth) best = Best{read->script, worth, read->notes};
    if (sound || refused++ >= manners_.refused_edits) {
      append(talk.notes, best->notes);
      return answer(std::move(best->script));
    }
    talk.refuse(refusals_text(report, read->refused));
  }
}

CodeReply WrittenCoder::code(const CodeRequest& request) {
  Letter letter;
  letter.request = request.id;
  letter.asked = request.asked;
  letter.title = request.action ? request.action->title : std::string();
  Conversation talk(*prompts_, *correspondent_, prompts_->code(request), std::move(letter));
  const auto answer = [&](decltype(CodeReply::what) what) {
    return CodeReply{std::move(what), talk.usage, std::move(talk.notes)};
  };
  for (int unreadable = 0;; ++unreadable) {
    const auto reply = talk.ask();
    if (const auto* lost = std::get_if<Lost>(&reply)) return answer(*lost);
    if (const auto* no = std::get_if<Refused>(&reply)) return answer(*no);
    auto read = read_code_answer(std::get<llm::RawReply>(reply), request, *definition_);
    if (read) {
      append(talk.notes, read->notes);
      if (auto* program = std::get_if<kernel::Program>(&read->what))
        return answer(std::move(*program));
      return answer(std::get<Exhausted>(read->what));
    }
    const std::string& reason = read.error();
    if (unreadable >= manners_.unreadable) return answer(Refused{reason});
    talk.refuse(reason);
  }
}

}  // namespace ksearch::engineer
