#include "engineer/catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/files.h"

namespace ksearch::engineer {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

kernel::Definition copy_task() {
  return kernel::parse_definition(*base::parse_json(R"({
      "name": "copy", "op_type": "copy", "description": "for tests", "axes": {"n": {"type": "var"}},
      "constraints": [], "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
      "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
      "generate": [{"kind": "normal", "tensors": ["x"]}], "flops": "n", "bytes": "8 * n", "reference": ""})",
                                                    "copy"),
                                  "copy")
      .value();
}

/// A step as its author writes it: score, expected factor, what it helps with.
Json step(std::vector<std::string> parents, double score, double expected, Json helps) {
  return {
      {"format", "ksearch.step/1"},
      {"parents", parents},
      {"action",
       {{"title", "do it"},
        {"description", "so and so"},
        {"difficulty_1_to_5", 2},
        {"score_0_to_1", score},
        {"expected_vs_baseline_factor", expected},
        {"rationale", "because"}}},
      {"impacts", {{"memory_bandwidth", {{"rating_0_to_10", 7}, {"risk", "low"}, {"notes", "n"}}}}},
      {"overall_rating_0_to_10", 6},
      {"confidence_0_to_1", 0.7},
      {"helps", helps}};
}

class CatalogTest : public testing::Test {
 protected:
  void add(const std::string& name, const Json& json) {
    const auto folder = temp_.path() / name;
    const Json program{
        {"format", "ksearch.program/1"},
        {"task", "copy"},
        {"dialect", "cpp"},
        {"sources", {{{"path", "copy.cpp"}}}},
        {"defines", {{"UNROLL", "4"}}},
        {"launches", {{{"kernel", "copy"}, {"groups", {"1"}}, {"args", {"x", "y"}}}}}};
    ASSERT_TRUE(os::write_file(folder / "step.json", base::to_text(json)).has_value());
    ASSERT_TRUE(os::write_file(folder / "program.json", base::to_text(program)).has_value());
    ASSERT_TRUE(os::write_file(folder / "copy.cpp", "// " + name).has_value());
  }

  base::Result<Catalog> load() { return load_catalog(temp_.path(), task_); }

  CatalogPlanner planner(const Catalog& catalog, double bytes_per_second = 1e9) {
    CatalogContext context;
    context.catalog = &catalog;
    context.definition = &task_;
    context.workloads = {
        kernel::parse_workload(
            *base::parse_json(
                R"({"name": "w", "role": "feedback", "axes": {"n": 1048576}, "types": {}, "params": {}})",
                "w"),
            task_, "w")
            .value()};
    context.device.kind = "cpu";
    context.device.cores = 2;
    context.device.float32_flops = 1e9;
    context.device.bandwidth = {{1e3, bytes_per_second}, {1e9, bytes_per_second}};
    return CatalogPlanner(std::move(context));
  }

  os::TempFolder temp_ = os::TempFolder::create("ksearch-catalog").value();
  kernel::Definition task_ = copy_task();
};

std::vector<std::string> inserted(const PlanReply& reply) {
  std::vector<std::string> ids;
  const auto* script = std::get_if<tree::EditScript>(&reply.what);
  if (!script) return ids;
  for (const Json& op : script->ops) {
    if (op["op"] == "insert_node") {
      ids.push_back(op["parent_id"].get<std::string>() + "/" +
                    op["node"]["node_id"].get<std::string>());
    }
  }
  return ids;
}

tree::Tree with_applied(tree::Tree tree, const PlanReply& reply) {
  tree::apply(tree, std::get<tree::EditScript>(reply.what), {});
  return tree;
}

void close(tree::Tree& tree, const std::string& id, double score, double predicted, double gain) {
  tree::Node node = tree.at(id);
  node.solution.solution_id = "hash_" + id;
  node.ours.score = score;
  node.ours.predicted_gain = predicted;
  node.ours.measured_gain = gain;
  tree.replace(node);
}

TEST_F(CatalogTest, ReadsAStepWithAllItSays) {
  Json json = step({"naive"}, 0.6, 0.3, {{"bandwidth_bound", 0.2}});
  json["needs"] = "device.has_avx512f";
  json["leave_out"] = {{"tile", {{"UNROLL", 1}}}};
  json["rests_on"] = {"pattern:fold_scale"};
  add("tile", step({"naive"}, 0.5, 0.2, Json::object()));
  add("fold", json);
  const Catalog catalog = load().value();
  ASSERT_EQ(catalog.steps.size(), 2u);
  const Step& fold = *catalog.find("fold");
  EXPECT_EQ(fold.parents, (std::vector<std::string>{"naive"}));
  EXPECT_EQ(fold.action.expected, 0.3);
  EXPECT_EQ(fold.impacts.memory_bandwidth.risk, "low");
  EXPECT_EQ(fold.helps.at("bandwidth_bound"), 0.2);
  EXPECT_EQ(fold.needs->text(), "device.has_avx512f");
  EXPECT_EQ(fold.leave_out.at("tile").at("UNROLL"), 1);
  EXPECT_EQ(fold.program.sources[0].text, "// fold");
  EXPECT_EQ(catalog.find("nothing"), nullptr);
}

