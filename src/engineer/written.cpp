#include "engineer/written.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"

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
    Usage took{llm::estimated_tokens(letter_.text), 0, 0, 1, true};
    if (const auto* raw = std::get_if<llm::RawReply>(&reply.what)) {
      answer_ = raw->text;
      took.tokens_out = llm::estimated_tokens(raw->text);
    }
    usage += reply.usage.value_or(took);
    return std::move(reply.what);
  }

  /// The next question says why the last answer could not be used.
  void refuse(const std::string& reason) {
    ++letter_.again;
    letter_.text = prompts_.again(question_, answer_, reason);
    notes.push_back(fmt::format("answer {} could not be used: {}", letter_.again, reason));
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

struct PlanAnswer {
  tree::EditScript script;
  std::string why;                   ///< of an empty one
  std::vector<std::string> refused;  ///< nodes of a world model, with the reason
  std::vector<std::string> notes;
};

llm::Read<PlanAnswer> read_plan(const llm::RawReply& raw, bool tree_wanted,
                                const tree::Tree& tree) {
  if (!tree_wanted) {
    auto edits = llm::read_edits(raw);
    if (!edits) return std::unexpected(std::move(edits.error()));
    return PlanAnswer{std::move(edits->script), std::move(edits->why), {}, std::move(edits->notes)};
  }
  auto model = llm::read_world_model(raw);
  if (!model) {
    // An edit script says the same.
    if (auto edits = llm::read_edits(raw))
      return PlanAnswer{
          std::move(edits->script), std::move(edits->why), {}, std::move(edits->notes)};
    return std::unexpected(std::move(model.error()));
  }
  PlanAnswer answer{script_of(model->model.tree, tree), {}, {}, std::move(model->notes)};
  append(answer.notes, model->model.notes);
  for (const tree::RefusedNode& node : model->model.refused)
    answer.refused.push_back(fmt::format("node {}: {}: {}", node.node_id, node.label, node.why));
  return answer;
}

/// What the tree would do with a script, without touching it.
tree::EditReport rehearse(const tree::Tree& tree, const tree::EditScript& script,
                          const PlanRequest& request) {
  tree::Tree copy = tree;
  return tree::apply(copy, script,
                     {.seen_revision = request.revision, .new_nodes = request.new_nodes});
}

std::string refusals_text(const tree::EditReport& report, const std::vector<std::string>& nodes) {
  std::string text = "some of it was refused:\n";
  for (const std::string& node : nodes) text += "- " + node + "\n";
  for (const tree::Refused& refused : report.refused)
    text += fmt::format("- ops[{}] {}: {}: {}\n", refused.index, refused.op,
                        tree::name(refused.label), refused.why);
  return text + fmt::format(
                    "Nothing has been changed yet. Send the whole answer again with these parts "
                    "mended or left out ({} changes would have been made).",
                    report.changes.size());
}

/// Format, task and dialect are known; where a plan repeats them rightly they go.
void drop_known_keys(base::Json& plan, const CodeRequest& request,
                     std::vector<std::string>& notes) {
  const std::pair<const char*, std::string> known[] = {
      {"format", "ksearch.program/1"},
      {"task", request.task},
      {"dialect", std::string(kernel::name(request.dialect))}};
  for (const auto& [key, value] : known)
    if (const auto it = plan.find(key); it != plan.end() && *it == value) {
      plan.erase(key);
      notes.push_back(fmt::format("the plan repeats its {}, left out", key));
    }
  const auto sources = plan.find("sources");
  const bool names_only =
      sources != plan.end() && sources->is_array() &&
      std::ranges::all_of(*sources, [](const base::Json& source) {
        return source.is_string() ||
               (source.is_object() && source.size() == 1 && source.contains("path"));
      });
  if (names_only) {
    plan.erase("sources");
    notes.push_back("the plan lists its sources, left out: they are the files of the answer");
  }
}

std::vector<std::string> expected_files(const CodeRequest& request) {
  std::vector<std::string> paths;
  const std::optional<Tried>& like = request.last ? request.last : request.parent;
  if (like)
    for (const kernel::Source& source : like->program.sources) paths.push_back(source.path);
  return paths;
}

}  // namespace

tree::EditScript script_of(const tree::Tree& model, const tree::Tree& onto) {
  tree::EditScript script;
  for (const tree::Node* node : model.nodes()) {
    if (node->is_root()) continue;
    const bool under_root = node->parent == model.root().id;
    script.ops.push_back(tree::insert_op(under_root ? onto.root().id : node->parent, *node));
  }
  if (!model.kernel_summary.empty()) script.kernel_summary = model.kernel_summary;
  if (!model.open_questions.empty()) script.open_questions = model.open_questions;
  return script;
}

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
    auto read = read_plan(std::get<llm::RawReply>(reply), asks_for_tree(request, tree), tree);
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
    auto read = llm::read_program(std::get<llm::RawReply>(reply), expected_files(request));
    std::string reason;
    if (!read) {
      reason = read.error().message;
    } else {
      append(talk.notes, read->notes);
      if (read->exhausted) return answer(Exhausted{*read->exhausted});
      drop_known_keys(read->plan, request, talk.notes);
      auto program = kernel::parse_plan(read->plan, *definition_, request.dialect,
                                        std::move(read->files), "plan");
      if (program) return answer(std::move(*program));
      reason = "the launch plan is not valid: " + program.error().text();
    }
    if (unreadable >= manners_.unreadable) return answer(Refused{reason});
    talk.refuse(reason);
  }
}

}  // namespace ksearch::engineer
