// Conversations: bad answers are asked again with their reason, within bounds, and counted.
#include "engineer/written.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engineer/describe.h"
#include "engineer/seeded.h"
#include "unit/engineer/letters.h"

namespace ksearch::engineer {
namespace {

using testing::Contains;
using testing::HasSubstr;

CodeReply code(Scripted& scripted) {
  static const kernel::Definition kSoftmax = softmax_brief().definition;
  CodeRequest request;
  request.id = 7;
  request.task = "softmax";
  request.action = tree::Action{};
  request.action->title = "T";
  return WrittenCoder(&softmax_prompts(), &kSoftmax, &scripted).code(request);
}

PlanReply plan(Scripted& scripted, const tree::Tree& tree) {
  PlanRequest request;
  request.id = 3;
  request.revision = tree.revision();
  request.best_node = "root";
  return WrittenPlanner(&softmax_prompts(), &scripted).plan(request, tree);
}

tree::Tree one_open() {
  tree::Tree tree;
  tree::Node node;
  node.id = "a";
  node.parent = "root";
  node.action.title = "A";
  tree.insert(node);
  return tree;
}

TEST(WrittenCoder, TheWorkedExampleIsItsOwnValidAnswer) {
  const kernel::Program example = *softmax_brief().example;
  Scripted scripted({describe(example)});
  const CodeReply reply = code(scripted);
  ASSERT_TRUE(std::holds_alternative<kernel::Program>(reply.what));
  EXPECT_EQ(std::get<kernel::Program>(reply.what).hash(), example.hash());
  EXPECT_EQ(reply.usage.calls, 1);
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_EQ(reply.usage.tokens_in,
            static_cast<std::int64_t>((scripted.letters[0].text.size() + 3) / 4));
}

TEST(WrittenCoder, AsksAgainWithTheReasonTwiceAndThenRefuses) {
  Scripted scripted({"no", "```cpp a.cpp\n// ... unchanged ...\n```", "", "never asked"});
  const CodeReply reply = code(scripted);
  ASSERT_TRUE(std::holds_alternative<Refused>(reply.what));
  ASSERT_EQ(scripted.letters.size(), 3u);
  EXPECT_EQ(reply.usage.calls, 3);
  EXPECT_EQ(letter_name(scripted.letters[0]), "0007");
  EXPECT_EQ(letter_name(scripted.letters[2]), "0007c");
  EXPECT_TRUE(scripted.letters[1].text.starts_with(scripted.letters[0].text))
      << "what was asked stays the prefix";
  EXPECT_THAT(scripted.letters[1].text, HasSubstr("there is no file in the reply"));
  EXPECT_THAT(scripted.letters[2].text, HasSubstr("not the full file"));
  EXPECT_EQ(scripted.letters[0].refusal, "");
  EXPECT_THAT(scripted.letters[1].refusal, HasSubstr("answer 0007 could not be used: there is no"));
  EXPECT_THAT(scripted.letters[2].refusal, HasSubstr("answer 0007b could not be used: "));
  EXPECT_EQ(reply.notes,
            (std::vector<std::string>{scripted.letters[1].refusal, scripted.letters[2].refusal}));
}

TEST(WrittenCoder, APlanThatIsNoPlanIsAskedAgain) {
  const std::string program = describe(*softmax_brief().example);
  std::string wrong = program;
  wrong.replace(wrong.find("\"rows\""), 6, "\"rowz\"");
  Scripted scripted({wrong, program});
  const CodeReply reply = code(scripted);
  EXPECT_TRUE(std::holds_alternative<kernel::Program>(reply.what));
  EXPECT_THAT(scripted.letters[1].text, HasSubstr("rowz"));
  EXPECT_THAT(reply.notes, Contains(HasSubstr("answer 0007 could not be used")));
}

TEST(WrittenCoder, ALongAnswerIsRefusedUnread) {
  Scripted scripted({std::string(10u << 20, '{'), describe(*softmax_brief().example)});
  const CodeReply reply = code(scripted);
  EXPECT_TRUE(std::holds_alternative<kernel::Program>(reply.what));
  ASSERT_EQ(scripted.letters.size(), 2u);
  EXPECT_THAT(scripted.letters[1].text, HasSubstr("the reply has 10.5 MB, at most 1 MiB"));
  EXPECT_LT(scripted.letters[1].text.size(), 200000u) << "it is not sent back whole";
}

TEST(WrittenCoder, ExhaustedAndLostAreWhatTheyAre) {
  Scripted fenced({"```json\n{\"exhausted\": \"bound\"}\n```"});
  const CodeReply reply = code(fenced);
  ASSERT_TRUE(std::holds_alternative<Exhausted>(reply.what));
  EXPECT_EQ(std::get<Exhausted>(reply.what).why, "bound");
  Scripted gone({});
  const CodeReply lost = code(gone);
  EXPECT_TRUE(std::holds_alternative<Lost>(lost.what));
  EXPECT_EQ(lost.usage.calls, 1);
}

TEST(WrittenPlanner, TheFirstAnswerIsATreeAndBecomesOperations) {
  Scripted scripted(
      {R"({"kernel_summary": "s", "open_questions": ["q"], "decision_tree": {"root_id": "r",
    "nodes": [{"node_id": "r"}, {"node_id": "a", "parent_id": "r", "action": {"title": "A"}},
              {"node_id": "b", "parent_id": "a", "action": {"title": "B"}}]}})"});
  tree::Tree tree;
  const PlanReply reply = plan(scripted, tree);
  EXPECT_EQ(scripted.letters[0].kind, "plan-first");
  ASSERT_TRUE(std::holds_alternative<tree::EditScript>(reply.what));
  const auto report = tree::apply(tree, std::get<tree::EditScript>(reply.what), {});
  EXPECT_TRUE(report.refused.empty());
  EXPECT_EQ(tree.at("b").parent, "a");
  EXPECT_EQ(tree.at("a").parent, "root");
  EXPECT_EQ(tree.kernel_summary, "s");
  EXPECT_EQ(tree.open_questions, std::vector<std::string>{"q"});
}

TEST(WrittenPlanner, RefusedOperationsAreToldOnceAndTheSoundScriptTaken) {
  Scripted scripted({R"({"ops": [{"op": "delete_node", "node_id": "zz"}]})",
                     R"({"ops": [{"op": "delete_node", "node_id": "a"}]})"});
  const PlanReply reply = plan(scripted, one_open());
  ASSERT_TRUE(std::holds_alternative<tree::EditScript>(reply.what));
  EXPECT_EQ(std::get<tree::EditScript>(reply.what).ops[0]["node_id"], "a");
  EXPECT_THAT(scripted.letters[1].text, HasSubstr("there is no node zz"));
}

TEST(WrittenPlanner, OfTwoScriptsWithRefusalsTheBetterCounts) {
  Scripted scripted({R"({"ops": [{"op": "delete_node", "node_id": "zz"},
                                 {"op": "update_node", "node_id": "a", "patch": {"notes": "n"}}]})",
                     R"({"ops": [{"op": "delete_node", "node_id": "zz"}]})"});
  const PlanReply reply = plan(scripted, one_open());
  EXPECT_EQ(scripted.letters.size(), 2u) << "once";
  EXPECT_EQ(std::get<tree::EditScript>(reply.what).ops.size(), 2u);
}

