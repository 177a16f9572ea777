#include "llm/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch::llm {
namespace {

using testing::HasSubstr;

TEST(Prompt, FillsSectionsAndLeavesOutLinesForEditors) {
  const auto prompt =
      Prompt::parse("% for editors\n% more\nA {{a}} B {{b}}{{a}}\n% stays\n", "p", {"a", "b"});
  ASSERT_TRUE(prompt) << prompt.error().text();
  EXPECT_EQ(prompt->fill({{"a", "{{b}}"}, {"b", "2"}}), "A {{b}} B 2{{b}}\n% stays\n");
}

TEST(Prompt, UnknownUnusedAndMalformedPlaceholdersAreErrorsWithTheirPlace) {
  const auto error = [](std::string_view text) {
    const auto prompt = Prompt::parse(text, "p.md", {"a"});
    return prompt ? std::string("none") : prompt.error().text();
  };
  EXPECT_THAT(error("{{a}}\n{{b}}"), HasSubstr("p.md:2: there is no section \"b\""));
  EXPECT_THAT(error("nothing"), HasSubstr("{{a}} is not used"));
  EXPECT_THAT(error("{{a"), HasSubstr("{{ without }}"));
  EXPECT_THAT(error("{{a:12}}"), HasSubstr("\"12\" is no budget"));
  EXPECT_THAT(error("{{a:many}}"), HasSubstr("no budget"));
  EXPECT_THAT(error("{{ a }}"), HasSubstr("no section"));
}

TEST(Prompt, CutsASectionByRuleAndSaysSo) {
  const auto prompt = Prompt::parse("{{a:400}}|{{b}}", "p", {"a", "b"});
  ASSERT_TRUE(prompt);
  std::string lines;
  for (int i = 100; i < 200; ++i) lines += "line " + std::to_string(i) + "\n";
  std::vector<Cut> cuts;
  const std::string text = prompt->fill({{"a", lines}, {"b", lines}}, &cuts);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].section, "a");
  EXPECT_EQ(cuts[0].characters, 900u);
  const std::string head = text.substr(0, text.find('|'));
  EXPECT_LE(head.size(), 400u);
  EXPECT_TRUE(head.starts_with("line 100\n"));
  EXPECT_TRUE(head.ends_with("line 199\n"));
  EXPECT_THAT(head, HasSubstr("\n[" + std::to_string(cuts[0].left_out) + " characters left out"));
  EXPECT_TRUE(text.ends_with("|" + lines)) << "no budget, no cut";
}

TEST(Prompt, ATokenIsAboutFourCharacters) {
  EXPECT_EQ(estimated_tokens(""), 0);
  EXPECT_EQ(estimated_tokens("12345"), 2);
}

}  // namespace
}  // namespace ksearch::llm
