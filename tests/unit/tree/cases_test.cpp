// What K-Search itself does with four trees, and edit scripts as models write them: cases kept
// beside the repository. Skipped, loudly, where they are absent; edit_test and world_model_test
// hold smaller ones of the same kinds.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tree/edit.h"
#include "tree/frontier.h"
#include "tree/world_model.h"

namespace ksearch::tree {
namespace {

using base::Json;

std::filesystem::path cases() {
  return std::filesystem::path(KSEARCH_SOURCE_DIR).parent_path() / "shared" / "cases";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json json_file(const std::filesystem::path& path) {
  return base::parse_json(read(path), path.string()).value();
}

/// Ids K-Search generated for inserted nodes are its own: "node_k_r1_2" is compared as "node_2".
std::string plain_id(std::string id) {
  if (id.starts_with("node_k_r1_")) return "node_" + id.substr(10);
  return id;
}

nlohmann::json unordered(const Json& json) { return nlohmann::json::parse(base::to_line(json)); }

struct Row {
  std::string id, parent, title;
  double score;
  int difficulty;
  double rating;
  friend bool operator==(const Row&, const Row&) = default;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.id << " < " << row.parent << ": " << row.title << " " << row.score << " "
             << row.difficulty << " " << row.rating;
}

std::vector<Row> rows(const Json& world_model) {
  std::vector<Row> rows;
  for (const Json& node : world_model["decision_tree"]["nodes"]) {
    const Json& action = node["action"];
    rows.push_back({plain_id(node["node_id"]),
                    node["parent_id"].is_null() ? "" : node["parent_id"].get<std::string>(),
                    action["title"], action["score_0_to_1"], action["difficulty_1_to_5"],
                    node["overall_rating_0_to_10"]});
  }
  return rows;
}

class WorldModelCases : public testing::TestWithParam<const char*> {};

TEST_P(WorldModelCases, SamePicksAndTreesAsKSearch) {
  const auto path = cases() / "world_model" / (std::string(GetParam()) + ".json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Json file = json_file(path);
  Tree tree = read_world_model(file["input"], path.string()).value().tree;
  EXPECT_EQ(rows(world_model_json(tree)), rows(file["normalized"]));
  for (const Json& step : file["steps"]) {
    if (step.contains("edit_script")) {
      apply(tree, parse_edit_script(step["edit_script"], "script").value(), {});
      EXPECT_EQ(rows(world_model_json(tree)), rows(step["tree_after"]));
    }
    const Node* picked = ksearch_pick(frontier(tree));
    EXPECT_EQ(picked ? picked->id : "", plain_id(step["selected"]));
  }
  // What K-Search has written comes back as it was.
  const Json& normalized = file["normalized"];
  Json again = world_model_json(read_world_model(normalized, "normalized").value().tree);
  again.erase("ksearch");
  EXPECT_TRUE(unordered(again) == unordered(normalized));
}

INSTANTIATE_TEST_SUITE_P(Shared, WorldModelCases,
                         testing::Values("plain", "ties", "frontier", "odd_fields"));

/// The tree that case.json describes.
Tree given_tree(const Json& nodes) {
  Tree tree;
  for (const Json& json : nodes) {
    if (json["state"] == "root") continue;
    Node node;
    node.id = json["node_id"];
    node.parent = json["parent_id"];
    node.action.title = node.id;
    if (json.contains("solution_id")) node.solution.solution_id = json["solution_id"];
    tree.insert(node);
  }
  return tree;
}

bool meets(const Json& want, const EditReport& report, const Tree& tree) {
  std::set<std::size_t> refused;
  for (const Refused& r : report.refused) refused.insert(r.index);
  for (const Json& index : want["applied"]) {
    if (refused.contains(index)) return false;
  }
  for (const Json& expected : want["refused"]) {
    const bool found = std::ranges::any_of(report.refused, [&](const Refused& r) {
      return r.index == expected["index"] && name(r.label) == expected["reason"] &&
             r.why.find(expected["names"].get<std::string>()) != std::string::npos;
    });
    if (!found) return false;
  }
  std::size_t nodes = 0;
  for (const Json& node : want["tree_after"]) {
    ++nodes;
    const Node* got = tree.find(node["node_id"].get<std::string>());
    if (!got) return false;
    if (got->parent != (node["parent_id"].is_null() ? "" : node["parent_id"].get<std::string>())) {
      return false;
    }
  }
  if (nodes != tree.size()) return false;
  for (const auto& [id, fields] : want["values"].items()) {
    const Json got = to_json(tree.at(id));
    for (const auto& [field, value] : fields.items()) {
      const Json& actual = got.contains(field) ? got[field] : got["action"][field];
      if (actual != value) return false;
    }
  }
  return true;
}

class EditCases : public testing::TestWithParam<const char*> {};

TEST_P(EditCases, AppliesAndRefusesAsTheCaseSays) {
  const auto folder = cases() / "replies" / GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const Json file = json_file(folder / "case.json");
  // The last JSON object of the reply; getting it out of a reply is the language model client's
  // job.
  std::string text = read(folder / "reply.txt");
  if (const auto fence = text.rfind("```json"); fence != std::string::npos) {
    text = text.substr(fence + 7, text.rfind("```") - fence - 7);
  }
  Tree tree = given_tree(file["given"]["tree"]);
  const EditReport report =
      apply(tree, parse_edit_script(base::parse_json(text, "reply").value(), "reply").value(),
            {.new_nodes = file["given"]["new_node_limit"]});
  bool met = meets(file["expect"], report, tree);
  for (const Json& other : file.value("also_ok", Json::array())) {
    met = met || meets(other, report, tree);
  }
  EXPECT_TRUE(met);
}

INSTANTIATE_TEST_SUITE_P(Shared, EditCases,
                         testing::Values("05_edits_two_objects_second_valid",
                                         "06_edits_unknown_and_duplicate_ids",
                                         "07_edits_out_of_range"));

TEST(WorldModelReply, ABrokenTreeIsReadAsTheCaseSays) {
  const auto folder = cases() / "replies" / "04_wm_broken_tree";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const Json file = json_file(folder / "case.json");
  const auto loaded = load_world_model(read(folder / "reply.txt"), "reply");
  ASSERT_TRUE(loaded.has_value());
  const Json& expect = file["expect"];
  for (const Json& node : expect["nodes"]) {
    const Node* got = loaded->tree.find(node["node_id"].get<std::string>());
    ASSERT_TRUE(got) << node;
    if (node.contains("title")) {
      EXPECT_EQ(got->action.title, node["title"]);
    }
  }
  for (const Json& id : expect["absent"]) {
    EXPECT_FALSE(loaded->tree.contains(id.get<std::string>()));
  }
  for (const Json& refused : expect["refused"]) {
    EXPECT_TRUE(std::ranges::any_of(loaded->refused, [&](const RefusedNode& r) {
      return r.node_id == refused["node_id"] && r.label == refused["reason"];
    })) << refused;
  }
}

}  // namespace
}  // namespace ksearch::tree
