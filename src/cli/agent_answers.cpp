// What an agent sees of its run, and what it says to it: every function takes the lock for itself.
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "cli/agent_run.h"
#include "engineer/describe.h"
#include "engineer/read_answer.h"
#include "engineer/recorded_agent.h"
#include "search/figures.h"

namespace ksearch::cli {
namespace {

base::Error no_question(std::uint64_t id) {
  return {base::ErrorKind::usage, fmt::format("request {}", id), "is not open",
          "next_request says which one is"};
}

base::Json ratio_json(const kernel::Outcome& outcome) {
  base::Json json = base::Json::object();
  for (const char* to : {"naive", "expert", "parent"})
    if (const auto ratio = search::ratio_to(outcome, to))
      json[to] = {{"value", ratio->value}, {"low", ratio->low}, {"high", ratio->high}};
  if (search::is_modelled(outcome)) json["modelled"] = true;
  return json;
}

}  // namespace

base::Json AgentRun::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return ended_ || (question_ && inbox_.empty()); });
  base::Json json{{"run", folder_.string()}};
  json["news"] = news_;
  news_.clear();
  if (!failed_.empty()) {
    json["state"] = "failed";
    json["why"] = failed_;
  } else if (ended_) {
    json["state"] = "ended";
    json["status"] = engine_->status();
    json["why"] = engine_->end_reason();
  } else if (question_ && inbox_.empty()) {
    json["state"] = "question";
    json["request"] = question_of_;
    json["kind"] = question_->kind;
    json["question"] = question_->text;
  } else {
    json["state"] = engine_ ? "working" : "opening";
    json["now"] = now_;
  }
  if (engine_) json["spent"] = event::to_json(engine_->spent());
  return json;
}

base::Result<const search::Request*> AgentRun::open_request(std::uint64_t id) const {
  if (ended_ || !engine_) return std::unexpected(no_question(id));
  const search::Request* request = engine_->request(id);
  if (!request || !is_question(*request) || id != question_of_ || !inbox_.empty())
    return std::unexpected(no_question(id));
  return request;
}

/// What is accepted is kept before the search hears it.
base::Result<base::Json> AgentRun::accept(const search::Request& request, const std::string& text,
                                          decltype(search::Answered::reply) reply,
                                          std::string what) {
  KS_RETURN_IF_ERROR(engineer::keep_answer(
      *calls_, engineer::agent_letter(request.id, request.asked, *question_), text));
  inbox_.push_back(search::Answered{request.id, std::move(reply)});
  changed_.notify_all();
  return base::Json{{"accepted", true}, {"what", std::move(what)}};
}

base::Result<base::Json> AgentRun::submit(std::uint64_t id, const std::string& text) {
  const std::lock_guard lock(mutex_);
  KS_TRY(const search::Request* request, open_request(id));
  const auto refused = [](const std::string& why) {
    return base::Json{{"accepted", false}, {"why", why}};
  };
  if (const auto* code = std::get_if<engineer::CodeRequest>(&request->what)) {
    auto answer = engineer::read_code_answer(llm::RawReply{text}, *code, task_.definition);
    if (!answer) return refused(answer.error());
    const auto* program = std::get_if<kernel::Program>(&answer->what);
    std::string what = program ? "program " + program->hash() : "exhausted";
    return accept(*request, text, engineer::code_reply(std::move(*answer)), std::move(what));
  }
  const auto& plan = std::get<engineer::PlanRequest>(request->what);
  const tree::Tree& tree = engine_->tree();
  auto read =
      engineer::read_plan_answer(llm::RawReply{text}, engineer::asks_for_tree(plan, tree), tree);
  if (!read) return refused(read.error().message);
  const std::string faults =
      engineer::refusals_text(engineer::rehearse(tree, read->script, plan), read->refused);
  if (!faults.empty()) return refused(faults);
  const std::size_t count = read->script.ops.size();
  return accept(*request, text, engineer::plan_reply(std::move(*read)),
                count == 0 ? "nothing to add" : base::counted(count, "operation"));
}

