// A small task, programs by text, outcomes by number, and engineers whose answers are a pure
// function of the request: what tests of the search run on.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "search/driver.h"
#include "search/engine.h"

namespace ksearch::search {

inline const kernel::Definition& copy_task() {
  static const kernel::Definition kDefinition = [] {
    auto d = kernel::parse_definition(*base::parse_json(R"({
      "name": "copy", "op_type": "copy", "description": "for tests", "axes": {"n": {"type": "var"}},
      "constraints": [], "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
      "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
      "generate": [{"kind": "normal", "tensors": ["x"]}], "flops": "n", "bytes": "8 * n", "reference": ""})",
                                                        "copy"),
                                      "copy");
    if (!d) throw std::runtime_error(d.error().text());
    return *d;
  }();
  return kDefinition;
}

/// A program of that task whose source is `text`.
inline kernel::Program program(const std::string& text) {
  const base::Json json{
      {"format", "ksearch.program/1"},
      {"task", "copy"},
      {"dialect", "cpp"},
      {"sources", {{{"path", "copy.cpp"}, {"text", text}}}},
      {"launches",
       {{{"kernel", "copy"}, {"groups", {"1"}}, {"args", {"x", "y", {{"i64", "n"}}}}}}}};
  auto p = kernel::parse_program(json, copy_task(), "program", nullptr);
  if (!p) throw std::runtime_error(p.error().text());
  return *p;
}

inline kernel::Ratio ratio(double value) { return {value, value * 0.98, value * 1.02, 20}; }

/// Measured at `score` times the expert; naive is at 0.1 of it.
inline kernel::Outcome measured(double score, std::optional<double> over_parent = {},
                                double roofline = 0.5) {
  kernel::Measured m;
  m.baseline = "expert";
  m.score = ratio(score);
  m.ratios = {{"expert", ratio(score)}, {"naive", ratio(score / 0.1)}};
  if (over_parent) m.ratios["parent"] = ratio(*over_parent);
  kernel::WorkloadTiming timing;
  timing.workload = "n1024";
  timing.samples_ns = {1000 / score, 1010 / score};
  timing.median_ns = 1005 / score;
  timing.low_ns = 1000 / score;
  timing.high_ns = 1010 / score;
  timing.ratios = m.ratios;
  timing.expert = "torch";
  timing.roofline_fraction = roofline;
  timing.bound_by = "bandwidth";
  m.workloads = {timing};
  kernel::Outcome outcome;
  outcome.verdict = std::move(m);
  outcome.stage = kernel::Stage::timing;
  outcome.measurements = 2;
  return outcome;
}

inline kernel::Outcome wrong() {
  kernel::Outcome outcome;
  outcome.verdict = kernel::WrongResult{"y", "y[0] is 1, wanted 2", 0.5, 1e-5};
  outcome.stage = kernel::Stage::tiny;
  outcome.workload = "tiny";
  return outcome;
}

inline evaluate::Certificate certificate(bool passed) {
  evaluate::Certificate c;
  c.passed = passed;
  c.checks = {{"held_out", passed, passed ? "all right" : "1.2e-3 off on n1000", nullptr}};
  c.baseline = "expert";
  c.heldout_ratio = ratio(1.1);
  c.feedback_ratio = ratio(1.2);
  return c;
}

inline base::Json idea(const std::string& parent, const std::string& id, double score = 0.5,
                       int difficulty = 2, std::optional<double> expected = {}) {
  base::Json action{
      {"title", "do " + id}, {"score_0_to_1", score}, {"difficulty_1_to_5", difficulty}};
  if (expected) action["expected_vs_baseline_factor"] = *expected;
  return {{"op", "insert_node"},
          {"parent_id", parent},
          {"node", {{"node_id", id}, {"action", action}, {"overall_rating_0_to_10", 5}}}};
}

inline engineer::PlanReply edits(std::vector<base::Json> ops) {
  return {tree::EditScript{std::move(ops), {}}};
}

inline Config config() {
  Config c;
  c.task = "copy";
  c.target = "cpu";
  c.device = "test";
  c.engineer = "scripted";
  return c;
}

/// Plans, codes and judges by a hash of the seed and the request's id and number of times asked, so
/// that a resumed run is answered as the first one was. `wild`: nonsense and losses are in it, too.
class Scripted final : public engineer::Planner, public engineer::Coder {
 public:
  Scripted(std::uint64_t seed, bool wild) : seed_(seed), wild_(wild) {}