TEST(WrittenPlanner, AScriptWithNothingInItIsNothing) {
  Scripted scripted({R"({"ops": [], "why": "done"})"});
  const PlanReply reply = plan(scripted, one_open());
  ASSERT_TRUE(std::holds_alternative<Nothing>(reply.what));
  EXPECT_EQ(std::get<Nothing>(reply.what).why, "done");
}

TEST(Letters, RepliesKeepTheirUsageAndNotesInTheJournal) {
  const CodeReply reply{Exhausted{"x"}, {10, 20, 0, 2, true}, {"cut"}};
  const auto read = parse_code_reply(to_json(reply), "line", nullptr);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->usage.calls, 2);
  EXPECT_TRUE(read->usage.estimated);
  EXPECT_EQ(read->notes, std::vector<std::string>{"cut"});
}

TEST(Seeded, TheCatalogComesFirstAndTheOtherGoesOn) {
  Catalog catalog;
  catalog.steps.resize(1);
  catalog.steps[0].name = "step";
  Scripted silent({});
  class Named final : public Planner {
   public:
    explicit Named(PlanReply reply) : reply_(std::move(reply)) {}
    std::string name() const override { return "named"; }
    PlanReply plan(const PlanRequest&, const tree::Tree&) override { return reply_; }

   private:
    PlanReply reply_;
  };
  Named proposes({tree::EditScript{}}), empty({Nothing{"catalog"}}), other({Nothing{"other"}});
  const auto why = [](const PlanReply& reply) {
    const auto* nothing = std::get_if<Nothing>(&reply.what);
    return nothing ? nothing->why : std::string("script");
  };
  PlanRequest request;
  EXPECT_EQ(why(SeededPlanner(&catalog, &proposes, &other).plan(request, tree::Tree())), "script");
  EXPECT_EQ(why(SeededPlanner(&catalog, &empty, &other).plan(request, tree::Tree())), "other");
  request.kind = PlanRequest::Kind::revise;
  request.cycle = CycleReport{};
  request.cycle->node_id = "step";
  EXPECT_EQ(why(SeededPlanner(&catalog, &empty, &other).plan(request, tree::Tree())), "catalog");
  request.cycle->node_id = "idea";
  EXPECT_EQ(why(SeededPlanner(&catalog, &empty, &other).plan(request, tree::Tree())), "other");
}

}  // namespace
}  // namespace ksearch::engineer
