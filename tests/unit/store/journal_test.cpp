#include "store/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch::store {
namespace {

using base::Json;
using testing::HasSubstr;

std::string journal() {
  return journal_header() + told_line(1, {{"elapsed", true}}) +
         event_line({{"event", "note"}, {"text", "a"}}) + told_line(2, {{"expired", 3}});
}

TEST(Journal, ReadsWhatItWrote) {
  const JournalContents contents = parse_journal(journal(), "j").value();
  ASSERT_EQ(contents.lines.size(), 3u);
  EXPECT_EQ(contents.lines[0].kind, JournalLine::Kind::told);
  EXPECT_EQ(contents.lines[0].json, Json({{"elapsed", true}}));
  EXPECT_EQ(contents.lines[1].kind, JournalLine::Kind::event);
  EXPECT_EQ(contents.lines[1].json["text"], "a");
  EXPECT_EQ(contents.lines[2].line, 4u);
  EXPECT_EQ(contents.told, 2u);
  EXPECT_EQ(contents.good_bytes, journal().size());
  EXPECT_TRUE(contents.notes.empty());
}

TEST(Journal, TheFirstLineNamesTheFormat) {
  EXPECT_THAT(journal_header(), testing::StartsWith(R"({"format":"ksearch.journal/1","sum":")"));
}

TEST(Journal, EveryTruncationReadsUpToTheLastWholeLine) {
  const std::string text = journal();
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto contents = parse_journal(text.substr(0, cut), "j");
    ASSERT_TRUE(contents.has_value()) << cut;
    const std::size_t whole = cut == 0 ? 0 : text.rfind('\n', cut - 1) + 1;
    EXPECT_EQ(contents->good_bytes, whole == std::string::npos ? 0 : whole) << cut;
    EXPECT_EQ(contents->notes.size(), whole == cut ? 0u : 1u) << cut;
  }
}

TEST(Journal, EveryChangedByteIsAnErrorWithItsLine) {
  const std::string text = journal();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = damaged[at] == 'x' ? 'y' : 'x';
    const auto contents = parse_journal(damaged, "j");
    if (at == text.size() - 1) continue;  // the last line feed: a torn line
    ASSERT_FALSE(contents.has_value()) << at;
    EXPECT_THAT(contents.error().where, testing::StartsWith("j:"));
  }
}

TEST(Journal, ALineThatStandsTwiceIsSaidToDoSo) {
  const auto read = parse_journal(
      journal_header() + told_line(1, Json::object()) + told_line(1, Json::object()), "j");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().text(),
            "j:3: damaged: told line 1 stands there twice (restore the file from a copy)");
}

TEST(Journal, AMissingLineIsAnErrorThatNamesThePlace) {
  const auto contents = parse_journal(
      journal_header() + told_line(1, Json::object()) + told_line(3, Json::object()), "j");
  ASSERT_FALSE(contents.has_value());
  EXPECT_THAT(contents.error().text(), HasSubstr("j:3: damaged: told line 3 follows 1"));
}

TEST(Journal, ANewerFormatIsRefused) {
  // As a newer ksearch would write it, with its sum.
  std::string header = event_line({{"format", "ksearch.journal/2"}});
  const auto contents = parse_journal(header, "j");
  ASSERT_FALSE(contents.has_value());
  EXPECT_THAT(contents.error().text(), HasSubstr("format ksearch.journal/2"));
}

}  // namespace
}  // namespace ksearch::store
