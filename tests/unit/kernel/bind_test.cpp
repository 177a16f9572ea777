#include "kernel/bind.h"

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

Program read(const std::string& rest) {
  const std::string text = R"({"format": "ksearch.program/1", "task": "scan", "dialect": "cpp",
    "sources": [{"path": "k.cpp", "text": ""}], )" +
                           rest + "}";
  const auto p = parse_program(*base::parse_json(text, "p"), definition(), "p", nullptr);
  EXPECT_TRUE(p) << p.error().text();
  return p.value_or(Program{});
}

const char* kLoop =
    R"("tunables": {"BK": [4, 2, 3]}, "let": {"PARTS": "L / BK"}, "constraints": ["L % BK == 0"],
  "scratch": {"part": {"dtype": "T", "shape": ["PARTS", 2]}}, "defines": {"T": "T", "CAUSAL": "causal"},
  "launches": [
    {"kernel": "a", "groups": ["PARTS", "B"], "group_memory": ["sizeof(T) * BK"], "defines": {"BK": "BK"},
     "args": ["x", {"optional": "w"}, {"write": "part"}, {"f32": "scale"}, {"i64": "N"}]},
    {"kernel": "b", "for": {"c": [1, "PARTS"]}, "groups": ["B"],
     "args": [{"read": "part", "offset": "c * 2"}, "out", {"struct": [{"i32": "c"}, {"bool": "causal"}]}]},
    {"kernel": "never", "when": "T == float32", "groups": [1], "args": ["out"]}])";

