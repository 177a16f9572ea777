#include "search/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace ksearch::search {
namespace {

bool has_open_child(const tree::Tree& tree, std::string_view id) {
  return std::ranges::any_of(tree.children(id),
                             [](const tree::Node* child) { return !child->closed(); });
}

/// K-Search: by score, difficulty, rating, id (tree/frontier.h).
class KSearch final : public Strategy {
 public:
  std::string_view name() const override { return "ksearch"; }
  const tree::Node& pick(const View& view, base::Random) const override {
    return *tree::ksearch_pick(view.frontier, view.rules);
  }
};

/// Always on from the best program: its open children first, by what they promise to reach.
class Greedy final : public Strategy {
 public:
  std::string_view name() const override { return "greedy"; }
  const tree::Node& pick(const View& view, base::Random) const override {
    const auto before = [&](const tree::Node* a, const tree::Node* b) {
      const bool a_best = a->parent == view.best_node;
      const bool b_best = b->parent == view.best_node;
      if (a_best != b_best) return a_best;
      const double a_reach = a->action.expected.value_or(0);
      const double b_reach = b->action.expected.value_or(0);
      if (a_reach != b_reach) return a_reach > b_reach;
      return tree::ksearch_before(*a, *b);
    };
    return **std::ranges::min_element(view.frontier, before);
  }
};

/// Uniform: what any other strategy must beat.
class Uniform final : public Strategy {
 public:
  std::string_view name() const override { return "random"; }
  const tree::Node& pick(const View& view, base::Random random) const override {
    return *view.frontier[random.below(view.frontier.size())];
  }
};

/// How far the planner's predictions have come true in this run.
struct Reliability {
  double slope = 1;       ///< measured log gain for each unit of predicted log gain
  double passed[6] = {};  ///< share of cycles that passed, by difficulty 1 to 5
};

/// Expected gain times the planner's measured reliability, plus an exploration term:
///
///   value = pass(d) * slope * log(predicted gain) + log(S(parent) / S(best)) + c / sqrt(1 + tries)
///
/// slope: ridge regression through the origin of measured on predicted log gains, prior 1 with the
/// weight of one doubling; pass(d): cycles of that difficulty that passed, prior (6 - d) / 6 with
/// weight 2; tries: cycles below the same parent; c = 0.3, about the log of one third's gain.
class Calibrated final : public Strategy {
 public:
  std::string_view name() const override { return "calibrated"; }

  const tree::Node& pick(const View& view, base::Random) const override {
    const Reliability reliability = learn(view.tree);
    std::unordered_map<std::string_view, double> tries;  // cycles below each parent
    for (const tree::Node* node : view.tree.nodes()) tries[node->parent] += node->ours.cycles;
    const double best = view.tree.at(view.best_node).ours.score.value_or(1);
    const tree::Node* picked = nullptr;
    double most = 0;
    for (const tree::Node* node : view.frontier) {
      const double v = value(view.tree, *node, reliability, best, tries[node->parent]);
      if (!picked || v > most || (v == most && tree::ksearch_before(*node, *picked))) {
        picked = node;
        most = v;
      }
    }
    return *picked;
  }

 private:
  static double predicted_log_gain(const tree::Node& node, const tree::Node& parent) {
    const auto& reached = node.action.expected;
    const auto& from = parent.ours.score;
    if (reached && from && *reached > 0 && *from > 0) return std::log(*reached / *from);
    return std::log1p(node.action.score);  // a promise without a number: up to a doubling
  }

  static Reliability learn(const tree::Tree& tree) {
    constexpr double kPrior = 0.48;  // log(2)^2
    double cross = kPrior;
    double square = kPrior;
    double tried[6] = {};
    double passed[6] = {};
    for (const tree::Node* node : tree.nodes()) {
      const auto& ours = node->ours;
      const auto d = static_cast<std::size_t>(std::clamp(node->action.difficulty, 1, 5));
      tried[d] += ours.cycles;
      if (node->closed() && !node->is_root() && ours.cycles > 0) passed[d] += 1;
      if (!ours.predicted_gain || !ours.measured_gain || *ours.predicted_gain <= 0 ||
          *ours.measured_gain <= 0) {
        continue;
      }
      const double predicted = std::log(*ours.predicted_gain);
      cross += predicted * std::log(*ours.measured_gain);
      square += predicted * predicted;
    }
    Reliability reliability;
    reliability.slope = std::clamp(cross / square, 0.0, 2.0);
    for (std::size_t d = 1; d <= 5; ++d) {
      const double prior = (6.0 - static_cast<double>(d)) / 6.0;
      reliability.passed[d] = (passed[d] + 2 * prior) / (tried[d] + 2);
    }
    return reliability;
  }

  static double value(const tree::Tree& tree, const tree::Node& node,
                      const Reliability& reliability, double best, double tries) {
    const tree::Node& parent = tree.at(node.parent);
    const auto d = static_cast<std::size_t>(std::clamp(node.action.difficulty, 1, 5));
    const double from = parent.ours.score.value_or(best);
    const double distance = from > 0 && best > 0 ? std::log(from / best) : 0;
    return reliability.passed[d] * reliability.slope * predicted_log_gain(node, parent) + distance +
           0.3 / std::sqrt(1 + tries);
  }
};

}  // namespace

bool Strategy::wants_plan(const View& view) const {
  return static_cast<int>(view.frontier.size()) < view.frontier_low ||
         !has_open_child(view.tree, view.best_node);
}

std::vector<std::string> Strategy::inspirations(const View& view, const tree::Node& node) const {
  std::vector<const tree::Node*> good;
  for (const tree::Node* other : view.tree.nodes()) {
    if (other->closed() && !other->is_root() && other->id != node.parent && other->ours.score) {
      good.push_back(other);
    }
  }
  std::ranges::stable_sort(good, [](const tree::Node* a, const tree::Node* b) {
    return *a->ours.score > *b->ours.score;
  });
  std::vector<std::string> ids;
  for (const tree::Node* other : good) ids.push_back(other->id);
  return ids;
}

const std::vector<std::string_view>& strategy_names() {
  static const std::vector<std::string_view> kNames{"ksearch", "calibrated", "greedy", "random"};
  return kNames;
}

base::Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name) {
  if (name == "ksearch") return std::make_unique<KSearch>();
  if (name == "calibrated") return std::make_unique<Calibrated>();
  if (name == "greedy") return std::make_unique<Greedy>();
  if (name == "random") return std::make_unique<Uniform>();
  return base::usage_error("strategy", fmt::format("there is no strategy '{}'", name),
                           fmt::format("strategies are {}", fmt::join(strategy_names(), ", ")));
}

}  // namespace ksearch::search
