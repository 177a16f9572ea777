#include "kernel/program.h"

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

const char* kProgramText = R"J({
  "format": "ksearch.program/1", "task": "scan", "dialect": "cpp",
  "sources": [{"path": "k.cpp", "text": "// nothing"}],
  "tunables": {"BK": [128, 64]},
  "let": {"PARTS": "ceildiv(L, BK)"},
  "constraints": ["BK <= device.l1_bytes"],
  "scratch": {"part": {"dtype": "float32", "shape": ["PARTS", "N"]}},
  "defines": {"T": "T", "BK": "BK"},
  "launches": [
    {"kernel": "first", "groups": ["PARTS", "B"], "group_memory": ["4 * BK"],
     "args": ["x", {"optional": "w"}, {"write": "part"}, {"i64": "L"}, {"f32": "scale"}]},
    {"kernel": "second", "when": "causal", "for": {"c": [0, "PARTS"]}, "groups": ["B"],
     "args": [{"read": "part", "offset": "c * N"}, "state", "out", {"bool": "causal"},
              {"struct": [{"i32": "k"}, {"i64": "c"}]}]}
  ]})J";

std::string program_error(const std::string& text) {
  const auto json = base::parse_json(text, "p.json");
  if (!json) return json.error().text();
  const auto p = parse_program(*json, definition(), "p.json", [](std::string_view path) {
    return base::Result<std::string>(base::usage_error(std::string(path), "is not there"));
  });
  return p ? "fine" : p.error().text();
}

Program program() {
  return *parse_program(*base::parse_json(kProgramText, "p"), definition(), "p", nullptr);
}

TEST(Program, GoesThereAndBack) {
  const Program p = program();
  const auto again = parse_program(to_json(p), definition(), "p", nullptr);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(p));
  EXPECT_EQ(again->hash(), p.hash());
}

TEST(Program, HashCoversTheCodeButNotTheSelection) {
  Program p = program();
  const std::string hash = p.hash();
  p.select = {{std::nullopt, {{"BK", 64}}}};
  EXPECT_EQ(p.hash(), hash);
  p.sources[0].text += " ";
  EXPECT_NE(p.hash(), hash);
}

struct Fault {
  const char* from;
  const char* to;
  const char* error;
};

class ProgramFault : public testing::TestWithParam<Fault> {};

TEST_P(ProgramFault, NamesItsPlace) {
  const auto& f = GetParam();
  const std::string error = program_error(with(kProgramText, f.from, f.to));
  EXPECT_EQ(error.substr(0, std::string_view(f.error).size()), f.error);
}

