#include "llm/relaxed_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RelaxedJson, StrictJsonHasNoNotes) {
  const auto read = parse_relaxed_json(R"({"a": [1, 2.5, "x // no comment", null]})", "t");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->value["a"][2], "x // no comment");
  EXPECT_THAT(read->notes, IsEmpty());
}

TEST(RelaxedJson, ForgivesAndNotesEachKindOnce) {
  const auto read = parse_relaxed_json(R"({
    // why
    a: 'it is "so"', /* two
    lines */ "b": [.5, 2., +3,],
    'c': 'don\'t',
  })",
                                       "t");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->value, (base::Json{{"a", "it is \"so\""}, {"b", {0.5, 2.0, 3}}, {"c", "don't"}}));
  EXPECT_THAT(read->notes,
              ElementsAre("comment (2 times)", "number that ends with a point",
                          "number that starts with a point", "plus sign", "single quotes (3 times)",
                          "trailing comma (2 times)", "unquoted key"));
}

TEST(RelaxedJson, TheErrorHasTheLineOfTheText) {
  const auto read = parse_relaxed_json("{\n// c\n/* d\n*/\n\"a\": }", "t");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("5"));
}

TEST(RelaxedJson, GuessesNoMeaning) {
  for (const char* text : {"{\"a\": None}", "{\"a\": NaN}", "{\"a\" 1}", "{\"a\": 1", "{a: b}",
                           "{\"a\": 1 \"b\": 2}", "{\"a\": 1, \"a\": 2}", "", "{\"a\": ...}"})
    EXPECT_FALSE(parse_relaxed_json(text, "t")) << text;
}

}  // namespace
}  // namespace ksearch::llm
