#include "report/columns.h"

#include <gtest/gtest.h>

#include "report/numbers.h"

namespace ksearch::report {
namespace {

constexpr Style kPlain{.color = false, .utf8 = true};
constexpr Style kAscii{.color = false, .utf8 = false};
constexpr Style kColor{.color = true, .utf8 = true};

TEST(Columns, CountsWhatATerminalShows) {
  EXPECT_EQ(columns("abc"), 3);
  EXPECT_EQ(columns("é├─✓"), 4);
  EXPECT_EQ(columns("漢字"), 4);
  EXPECT_EQ(columns("\x1b[32mok\x1b[0m"), 2);
  EXPECT_EQ(columns("e\u0301"), 1);
}

TEST(Columns, CutKeepsTheWidthAndClosesColours) {
  EXPECT_EQ(cut(kPlain, "abcdef", 6), "abcdef");
  EXPECT_EQ(cut(kPlain, "abcdef", 4), "abc…");
  EXPECT_EQ(cut(kAscii, "abcdef", 4), "abc~");
  EXPECT_EQ(cut(kPlain, "漢字漢字", 4), "漢…");
  EXPECT_EQ(cut(kColor, paint(kColor, Paint::good, "abcdef"), 4), "\x1b[32mabc…\x1b[0m");
  EXPECT_EQ(cut(kPlain, "abc", 0), "");
}

TEST(Columns, PadFillsToTheWidth) {
  EXPECT_EQ(pad(kPlain, "é", 3), "é  ");
  EXPECT_EQ(pad_left(kPlain, "1.20x", 7), "  1.20x");
}

TEST(Columns, PrintableTakesTheTeethOutOfForeignText) {
  EXPECT_EQ(printable(kPlain, "a\x1b[2Jb"), "a?[2Jb");
  EXPECT_EQ(printable(kPlain, "tab\there"), "tab here");
  EXPECT_EQ(printable(kPlain, "\xff\xfe"), "??");
  EXPECT_EQ(printable(kPlain, "\u202egnp.exe"), "?gnp.exe");
  EXPECT_EQ(printable(kAscii, "é→x"), "??x");
}

TEST(Columns, WrapsAtWordsAndCutsWhatIsLonger) {
  EXPECT_EQ(wrap(kPlain, "one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap(kPlain, "incomprehensible", 8), (std::vector<std::string>{"incompr…"}));
  EXPECT_EQ(wrap(kPlain, "a\nb", 8), (std::vector<std::string>{"a", "b"}));
}

TEST(Columns, HangingTextStaysWholeAndKeepsItsColumn) {
  EXPECT_EQ(hanging(kPlain, "one two incomprehensible", 2, 4, 10),
            "  one two\n    incomprehensible\n");
  EXPECT_EQ(hanging(kPlain, "", 2, 4, 10), "  \n");
}

TEST(Columns, TablesAlignByColumn) {
  EXPECT_EQ(table(kPlain, {{"name", "time"}, {"a", "9 ns"}, {"longer", "10 ns"}}, {false, true}),
            "name     time\na        9 ns\nlonger  10 ns\n");
}

TEST(Columns, NumbersHaveThreeFigures) {
  EXPECT_EQ(ratio_text(1.3149), "1.31x");
  EXPECT_EQ(ratio_text(9.999), "10.0x");
  EXPECT_EQ(ratio_text(41.23), "41.2x");
  EXPECT_EQ(ratio_text(127.6), "128x");
  EXPECT_EQ(seconds_text(59.9), "59s");
  EXPECT_EQ(seconds_text(65), "1m05s");
  EXPECT_EQ(seconds_text(7800), "2h10m");
  EXPECT_EQ(time_text(850), "850 ns");
  EXPECT_EQ(time_text(12345), "12.3 us");
  EXPECT_EQ(time_text(999600), "1.00 ms");
  EXPECT_EQ(time_text(2.1e9), "2.10 s");
  EXPECT_EQ(time_text(2e12), "2000 s");
  EXPECT_EQ(bytes_text(49152), "48 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
}

}  // namespace
}  // namespace ksearch::report