INSTANTIATE_TEST_SUITE_P(
    All, ProgramFault,
    testing::Values(
        Fault{"ksearch.program/1", "ksearch.program/2", "p.json: format: is \"ksearch.program/2\""},
        Fault{"\"task\": \"scan\"", "\"task\": \"softmax\"", "p.json: task: is \"softmax\""},
        Fault{"\"cpp\"", "\"opencl\"", "p.json: dialect: is \"opencl\""},
        Fault{"\"k.cpp\"", "\"../k.cpp\"", "p.json: sources[0].path: \"../k.cpp\" is not a plain"},
        Fault{"\"k.cpp\"", "\"/etc/k.cpp\"",
              "p.json: sources[0].path: \"/etc/k.cpp\" is not a plain"},
        Fault{", \"text\": \"// nothing\"", "", "k.cpp: is not there"},
        Fault{"[128, 64]", "[128, 128]", "p.json: tunables.BK: a value stands twice"},
        Fault{"[128, 64]", "[]", "p.json: tunables.BK: a list of 1 to 64 integers"},
        Fault{"\"BK\": [", "\"L\": [", "p.json: tunables.L: the name \"L\" is taken"},
        Fault{"ceildiv(L, BK)", "ceildiv(Lq, BK)", "p.json: let.PARTS: \"Lq\" is not known here"},
        Fault{"device.l1_bytes", "device.l9_bytes",
              "p.json: constraints[0]: \"device.l9_bytes\" is not known"},
        Fault{"\"part\": {", "\"x\": {", "p.json: scratch.x: is no free name"},
        Fault{"\"dtype\": \"float32\"", "\"dtype\": \"float33\"",
              "p.json: scratch.part.dtype: \"float33\""},
        Fault{"\"groups\": [\"PARTS\", \"B\"], ", "", "p.json: launches[0].groups: exactly one of"},
        Fault{"[\"PARTS\", \"B\"]", "[1, 2, 3, 4]", "p.json: launches[0].groups: at most three"},
        Fault{"\"group_memory\"", "\"group_size\": [1], \"group_memory\"",
              "p.json: launches[0].group_size: dialect cpp"},
        Fault{"\"group_memory\"", "\"cluster\": 2, \"group_memory\"",
              "p.json: launches[0].cluster: is reserved"},
        Fault{"[\"x\",", "[\"L\",",
              "p.json: launches[0].args[0]: \"L\" is no tensor (a number is {\"i32\": \"L\"})"},
        Fault{"[\"x\",", "[\"part\",",
              "p.json: launches[0].args[0]: scratch \"part\" needs its access"},
        Fault{"{\"optional\": \"w\"}", "\"w\"", "p.json: launches[0].args[1]: \"w\" may be absent"},
        Fault{"{\"optional\": \"w\"}", "{\"optional\": \"x\"}",
              "p.json: launches[0].args[1].optional: \"x\" is never absent"},
        Fault{"{\"optional\": \"w\"}", "{\"read\": \"part\"}",
              "p.json: launches[0].args[1].read: \"part\" is read before"},
        Fault{"{\"write\": \"part\"}", "{\"write\": \"x\"}",
              "p.json: launches[0].args[2].write: \"x\" is an input"},
        Fault{"{\"i64\": \"L\"}", "{\"i64\": \"L\", \"i32\": \"L\"}",
              "p.json: launches[0].args[3].: exactly one"},
        Fault{"{\"i64\": \"L\"}", "{\"i64\": \"L\", \"size\": 8}",
              "p.json: launches[0].args[3].size: is not a key"},
        Fault{"{\"i64\": \"L\"}", "17", "p.json: launches[0].args[3]: is number"},
        Fault{"{\"i64\": \"L\"}", "{\"f32\": 0.5}",
              "p.json: launches[0].args[3].f32: a float literal"},
        Fault{"\"for\": {\"c\"", "\"for\": {\"BK\"",
              "p.json: launches[1].for: the name \"BK\" is taken"},
        Fault{"[0, \"PARTS\"]", "[0]", "p.json: launches[1].for: {variable: [from, to]}"},
        Fault{"\"offset\": \"c * N\"", "\"init\": 0",
              "p.json: launches[1].args[0].init: belongs to"},
        Fault{"\"launches\": [", "\"select\": [{\"tunables\": {\"BK\": 3}}], \"launches\": [",
              "p.json: select: BK = 3 is no choice"},
        Fault{"\"launches\": [",
              "\"select\": [{\"when\": \"L < 3\", \"tunables\": {}}], \"launches\": [",
              "p.json: select[0].when: the last rule has no condition"}));

TEST(Program, ALoopVariableEndsWithItsLaunch) {
  EXPECT_EQ(
      program_error(
          with(kProgramText, "\"groups\": [\"PARTS\", \"B\"]", "\"groups\": [\"c\", \"B\"]")),
      "p.json: launches[0].groups[0]: \"c\" is not known here (known: axes, types, parameters, "
      "tunables, let above, device.*)");
}

TEST(Program, EveryTruncationIsAnErrorAndNoCrash) {
  const std::string text = kProgramText;
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_NE(program_error(text.substr(0, n)), "fine") << n;
}

TEST(Program, EveryValueReplacedByAnotherKindIsNoCrash) {
  // Walks all places of the file and puts each kind of value there.
  const base::Json whole = *base::parse_json(kProgramText, "p");
  const base::Json flat = whole.flatten();
  for (const auto& [pointer, value] : flat.items())
    for (const base::Json& other :
         {base::Json(nullptr), base::Json(-1), base::Json("?"), base::Json::array(),
          base::Json::object(), base::Json(1e300), base::Json(true)}) {
      base::Json changed = whole;
      changed[base::Json::json_pointer(pointer)] = other;
      (void)parse_program(changed, definition(), "p", nullptr);
    }
}

TEST(Program, APlanAloneIsReadWithTheFilesGiven) {
  const auto plan = base::parse_json(
      R"({"launches": [{"kernel": "k", "groups": ["B"], "args": ["x", "out"]}]})", "reply");
  const auto p = parse_plan(*plan, definition(), Dialect::cpp, {{"k.cpp", "text"}}, "reply");
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(p->task, "scan");
  EXPECT_EQ(p->sources[0].text, "text");
}

}  // namespace
}  // namespace ksearch::kernel