base::Result<base::Json> AgentRun::submit_program(std::uint64_t id, base::Json plan,
                                                  std::vector<kernel::Source> files) {
  const std::lock_guard lock(mutex_);
  KS_TRY(const search::Request* request, open_request(id));
  const auto* code = std::get_if<engineer::CodeRequest>(&request->what);
  if (!code)
    return base::usage_error(fmt::format("request {}", id), "asks for a plan, not for a program",
                             "answer it with submit_answer");
  const std::string text = engineer::submitted_text(plan, files);
  auto answer =
      engineer::read_code_answer(std::move(plan), std::move(files), *code, task_.definition);
  if (!answer) return base::Json{{"accepted", false}, {"why", answer.error()}};
  std::string what = "program " + std::get<kernel::Program>(answer->what).hash();
  return accept(*request, text, engineer::code_reply(std::move(*answer)), std::move(what));
}

base::Result<base::Json> AgentRun::outcome(const std::string& hash) {
  const std::lock_guard lock(mutex_);
  const std::string& wanted = hash.empty() ? last_evaluated_ : hash;
  const search::ProgramRecord* record = engine_ ? engine_->program(wanted) : nullptr;
  if (!record)
    return base::usage_error(
        "program", wanted.empty() ? "none was evaluated yet" : "there is no program " + wanted);
  base::Json json{{"program", record->hash}, {"node", record->node_id}};
  if (!record->outcome) {
    json["state"] = "being evaluated";
    return json;
  }
  json["kind"] = kernel::kind(*record->outcome);
  json["passed"] = record->outcome->passed();
  json["ratios"] = ratio_json(*record->outcome);
  json["text"] = engineer::describe(*record->outcome);
  return json;
}

base::Result<base::Json> AgentRun::tree() {
  const std::lock_guard lock(mutex_);
  if (!engine_) return base::usage_error("tree", "the run is still opening", "next_request waits");
  return base::Json{{"tree", engineer::describe(engine_->tree())},
                    {"kernel_summary", engine_->tree().kernel_summary}};
}

base::Result<base::Json> AgentRun::edit(const base::Json& ops) {
  const std::lock_guard lock(mutex_);
  if (!engine_ || ended_) return base::usage_error("ops", "the search is not under way");
  KS_TRY(tree::EditScript script, tree::parse_edit_script({{"ops", ops}}, "ops"));
  engineer::PlanRequest request;
  request.revision = engine_->tree().revision();
  request.new_nodes = static_cast<int>(script.ops.size());
  const std::string faults =
      engineer::refusals_text(engineer::rehearse(engine_->tree(), script, request), {});
  if (!faults.empty()) return base::Json{{"accepted", false}, {"why", faults}};
  const std::size_t count = script.ops.size();
  inbox_.push_back(search::Edited{std::move(script)});
  changed_.notify_all();
  return base::Json{{"accepted", true}, {"what", base::counted(count, "operation")}};
}

base::Result<base::Json> AgentRun::best() {
  const std::lock_guard lock(mutex_);
  const search::ProgramRecord* best = !engine_            ? nullptr
                                      : engine_->winner() ? engine_->winner()
                                                          : engine_->best();
  if (!best) return base::usage_error("best", "no program has passed yet");
  const bool certified = engine_->winner() != nullptr;
  base::Json json{{"program", best->hash}, {"node", best->node_id}, {"certified", certified}};
  json["ratios"] = ratio_json(*best->outcome);
  json["text"] = engineer::describe(best->program) + engineer::describe(*best->outcome);
  json["folder"] = (folder_ / "programs" / best->hash).string();
  return json;
}

base::Json AgentRun::stop(bool certify) {
  const std::lock_guard lock(mutex_);
  if (ended_ || !engine_) return {{"accepted", false}, {"why", "the search is not under way"}};
  inbox_.push_back(search::Stop{"asked by the agent", certify});
  changed_.notify_all();
  return {{"accepted", true}, {"what", certify ? "the best program is certified now" : "stopped"}};
}

}  // namespace ksearch::cli
