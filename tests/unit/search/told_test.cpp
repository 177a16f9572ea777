#include <gtest/gtest.h>

#include "search/request.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;

base::Result<kernel::Program> find(const std::string& hash) {
  for (const char* text : {"naive", "v1"}) {
    if (program(text).hash() == hash) return program(text);
  }
  return base::usage_error(hash, "unknown");
}

std::vector<Told> every_kind() {
  Started started;
  started.world_model = {{"decision_tree", base::Json::object()}};
  started.root_program = program("naive");
  started.root_outcome = measured(0.1);
  using engineer::CodeReply;
  using engineer::PlanReply;
  return {{0ns, started},
          {1ns, Answered{1, edits({idea("root", "a")})}},
          {2ns, Answered{2, PlanReply{engineer::Nothing{"done"}, {1, 2, 0.5}}}},
          {3ns, Answered{3, PlanReply{engineer::Refused{"no"}}}},
          {4ns, Answered{4, PlanReply{engineer::Lost{"net"}}}},
          {5ns, Answered{5, CodeReply{program("v1")}}},
          {6ns, Answered{6, CodeReply{engineer::Exhausted{"done"}}}},
          {7ns, Answered{7, CodeReply{engineer::Refused{"no"}, {3, 4, 0.25}}}},
          {8ns, Answered{8, CodeReply{engineer::Lost{"net"}}}},
          {9ns, Answered{9, kernel::EvaluateReply{measured(1.0 / 3, 2.0)}}},
          {10ns, Answered{10, kernel::EvaluateReply{kernel::Lost{"gone"}}}},
          {11ns, Answered{11, CertifyReply{certificate(true)}}},
          {12ns, Answered{12, CertifyReply{kernel::Lost{"gone"}}}},
          {13s, Elapsed{}},
          {14ns, Expired{7}},
          {15ns, Stop{"Ctrl-C", false}},
          {16ns, Edited{{{idea("root", "b")}, "b"}}},
          {17ns, Reopened{}}};
}

TEST(Told, EveryKindComesBackAsItWas) {
  for (const Told& told : every_kind()) {
    const base::Json json = to_json(told);
    const auto back = parse_told(json, "line", find);
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_EQ(to_json(*back), json);
    EXPECT_EQ(back->what.index(), told.what.index());
  }
}

TEST(Told, ProgramsGoByHash) {
  const Told told{0ns, Answered{5, engineer::CodeReply{program("v1")}}};
  EXPECT_EQ(base::to_line(to_json(told)),
            R"({"at_ns":0,"answers":5,"code":{"program":")" + program("v1").hash() + "\"}}");
  ASSERT_EQ(programs_in(told).size(), 1u);
  const base::Json unknown = {{"at_ns", 0}, {"answers", 5}, {"code", {{"program", "0123"}}}};
  EXPECT_FALSE(parse_told(unknown, "line", find).has_value());
}

TEST(Told, UnknownKeysAreErrors) {
  EXPECT_FALSE(parse_told({{"at_ns", 0}, {"elapsed", true}, {"x", 1}}, "line", find).has_value());
  EXPECT_FALSE(parse_told({{"answers", 1}}, "line", find).has_value());
}

TEST(Request, SerialisesWithEverythingAPersonNeeds) {
  engineer::CodeRequest code;
  code.task = "copy";
  code.node_id = "a";
  code.action = tree::Action{};
  code.action->title = "tile";
  code.parent = engineer::Tried{program("naive"), program("naive").hash(), measured(0.1)};
  const base::Json json = to_json(Request{3, code, 1}, tree::Tree());
  EXPECT_EQ(json["id"], 3);
  EXPECT_EQ(json["request"], "code");
  EXPECT_EQ(json["action"]["title"], "tile");
  EXPECT_EQ(json["parent"]["program"]["sources"][0]["text"], "naive");
  EXPECT_EQ(json["parent"]["outcome"]["kind"], "Measured");
}

}  // namespace
}  // namespace ksearch::search
