// Every prompt is pinned by a golden file; the common prefix is long; a wrong file is an error.
#include "engineer/prompts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "engineer/describe.h"
#include "golden.h"
#include "unit/engineer/letters.h"

namespace ksearch::engineer {
namespace {

using testing::HasSubstr;

kernel::Outcome measured(double score, double over_parent) {
  const auto ratio = [](double value) {
    return kernel::Ratio{value, value * 0.98, value * 1.02, 20};
  };
  kernel::Measured m;
  m.baseline = "expert";
  m.score = ratio(score);
  m.ratios = {
      {"expert", ratio(score)}, {"naive", ratio(4 * score)}, {"parent", ratio(over_parent)}};
  kernel::WorkloadTiming timing;
  timing.workload = "f32_1024x1000";
  timing.median_ns = 123456;
  timing.ratios = m.ratios;
  timing.expert = "torch";
  timing.roofline_fraction = 0.42;
  timing.bound_by = "bandwidth";
  m.workloads = {timing};
  kernel::Outcome outcome;
  outcome.verdict = m;
  outcome.stage = kernel::Stage::timing;
  return outcome;
}

tree::Tree two_nodes() {
  tree::Tree tree;
  tree::Node done;
  done.id = "vector_rows";
  done.parent = "root";
  done.action.title = "Vectors along a row";
  done.solution.solution_id = "abc";
  done.ours.score = 0.8;
  done.ours.predicted_gain = 3;
  done.ours.measured_gain = 3.2;
  done.notes = "the exponential bounds it";
  tree.insert(done);
  tree::Node open;
  open.id = "one_pass";
  open.parent = "vector_rows";
  open.action.title = "Maximum and sum in one pass";
  open.action.score = 0.4;
  open.action.expected = 1.1;
  open.rating = 5;
  open.confidence = 0.5;
  open.ours.failed_cycles = 1;
  tree.insert(open);
  tree.kernel_summary = "A streaming reduction.";
  tree.open_questions = {"Does a row stay in the second-level cache?"};
  return tree;
}

Tried tried(kernel::Outcome outcome) {
  return {*softmax_brief().example, "hash", std::move(outcome)};
}

CodeRequest code_request() {
  CodeRequest request;
  request.task = "softmax";
  request.target = "cpu";
  request.action = tree::Action{};
  request.action->title = "Vectors along a row";
  request.action->description = "Sixteen floats at a time.";
  request.action->rationale = "Scalar code uses a sixteenth of the unit.";
  request.action->expected = 1.2;
  return request;
}

PlanRequest plan_request(PlanRequest::Kind kind) {
  PlanRequest request;
  request.kind = kind;
  request.best_node = "vector_rows";
  request.program = tried(measured(0.8, 3.2));
  return request;
}

void golden(const Question& question) {
  // The specification has its own file.
  const std::string& spec = softmax_prompts().spec();
  ASSERT_TRUE(question.text.starts_with(spec)) << question.kind;
  tests::expect_golden("prompts/" + question.kind + ".md", question.text.substr(spec.size()));
}

TEST(Prompts, SpecificationIsPinned) {
  tests::expect_golden("prompts/spec.md", softmax_prompts().spec());
}

TEST(Prompts, EveryKindIsPinnedAndBeginsWithTheSpecification) {
  const Prompts& prompts = softmax_prompts();
  PlanRequest first = plan_request(PlanRequest::Kind::propose);
  first.new_nodes = 8;
  golden(prompts.plan(first, tree::Tree()));
  golden(prompts.plan(plan_request(PlanRequest::Kind::propose), two_nodes()));
  PlanRequest revise = plan_request(PlanRequest::Kind::revise);
  revise.cycle = CycleReport{
      "vector_rows", 3,
      "stagnated",   {{"", "Unparsable", "no plan", {}}, {"h", "Measured", "Measured: 0.8x", 0.8}},
      "h",           0.8,
      3.0,           3.2};
  golden(prompts.plan(revise, two_nodes()));
  Question question = prompts.code(code_request());
  question.kind = "code-first";
  golden(question);
  CodeRequest request = code_request();
  request.parent = tried(measured(0.25, 1));
  golden(prompts.code(request));
  kernel::Outcome failed;
  failed.verdict = kernel::CompileFailed{"softmax.cpp:3: error: expected ';'"};
  failed.stage = kernel::Stage::compile;
  request.last = tried(failed);
  request.inspirations = {tried(measured(0.9, 1.1))};
  request.last_refusal = "there is no file in the reply";
  golden(prompts.code(request));
  request.last = request.best = tried(measured(0.8, 3.2));
  request.last_refusal.clear();
  golden(prompts.code(request));
  tests::expect_golden("prompts/again.md", prompts.again({"code", "", {}}, "an answer",
                                                         "there is no file in the reply"));
}

TEST(Prompts, ADuplicateIsToldAndNotDebugged) {
  CodeRequest request = code_request();
  kernel::Outcome outcome;
  outcome.verdict = kernel::Duplicate{"hash"};
  outcome.notes = {"that one: Measured: 0.8x"};
  request.last = tried(outcome);
  const Question question = softmax_prompts().code(request);
  EXPECT_EQ(question.kind, "improve");
  EXPECT_THAT(question.text, HasSubstr("repeats a program that was tried before"));
  EXPECT_THAT(question.text, HasSubstr("that one: Measured: 0.8x"));
}

TEST(Prompts, WhatStandsAboveIsNotShownAgain) {
  CodeRequest request = code_request();
  const kernel::Program example = *softmax_brief().example;
  request.parent = Tried{example, example.hash(), measured(0.25, 1)};
  const std::string& source = example.sources.at(0).text;
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times(softmax_prompts().code(request).text, source), 1) << "in the specification";