TEST(Bind, MakesEveryExpressionANumber) {
  const auto b = bind(read(kLoop), definition(), workload(), device(), {{"BK", 2}});
  ASSERT_TRUE(b) << b.error().text();
  ASSERT_EQ(b->launches.size(), 4u);  // a, then b for c = 1, 2, 3
  const BoundLaunch& a = b->launches[0];
  EXPECT_EQ(a.groups, (std::array<std::int64_t, 3>{4, 3, 1}));
  EXPECT_EQ(a.group_memory, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(a.defines, (BoundDefines{{"T", "ks_bf16"}, {"CAUSAL", "1"}, {"BK", "2"}}));
  EXPECT_EQ(std::get<BoundTensor>(a.args[0]).tensor, "x");
  EXPECT_FALSE(std::get<BoundTensor>(a.args[0]).writes);
  EXPECT_EQ(std::get<BoundTensor>(a.args[1]).tensor, "");  // absent: a null pointer
  EXPECT_TRUE(std::get<BoundTensor>(a.args[2]).writes);
  EXPECT_EQ(std::get<double>(std::get<BoundScalar>(a.args[3]).value), 0.5);
  const BoundLaunch& last = b->launches[3];
  EXPECT_EQ(std::get<BoundTensor>(last.args[0]).offset, 6);
  EXPECT_EQ(std::get<BoundTensor>(last.args[0]).dtype, DType::bfloat16);
  EXPECT_TRUE(std::get<BoundTensor>(last.args[1]).writes);
  EXPECT_EQ(std::get<std::int64_t>(std::get<BoundStruct>(last.args[2]).fields[0].value), 3);
  EXPECT_EQ(b->scratch[0].elements, 8);
}

TEST(Bind, ListsTheLegalChoicesInTheOrderWritten) {
  const auto legal = legal_choices(read(kLoop), definition(), workload(), device());
  ASSERT_TRUE(legal);
  EXPECT_EQ(*legal, (std::vector<TunableChoice>{{{"BK", 4}}, {{"BK", 2}}}));  // 3 does not divide 8
}

TEST(Bind, RefusesAChoiceThatBreaksAConstraint) {
  const auto b = bind(read(kLoop), definition(), workload(), device(), {{"BK", 3}});
  ASSERT_FALSE(b);
  EXPECT_EQ(b.error().what, "L % BK == 0 does not hold on small");
}

TEST(Bind, ChoosesByTheFirstRuleThatHolds) {
  const Program p = read(kLoop);
  const Select select = {{*Expr::parse("L > 100", "x"), {{"BK", 4}}}, {std::nullopt, {{"BK", 2}}}};
  EXPECT_EQ(*choose(p, definition(), workload(), device(), select), (TunableChoice{{"BK", 2}}));
  EXPECT_EQ(*choose(p, definition(), workload(), device(), {}), (TunableChoice{{"BK", 4}}));
}

TEST(Bind, FallsBackWhereTheRuleBreaksAConstraint) {
  const Select select = {{std::nullopt, {{"BK", 3}}}};
  EXPECT_EQ(*choose(read(kLoop), definition(), workload(), device(), select),
            (TunableChoice{{"BK", 4}}));
}

std::string bind_error(const std::string& launch) {
  const auto b =
      bind(read("\"launches\": [" + launch + "]"), definition(), workload(), device(), {});
  return b ? "fine" : b.error().text();
}

TEST(Bind, SaysWhichLaunchIsWrong) {
  EXPECT_EQ(bind_error(R"({"kernel": "k", "groups": ["L - 8"], "args": ["out"]})"),
            "launches[0] (k): L - 8: is 0, out of range");
  EXPECT_EQ(bind_error(R"({"kernel": "k", "when": "L > 100", "groups": ["B"], "args": ["out"]})"),
            "launches: no launch's condition holds on this workload");
  EXPECT_EQ(
      bind_error(
          R"({"kernel": "k", "groups": ["B"], "args": [{"inout": "out", "offset": "B * L"}]})"),
      "launches[0] (k): out: offset 24 is outside its 12 elements");
  EXPECT_EQ(
      bind_error(R"({"kernel": "k", "groups": ["B"], "args": ["out", {"i32": "L * 1000000000"}]})"),
      "launches[0] (k): L * 1000000000: 8000000000 does not fit its type");
  EXPECT_EQ(
      bind_error(R"({"kernel": "k", "groups": ["B"], "args": [{"read": "w"}, "out"]})"),
      "launches[0] (k): w: is absent on this workload (guard the launch with when: has(...))");
  EXPECT_EQ(
      bind_error(R"({"kernel": "k", "for": {"i": [0, 100000]}, "groups": ["B"], "args": ["out"]})"),
      "launches[0] (k): for: more than 65536 launches");
}

TEST(Bind, LaunchesOfOneLoopTakeTurns) {
  const auto b = bind(read(R"("launches": [
    {"kernel": "a", "for": {"t": [0, 2]}, "groups": ["B"], "args": ["out"]},
    {"kernel": "b", "for": {"t": [0, 2]}, "when": "t > 0", "groups": ["B"], "args": ["out"]},
    {"kernel": "c", "for": {"s": [0, 2]}, "groups": ["B"], "args": ["out"]}])"),
                      definition(), workload(), device(), {});
  ASSERT_TRUE(b) << b.error().text();
  std::string order;
  for (const BoundLaunch& launch : b->launches) order += launch.kernel;
  EXPECT_EQ(order, "aabcc");
}

TEST(Bind, CountsThreadsInGroupsOfOtherDialects) {
  const std::string text = R"({"format": "ksearch.program/1", "task": "scan", "dialect": "cuda",
    "sources": [{"path": "k.cu", "text": ""}],
    "launches": [{"kernel": "k", "instantiate": [["T", "T"]], "threads": ["L * 10"], "group_size": [32],
                  "args": ["x", "out"]}]})";
  const auto p = parse_program(*base::parse_json(text, "p"), definition(), "p", nullptr);
  ASSERT_TRUE(p) << p.error().text();
  const auto b = bind(*p, definition(), workload(), device(), {});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->launches[0].groups[0], 3);
  EXPECT_EQ(b->launches[0].threads[0], 80);
  EXPECT_EQ(b->launches[0].instantiate, (BoundDefines{{"T", "__nv_bfloat16"}}));
}

}  // namespace
}  // namespace ksearch::kernel
