#include "tree/frontier.h"

#include <gtest/gtest.h>

#include "unit/tree/trees.h"

namespace ksearch::tree {
namespace {

std::string pick(const Tree& tree, FrontierRules rules = {}) {
  const Node* node = ksearch_pick(frontier(tree, rules), rules);
  return node ? node->id : "";
}

TEST(Frontier, HasOpenTitledNodesUnderClosedOnes) {
  Tree tree = reply_tree();
  tree.insert(open_node("below_open", "n2"));
  Node untitled = open_node("untitled", "root");
  untitled.action.title.clear();
  tree.insert(untitled);
  EXPECT_EQ(ids(frontier(tree)), "n2 n1a n1b n3a");
}

TEST(Frontier, LeavesNodesAloneThatFailedTwice) {
  Tree tree = reply_tree();
  Node n2 = tree.at("n2");
  n2.ours.failed_cycles = 1;
  tree.replace(n2);
  EXPECT_EQ(ids(frontier(tree)), "n2 n1a n1b n3a");
  n2.ours.failed_cycles = 2;
  tree.replace(n2);
  EXPECT_EQ(ids(frontier(tree)), "n1a n1b n3a");
}

TEST(Pick, ScoreThenDifficultyThenRatingThenId) {
  Tree tree;
  tree.insert(open_node("a", "root", 0.5, 3, 5));
  EXPECT_EQ(pick(tree), "a");
  tree.insert(open_node("b", "root", 0.6, 4, 1));
  EXPECT_EQ(pick(tree), "b");
  tree.insert(open_node("c", "root", 0.6, 3, 1));
  EXPECT_EQ(pick(tree), "c");
  tree.insert(open_node("d", "root", 0.6, 3, 2));
  EXPECT_EQ(pick(tree), "d");
}

TEST(Pick, IdsTieAsStrings) {
  Tree tree;
  tree.insert(open_node("n2", "root"));
  tree.insert(open_node("n10", "root"));
  EXPECT_EQ(pick(tree), "n10");
}

TEST(Pick, TooDifficultOnlyWhereThereIsNothingElse) {
  Tree tree;
  tree.insert(open_node("hard", "root", 0.9, 5));
  EXPECT_EQ(pick(tree), "hard");
  tree.insert(open_node("easy", "root", 0.1, 4));
  EXPECT_EQ(pick(tree), "easy");
}

// K-Search moves a limit that was set to 4 once the best reaches half the baseline; ours stays.
TEST(Pick, TheLimitThatWasSetStays) {
  Tree tree;
  Node best = closed_node("best", "root");
  best.solution.eval = {{"status", "passed"}, {"mean_vs_baseline_factor", 0.9}};
  tree.insert(best);
  tree.insert(open_node("four", "root", 0.9, 4));
  tree.insert(open_node("five", "root", 0.95, 5));
  tree.insert(open_node("three", "root", 0.1, 3));
  EXPECT_EQ(pick(tree, {.difficulty_limit = 3}), "three");
  EXPECT_EQ(pick(tree, {.difficulty_limit = 4}), "four");
  EXPECT_EQ(pick(tree, {.difficulty_limit = 5}), "five");
}

TEST(Pick, NothingFromNothing) { EXPECT_EQ(ksearch_pick({}), nullptr); }

TEST(Unreachable, NamesEachNodeAndWhy) {
  Tree tree = reply_tree();
  Node untitled = open_node("untitled", "root");
  untitled.action.title.clear();
  tree.insert(untitled);
  tree.insert(open_node("child", "untitled"));
  tree.insert(open_node("waits", "n2"));
  const auto found = unreachable(tree);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].node_id, "untitled");
  EXPECT_EQ(found[0].why, "it has no action.title");
  EXPECT_EQ(found[1].node_id, "child");
  EXPECT_EQ(found[1].why, "its parent untitled can never be closed");
}

}  // namespace
}  // namespace ksearch::tree
