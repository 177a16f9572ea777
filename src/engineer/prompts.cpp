#include "engineer/prompts.h"

#include <fmt/format.h>

#include "engineer/describe.h"
#include "os/files.h"

namespace ksearch::engineer {
namespace {

using Names = std::vector<std::string>;

/// Every prompt with its sections: the list that files are checked against.
const std::vector<std::pair<const char*, Names>>& prompt_files() {
  static const std::vector<std::pair<const char*, Names>> kFiles{
      {"spec",
       {"definition", "reference", "workloads", "tolerances", "dialect", "hardware", "example"}},
      {"plan_first", {"spec", "root", "new_nodes"}},
      {"plan_propose", {"spec", "tree", "best_node", "since", "program", "new_nodes"}},
      {"plan_revise", {"spec", "tree", "cycle", "best_node", "since", "program", "new_nodes"}},
      {"code_first", {"spec", "action", "inspirations", "refusal"}},
      {"code", {"spec", "parent", "action", "inspirations", "refusal"}},
      {"debug", {"spec", "parent", "action", "inspirations", "best", "last", "refusal"}},
      {"improve", {"spec", "parent", "action", "inspirations", "best", "last", "refusal"}},
      {"again", {"answer", "reason"}},
  };
  return kFiles;
}

base::Result<llm::Prompt> load_prompt(const std::filesystem::path& path, const Names& names) {
  KS_TRY(const std::string text, os::read_file(path));
  return llm::Prompt::parse(text, path.string(), names);
}

std::vector<std::string> in_words(const std::vector<llm::Cut>& cuts, std::string_view file) {
  std::vector<std::string> notes;
  for (const llm::Cut& cut : cuts)
    notes.push_back(fmt::format("prompt {}: section {} cut by {} of {} characters", file,
                                cut.section, cut.left_out, cut.characters));
  return notes;
}

std::string or_none(std::string text) { return text.empty() ? "none\n" : text; }

std::string inspirations_text(const std::vector<Tried>& inspirations) {
  std::string text;
  for (const Tried& tried : inspirations) text += describe_briefly(tried) + "\n";
  return or_none(text);
}

std::string refusal_text(const std::string& refusal) {
  return refusal.empty() ? "none\n" : refusal + "\n";
}

bool is_duplicate(const Tried& tried) {
  return tried.outcome && std::holds_alternative<kernel::Duplicate>(tried.outcome->verdict);
}

/// Which of the code prompts a request is for.
const char* code_file(const CodeRequest& request) {
  if (request.last && request.last->outcome && !is_duplicate(*request.last))
    return request.last->outcome->passed() ? "improve" : "debug";
  if (request.last) return "improve";
  return request.parent ? "code" : "code_first";
}

std::string action_text(const CodeRequest& request) {
  if (!request.action) return "none\n";
  std::string text = describe(*request.action);
  if (!request.action_notes.empty()) text += "Learnt since: " + request.action_notes + "\n";
  return text + fmt::format("This is attempt {} of this cycle.\n", request.attempt);
}

/// The last attempt, where it passed or repeats a program: what it has in common with a program
/// that stands above is not shown again.
std::string last_text(const CodeRequest& request) {
  if (!request.last) return "none\n";
  const Tried& last = *request.last;
  const std::string text =
      is_duplicate(last)
          ? "Your last answer repeats a program that was tried before (the same code up to "
            "spacing, comments and names), so it was not measured again. Write something else.\n"
          : "";
  const std::optional<Tried>& base = request.best ? request.best : request.parent;
  if (!base || base->hash == last.hash) return text + describe(last);
  const auto change = describe_change(base->program, last.program);
  if (!change) return text + describe(last);
  return text +
         fmt::format("As changes to {}: \"-\" lines are its, \"+\" lines are the attempt's.\n\n",
                     request.best ? "the best program for this action, above"
                                  : "the program to start from, above") +
         *change + (last.outcome ? "What became of it: " + describe(*last.outcome) : "");
}

std::string since_text(int tried) {
  constexpr int kPlateau = 8;  // programs, two or three cycles
  if (tried == 0) return "No program was tried after it.\n";
  std::string text = fmt::format("{} program{} tried after it, none was faster.\n", tried,
                                 tried == 1 ? " was" : "s were");
  if (tried >= kPlateau)
    text +=
        "Variants of what is there have stopped paying: think again about what bounds the best "
        "program, and bet on\nwhat changes that; or say that there is nothing more.\n";
  return text;
}

}  // namespace

bool asks_for_tree(const PlanRequest& request, const tree::Tree& tree) {
  return request.kind == PlanRequest::Kind::propose && tree.size() == 1;
}

base::Result<Prompts> Prompts::load(const std::filesystem::path& folder, const Brief& brief) {
  Prompts prompts;
  for (const auto& [file, names] : prompt_files()) {
    KS_TRY(llm::Prompt prompt, load_prompt(folder / (std::string(file) + ".md"), names));
    prompts.prompts_.emplace(file, std::move(prompt));
  }
  const auto dialect_file = fmt::format("dialect_{}.md", kernel::name(brief.dialect));
  KS_TRY(const llm::Prompt dialect, load_prompt(folder / dialect_file, {}));
  std::vector<llm::Cut> cuts;
  prompts.spec_ = prompts.prompts_.at("spec").fill(
      {{"definition", describe(brief.definition)},
       {"reference", or_none(brief.reference)},
       {"workloads", describe(brief.workloads)},
       {"tolerances", tolerances(brief.definition, brief.workloads)},
       {"dialect", dialect.fill({})},
       {"hardware", describe(brief.device)},
       {"example", brief.example ? describe(*brief.example) : "none\n"}},
      &cuts);
  if (brief.example && prompts.spec_.find(describe(*brief.example)) != std::string::npos)
    prompts.example_ = brief.example->hash();
  prompts.notes_ = in_words(cuts, "spec");
  return prompts;
}

Question Prompts::fill(const char* file, const char* kind,
                       std::map<std::string, std::string> values) const {
  values["spec"] = spec_;
  std::vector<llm::Cut> cuts;
  Question question{kind, prompts_.at(file).fill(values, &cuts), in_words(cuts, file)};
  if (question.text.starts_with(spec_)) question.shared = spec_.size();
  return question;
}

std::string Prompts::show(const std::optional<Tried>& tried) const {
  if (!tried) return "none\n";
  if (example_.empty() || tried->hash != example_) return describe(*tried);
  return "It is the example of the form of an answer, above.\n" +
         (tried->outcome ? "\nWhat became of it: " + describe(*tried->outcome) : "");
}

Question Prompts::plan(const PlanRequest& request, const tree::Tree& tree) const {
  const std::string program = show(request.program);
  const std::string new_nodes = std::to_string(request.new_nodes);
  if (asks_for_tree(request, tree))
    return fill("plan_first", "plan-first", {{"root", program}, {"new_nodes", new_nodes}});
  std::map<std::string, std::string> values{{"tree", describe(tree)},
                                            {"best_node", request.best_node},
                                            {"since", since_text(request.tried_since_best)},
                                            {"program", program},
                                            {"new_nodes", new_nodes}};
  if (request.kind == PlanRequest::Kind::propose)
    return fill("plan_propose", "plan-propose", std::move(values));
  values["cycle"] = request.cycle ? describe(*request.cycle) : "none\n";
  return fill("plan_revise", "plan-revise", std::move(values));
}

Question Prompts::code(const CodeRequest& request) const {
  const char* file = code_file(request);
  std::map<std::string, std::string> values{
      {"action", action_text(request)},
      {"inspirations", inspirations_text(request.inspirations)},
      {"refusal", refusal_text(request.last_refusal)},
      {"parent", show(request.parent)},
      {"last", std::string_view(file) == "debug" ? show(request.last) : last_text(request)},
      {"best", "none\n"}};
  if (request.best)
    values["best"] = request.last && request.last->hash == request.best->hash
                         ? "the last attempt, below\n"
                         : describe(*request.best);
  const bool first = std::string_view(file).starts_with("code");
  return fill(file, first ? "code" : file, std::move(values));
}

std::string Prompts::again(const Question& question, const std::string& answer,
                           const std::string& reason) const {
  return question.text + prompts_.at("again").fill({{"answer", answer}, {"reason", reason}});
}

}  // namespace ksearch::engineer