TEST_F(CatalogTest, AnAbsentFolderIsAnEmptyCatalog) {
  EXPECT_TRUE(load_catalog(temp_.path() / "nothing", task_).value().steps.empty());
}

TEST_F(CatalogTest, FaultsNameTheirPlace) {
  const auto fault = [&](const char* what, auto change) {
    Json json = step({"naive"}, 0.6, 0.3, Json::object());
    change(json);
    const auto parsed = parse_step(json, "s", "s/step.json");
    ASSERT_FALSE(parsed.has_value()) << what;
    EXPECT_THAT(parsed.error().text(), HasSubstr(what));
  };
  fault("colour", [](Json& j) { j["colour"] = 1; });
  fault("ksearch.step/2", [](Json& j) { j["format"] = "ksearch.step/2"; });
  fault("parents", [](Json& j) { j["parents"] = Json::array(); });
  fault("score_0_to_1: 1.5 is not within 0 to 1",
        [](Json& j) { j["action"]["score_0_to_1"] = 1.5; });
  fault("difficulty_1_to_5", [](Json& j) { j["action"]["difficulty_1_to_5"] = 0; });
  fault("\"compute\" is no trait", [](Json& j) { j["helps"] = {{"compute", 0.5}}; });
  fault("n is nothing of the device", [](Json& j) { j["needs"] = "n > 4"; });
  fault("leave_out", [](Json& j) { j["leave_out"] = {{"tile", {{"UNROLL", "one"}}}}; });
  fault("action", [](Json& j) { j.erase("action"); });
}

TEST_F(CatalogTest, StepsThatHangOnNothingAreErrors) {
  add("a", step({"b"}, 0.5, 0.2, Json::object()));
  add("b", step({"a"}, 0.5, 0.2, Json::object()));
  EXPECT_THAT(load().error().text(), HasSubstr("cannot be reached from naive"));
  add("a", step({"nobody"}, 0.5, 0.2, Json::object()));
  EXPECT_THAT(load().error().text(), HasSubstr("nobody, which is no step"));
}

TEST_F(CatalogTest, LeavingOutNamesStepsAndDefines) {
  Json json = step({"naive"}, 0.5, 0.2, Json::object());
  json["leave_out"] = {{"a", {{"UNROLLED", 1}}}};
  add("a", json);
  EXPECT_THAT(load().error().text(), HasSubstr("UNROLLED, which program.json does not define"));
  json["leave_out"] = {{"z", {{"UNROLL", 1}}}};
  add("a", json);
  EXPECT_THAT(load().error().text(), HasSubstr("leave_out names z"));
}

TEST_F(CatalogTest, ProposesStepsWhoseParentsAreClosedBestFirst) {
  add("a", step({"naive"}, 0.5, 0.2, Json::object()));
  add("b", step({"naive"}, 0.6, 0.3, Json::object()));
  add("c", step({"a", "b"}, 0.9, 0.5, Json::object()));
  Json absent = step({"naive"}, 1.0, 2.0, Json::object());
  absent["needs"] = "device.has_amx_bf16";
  add("d", absent);
  const Catalog catalog = load().value();
  CatalogPlanner planner = this->planner(catalog);
  tree::Tree tree;
  PlanReply reply = planner.plan({}, tree);
  EXPECT_THAT(inserted(reply), ElementsAre("root/b", "root/a"));
  tree = with_applied(tree, reply);
  EXPECT_EQ(tree.at("a").notes, "alternative to b, d");
  EXPECT_TRUE(std::holds_alternative<Nothing>(planner.plan({}, tree).what));
  close(tree, "a", 0.25, 2, 2.5);
  EXPECT_THAT(inserted(planner.plan({}, tree)), ElementsAre("a/c"));
  close(tree, "b", 0.35, 3, 3.5);  // the better of the two parents
  EXPECT_THAT(inserted(planner.plan({}, tree)), ElementsAre("b/c"));
}

TEST_F(CatalogTest, TheDeviceDecidesWhatComesFirst) {
  add("saves_traffic", step({"naive"}, 0.5, 0.3, {{"bandwidth_bound", 1.0}}));
  add("saves_work", step({"naive"}, 0.5, 0.3, {{"compute_bound", 1.0}}));
  const Catalog catalog = load().value();
  // 8 bytes for each operation: at 1 GB/s against 1 GFLOP/s the traffic binds, at 1 TB/s the work.
  EXPECT_THAT(inserted(planner(catalog, 1e9).plan({}, tree::Tree())),
              ElementsAre("root/saves_traffic", "root/saves_work"));
  EXPECT_THAT(inserted(planner(catalog, 1e12).plan({}, tree::Tree())),
              ElementsAre("root/saves_work", "root/saves_traffic"));
}

