#include "tree/world_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/tree/trees.h"

namespace ksearch::tree {
namespace {

using base::Json;
using testing::HasSubstr;

LoadedWorldModel load(std::string_view text) { return load_world_model(text, "test").value(); }

std::string refusals(const LoadedWorldModel& loaded) {
  std::string text;
  for (const RefusedNode& refused : loaded.refused) {
    text += (text.empty() ? "" : ", ") + refused.node_id + " " + refused.label;
  }
  return text;
}

TEST(WorldModel, RoundTripLosesNothing) {
  const char* text = R"({
    "kernel_summary": "attention", "open_questions": ["tile size?"],
    "decision_tree": {"root_id": "r", "active_leaf_id": "a", "nodes": [
      {"node_id": "r", "parent_id": null, "node_type": "root", "decision": null, "choice": null,
       "solution_ref": {"solution_id": null, "parent_solution_id": null, "eval": {"status": ""}},
       "impacts": {"memory_bandwidth": {"rating_0_to_10": 5.0, "risk": "r", "notes": "n"},
         "register_pressure": {"rating_0_to_10": 4.0, "risk": "", "notes": ""},
         "compute_intensity_and_hw_fit": {"rating_0_to_10": 6.0, "risk": "", "notes": "", "hw_notes": "32 KB"}},
       "overall_rating_0_to_10": 5.0, "confidence_0_to_1": 0.5, "last_updated_round": 3, "notes": "",
       "action": {"title": "", "description": "", "difficulty_1_to_5": 3, "score_0_to_1": 0.0,
         "expected_vs_baseline_factor": null, "rationale": ""}},
      {"node_id": "a", "parent_id": "r", "node_type": "decision", "decision": "d", "choice": "c",
       "solution_ref": {"solution_id": "sol", "parent_solution_id": "p",
         "eval": {"status": "passed", "score": 1.2, "score_name": "speedup", "metrics": {"score": 1.2}}, "solution_name": "s", "round_index": 2},
       "impacts": {"memory_bandwidth": {"rating_0_to_10": 1.5, "risk": "", "notes": ""},
         "register_pressure": {"rating_0_to_10": 0.0, "risk": "", "notes": ""},
         "compute_intensity_and_hw_fit": {"rating_0_to_10": 0.0, "risk": "", "notes": "", "hw_notes": ""}, "communication": {"x": 1}},
       "overall_rating_0_to_10": 7.0, "confidence_0_to_1": 0.9, "last_updated_round": 0, "notes": "n",
       "action": {"title": "t", "description": "d", "difficulty_1_to_5": 2, "score_0_to_1": 0.8,
         "expected_vs_baseline_factor": 1.5, "rationale": "r", "cost": "low"}, "colour": "red"}],
      "generation": 4},
    "computed_signals": {"round_index": 2, "trace": {}},
    "history": [1, 2],
    "ksearch": {"format": "ksearch.world_model/1", "nodes": {"a": {"score": 1.2, "predicted_gain": 1.1, "measured_gain": 1.3, "cycles": 1}}}})";
  const LoadedWorldModel loaded = load(text);
  EXPECT_EQ(refusals(loaded), "");
  EXPECT_EQ(loaded.tree.at("a").ours.measured_gain, 1.3);
  EXPECT_TRUE(nlohmann::json::parse(base::to_line(world_model_json(loaded.tree))) ==
              nlohmann::json::parse(text));
  EXPECT_THAT(loaded.notes,
              testing::UnorderedElementsAre("a: impacts.communication is unknown, kept as it is",
                                            "a: action.cost is unknown, kept as it is",
                                            "a: colour is unknown, kept as it is",
                                            "decision_tree.generation is unknown, kept as it is",
                                            "history is unknown, kept as it is"));
}

TEST(WorldModel, ReadsTheListingOfTheMlxPost) {
  const LoadedWorldModel loaded = load(R"({"decision_tree": {"root_id": "root", "nodes": [
    {"node_id": "x", "action": "Replace the softmax reduction by registers: each SIMD-group owns 8 rows.",
     "difficulty_1_to_5": 4, "impacts": {"memory_bandwidth": 8, "register_pressure": 4, "compute_hw_fit": 9},
     "overall_rating_0_to_10": 8, "confidence_0_to_1": 0.7}]}})");
  const Node& node = loaded.tree.at("x");
  EXPECT_EQ(node.parent, "root");
  EXPECT_EQ(node.action.title, "Replace the softmax reduction by registers");
  EXPECT_EQ(node.action.description,
            "Replace the softmax reduction by registers: each SIMD-group owns 8 rows.");
  EXPECT_EQ(node.action.difficulty, 4);
  EXPECT_EQ(node.action.score, 0.8);
  EXPECT_EQ(node.impacts.memory_bandwidth.rating, 8);
  EXPECT_EQ(node.impacts.compute_intensity_and_hw_fit.rating, 9);
  EXPECT_FALSE(loaded.notes.empty());
}

