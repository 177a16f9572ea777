// The catalog's planner: which steps to put into the tree, and what a measurement says about the
// rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engineer/catalog.h"
#include "engineer/traits.h"
#include "tree/frontier.h"

namespace ksearch::engineer {
namespace {

using base::Json;

/// How well a step fits the device and workloads: the chance that one of the traits it helps with
/// binds. 0.5 where it says nothing.
double fit(const Step& step, const std::map<std::string, double>& traits) {
  if (step.helps.empty()) return 0.5;
  double none = 1;
  for (const auto& [trait, help] : step.helps) none *= 1 - traits.at(trait) * help;
  return 1 - none;
}

double clamp01(double value) { return std::clamp(value, 0.0, 1.0); }
/// Three digits are enough for a judgement, and keep the tree readable.
double rounded(double value) { return std::round(value * 1000) / 1000; }

/// Cosine of two steps' `helps`: how much one's outcome says about the other.
double likeness(const Step& a, const Step& b) {
  double dot = 0, aa = 0, bb = 0;
  for (const auto& [trait, help] : a.helps) {
    aa += help * help;
    if (const auto it = b.helps.find(trait); it != b.helps.end()) dot += help * it->second;
  }
  for (const auto& [trait, help] : b.helps) bb += help * help;
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa * bb) : 0;
}

/// The closed node a step hangs under: of its parents the one with the best program.
const tree::Node* best_parent(const Step& step, const tree::Tree& tree) {
  const tree::Node* best = nullptr;
  for (const std::string& parent : step.parents) {
    const tree::Node* node = parent == "naive" ? &tree.root() : tree.find(parent);
    if (!node || !node->closed()) continue;
    if (!best || node->ours.score.value_or(0) > best->ours.score.value_or(0)) best = node;
  }
  return best;
}

/// Steps that share a parent stand for alternatives; the notes say which.
std::string alternatives(const Step& step, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const Step& other : catalog.steps) {
    if (other.name == step.name) continue;
    const bool shares = std::ranges::any_of(step.parents, [&](const std::string& parent) {
      return std::ranges::find(other.parents, parent) != other.parents.end();
    });
    if (shares) names.push_back(other.name);
  }
  if (names.empty()) return {};
  return fmt::format("alternative to {}", fmt::join(names, ", "));
}

/// What a step is expected to reach here: its author measured beside another library, on another
/// machine, so the ratio of its parent there and here goes along.
std::optional<double> expected_here(const Step& step, const Step* parent_step,
                                    const tree::Node& parent) {
  if (!step.action.expected) return std::nullopt;
  const auto there = parent_step ? parent_step->action.expected : std::nullopt;
  const auto here = parent.ours.score;
  if (!there || !here || *there <= 0 || *here <= 0) return step.action.expected;
  return rounded(*step.action.expected * *here / *there);
}

}  // namespace

CatalogPlanner::CatalogPlanner(CatalogContext context)
    : context_(std::move(context)),
      traits_(
          traits_of(*context_.definition, context_.workloads, context_.device, context_.naive)) {}

PlanReply CatalogPlanner::plan(const PlanRequest& request, const tree::Tree& tree) {
  tree::EditScript script;
  if (request.kind == PlanRequest::Kind::revise) {
    script = revisions(tree);
    if (script.ops.empty()) return {Nothing{"no open step is judged otherwise"}};
  } else {
    script = proposals(tree, request.new_nodes);
    if (script.ops.empty()) return {Nothing{"no step is left whose parent has a program"}};
  }
  return {std::move(script)};
}

tree::EditScript CatalogPlanner::proposals(const tree::Tree& tree, int limit) const {
  kernel::Scope device;
  kernel::add_device(context_.device, device);
  std::vector<std::pair<std::string, tree::Node>> found;  // parent, node
  for (const Step& step : context_.catalog->steps) {
    if (tree.id_taken(step.name)) continue;
    if (step.needs && !step.needs->eval_boolean(device).value_or(false)) continue;
    const tree::Node* parent = best_parent(step, tree);
    if (!parent) continue;
    tree::Node node;
    node.id = step.name;
    node.decision = parent->is_root() ? "from naive" : "after " + parent->id;
    node.choice = step.action.title;
    node.action = step.action;
    node.action.expected = expected_here(step, context_.catalog->find(parent->id), *parent);
    // A neutral fit leaves the step's own score; a perfect one adds half of it, none takes half.
    node.action.score = rounded(clamp01(step.action.score * (0.5 + fit(step, traits_))));
    node.rating = rounded(std::clamp(step.rating * (0.5 + fit(step, traits_)), 0.0, 10.0));
    node.confidence = step.confidence;
    node.impacts = step.impacts;
    node.notes = alternatives(step, *context_.catalog);
    found.emplace_back(parent->id, std::move(node));
  }
  std::ranges::stable_sort(
      found, [](const auto& a, const auto& b) { return tree::ksearch_before(a.second, b.second); });
  tree::EditScript script;
  for (const auto& [parent, node] : found) {
    if (static_cast<int>(script.ops.size()) == limit) break;
    script.ops.push_back(tree::insert_op(parent, node));
  }
  return script;
}

/// Where closed steps gained more or less than predicted, open ones that help by the same traits
/// are expected to as well: the mean log residual, weighted by likeness, with one unit of doubt
/// against it.
tree::EditScript CatalogPlanner::revisions(const tree::Tree& tree) const {
  tree::EditScript script;
  for (const tree::Node* node : tree.nodes()) {
    const Step* step = context_.catalog->find(node->id);
    if (!step || node->closed()) continue;
    if (node->ours.failed_cycles > 1 && !tree.has_children(node->id)) {
      script.ops.push_back(
          tree::prune_op(node->id, fmt::format("failed in {} cycles", node->ours.failed_cycles)));
      continue;
    }
    if (node->ours.failed_cycles > 0) continue;  // the rule has judged it already
    double sum = 0;
    double weight = 0;
    for (const tree::Node* other : tree.nodes()) {
      const Step* done = context_.catalog->find(other->id);
      if (!done || !other->closed() || !other->ours.predicted_gain || !other->ours.measured_gain ||
          *other->ours.predicted_gain <= 0 || *other->ours.measured_gain <= 0) {
        continue;
      }
      const double like = likeness(*step, *done);
      sum += like * std::log(*other->ours.measured_gain / *other->ours.predicted_gain);
      weight += like;
    }
    const double factor = std::clamp(std::exp(sum / (weight + 1)), 0.25, 4.0);
    const double basis = 0.5 + fit(*step, traits_);
    const double score = rounded(clamp01(step->action.score * basis * std::sqrt(factor)));
    const double rating = rounded(std::clamp(step->rating * basis * std::sqrt(factor), 0.0, 10.0));
    // A change of less than a twentieth is noise of the measurement, not a judgement.
    if (std::abs(score - node->action.score) <= 0.05 * node->action.score) continue;
    Json action{{"score_0_to_1", score}};
    if (step->action.expected) {
      const tree::Node& parent = tree.at(node->parent);
      action["expected_vs_baseline_factor"] =
          rounded(*expected_here(*step, context_.catalog->find(parent.id), parent) * factor);
    }
    script.ops.push_back(tree::update_op(
        node->id, {{"action", std::move(action)}, {"overall_rating_0_to_10", rating}}));
  }
  return script;
}

}  // namespace ksearch::engineer
