#include "search/strategy.h"

#include <gtest/gtest.h>

#include "unit/tree/trees.h"

namespace ksearch::search {
namespace {

using tree::closed_node;
using tree::open_node;
using tree::Tree;

tree::Node scored(tree::Node node, double score) {
  node.ours.score = score;
  return node;
}

tree::Node expecting(tree::Node node, double expected) {
  node.action.expected = expected;
  return node;
}

View view_of(const Tree& tree, std::string best) {
  View view{tree, {}, {}, std::move(best), 3};
  view.frontier = tree::frontier(tree, view.rules);
  return view;
}

std::string pick(std::string_view strategy, const View& view, std::uint64_t seed = 1) {
  return make_strategy(strategy).value()->pick(view, base::Random(seed)).id;
}

TEST(Strategy, KSearchTakesTheHighestScore) {
  const Tree tree = tree::reply_tree();
  EXPECT_EQ(pick("ksearch", view_of(tree, "n1")), "n1a");
}

TEST(Strategy, GreedyGoesOnFromTheBest) {
  Tree tree = tree::reply_tree();
  tree.insert(expecting(open_node("wild", "root", 0.9), 9.0));
  tree.insert(expecting(open_node("n3b", "n3", 0.1), 0.8));
  EXPECT_EQ(pick("greedy", view_of(tree, "n3")), "n3b");
  EXPECT_EQ(pick("greedy", view_of(tree, "root")), "wild");
}

TEST(Strategy, RandomIsUniformAndSeeded) {
  const Tree tree = tree::reply_tree();
  std::map<std::string, int> count;
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    ++count[pick("random", view_of(tree, "n1"), seed)];
  EXPECT_EQ(count.size(), 4u);
  for (const auto& [id, n] : count) EXPECT_GT(n, 60) << id;
  EXPECT_EQ(pick("random", view_of(tree, "n1"), 7), pick("random", view_of(tree, "n1"), 7));
}

TEST(Strategy, CalibratedPrefersTheGreaterPromiseAtTheSameParent) {
  Tree tree;
  tree.insert(scored(closed_node("p", "root"), 0.5));
  tree.insert(expecting(open_node("small", "p", 0.9), 0.6));
  tree.insert(expecting(open_node("large", "p", 0.1), 1.0));
  EXPECT_EQ(pick("calibrated", view_of(tree, "p")), "large");
}

TEST(Strategy, CalibratedTrustsAPlannerLessThatPromisedTooMuch) {
  const auto tree_with = [](double measured_gain) {
    Tree tree;
    tree::Node p = scored(closed_node("p", "root"), 0.5);
    p.ours.cycles = 1;
    p.ours.predicted_gain = 4.0;
    p.ours.measured_gain = measured_gain;
    tree.insert(p);
    tree::Node weak = scored(closed_node("weak", "root"), 0.25);
    weak.ours.cycles = 1;
    tree.insert(weak);
    tree.insert(expecting(open_node("from_best", "p"), 0.55));
    tree.insert(expecting(open_node("from_weak", "weak"), 1.5));  // six times its parent
    return tree;
  };
  EXPECT_EQ(pick("calibrated", view_of(tree_with(4.0), "p")), "from_weak");
  EXPECT_EQ(pick("calibrated", view_of(tree_with(1.05), "p")), "from_best");
}

TEST(Strategy, PlansAreWantedWhenIdeasRunLow) {
  Tree tree = tree::reply_tree();
  const auto strategy = make_strategy("ksearch").value();
  EXPECT_FALSE(strategy->wants_plan(view_of(tree, "n1")));
  EXPECT_TRUE(strategy->wants_plan(view_of(Tree(), "root")));
  tree.insert(closed_node("done", "root"));
  EXPECT_TRUE(strategy->wants_plan(view_of(tree, "done")));
}

TEST(Strategy, InspirationsAreTheBestProgramsElsewhere) {
  Tree tree;
  tree.insert(scored(closed_node("a", "root"), 0.5));
  tree.insert(scored(closed_node("b", "root"), 0.9));
  tree.insert(scored(closed_node("c", "root"), 0.7));
  tree.insert(open_node("n", "a"));
  const auto strategy = make_strategy("ksearch").value();
  EXPECT_EQ(strategy->inspirations(view_of(tree, "b"), tree.at("n")),
            (std::vector<std::string>{"b", "c"}));
}

}  // namespace
}  // namespace ksearch::search
