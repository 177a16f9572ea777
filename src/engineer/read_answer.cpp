#include "engineer/read_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "engineer/correspondent.h"

namespace ksearch::engineer {
namespace {

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

std::optional<std::string> too_long(const llm::RawReply& raw) {
  if (raw.text.size() <= kLargestAnswer) return std::nullopt;
  return fmt::format(
      "the reply has {:.1f} MB, at most 1 MiB is read. Send what is asked for and nothing else.",
      static_cast<double>(raw.text.size()) / 1e6);
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

llm::Read<PlanAnswer> read_plan_answer(const llm::RawReply& raw, bool tree_wanted,
                                       const tree::Tree& tree) {
  if (auto why = too_long(raw))
    return std::unexpected(llm::BadReply{llm::Fault::malformed_json, std::move(*why), {}});
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
  answer.notes.insert(answer.notes.end(), model->model.notes.begin(), model->model.notes.end());
  for (const tree::RefusedNode& node : model->model.refused)
    answer.refused.push_back(fmt::format("node {}: {}: {}", node.node_id, node.label, node.why));
  return answer;
}

PlanReply plan_reply(PlanAnswer answer) {
  const bool says = answer.script.kernel_summary || answer.script.open_questions;
  if (answer.script.ops.empty() && answer.refused.empty() && !says)
    return {Nothing{std::move(answer.why)}, {}, std::move(answer.notes)};
  return {std::move(answer.script), {}, std::move(answer.notes)};
}

CodeReply code_reply(CodeAnswer answer) {
  return std::visit(
      [&](auto&& what) {
        return CodeReply{std::move(what), {}, std::move(answer.notes)};
      },
      std::move(answer.what));
}

tree::EditReport rehearse(const tree::Tree& tree, const tree::EditScript& script,
                          const PlanRequest& request) {
  tree::Tree copy = tree;
  return tree::apply(copy, script,
                     {.seen_revision = request.revision, .new_nodes = request.new_nodes});
}

std::string refusals_text(const tree::EditReport& report, const std::vector<std::string>& nodes) {
  if (report.refused.empty() && nodes.empty()) return "";
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

std::expected<CodeAnswer, std::string> read_code_answer(base::Json plan,
                                                        std::vector<kernel::Source> files,
                                                        const CodeRequest& request,
                                                        const kernel::Definition& definition) {
  std::vector<std::string> notes;
  drop_known_keys(plan, request, notes);
  auto program = kernel::parse_plan(plan, definition, request.dialect, std::move(files), "plan");
  if (!program) return std::unexpected("the launch plan is not valid: " + program.error().text());
  return CodeAnswer{std::move(*program), std::move(notes)};
}

std::expected<CodeAnswer, std::string> read_code_answer(const llm::RawReply& raw,
                                                        const CodeRequest& request,
                                                        const kernel::Definition& definition) {
  if (auto why = too_long(raw)) return std::unexpected(std::move(*why));
  auto read = llm::read_program(raw, expected_files(request));
  if (!read) return std::unexpected(read.error().message);
  if (read->exhausted) return CodeAnswer{Exhausted{*read->exhausted}, std::move(read->notes)};
  auto answer =
      read_code_answer(std::move(read->plan), std::move(read->files), request, definition);
  if (answer) answer->notes.insert(answer->notes.begin(), read->notes.begin(), read->notes.end());
  return answer;
}

}  // namespace ksearch::engineer
