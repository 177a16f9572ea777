// What a planner answers: an edit script, or a first world model.
#include <fmt/format.h>

#include "llm/json_objects.h"
#include "llm/reply.h"

namespace ksearch::llm {
namespace {

std::vector<std::string> joined(std::vector<std::string> notes,
                                const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

}  // namespace

Read<EditsReply> read_edits(const RawReply& reply) {
  const SplitReply split = split_reply(reply.text);
  if (auto nothing = unusable(reply, split)) return std::unexpected(std::move(*nothing));
  auto found = find_object(reply, split, "ops");
  if (!found) return std::unexpected(std::move(found.error()));
  auto script = tree::parse_edit_script(found->value, "the reply");
  if (!script) return bad(Fault::wrong_shape, script.error().text());
  EditsReply edits{std::move(*script), {}, joined(split.notes, found->notes)};
  if (const auto why = found->value.find("why"); why != found->value.end() && why->is_string())
    edits.why = why->get<std::string>();
  return edits;
}

Read<WorldModelReply> read_world_model(const RawReply& reply) {
  const SplitReply split = split_reply(reply.text);
  if (auto nothing = unusable(reply, split)) return std::unexpected(std::move(*nothing));
  auto found = find_object(reply, split, "decision_tree");
  if (!found) return std::unexpected(std::move(found.error()));
  auto model = tree::read_world_model(found->value, "the reply");
  if (!model) return bad(Fault::invalid_tree, model.error().text());
  return WorldModelReply{std::move(*model), joined(split.notes, found->notes)};
}

}  // namespace ksearch::llm
