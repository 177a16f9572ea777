#include "tree/tree.h"

#include <gtest/gtest.h>

#include "unit/tree/trees.h"

namespace ksearch::tree {
namespace {

TEST(Tree, StartsAsALoneClosedRoot) {
  const Tree tree;
  EXPECT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree.root().id, "root");
  EXPECT_TRUE(tree.root().closed());
  EXPECT_EQ(tree.active_leaf_id, "root");
}

TEST(Tree, KeepsNodesInTheOrderTheyCame) {
  const Tree tree = reply_tree();
  EXPECT_EQ(ids(tree.nodes()), "root n1 n2 n1a n1b n3 n3a");
  EXPECT_EQ(ids(tree.children("root")), "n1 n2 n3");
  EXPECT_EQ(ids(tree.path("n1b")), "root n1 n1b");
  EXPECT_EQ(tree.depth("n1b"), 2);
}

TEST(Tree, ARemovedIdIsGoneButNeverFree) {
  Tree tree = reply_tree();
  tree.active_leaf_id = "n1b";
  tree.remove("n1b");
  EXPECT_FALSE(tree.contains("n1b"));
  EXPECT_TRUE(tree.id_taken("n1b"));
  EXPECT_EQ(ids(tree.children("n1")), "n1a");
  EXPECT_EQ(tree.size(), 6u);
  EXPECT_EQ(tree.active_leaf_id, "n1");
}

TEST(Tree, CountsChangesAndRemembersWhenANodeCame) {
  Tree tree;
  tree.insert(open_node("a", "root"));
  tree.insert(open_node("b", "root"));
  Node a = tree.at("a");
  a.rating = 9;
  tree.replace(a);
  EXPECT_EQ(tree.revision(), 3u);
  EXPECT_EQ(tree.born("a"), 1u);
  EXPECT_EQ(tree.born("b"), 2u);
}

TEST(Tree, CopiesAreIndependent) {
  const Tree tree = reply_tree();
  Tree copy = tree;
  copy.remove("n2");
  EXPECT_TRUE(tree.contains("n2"));
  EXPECT_EQ(ids(tree.children("root")), "n1 n2 n3");
}

TEST(Tree, FreeIdsSkipTakenOnes) {
  Tree tree;
  tree.insert(open_node("node_1", "root"));
  tree.remove("node_1");
  EXPECT_EQ(free_id(tree, "node"), "node_2");
}

TEST(TreeDeath, AnUnknownParentIsOurBug) {
  Tree tree;
  EXPECT_DEATH(tree.insert(open_node("a", "nobody")), "nobody");
}

}  // namespace
}  // namespace ksearch::tree
