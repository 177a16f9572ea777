#include "tree/edit.h"

#include <gtest/gtest.h>

#include "unit/tree/trees.h"

namespace ksearch::tree {
namespace {

using base::Json;

EditScript script(std::string_view text) {
  return parse_edit_script(base::parse_json(text, "test").value(), "test").value();
}

/// "0 unknown_node, 3 duplicate_id"
std::string refusals(const EditReport& report) {
  std::string text;
  for (const Refused& refused : report.refused) {
    text += (text.empty() ? "" : ", ") + std::to_string(refused.index) + " " +
            std::string(name(refused.label));
  }
  return text;
}

TEST(Edit, UpdatesMergeActionAndImpacts) {
  Tree tree = reply_tree();
  const auto report =
      apply(tree, script(R"({"ops": [{"op": "update_node", "node_id": "n2", "patch": {
      "action": {"score_0_to_1": 0.2, "difficulty_1_to_5": 4}, "overall_rating_0_to_10": 3,
      "impacts": {"memory_bandwidth": {"rating_0_to_10": 8}}, "notes": "slow"}}]})"),
            {.round = 7});
  EXPECT_EQ(refusals(report), "");
  const Node& n2 = tree.at("n2");
  EXPECT_EQ(n2.action.title, "do n2");
  EXPECT_EQ(n2.action.score, 0.2);
  EXPECT_EQ(n2.action.difficulty, 4);
  EXPECT_EQ(n2.rating, 3);
  EXPECT_EQ(n2.impacts.memory_bandwidth.rating, 8);
  EXPECT_EQ(n2.notes, "slow");
  EXPECT_EQ(n2.last_updated_round, 7);
  ASSERT_EQ(report.changes.size(), 1u);
  EXPECT_EQ(
      report.changes[0].fields,
      (std::vector<std::string>{"action.score_0_to_1", "action.difficulty_1_to_5",
                                "overall_rating_0_to_10", "impacts.memory_bandwidth", "notes"}));
}

TEST(Edit, OneBadOperationSinksNoOther) {
  Tree tree = reply_tree();
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "update_node", "node_id": "n9", "patch": {"notes": "?"}},
      {"op": "update_node", "node_id": "N2", "patch": {"notes": "?"}},
      {"op": "insert_node", "parent_id": "nX", "node": {"node_id": "n4", "action": {"title": "t"}}},
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "n2", "action": {"title": "t"}}},
      {"op": "rename_node", "node_id": "n2"},
      "delete n2",
      {"op": "update_node", "node_id": "n2", "patch": {"overall_rating_0_to_10": 6.5}}]})"),
                            {});
  EXPECT_EQ(
      refusals(report),
      "0 unknown_node, 1 unknown_node, 2 unknown_node, 3 duplicate_id, 4 unknown_op, 5 wrong_kind");
  EXPECT_EQ(report.refused[4].why, "there is no operation 'rename_node'");
  EXPECT_EQ(tree.at("n2").rating, 6.5);
  EXPECT_EQ(tree.size(), 7u);
}

TEST(Edit, ValuesOutOfRangeAreRefusedWithTheFieldAndTheValue) {
  Tree tree = reply_tree();
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "update_node", "node_id": "n2", "patch": {"confidence_0_to_1": 85, "overall_rating_0_to_10": -3}},
      {"op": "update_node", "node_id": "n2", "patch": {"action": {"difficulty_1_to_5": 2.6}}},
      {"op": "update_node", "node_id": "n2", "patch": {"action": {"difficulty_1_to_5": 0}}},
      {"op": "update_node", "node_id": "n2", "patch": {"overall_rating_0_to_10": 10, "confidence_0_to_1": 0,
        "action": {"score_0_to_1": 1, "difficulty_1_to_5": 5}}}]})"),
                            {});
  EXPECT_EQ(refusals(report), "0 out_of_range, 1 out_of_range, 2 out_of_range");
  EXPECT_EQ(report.refused[0].why,
            "confidence_0_to_1 is 85, not within 0 to 1; overall_rating_0_to_10 is -3, not within "
            "0 to 10");
  EXPECT_EQ(tree.at("n2").rating, 10);
  EXPECT_EQ(tree.at("n2").action.difficulty, 5);
}

TEST(Edit, AFaultyFieldLeavesTheWholeNodeAsItWas) {
  Tree tree = reply_tree();
  apply(tree, script(R"({"ops": [{"op": "update_node", "node_id": "n2",
      "patch": {"notes": "new", "confidence_0_to_1": 2}}]})"),
        {});
  EXPECT_EQ(tree.at("n2").notes, "");
}

