#include "engineer/recorded_agent.h"

#include "base/hash.h"
#include "engineer/logged_correspondent.h"
#include "engineer/read_answer.h"

namespace ksearch::engineer {
namespace {

constexpr std::string_view kSubmitted = R"({"submitted":)";

/// Of a text that submitted_text made; nothing for any other.
std::optional<std::expected<CodeAnswer, std::string>> read_submitted(
    const std::string& text, const CodeRequest& request, const kernel::Definition& definition) {
  if (!text.starts_with(kSubmitted)) return std::nullopt;
  const auto json = base::parse_json(text, "answer");
  if (!json) return std::nullopt;
  base::ObjectReader in(*json, "answer");
  base::ObjectReader parts(in.object("submitted"), "answer");
  base::Json plan = parts.object("plan");
  std::vector<kernel::Source> files;
  for (const base::Json& file : parts.array("files")) {
    base::ObjectReader one(file, "answer");
    kernel::Source source;
    source.path = one.text("path");
    source.text = one.text("text");
    parts.keep(one);
    files.push_back(std::move(source));
  }
  in.keep(parts);
  if (!in.finish()) return std::nullopt;
  return read_code_answer(std::move(plan), std::move(files), request, definition);
}

}  // namespace

Letter agent_letter(std::uint64_t request, int asked, const Question& question) {
  Letter letter;
  letter.request = request;
  letter.asked = asked;
  letter.kind = question.kind;
  letter.text = question.text;
  return letter;
}

base::Result<void> keep_answer(CallLog& log, const Letter& letter, const std::string& text) {
  LoggedCall begun;
  begun.asked = letter.asked;
  begun.number = static_cast<int>(log.letter(letter.request, letter.again).calls.size());
  begun.prompt = base::short_hash(letter.text);
  KS_RETURN_IF_ERROR(log.begun(letter, begun));
  llm::Call ended;  // what an agent's thinking takes nobody tells us
  ended.number = begun.number;
  ended.text = text;
  return log.ended(letter, ended);
}

std::string submitted_text(const base::Json& plan, const std::vector<kernel::Source>& files) {
  base::Json parts{{"plan", plan}, {"files", base::Json::array()}};
  for (const kernel::Source& file : files)
    parts["files"].push_back({{"path", file.path}, {"text", file.text}});
  return base::to_line({{"submitted", std::move(parts)}});
}

RecordedAgent::RecordedAgent(const Prompts* prompts, const kernel::Definition* definition,
                             const CallLog* log)
    : prompts_(prompts), definition_(definition), recorded_(make_recorded_correspondent(log)) {}

PlanReply RecordedAgent::plan(const PlanRequest& request, const tree::Tree& tree) {
  LetterReply reply =
      recorded_->ask(agent_letter(request.id, request.asked, prompts_->plan(request, tree)));
  const auto* raw = std::get_if<llm::RawReply>(&reply.what);
  if (!raw) return {std::get<Lost>(reply.what)};
  auto read = read_plan_answer(*raw, asks_for_tree(request, tree), tree);
  if (!read) return {Refused{read.error().message}};
  return plan_reply(std::move(*read));
}

CodeReply RecordedAgent::code(const CodeRequest& request) {
  LetterReply reply =
      recorded_->ask(agent_letter(request.id, request.asked, prompts_->code(request)));
  const auto* raw = std::get_if<llm::RawReply>(&reply.what);
  if (!raw) return {std::get<Lost>(reply.what)};
  auto read = read_submitted(raw->text, request, *definition_);
  if (!read) read = read_code_answer(*raw, request, *definition_);
  if (!*read) return {Refused{read->error()}};
  return code_reply(std::move(**read));
}

}  // namespace ksearch::engineer
