// The project's shared replies, each with its expected result (../shared/cases/replies/README.md).
// Where the folder is absent the test says so and is skipped.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>

#include "base/json.h"
#include "llm/reply.h"
#include "os/files.h"

namespace ksearch::llm {
namespace {

namespace fs = std::filesystem;
using base::Json;

fs::path folder() {
  for (const fs::path& above : {fs::path(KSEARCH_SOURCE_DIR) / "..", fs::path("/work")})
    if (fs::is_directory(above / "shared/cases/replies")) return above / "shared/cases/replies";
  return {};
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  if (!folder().empty())
    for (const auto& entry : fs::directory_iterator(folder()))
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// What the reader made of a case; the checks say why it does not fit, or nothing.
struct Outcome {
  std::optional<BadReply> bad;
  std::vector<std::string> notes;
  std::optional<ProgramReply> program;
  std::optional<tree::Tree> tree;
  std::vector<tree::RefusedNode> refused_nodes;
  std::optional<tree::EditReport> report;
  std::size_t operations = 0;
};

tree::Tree given_tree(const Json& nodes) {
  tree::Tree tree;
  for (const Json& json : nodes) {
    if (json["parent_id"].is_null()) continue;
    tree::Node node;
    node.id = json["node_id"];
    node.parent = json["parent_id"];
    node.action.title = "do " + node.id;
    if (json.contains("solution_id")) node.solution.solution_id = json["solution_id"];
    tree.insert(std::move(node));
  }
  return tree;
}

Outcome outcome_of(const Json& json, const fs::path& where) {
  RawReply reply;
  reply.text = os::read_file(where / "reply.txt").value();
  reply.stop =
      json["stop_reason"] == "max_tokens" ? RawReply::Stop::max_tokens : RawReply::Stop::stop;
  Outcome outcome;
  const auto keep = [&](auto& read) {
    if (!read)
      outcome.bad = read.error();
    else
      outcome.notes = read->notes;
    return read.has_value();
  };
  if (json["kind"] == "coder") {
    if (auto read = read_program(reply); keep(read)) outcome.program = *read;
  } else if (json["kind"] == "planner.world_model") {
    if (auto read = read_world_model(reply); keep(read)) {
      outcome.tree = read->model.tree;
      outcome.refused_nodes = read->model.refused;
    }
  } else if (auto read = read_edits(reply); keep(read)) {
    outcome.tree = given_tree(json["given"]["tree"]);
    outcome.operations = read->script.ops.size();
    outcome.report = tree::apply(*outcome.tree, read->script,
                                 {.new_nodes = json["given"]["new_node_limit"].get<int>()});
  }
  return outcome;
}

bool same(const Json& wanted, const Json& got) {
  if (wanted.is_object() && wanted.contains("any_of")) {
    for (const Json& one : wanted["any_of"])
      if (same(one, got)) return true;
    return false;
  }
  if (wanted.is_number() && got.is_number()) return wanted.get<double>() == got.get<double>();
  return wanted == got;
}

std::string node_differs(const Json& wanted, const std::string& id, const tree::Tree& tree) {
  const tree::Node* node = tree.find(id);
  if (!node) return "no node " + id;
  const Json got{{"node_id", node->id},
                 {"parent_id", node->is_root() ? Json(nullptr) : Json(node->parent)},
                 {"title", node->action.title},
                 {"score_0_to_1", node->action.score},
                 {"difficulty_1_to_5", node->action.difficulty},
                 {"overall_rating_0_to_10", node->rating},
                 {"confidence_0_to_1", node->confidence}};
  for (const auto& [key, value] : wanted.items())
    if (!same(value, got[key])) return id + "." + key + " is " + got[key].dump();
  return {};
}

std::string fault_differs(const Json& expect, const Outcome& got) {
  if (!got.bad) return "no error";
  if (expect["error"] != name(got.bad->fault))
    return "the error is " + std::string(name(got.bad->fault)) + ": " + got.bad->message;
  for (const Json& hint : expect["hint_mentions_any"])
    if (lower(got.bad->message).find(lower(hint)) != std::string::npos) return {};
  return "no hint in: " + got.bad->message;
}

std::string edits_differ(const Json& expect, const Outcome& got) {
  if (!expect.contains("applied")) return {};
  std::set<std::size_t> applied;
  for (std::size_t i = 0; i < got.operations; ++i) applied.insert(i);
  for (const tree::Refused& refused : got.report->refused) applied.erase(refused.index);
  if (Json(applied) != expect["applied"]) return "applied " + Json(applied).dump();
  for (const Json& wanted : expect["refused"]) {
    const auto it = std::ranges::find(got.report->refused, wanted["index"].get<std::size_t>(),
                                      &tree::Refused::index);
    if (it == got.report->refused.end()) return "not refused: " + wanted.dump();
    if (wanted["reason"] != tree::name(it->label)) return "refused as " + it->why;
    if (it->why.find(wanted["names"].get<std::string>()) == std::string::npos)
      return "the name is missing in: " + it->why;
  }
  return {};
}

std::string tree_differs(const Json& expect, const Outcome& got) {
  for (const char* key : {"nodes", "tree_after"})
    for (const Json& node : expect.value(key, Json::array()))
      if (auto why = node_differs(node, node["node_id"], *got.tree); !why.empty()) return why;
  if (expect.contains("nodes") && got.tree->size() != expect["nodes"].size()) return "more nodes";
  if (expect.contains("tree_after") && got.tree->size() != expect["tree_after"].size())
    return "more nodes after the edits";
  const Json values = expect.value("values", Json::object());
  for (const auto& [id, fields] : values.items())
    if (auto why = node_differs(fields, id, *got.tree); !why.empty()) return why;
  for (const Json& id : expect.value("absent", Json::array()))
    if (got.tree->contains(id.get<std::string>())) return "there is " + id.dump();
  if (expect.contains("applied")) return edits_differ(expect, got);
  for (const Json& wanted : expect.value("refused", Json::array())) {
    const bool found = std::ranges::any_of(got.refused_nodes, [&](const tree::RefusedNode& r) {
      return wanted["node_id"] == r.node_id && wanted["reason"] == r.label;
    });
    if (!found) return "not refused: " + wanted.dump();
  }
  return {};
}

std::string program_differs(const Json& expect, const Outcome& got, const fs::path& where) {
  if (!expect.contains("files")) return {};
  if (got.program->files.size() != expect["files"].size()) return "another number of files";
  for (std::size_t i = 0; i < expect["files"].size(); ++i) {
    const Json& file = expect["files"][i];
    if (file["path"] != got.program->files[i].path) return "path " + got.program->files[i].path;
    if (os::read_file(where / file["text_file"].get<std::string>()).value() !=
        got.program->files[i].text)
      return "another text in " + got.program->files[i].path;
  }
  const std::string plan = os::read_file(where / expect["plan_file"].get<std::string>()).value();
  return *base::parse_json(plan, "plan") == got.program->plan ? "" : "another plan";
}

/// One note for each, in any words: an important word of it stands in some note.
std::string notes_differ(const Json& expect, const Outcome& got) {
  for (const Json& about : expect.value("notes_about", Json::array())) {
    std::vector<std::string> said = got.notes;
    if (got.report) said.insert(said.end(), got.report->notes.begin(), got.report->notes.end());
    const std::string word = lower(about.get<std::string>());
    if (std::ranges::none_of(said, [&](const std::string& note) {
          return lower(note).find(word) != std::string::npos;
        }))
      return "no note about " + word;
  }
  return {};
}

std::string differs(const Json& expect, const Outcome& got, const fs::path& where) {
  if (expect["status"] == "error") return fault_differs(expect, got);
  if (got.bad) return "refused: " + got.bad->message;
  if (auto why = got.tree ? tree_differs(expect, got) : program_differs(expect, got, where);
      !why.empty())
    return why;
  return notes_differ(expect, got);
}

class SharedReply : public testing::TestWithParam<std::string> {};

TEST_P(SharedReply, GivesItsExpectedResult) {
  const fs::path where = folder() / GetParam();
  const Json json = base::parse_json(os::read_file(where / "case.json").value(), "case").value();
  const Outcome got = outcome_of(json, where);
  std::string why = differs(json["expect"], got, where);
  for (const Json& also : json.value("also_ok", Json::array()))
    if (!why.empty()) {
      const std::string other = differs(also, got, where);
      why = other.empty() ? other : why + "; or " + other;
    }
  EXPECT_EQ(why, "") << json["what"];
}

INSTANTIATE_TEST_SUITE_P(All, SharedReply, testing::ValuesIn(cases()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedReply);

TEST(SharedReplies, AreThere) {
  if (cases().empty()) GTEST_SKIP() << "SKIPPED: no ../shared/cases/replies beside the checkout";
  EXPECT_EQ(cases().size(), 14u);
}

}  // namespace
}  // namespace ksearch::llm
