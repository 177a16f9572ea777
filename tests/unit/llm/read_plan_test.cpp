#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/reply.h"

namespace ksearch::llm {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kOps = R"({"ops": [{"op": "delete_node", "node_id": "a"}]})";

Read<EditsReply> edits(std::string text, RawReply::Stop stop = RawReply::Stop::stop) {
  return read_edits({std::move(text), stop});
}
std::string fault(const Read<EditsReply>& read) {
  return read ? "none" : std::string(name(read.error().fault));
}

TEST(ReadEdits, TakesABareObjectOrAFencedOneAmongProse) {
  EXPECT_EQ(edits(kOps)->script.ops.size(), 1u);
  EXPECT_EQ(
      edits(std::string("Well.\n\n```json\n") + kOps + "\n```\nDone {so}.")->script.ops.size(), 1u);
  EXPECT_EQ(edits(std::string("~~~\n") + kOps + "\n~~~")->script.ops.size(), 1u);
  EXPECT_EQ(edits(std::string("I think:\n  ") + kOps + "\nThat is all.")->script.ops.size(), 1u);
}

TEST(ReadEdits, AnEmptyScriptHasItsReason) {
  const auto read = edits(R"({"ops": [], "why": "all bets are placed"})");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->script.ops.empty());
  EXPECT_EQ(read->why, "all bets are placed");
}

TEST(ReadEdits, WhatIsBrokenIsLeftAsideWhereASoundOneFollowsAndSaidSo) {
  const auto read =
      edits(std::string("```json\n{\"ops\": [}\n```\nSorry:\n```json\n") + kOps + "\n```");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->notes, Contains(HasSubstr("broken JSON at line 2")));
}

TEST(ReadEdits, TwoDifferentScriptsAreAmbiguousAndTheSameTwiceIsNot) {
  const std::string fenced = std::string("```json\n") + kOps + "\n```\n";
  EXPECT_EQ(fault(edits(fenced + fenced)), "none");
  EXPECT_EQ(fault(edits(fenced + "```json\n{\"ops\": []}\n```\n")), "ambiguous");
}

TEST(ReadEdits, TheFaultIsTheOneToMend) {
  EXPECT_EQ(fault(edits("")), "empty_reply");
  EXPECT_EQ(fault(edits(" \n\r\n")), "empty_reply");
  EXPECT_EQ(fault(edits("No idea.")), "missing_json");
  EXPECT_EQ(fault(edits("{\"nodes\": []}")), "wrong_shape");
  EXPECT_EQ(fault(edits("{\"ops\": 3}")), "wrong_shape");
  EXPECT_EQ(fault(edits("{\"ops\": [}")), "malformed_json");
  EXPECT_EQ(fault(edits("```json\n{\"ops\": [")), "malformed_json")
      << "the provider says that it ended by itself";
  EXPECT_EQ(fault(edits("```json\n{\"ops\": [", RawReply::Stop::max_tokens)), "truncated");
  EXPECT_EQ(fault(edits("{\"ops\": [", RawReply::Stop::unknown)), "truncated");
  EXPECT_EQ(fault(edits("Let me see", RawReply::Stop::max_tokens)), "truncated");
  EXPECT_EQ(fault(edits("<think>\nhm", RawReply::Stop::stop)), "truncated");
}

TEST(ReadEdits, EveryTruncationIsAFaultOrTheWholeScript) {
  const std::string whole = std::string("Here:\n```json\n") + kOps + "\n```\n";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto read = edits(whole.substr(0, n), RawReply::Stop::max_tokens);
    if (read) {
      EXPECT_EQ(read->script.ops.size(), 1u) << n;
    } else {
      EXPECT_TRUE(fault(read) == "truncated" || fault(read) == "empty_reply") << n << fault(read);
    }
  }
}

TEST(ReadEdits, ThinkingIsNoAnswer) {
  const std::string draft = "```json\n{\"ops\": []}\n```\n";
  for (const std::string& text :
       {"<think>\n" + draft + "</think>\n" + kOps, "<thinking>" + draft + "\n</thinking>" + kOps,
        draft + "</think>\n" + kOps}) {
    const auto read = edits(text);
    ASSERT_TRUE(read) << read.error().message << text;
    EXPECT_EQ(read->script.ops.size(), 1u) << text;
    EXPECT_THAT(read->notes, Contains("thinking removed"));
  }
}

TEST(ReadWorldModel, IsATreeOrSaysWhatIsMissing) {
  const auto read =
      read_world_model({R"({"kernel_summary": "s", "decision_tree": {"root_id": "root", "nodes": [
        {"node_id": "root"}, {"node_id": "a", "parent_id": "root", "action": {"title": "A"}}]}})"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->model.tree.size(), 2u);
  const auto bad = read_world_model({R"({"decision_tree": []})"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().fault, Fault::invalid_tree);
}

}  // namespace
}  // namespace ksearch::llm