TEST_F(CatalogTest, AtMostAsManyAsWereAskedFor) {
  for (const char* name : {"a", "b", "c", "d"})
    add(name, step({"naive"}, 0.5, 0.2, Json::object()));
  const Catalog catalog = load().value();
  PlanRequest request;
  request.new_nodes = 2;
  EXPECT_THAT(inserted(planner(catalog).plan(request, tree::Tree())),
              ElementsAre("root/a", "root/b"));
}

TEST_F(CatalogTest, WhatGainedLessThanPredictedLowersItsLike) {
  add("a", step({"naive"}, 0.8, 0.4, {{"bandwidth_bound", 1.0}}));
  add("like_a", step({"naive"}, 0.5, 0.4, {{"bandwidth_bound", 0.5}}));
  add("unlike", step({"naive"}, 0.5, 0.4, {{"compute_bound", 1.0}}));
  const Catalog catalog = load().value();
  CatalogPlanner planner = this->planner(catalog);
  tree::Tree tree;
  tree = with_applied(tree, planner.plan({}, tree));
  close(tree, "a", 0.1, 4.0, 1.0);  // a quarter of what was promised
  PlanRequest request;
  request.kind = PlanRequest::Kind::revise;
  const PlanReply reply = planner.plan(request, tree);
  const auto& script = std::get<tree::EditScript>(reply.what);
  ASSERT_EQ(script.ops.size(), 1u);
  EXPECT_EQ(script.ops[0]["node_id"], "like_a");
  // One outcome against one unit of doubt: the log residual log(1/4) counts half, the factor is
  // 1/2.
  EXPECT_EQ(script.ops[0]["patch"]["action"]["expected_vs_baseline_factor"], 0.2);
  tree::Tree revised = with_applied(tree, reply);
  EXPECT_LT(revised.at("like_a").action.score, tree.at("like_a").action.score);
  EXPECT_TRUE(std::holds_alternative<Nothing>(planner.plan(request, revised).what));
}

TEST_F(CatalogTest, StepsThatFailedTwiceArePruned) {
  add("a", step({"naive"}, 0.8, 0.4, Json::object()));
  const Catalog catalog = load().value();
  CatalogPlanner planner = this->planner(catalog);
  tree::Tree tree = with_applied(tree::Tree(), planner.plan({}, tree::Tree()));
  tree::Node a = tree.at("a");
  a.ours.failed_cycles = 2;
  tree.replace(a);
  PlanRequest request;
  request.kind = PlanRequest::Kind::revise;
  tree = with_applied(tree, planner.plan(request, tree));
  EXPECT_FALSE(tree.contains("a"));
  EXPECT_TRUE(std::holds_alternative<Nothing>(planner.plan({}, tree).what));  // the id is used up
}

TEST_F(CatalogTest, SameQuestionSameAnswer) {
  add("a", step({"naive"}, 0.8, 0.4, Json::object()));
  add("b", step({"naive"}, 0.8, 0.4, Json::object()));
  const Catalog catalog = load().value();
  CatalogPlanner one = planner(catalog);
  CatalogPlanner two = planner(catalog);
  EXPECT_EQ(to_json(one.plan({}, tree::Tree())), to_json(two.plan({}, tree::Tree())));
  EXPECT_EQ(to_json(one.plan({}, tree::Tree())), to_json(one.plan({}, tree::Tree())));
}

TEST_F(CatalogTest, TheCoderHasOneProgramForAStep) {
  add("a", step({"naive"}, 0.8, 0.4, Json::object()));
  const Catalog catalog = load().value();
  CatalogCoder coder(&catalog);
  CodeRequest request;
  request.node_id = "a";
  EXPECT_EQ(std::get<kernel::Program>(coder.code(request).what).sources[0].text, "// a");
  request.attempt = 2;
  EXPECT_TRUE(std::holds_alternative<Exhausted>(coder.code(request).what));
  request.attempt = 1;
  request.cycle_of_node = 2;
  EXPECT_TRUE(std::holds_alternative<Exhausted>(coder.code(request).what));
  request.node_id = "other";
  EXPECT_TRUE(std::holds_alternative<Exhausted>(coder.code(request).what));
}

TEST(CatalogKnowledge, LeavesOutWhatRestsOnItAndWhatBuildsOnThatAlone) {
  const auto step = [](std::string name, std::vector<std::string> parents,
                       std::vector<std::string> rests_on) {
    Step s;
    s.name = std::move(name);
    s.parents = std::move(parents);
    s.rests_on = std::move(rests_on);
    return s;
  };
  Catalog catalog;
  catalog.steps = {step("after", {"known"}, {}), step("either", {"known", "plain"}, {}),
                   step("known", {"naive"}, {"exp2-folding"}), step("plain", {"naive"}, {})};
  const Catalog left = without_knowledge(catalog);
  ASSERT_EQ(left.steps.size(), 2u);
  EXPECT_EQ(left.steps[0].name, "either");
  EXPECT_EQ(left.steps[1].name, "plain");
}

}  // namespace
}  // namespace ksearch::engineer