  request.best = Tried{example, "best", measured(0.8, 3.2)};
  kernel::Program slower = example;
  std::string& text = slower.sources.at(0).text;
  text.insert(text.find('\n') + 1, "// another line\n");
  request.last = Tried{slower, "slower", measured(0.7, 2.8)};
  const Question question = softmax_prompts().code(request);
  EXPECT_EQ(question.kind, "improve");
  EXPECT_THAT(question.text, HasSubstr("As changes to the best program for this action, above"));
  EXPECT_THAT(question.text, HasSubstr("\n+// another line\n"));
  EXPECT_THAT(question.text, HasSubstr("plan: unchanged"));
  EXPECT_THAT(question.text, HasSubstr("Score 0.7x")) << "and what became of it";
  EXPECT_EQ(times(question.text, source), 2) << "in the specification, and as the best";
}

TEST(Prompts, AProgramThatHasLittleInCommonIsShownWhole) {
  const kernel::Program example = *softmax_brief().example;
  kernel::Program other = example;
  std::string& text = other.sources.at(0).text;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 4))
    text.insert(at, " //");
  EXPECT_FALSE(describe_change(example, other));
  EXPECT_EQ(describe_change(example, example),
            example.sources.at(0).path + ": unchanged\n\nplan: unchanged\n\n");
}

TEST(Prompts, APlannerHearsWhenNothingGetsBetter) {
  PlanRequest request = plan_request(PlanRequest::Kind::propose);
  request.tried_since_best = 8;
  EXPECT_THAT(
      softmax_prompts().plan(request, two_nodes()).text,
      HasSubstr("8 programs were tried after it, none was faster.\nVariants of what is there"));
}

TEST(Prompts, AFileWithAHoleOrAnUnknownSectionIsAnErrorWithItsPlace) {
  auto folder = os::TempFolder::create("ksearch-prompts-");
  ASSERT_TRUE(folder);
  std::filesystem::copy(
      source_dir() / "knowledge/prompts", folder->path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder->path() / "debug.md", std::ios::app) << "{{weather}}";
  const auto prompts = Prompts::load(folder->path(), softmax_brief());
  ASSERT_FALSE(prompts);
  EXPECT_THAT(prompts.error().text(), HasSubstr("debug.md"));
  EXPECT_THAT(prompts.error().text(), HasSubstr("weather"));
}

// A bar of the project: a prompt for a tree of 1000 nodes. Its time is printed, never asserted.
TEST(Prompts, ALargeTreeIsCutToItsBudgetAndSaid) {
  tree::Tree tree;
  for (int i = 0; i < 1000; ++i) {
    tree::Node node;
    node.id = "node_" + std::to_string(i);
    node.parent = i % 3 == 0 ? "root" : "node_" + std::to_string(i / 3);
    node.action.title = "an action of some length, number " + std::to_string(i);
    tree.insert(node);
  }
  const auto began = std::chrono::steady_clock::now();
  const Question question = softmax_prompts().plan(plan_request(PlanRequest::Kind::revise), tree);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  RecordProperty("milliseconds", std::to_string(took.count()));
  std::printf("prompt for 1000 nodes: %.2f ms\n", took.count());
  ASSERT_EQ(question.notes.size(), 1u);
  EXPECT_THAT(question.notes[0], HasSubstr("section tree cut by"));
}

TEST(Prompts, EachDialectHasItsRules) {
  for (const kernel::Dialect dialect : {kernel::Dialect::cpp, kernel::Dialect::mlx}) {
    Brief brief = softmax_brief();
    brief.dialect = dialect;
    const auto prompts = Prompts::load(source_dir() / "knowledge/prompts", brief);
    ASSERT_TRUE(prompts) << prompts.error().text();
    EXPECT_THAT(prompts->spec(),
                testing::HasSubstr(fmt::format("Dialect `{}`", kernel::name(dialect))));
  }
}

}  // namespace
}  // namespace ksearch::engineer