TEST(WorldModel, ForgivesWhatKSearchForgivesAndSaysSo) {
  const LoadedWorldModel loaded = load(R"({"decision_tree": {"nodes": [
    {"node_id": "x", "parent_id": "root", "overall_rating_0_to_10": "7", "action": {"title": "t", "difficulty_0_to_3": 1, "score_0_to_1": "0.9"}},
    {"node_id": "y", "parent_id": "root", "confidence_0_to_1": 85, "overall_rating_0_to_10": 4, "action": {"title": "t", "score_0_to_1": "high", "difficulty_1_to_5": 2.6}},
    {"parent_id": "root", "action": {"title": "no id"}},
    {"node_id": 4, "action": {"title": "second root", "score_0_to_1": 1.7}}]}})");
  EXPECT_EQ(ids(loaded.tree.nodes()), "root x y n2 4");
  EXPECT_EQ(loaded.tree.at("x").action.difficulty, 2);
  EXPECT_EQ(loaded.tree.at("x").action.score, 0.9);
  EXPECT_EQ(loaded.tree.at("y").action.score, 0.4);
  EXPECT_EQ(loaded.tree.at("y").action.difficulty, 2);
  EXPECT_EQ(loaded.tree.at("y").confidence, 1.0);
  EXPECT_EQ(loaded.tree.at("4").parent, "root");
  EXPECT_EQ(loaded.tree.at("4").action.score, 1.0);
  EXPECT_THAT(loaded.notes, testing::Contains(HasSubstr("y: confidence_0_to_1 is 85")));
  EXPECT_THAT(loaded.notes, testing::Contains("4 has no parent_id, hung under root"));
}

TEST(WorldModel, RefusesWhatIsNoTreeEachWithItsReason) {
  const LoadedWorldModel loaded = load(R"({"decision_tree": {"root_id": "root", "nodes": [
    {"node_id": "child_first", "parent_id": "a", "action": {"title": "t"}},
    {"node_id": "root", "parent_id": null},
    {"node_id": "a", "parent_id": "root", "action": {"title": "first"}},
    {"node_id": "a", "parent_id": "root", "action": {"title": "second"}},
    {"node_id": "loop_a", "parent_id": "loop_b"}, {"node_id": "loop_b", "parent_id": "loop_a"},
    {"node_id": "below", "parent_id": "loop_a"}, {"node_id": "own", "parent_id": "own"},
    {"node_id": "lost", "parent_id": "nobody"}, 17]}})");
  EXPECT_EQ(ids(loaded.tree.nodes()), "root a child_first");
  EXPECT_EQ(loaded.tree.at("a").action.title, "first");
  EXPECT_EQ(refusals(loaded),
            "a duplicate_id, nodes[9] wrong_kind, loop_a cycle, loop_b cycle, below unknown_node, "
            "own cycle, lost unknown_node");
}

TEST(WorldModel, ALongChainOnNothingIsRefusedInLinearTime) {
  Json nodes = Json::array();
  for (int i = 0; i < 50000; ++i) {
    nodes.push_back(
        {{"node_id", "c" + std::to_string(i)}, {"parent_id", "c" + std::to_string(i + 1)}});
  }
  const Json json{{"decision_tree", {{"root_id", "root"}, {"nodes", nodes}}}};
  EXPECT_EQ(read_world_model(json, "test").value().refused.size(), 50000u);
}

TEST(WorldModel, WithoutATreeThereIsAnError) {
  EXPECT_EQ(load_world_model("{}", "w.json").error().text(),
            "w.json: no decision_tree in it (a world model has {\"decision_tree\": {\"root_id\", "
            "\"nodes\"}})");
  EXPECT_FALSE(load_world_model("[]", "w.json").has_value());
  EXPECT_FALSE(load_world_model("{", "w.json").has_value());
}

TEST(WorldModel, ANewerFormOfOursIsRefused) {
  const auto loaded = load_world_model(
      R"({"decision_tree": {}, "ksearch": {"format": "ksearch.world_model/2", "nodes": {}}})", "w");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().text(), HasSubstr("ksearch.world_model/2"));
}

TEST(WorldModel, EveryTruncationIsAnErrorNeverATree) {
  const std::string text = base::to_line(world_model_json(reply_tree()));
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_FALSE(load_world_model(text.substr(0, cut), "w").has_value()) << cut;
  }
  EXPECT_TRUE(load_world_model(text, "w").has_value());
}

}  // namespace
}  // namespace ksearch::tree