TEST(Edit, AtMostThreeNewNodesForTheWholeUpdate) {
  Tree tree = reply_tree();
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "x1", "action": {"title": "1"}}},
      {"op": "split_node", "node_id": "n2", "parent_patch": {"decision": "d"}, "children": [
        {"node_id": "x2", "action": {"title": "2"}}, {"node_id": "x2", "action": {"title": "again"}},
        {"node_id": "x3", "action": {"title": "3"}}, {"node_id": "x4", "action": {"title": "4"}}]},
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "x5", "action": {"title": "5"}}}]})"),
                            {});
  EXPECT_EQ(refusals(report), "1 duplicate_id, 1 too_many_new_nodes, 2 too_many_new_nodes");
  EXPECT_EQ(report.refused[0].why, "children[1]: id x2 is taken");
  EXPECT_EQ(ids(tree.children("n2")), "x2 x3");
  EXPECT_EQ(tree.at("n2").decision, "d");
  EXPECT_EQ(report.new_nodes(), 3);
}

TEST(Edit, OnlyOpenLeavesAreDeleted) {
  Tree tree = reply_tree();
  tree.insert(open_node("below", "n2"));
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "delete_node", "node_id": "root"}, {"op": "delete_node", "node_id": "n1"},
      {"op": "delete_node", "node_id": "n2"}, {"op": "delete_node", "node_id": "below"},
      {"op": "delete_node", "node_id": "n2"}, {"op": "insert_node", "parent_id": "n2", "node": {"action": {"title": "late"}}}]})"),
                            {});
  EXPECT_EQ(refusals(report),
            "0 not_an_open_leaf, 1 not_an_open_leaf, 2 not_an_open_leaf, 5 unknown_node");
  EXPECT_EQ(ids(tree.nodes()), "root n1 n1a n1b n3 n3a");
}

TEST(Edit, PruningNeedsAReasonAndTwoFailures) {
  Tree tree = reply_tree();
  Node n2 = tree.at("n2");
  n2.ours.failed_cycles = 1;
  tree.replace(n2);
  const EditScript prune{{prune_op("n2", "spills registers")}, {}};
  EXPECT_EQ(refusals(apply(tree, prune, {})), "0 tried_once");
  n2.ours.failed_cycles = 2;
  tree.replace(n2);
  EXPECT_EQ(refusals(apply(tree, {{prune_op("n2", "")}, {}}, {})), "0 missing_field");
  EXPECT_EQ(refusals(apply(tree, prune, {.in_use = {"n2"}})), "0 in_use");
  const auto report = apply(tree, prune, {});
  ASSERT_EQ(report.changes.size(), 1u);
  EXPECT_EQ(report.changes[0].why, "spills registers");
  EXPECT_FALSE(tree.contains("n2"));
}

TEST(Edit, TheSolutionIsTheEnginesToSet) {
  Tree tree = reply_tree();
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "update_node", "node_id": "n2", "patch": {"solution_ref": {"solution_id": "mine"}}},
      {"op": "insert_node", "parent_id": "n1", "node": {"action": {"title": "t"}, "solution_ref": {"solution_id": "mine"}}},
      {"op": "insert_node", "parent_id": "n1", "parent_solution_id": "WRONG", "node": {"action": {"title": "t"}}},
      {"op": "insert_node", "parent_id": "n1", "parent_solution_id": "sol_n1", "node": {"node_id": "ok", "action": {"title": "t"},
        "solution_ref": {"solution_id": null, "parent_solution_id": null, "eval": null}}}]})"),
                            {});
  EXPECT_EQ(refusals(report), "0 not_allowed, 1 not_allowed, 2 wrong_parent_solution");
  EXPECT_EQ(tree.at("ok").solution.parent_solution_id, "sol_n1");
  EXPECT_FALSE(tree.at("ok").closed());
}

TEST(Edit, IdentityAndTheRootStayAsTheyAre) {
  Tree tree = reply_tree();
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "update_node", "node_id": "n2", "patch": {"parent_id": "n1"}},
      {"op": "update_node", "node_id": "n2", "patch": {"node_id": "n7"}},
      {"op": "update_node", "node_id": "root", "patch": {"decision": "x"}},
      {"op": "update_node", "node_id": "n2", "patch": {"action": {"title": " "}}},
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "s", "parent_id": "s", "action": {"title": "t"}}},
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "s", "parent_id": "n2", "action": {"title": "t"}}},
      {"op": "insert_node", "parent_id": "n1", "node": {"node_id": "s"}},
      {"op": "update_node", "node_id": "root", "patch": {"notes": "seen", "decision": null}}]})"),
                            {});
  EXPECT_EQ(refusals(report),
            "0 not_allowed, 1 not_allowed, 2 not_allowed, 3 missing_field, 4 cycle, 5 not_allowed, "
            "6 missing_field");
  EXPECT_EQ(tree.root().notes, "seen");
}

