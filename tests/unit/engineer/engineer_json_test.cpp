#include <gtest/gtest.h>

#include "engineer/engineer.h"

namespace ksearch::engineer {
namespace {

base::Result<kernel::Program> nothing(const std::string& hash) {
  return base::usage_error(hash, "unknown");
}

TEST(PlanReply, EveryKindComesBack) {
  const PlanReply replies[] = {
      {tree::EditScript{{{{"op", "delete_node"}, {"node_id", "a"}}}, "b"}, {1, 2, 0.5}},
      {Nothing{"done"}},
      {Refused{"no JSON"}, {3, 0, 0}},
      {Lost{"net"}}};
  for (const PlanReply& reply : replies) {
    const base::Json json = to_json(reply);
    const PlanReply back = parse_plan_reply(json, "r").value();
    EXPECT_EQ(to_json(back), json);
    EXPECT_EQ(back.what.index(), reply.what.index());
  }
}

TEST(CodeReply, EveryKindWithoutAProgramComesBack) {
  const CodeReply replies[] = {{Exhausted{"done"}}, {Refused{"no"}, {1, 1, 0.1}}, {Lost{"net"}}};
  for (const CodeReply& reply : replies) {
    const base::Json json = to_json(reply);
    EXPECT_EQ(to_json(parse_code_reply(json, "r", nothing).value()), json);
  }
}

TEST(Replies, WhatIsNoReplyIsAnError) {
  EXPECT_FALSE(parse_plan_reply(base::Json::object(), "r").has_value());
  EXPECT_FALSE(parse_plan_reply({{"nothing", ""}, {"x", 1}}, "r").has_value());
  EXPECT_FALSE(parse_code_reply({{"program", "0123"}}, "r", nothing).has_value());
}

TEST(PlanRequest, CarriesTheTreeAndTheCycle) {
  PlanRequest request;
  request.kind = PlanRequest::Kind::revise;
  request.task = "attention";
  CycleReport report;
  report.node_id = "a";
  report.attempts = {{"h1", "WrongResult", "WrongResult: y", {}}, {"h2", "Measured", "1.2x", 1.2}};
  report.best_program = "h2";
  report.measured_gain = 1.5;
  request.cycle = report;
  const base::Json json = to_json(request, tree::Tree());
  EXPECT_EQ(json["kind"], "revise");
  EXPECT_EQ(json["cycle"]["attempts"][1]["score"], 1.2);
  EXPECT_EQ(json["cycle"]["measured_gain"], 1.5);
  EXPECT_EQ(json["world_model"]["decision_tree"]["root_id"], "root");
}

}  // namespace
}  // namespace ksearch::engineer