  std::string name() const override { return "scripted"; }
  engineer::PlanReply plan(const engineer::PlanRequest& request, const tree::Tree& tree) override {
    base::Random random = source(
        fmt::format("plan/{}/{}", request.revision, request.cycle ? request.cycle->cycle : 0));
    const auto nodes = tree.nodes();
    if (random.unit() < 0.1) return {engineer::Nothing{"no idea"}, {10, 5, 0.001}};
    if (wild_ && random.unit() < 0.1) return {engineer::Refused{"no JSON"}, {10, 0, 0.001}};
    if (wild_ && lost(random)) return {engineer::Lost{"the network is gone"}};
    tree::EditScript script;
    const std::uint64_t count = 1 + random.below(wild_ ? 6 : 3);
    for (std::uint64_t i = 0; i < count; ++i) {
      script.ops.push_back(op(random, *nodes[random.below(nodes.size())], i));
    }
    return {std::move(script), {100, 20, 0.01}};
  }

  engineer::CodeReply code(const engineer::CodeRequest& request) override {
    base::Random random = source(
        fmt::format("code/{}/{}/{}", request.node_id, request.cycle_of_node, request.attempt));
    if (request.attempt > 1 && random.unit() < 0.4) return {engineer::Exhausted{"done"}};
    if (random.unit() < 0.1) return {engineer::Refused{"I cannot"}, {50, 1, 0}};
    if (wild_ && lost(random)) return {engineer::Lost{"quota"}};
    const std::uint64_t variant = random.below(wild_ ? 40 : 1000000);
    return {program(fmt::format("// {}\nint variant = {};", request.node_id, variant)),
            {200, 300, 0.02}};
  }

  kernel::EvaluateReply evaluate(const evaluate::EvaluateRequest& request) {
    base::Random random = source("evaluate/" + request.program.hash());
    if (wild_ && lost(random)) return kernel::Lost{"the machine went away"};
    if (random.unit() < 0.3) return wrong();
    const double score = 0.1 + 1.5 * random.unit();
    return measured(score, request.parent ? std::optional(0.5 + 2 * random.unit()) : std::nullopt);
  }

  CertifyReply certify(const CertifyRequest& request) {
    return certificate(source("certify/" + request.program).unit() < 0.5);
  }

 private:
  base::Random source(const std::string& name) const { return base::Random(seed_).fork(name); }

  /// Now and then, but never twice in a row: the same request asked again is answered.
  bool lost(base::Random& random) {
    if (random.unit() >= 0.1 || just_lost_) {
      just_lost_ = false;
      return false;
    }
    just_lost_ = true;
    return true;
  }

  base::Json op(base::Random& random, const tree::Node& node, std::uint64_t i) const {
    const double dice = random.unit();
    const std::string fresh = fmt::format("n{}_{}", random.below(100000), i);
    if (!wild_ || dice < 0.5) {
      return idea(node.id, fresh, random.unit(), 1 + static_cast<int>(random.below(5)),
                  0.2 + random.unit());
    }
    if (dice < 0.6) return tree::prune_op(node.id, "no good");
    if (dice < 0.7) return {{"op", "delete_node"}, {"node_id", node.id}};
    if (dice < 0.8) {
      return tree::update_op(
          node.id, {{"action", {{"score_0_to_1", 2 * random.unit()}}}, {"notes", "seen"}});
    }
    if (dice < 0.85)
      return {{"op", "split_node"}, {"node_id", node.id}, {"children", {idea("", fresh)["node"]}}};
    if (dice < 0.9) return idea("nobody", fresh);
    if (dice < 0.95) return idea(node.id, node.id);
    return "delete everything";
  }

  std::uint64_t seed_;
  bool wild_;
  bool just_lost_ = false;
};

/// Hands around `scripted`; an evaluation takes `each` of the clock's time.
inline Hands hands(Scripted& scripted, base::ManualClock& clock, std::chrono::nanoseconds each) {
  return {&scripted, &scripted,
          [&scripted, &clock, each](const evaluate::EvaluateRequest& request,
                                    const evaluate::Progress&) {
            clock.advance(each);
            return scripted.evaluate(request);
          },
          [&scripted, &clock, each](const CertifyRequest& request, const evaluate::Progress&) {
            clock.advance(each);
            return scripted.certify(request);
          }};
}

}  // namespace ksearch::search