TEST(Edit, AScriptKnowsOnlyNodesItsAuthorSaw) {
  Tree tree = reply_tree();
  const std::uint64_t seen = tree.revision();
  tree.insert(open_node("later", "n1"));
  const auto report = apply(tree, script(R"({"ops": [
      {"op": "update_node", "node_id": "later", "patch": {"notes": "guess"}},
      {"op": "insert_node", "parent_id": "n2", "node": {"node_id": "mine", "action": {"title": "t"}}},
      {"op": "insert_node", "parent_id": "mine", "node": {"node_id": "below", "action": {"title": "t"}}}]})"),
                            {.seen_revision = seen});
  EXPECT_EQ(refusals(report), "0 unknown_node");
  EXPECT_EQ(ids(tree.path("below")), "root n2 mine below");
}

TEST(Edit, ANewIdeaGetsItsCyclesAnewANewNumberDoesNot) {
  Tree tree = reply_tree();
  Node n2 = tree.at("n2");
  n2.ours.failed_cycles = 2;
  tree.replace(n2);
  apply(tree, {{update_op("n2", {{"action", {{"score_0_to_1", 0.9}}}})}, {}}, {});
  EXPECT_EQ(tree.at("n2").ours.failed_cycles, 2);
  apply(tree, {{update_op("n2", {{"action", {{"description", "otherwise"}}}})}, {}}, {});
  EXPECT_EQ(tree.at("n2").ours.failed_cycles, 0);
}

TEST(Edit, MissingScoresComeFromTheRatingAndUnknownKeysAreKept) {
  Tree tree = reply_tree();
  const auto report =
      apply(tree, script(R"({"ops": [{"op": "insert_node", "parent_id": "n1", "node": {
      "node_id": "x", "action": {"title": "t"}, "overall_rating_0_to_10": "7", "SELF_CHECK": "ok"}}],
      "active_leaf_id": "x"})"),
            {});
  EXPECT_EQ(tree.at("x").action.score, 0.7);
  EXPECT_EQ(tree.at("x").extra, Json({{"SELF_CHECK", "ok"}}));
  EXPECT_EQ(report.notes.size(), 3u);
  EXPECT_EQ(tree.active_leaf_id, "x");
}

TEST(Edit, NodesWithoutAnIdGetAFreeOne) {
  Tree tree = reply_tree();
  apply(
      tree,
      script(
          R"({"ops": [{"op": "insert_node", "parent_id": "n1", "node": {"action": {"title": "t"}}}]})"),
      {});
  EXPECT_EQ(ids(tree.children("n1")), "n1a n1b node_1");
}

TEST(Edit, AnInsertOperationCarriesTheWholeNode) {
  Tree tree = reply_tree();
  Node node = open_node("step", "", 0.75, 2, 8);
  node.action.description = "tile the keys";
  node.action.expected = 0.4;
  node.impacts.register_pressure = {6, "spills", "eight accumulators", nullptr};
  apply(tree, {{insert_op("n1", node)}, {}}, {});
  const Node& got = tree.at("step");
  EXPECT_EQ(got.parent, "n1");
  EXPECT_EQ(got.action.description, "tile the keys");
  EXPECT_EQ(got.action.expected, 0.4);
  EXPECT_EQ(got.impacts.register_pressure.risk, "spills");
  EXPECT_EQ(got.rating, 8);
}

TEST(EditScript, IsAListOfOperationsOrAnError) {
  EXPECT_FALSE(parse_edit_script(Json::array(), "reply").has_value());
  EXPECT_EQ(parse_edit_script(Json::object(), "reply").error().text(),
            "reply: ops is missing, or no list (write {\"ops\": [...]})");
  const EditScript one = script(R"({"ops": [{"op": "x"}], "active_leaf_id": "a"})");
  EXPECT_EQ(to_json(one),
            base::parse_json(R"({"ops": [{"op": "x"}], "active_leaf_id": "a"})", "").value());
}

}  // namespace
}  // namespace ksearch::tree
