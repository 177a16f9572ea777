#include "formats/ksearch_upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/files.h"

namespace ksearch::formats {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;

/// As K-Search's SolutionDB appends them.
const char* kDatabase =
    R"({"solution_id": "s1", "solution_name": "k_r1", "definition": "gqa", "parent_solution_id": null, "eval_result": {"status": "passed", "mean_vs_baseline_factor": 0.7}, "code": "<header_file name=\"kernel.h\">\nint h;\n</header_file>\n\n<cuda_file name=\"kernel.cu\">\nint k;\n</cuda_file>", "code_excerpt": "<header_file"}
{"solution_id": "s2", "solution_name": "k_r2", "definition": "gqa", "parent_solution_id": "s1", "eval_result": null, "code": "import triton", "code_excerpt": "import triton", "tag": 3}
)";

const char* kWorldModel =
    R"({"kernel_summary": "decode", "open_questions": [], "decision_tree": {"root_id": "root",
  "active_leaf_id": "b", "nodes": [
  {"node_id": "root", "parent_id": null},
  {"node_id": "a", "parent_id": "root", "action": {"title": "a", "score_0_to_1": 0.5},
   "solution_ref": {"solution_id": "s1", "eval": {"status": "passed", "mean_vs_baseline_factor": 0.7}}},
  {"node_id": "b", "parent_id": "a", "action": {"title": "b", "score_0_to_1": 0.5},
   "solution_ref": {"solution_id": "gone", "eval": {"status": "passed"}}}]}})";

TEST(SolutionDb, ReadsLinesByHash) {
  std::vector<std::string> notes;
  const auto solutions = parse_solution_db(kDatabase, "db", notes).value();
  ASSERT_EQ(solutions.size(), 2u);
  const UpstreamSolution& one = solutions.at("s1");
  EXPECT_EQ(one.name, "k_r1");
  EXPECT_EQ(one.parent_solution_id, std::nullopt);
  const auto files = one.files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "kernel.h");
  EXPECT_EQ(files[0].text, "int h;\n");
  EXPECT_EQ(files[1].path, "kernel.cu");
  EXPECT_EQ(files[1].text, "int k;\n");
  const auto single = solutions.at("s2").files();
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].text, "import triton");
  EXPECT_EQ(solutions.at("s2").extra, Json({{"tag", 3}}));
}

TEST(SolutionDb, ATornLastLineLosesOnlyItself) {
  std::vector<std::string> notes;
  const std::string text = std::string(kDatabase) + R"({"solution_id": "s3", "code": ")";
  EXPECT_EQ(parse_solution_db(text, "db", notes).value().size(), 2u);
  EXPECT_THAT(notes, ElementsAre("db:3: a torn last line was dropped"));
}

TEST(SolutionDb, AnyOtherBadLineIsAnErrorWithItsPlace) {
  std::vector<std::string> notes;
  const auto bad = parse_solution_db("{\n" + std::string(kDatabase), "db", notes);
  ASSERT_FALSE(bad.has_value());
  EXPECT_THAT(bad.error().where, HasSubstr("db:1"));
  EXPECT_FALSE(parse_solution_db("{\"code\": \"x\"}\n", "db", notes).has_value());
}

TEST(Upstream, ImportTakesTreeAndCodeAndSaysWhatIsMissing) {
  const os::TempFolder temp = os::TempFolder::create("ksearch-upstream").value();
  ASSERT_TRUE(os::write_file(temp.path() / "world_model.json", kWorldModel).has_value());
  ASSERT_TRUE(os::write_file(temp.path() / "solution_db.jsonl", kDatabase).has_value());
  const auto import =
      import_upstream(temp.path() / "world_model.json", temp.path() / "solution_db.jsonl");
  ASSERT_TRUE(import.has_value()) << import.error().text();
  EXPECT_EQ(import->world_model.tree.size(), 3u);
  EXPECT_TRUE(import->world_model.tree.at("a").closed());
  EXPECT_THAT(import->missing, ElementsAre("gone"));
  EXPECT_THAT(import->notes,
              ElementsAre(HasSubstr("solution gone is in no database"),
                          HasSubstr("a: mean_vs_baseline_factor 0.7 is an arithmetic mean")));
  EXPECT_FALSE(import_upstream(temp.path() / "nothing.json", std::nullopt).has_value());
}

TEST(Upstream, ALineComesBackAsItWas) {
  std::vector<std::string> notes;
  const auto solutions = parse_solution_db(kDatabase, "db", notes).value();
  for (const auto& [id, solution] : solutions) {
    const std::string line = base::to_line(to_json(solution)) + "\n";
    const auto again = parse_solution_db(line, "db", notes).value().at(id);
    EXPECT_EQ(to_json(again), to_json(solution));
  }
}

TEST(Upstream, AProgramOfOursIsStoredWithItsPlan) {
  kernel::Program program;
  program.task = "copy";
  program.sources = {{"copy.cpp", "int x;\n"}};
  const UpstreamSolution solution = to_upstream(program, "copy_1", "p", {{"status", "passed"}});
  EXPECT_EQ(solution.solution_id, program.hash());
  ASSERT_EQ(solution.files().size(), 1u);
  EXPECT_EQ(solution.files()[0].path, "copy.cpp");
  EXPECT_EQ(solution.files()[0].text, "int x;\n");
  EXPECT_EQ(solution.extra["ksearch_program"]["task"], "copy");
}

}  // namespace
}  // namespace ksearch::formats
